"""What the CPU calls itself: /proc/cpuinfo, and archspec's name for it."""

from __future__ import annotations

import platform
from dataclasses import dataclass

from archspec.cpu import TARGETS, Microarchitecture
from archspec.cpu.schema import TARGETS_JSON

from roofline.host.tree import Tree, fields, printable, whole_number

_ARCH_NAMES = {"arm64": "aarch64", "amd64": "x86_64", "x64": "x86_64"}
UNKNOWN = "unknown"
"""Name and architecture of a CPU that tells neither."""


@dataclass(frozen=True, kw_only=True)
class Processor:
    """One CPU model. Unknown is None."""

    name: str
    """As the CPU names itself; where it does not (AArch64), vendor and microarchitecture or part number."""
    arch: str
    """`x86_64`, `aarch64`, ..."""
    microarchitecture: str | None
    """archspec's name."""
    flags: frozenset[str]
    """As the kernel names them; empty when it does not."""


def processor_numbers(tree: Tree) -> tuple[int, ...]:
    """Return the logical CPUs that /proc/cpuinfo lists, ascending."""
    lines = (tree.text("proc/cpuinfo") or "").splitlines()
    numbers = (whole_number(line.partition(":")[2]) for line in lines if line.partition(":")[0].strip() == "processor")
    return tuple(sorted({number for number in numbers if number is not None and number >= 0}))


def read_processor(tree: Tree, cpu: int | None = None) -> Processor:
    """Read the model of logical CPU `cpu` (of a hybrid machine each class has its own), or of the first one listed."""
    facts = _facts(tree.text("proc/cpuinfo") or "", cpu)
    flags = frozenset((facts.get("flags") or facts.get("Features") or "").split())
    arch = _arch(tree, facts)
    vendor, part = _vendor(facts), facts.get("CPU part", "").lower()
    microarchitecture = microarchitecture_of(arch, vendor, flags, part)
    names = (facts.get(key) for key in ("model name", "cpu model", "cpu"))
    name = next((printable(name) for name in names if printable(name)), None)
    if name is None and vendor and part:
        name = printable(f"{vendor} {microarchitecture or f'part {part}'}")
    return Processor(name=name or UNKNOWN, arch=arch, microarchitecture=microarchitecture, flags=flags)


def canonical_arch(name: str) -> str:
    """Return LLVM's name of an architecture: `arm64` is `aarch64`, `AMD64` is `x86_64`."""
    return _ARCH_NAMES.get(name.lower(), name.lower()) or UNKNOWN


def microarchitecture_of(arch: str, vendor: str | None, flags: frozenset[str], part: str = "") -> str | None:
    """Return archspec's name of the newest microarchitecture that this CPU is compatible with.

    The rule is archspec's own (`archspec.cpu.detect.host`), which reads the running machine only. A part number
    settles it on AArch64. In a guest whose hypervisor hides features the answer may be a generic level such as
    `x86_64_v4`. None when nothing more is known than the architecture.
    """
    if arch not in TARGETS:
        return None
    family = TARGETS[arch]
    if arch == "aarch64":
        by_part = [name for name, target in TARGETS.items() if part and target.cpu_part == part]
        return next((name for name in by_part if TARGETS[name].vendor == vendor), None)
    known = Microarchitecture("", [], vendor or "", set(flags), {}).features  # adds what archspec infers
    candidates = [
        target
        for target in TARGETS.values()
        if family in target.ancestors and target.vendor in (vendor, "generic") and target.features <= known
    ]
    generics = [target for target in candidates if target.vendor == "generic"]
    if generics:
        # A niche feature that firmware or a hypervisor hides must not make an older CPU of a newer one
        level = max(generics, key=_depth)
        candidates = [target for target in candidates if target > level] or [level]
    newest = max(candidates, key=_depth, default=None)
    return None if newest is None else str(newest.name)


def _depth(target: Microarchitecture) -> tuple[int, int]:
    return len(target.ancestors), len(target.features)


def _facts(text: str, cpu: int | None) -> dict[str, str]:
    """Return the lines about `cpu`, completed by those about others and about all."""
    own: list[str] = []
    block: list[str] = []
    for line in [*text.splitlines(), ""]:
        if line.strip():
            block.append(line)
            continue
        if cpu is not None and whole_number(fields(block).get("processor")) == cpu:
            own = block
        block = []
    return fields([*own, *text.splitlines()])


def _arch(tree: Tree, facts: dict[str, str]) -> str:
    if tree.is_live:
        return canonical_arch(platform.machine())
    if told := tree.word("proc/sys/kernel/arch"):  # since Linux 6.1
        return canonical_arch(told)
    if "flags" in facts:
        return "x86_64" if "lm" in facts["flags"].split() else "i686"
    if "CPU implementer" in facts and facts.get("CPU architecture") in ("8", "AArch64"):
        return "aarch64"
    return UNKNOWN


def _vendor(facts: dict[str, str]) -> str | None:
    implementer = facts.get("CPU implementer")
    if implementer is not None:
        vendors: dict[str, str] = TARGETS_JSON["conversions"]["arm_vendors"]
        return vendors.get(implementer.lower(), implementer)
    return facts.get("vendor_id")
