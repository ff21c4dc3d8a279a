"""What a compiler does to a careless benchmark, really compiled for CPUs that are not here; each guard finds it."""

from __future__ import annotations

import llvmlite.binding as llvm
import pytest

from roofline.codegen.audit import audit_arithmetic, audit_stream
from roofline.codegen.register import vector_register
from roofline.errors import CodegenError
from roofline.model.isa import ISAS, Isa

CHAINS = 8
X86 = "x86_64-unknown-linux-gnu"
TARGETS = {
    "x86-64-v3": X86,
    "skylake-avx512": X86,
    "znver4": X86,
    "neoverse-v1": "aarch64-unknown-linux-gnu",
    "apple-m1": "arm64-apple-macosx12.0.0",
}
every_target = pytest.mark.parametrize("target", TARGETS)


def compiled(ir: str, cpu: str, features: str = "", triple: str | None = None) -> str:
    """Return the assembly that LLVM makes of this module at -O3."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    machine = llvm.Target.from_triple(triple or TARGETS[cpu]).create_target_machine(
        cpu=cpu, features=features, opt=3, reloc="pic"
    )
    parsed = llvm.parse_assembly(f'target triple = "{triple or TARGETS[cpu]}"\n' + ir)
    tuning = llvm.create_pipeline_tuning_options(speed_level=3)
    tuning.slp_vectorization = tuning.loop_vectorization = True
    passes = llvm.create_pass_builder(machine, tuning)
    passes.getModulePassManager().run(parsed, passes)
    return str(machine.emit_assembly(parsed))


def scalar(target: str) -> Isa:
    """Return the row of single elements for a target."""
    arch = "x86_64" if TARGETS[target] == X86 else "aarch64"
    return next(isa for isa in ISAS if (isa.name, isa.arch) == ("scalar", arch))


def chains(*, equal_starts: bool = False, dropped: bool = False, apart: bool = True) -> str:
    """Return a loop of CHAINS chains of two dependent multiply-adds a turn, as a careless or a careful author writes.

    `equal_starts`: every chain of a turn starts from the first one's value. `apart`: an empty piece of assembly keeps
    each value out of the hands of the vectoriser, as ours do.
    """
    lines = ["declare double @llvm.fma.f64(double, double, double)"]
    lines += [f"define {'void' if dropped else 'double'} @hot(i64 %n, ptr %seeds, double %f, double %t) {{", "entry:"]
    lines += ["  %u = fneg double %t"]
    for k in range(CHAINS):
        lines += [f"  %p{k} = getelementptr double, ptr %seeds, i64 {k}", f"  %s{k} = load double, ptr %p{k}"]
    lines += ["  br label %loop", "loop:", "  %i = phi i64 [0, %entry], [%j, %loop]"]
    lines += [f"  %a{k} = phi double [%s{k}, %entry], [%c{k}, %loop]" for k in range(CHAINS)]
    for k in range(CHAINS):
        register = "v"  # x86's constraint for any vector register
        start = 0 if equal_starts else k
        lines += [f"  %b{k} = call double @llvm.fma.f64(double %a{start}, double %f, double %t)"]
        if apart:
            lines += [f'  %q{k} = call double asm "", "=X,0"(double %b{k})'.replace("=X", f"={register}")]
        lines += [f"  %c{k} = call double @llvm.fma.f64(double %{'q' if apart else 'b'}{k}, double %f, double %u)"]
    lines += [
        "  %j = add i64 %i, 1",
        "  %more = icmp ult i64 %j, %n",
        "  br i1 %more, label %loop, label %done",
        "done:",
    ]
    if dropped:
        return "\n".join([*lines, "  ret void", "}"])
    lines += ["  %t0 = fadd double %c0, 0.0"]
    lines += [f"  %t{k} = fadd double %t{k - 1}, %c{k}" for k in range(1, CHAINS)]
    return "\n".join([*lines, f"  ret double %t{CHAINS - 1}", "}"])


def audit(target: str, ir: str) -> int | None:
    """Return how many chains the audit sees, where it lets them pass."""
    return audit_arithmetic(compiled(ir, target), scalar(target), "f64", "fma", CHAINS).chains


def on_arm(target: str, ir: str) -> str:
    """Return the module with AArch64's name of a vector register in its constraints."""
    return ir if TARGETS[target] == X86 else ir.replace('"=v,0"', '"=w,0"')


@pytest.mark.twin("DCE", "CSE", "SLP", "SOFTFMA", "WIDTH")
@every_target
def test_careful_chains_pass(target: str) -> None:
    assert audit(target, on_arm(target, chains())) == CHAINS


@pytest.mark.canary("DCE")
@every_target
def test_chains_whose_result_is_dropped_are_gone_and_refused(target: str) -> None:
    with pytest.raises(CodegenError, match="has no loop"):
        audit(target, chains(dropped=True, apart=False))


@pytest.mark.canary("CSE")
@every_target
def test_chains_that_start_equal_become_one_and_are_refused(target: str) -> None:
    with pytest.raises(CodegenError, match=r"holds \d+ fma instructions|independent chains"):
        audit(target, chains(equal_starts=True, apart=False))


@pytest.mark.canary("SLP")
@every_target
def test_scalar_chains_that_the_compiler_packs_are_refused(target: str) -> None:
    with pytest.raises(CodegenError, match=r"packed|has no loop with the expected"):
        audit(target, chains(apart=False))


@pytest.mark.canary("SOFTFMA")
def test_multiply_adds_that_became_calls_are_refused() -> None:
    assembly = compiled(chains(apart=False), "x86-64", triple=X86)
    assert "fma" in assembly and "call" in assembly
    with pytest.raises(CodegenError):
        audit_arithmetic(assembly, scalar("x86-64-v3"), "f64", "fma", CHAINS)


TRIAD = """
define void @triad(ptr noalias %a, ptr noalias %b, ptr noalias %c, double %s, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [0, %entry], [%j, %loop]
  %pb = getelementptr double, ptr %b, i64 %i
  %vb = load double, ptr %pb
  %pc = getelementptr double, ptr %c, i64 %i
  %vc = load double, ptr %pc
  %m = fmul contract double %s, %vc
  %r = fadd contract double %vb, %m
  %pa = getelementptr double, ptr %a, i64 %i
  store double %r, ptr %pa
  %j = add i64 %i, 1
  %more = icmp ult i64 %j, %n
  br i1 %more, label %loop, label %done
done:
  ret void
}
"""


@pytest.mark.canary("WIDTH")
def test_half_the_width_of_an_avx512_cpu_is_seen_and_no_avx512_ceiling() -> None:
    assembly = compiled(TRIAD, "skylake-avx512")  # LLVM prefers 256 bits there
    assert vector_register(assembly) == "ymm"
    avx512 = next(isa for isa in ISAS if isa.name == "avx512")
    with pytest.raises(CodegenError):
        audit_stream(assembly, avx512, "f64", "triad", 4)


@pytest.mark.twin("WIDTH")
def test_the_whole_width_is_seen_where_it_is_asked_for() -> None:
    assert vector_register(compiled(TRIAD, "skylake-avx512", "-prefer-256-bit")) == "zmm"


REPEATED = """
define double @repeated(i64 %n, ptr %x) {
entry:
  br label %loop
loop:
  %i = phi i64 [0, %entry], [%j, %loop]
  %v = load double, ptr %x
  %w = fmul double %v, %v
  CLOBBER
  %j = add i64 %i, 1
  %more = icmp ult i64 %j, %n
  br i1 %more, label %loop, label %done
done:
  ret double %w
}
"""


@pytest.mark.canary("HOIST")
@every_target
def test_repeats_without_a_barrier_do_the_work_once(target: str) -> None:
    assembly = compiled(REPEATED.replace("CLOBBER", ""), target)
    with pytest.raises(CodegenError, match="has no loop"):
        audit_arithmetic(assembly, scalar(target), "f64", "mul", 1)


@pytest.mark.twin("HOIST")
@every_target
def test_repeats_with_a_memory_barrier_stay_a_loop_that_loads(target: str) -> None:
    barrier = 'call void asm sideeffect "", "~{memory}"()'
    assembly = compiled(REPEATED.replace("CLOBBER", barrier), target)
    audit = audit_stream(assembly, scalar(target), "f64", "load", 1)
    assert sum(audit.instructions.values()) == 1
