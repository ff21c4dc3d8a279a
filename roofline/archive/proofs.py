"""What stands beside the samples of a kernel to prove them: none of it may be missing, or tell of something else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from roofline.archive.ceiling_claims import launches_of
from roofline.archive.tree import Defect, shown
from roofline.model.ceilings import Ceiling
from roofline.model.evidence import Evidence
from roofline.model.isa import isa_of_register, isas_of
from roofline.model.judging import notes_on
from roofline.model.launch import Launch
from roofline.model.measurement import Measurement
from roofline.model.roof import roof_of
from roofline.model.run import Run

OF_LAUNCHES = ("started_s", "interval_s")
"""What the evidence of every launch holds, on any system ..."""
OF_KERNELS = (*OF_LAUNCHES, "data")
"""... and that of every kernel."""
WHOLE_NS = 1e-3
"""A clock that counts nanoseconds gives whole ones, but for rounding."""
FEWEST = 3
"""So many samples are never the same twice by chance."""


def is_proved(run: Run) -> bool:
    """Return whether the version that measured a run kept evidence: what it then always writes may not be missing."""
    beside = (*(launch.evidence for _, launch in launches_of(run.ceilings)), *(m.evidence for m in run.measurements))
    return run.suite_digest is not None or any(evidence is not None for evidence in beside)


def proof_defects(run: Run) -> Iterator[Defect]:
    """Yield what is missing beside the samples of a run whose version kept evidence, and what contradicts them."""
    told = [launch.evidence for _, launch in launches_of(run.ceilings) if launch.evidence is not None]
    known = tuple(name for name in Evidence.__struct_fields__ if all(getattr(one, name) is not None for one in told))
    names = tuple(dict.fromkeys((*OF_KERNELS, *(known if told else ()))))
    with_code = any(measurement.assembly_digest for measurement in run.measurements)
    for path, launch in launches_of(run.ceilings):
        if missing := [name for name in OF_LAUNCHES if getattr(launch.evidence, name, None) is None]:
            yield Defect(f"{path}.evidence", f"nothing of {', '.join(missing)}", "what was seen beside the samples")
        yield from uncounted(launch.samples_s, 1, f"{path}.samples_s")
    registers: dict[str, tuple[str, str | None]] = {}
    for index, measurement in enumerate(run.measurements):
        path = f"measurements[{index}]"
        if measurement.samples_s:
            yield from _missing(measurement, names, with_code, path)
            yield from uncounted(measurement.samples_s, measurement.repeats, f"{path}.samples_s")
        seen = (path, measurement.vector_register)
        first = registers.setdefault(measurement.assembly_digest, seen) if measurement.assembly_digest else seen
        if first[1] != seen[1]:
            expected = f"{shown(first[1])}, as {first[0]} has in the same machine code"
            yield Defect(f"{path}.vector_register", shown(seen[1]), expected)


def _missing(measurement: Measurement, names: tuple[str, ...], with_code: bool, path: str) -> Iterator[Defect]:
    evidence = measurement.evidence
    missing = [name for name in names if getattr(evidence, name, None) is None]
    if evidence is None:
        yield Defect(f"{path}.evidence", "nothing", "what was seen beside the samples, which this version always keeps")
    elif missing:
        yield Defect(f"{path}.evidence", f"nothing of {', '.join(missing)}", "what beside every launch was seen")
    if not measurement.digest:
        yield Defect(f"{path}.digest", "nothing", "the hash of the kernel's source")
    if with_code and measurement.compiled and not measurement.assembly_digest:
        yield Defect(f"{path}.assembly_digest", "nothing", "the hash of its machine code, as of the others")
    notes = notes_on(evidence.data) if evidence else ()
    if evidence and set(notes) != set(measurement.caveats):
        yield Defect(f"{path}.caveats", shown(list(measurement.caveats)), f"{list(notes)}, as its data says")


def uncounted(samples_s: Sequence[float], repeats: int, path: str) -> Iterator[Defect]:
    """Yield the samples that no clock gave: it counts whole nanoseconds, which the repeats share."""
    for index, sample_s in enumerate(samples_s):
        interval_ns = sample_s * repeats * 1e9
        if abs(interval_ns - round(interval_ns)) > max(WHOLE_NS, 1e-12 * interval_ns):
            found = f"{interval_ns:.6f} ns in {repeats} calls"
            yield Defect(f"{path}[{index}]", found, "whole nanoseconds, as the clock counts")


def register_defects(run: Run) -> Iterator[Defect]:
    """Yield the kernels whose register is not the one that their own ceiling, or a library call, stands for."""
    isas = isas_of(run.machine.arch, run.machine.features)
    for index, measurement in enumerate(run.measurements):
        path = f"measurements[{index}]"
        if not measurement.compiled and (measurement.vector_register or measurement.assembly_digest):
            found = f"false, and {shown(measurement.vector_register or measurement.assembly_digest)} in its assembly"
            yield Defect(f"{path}.compiled", found, "true, or no assembly: that of a library is not read")
        own = run.ceilings.named(measurement.ceiling)
        bound = _bound(run, measurement)
        if not measurement.ceiling and bound is not None and measurement.drawable:
            yield Defect(f"{path}.ceiling", "none", f"the one that binds it, such as {bound.name}")
        isa = isa_of_register(measurement.vector_register, isas)
        if own is None or isa is None:
            continue
        same = _bound(run, measurement, isa.name)
        if same is not None and own.isa != isa.name:
            expected = f"one of {own.isa}, as its own ceiling is {own.name}"
            yield Defect(f"{path}.vector_register", shown(measurement.vector_register), expected)


def _bound(run: Run, measurement: Measurement, isa: str | None = None) -> Ceiling | None:
    """Return the ceiling that binds a kernel among all, or among those of one ISA."""
    work, level, threads = measurement.work, measurement.level, measurement.threads
    roof = roof_of(run.ceilings, dtype=measurement.dtype, threads=threads, level=level, work=work, isa=isa)
    return roof.bound(work)


def repeated_samples(run: Run) -> Iterator[Defect]:
    """Yield the samples that stand twice in a run: no two measurements give the same times."""
    first: dict[tuple[tuple[float, ...], tuple[float, ...]], str] = {}
    subjects: list[tuple[str, Launch | Measurement]] = [*launches_of(run.ceilings)]
    subjects += [(f"measurements[{index}]", measurement) for index, measurement in enumerate(run.measurements)]
    for path, subject in subjects:
        if len(subject.samples_s) < FEWEST:
            continue
        earlier = first.setdefault((subject.samples_s, subject.clock_samples_hz), path)
        if earlier != path:
            yield Defect(f"{path}.samples_s", f"those of {earlier} again", "samples of its own")
