"""A point of a run as other tools get it: one name that is the same in every format, and what is told of it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from roofline.model.grade import grade_of
from roofline.model.legible import elided, printable
from roofline.model.measurement import Derived, Measurement
from roofline.model.run import Run
from roofline.model.struct import Value
from roofline.units import rate_unit

LONGEST_KERNEL = 600
"""Characters of a kernel's name that an exported name holds: Bencher takes 1024 for all of it."""
LONGEST_PART = 60
"""The same for element type and level."""

Told = str | int | float
"""What a fact can be."""

_IN_WORDS = re.compile(r"(?P<kernel>\S.*) (?:n=(?P<n>[0-9]+)|in (?P<level>\S+)) (?P<dtype>\S+) ×(?P<threads>[0-9]+)")


class Point(Value, frozen=True, kw_only=True):
    """A measurement that may be drawn, under the name that it has outside."""

    name: str
    """Printable, one line, unlike any other of the run, at most 1024 characters: `gemm.blocked[n=2048,f64,t=2]`."""
    measurement: Measurement
    derived: Derived

    @property
    def family(self) -> str:
        """What stands before the first dot of the kernel's name, printable."""
        return family_of(self.measurement.kernel)

    @property
    def rate_unit(self) -> str:
        """`GFLOP/s`, or `GOP/s` for whole numbers."""
        return rate_unit([self.measurement.dtype])

    @property
    def facts(self) -> dict[str, Told]:
        """What a format with room for it tells beside the times, SI, the unit in the name; unknown is left out.

        Intensities and rates of arithmetic only where there is arithmetic.
        """
        measurement, derived = self.measurement, self.derived
        computes = bool(measurement.work.flops)
        found: dict[str, Told | None] = {
            "kernel": printable(measurement.kernel),
            "variant": printable(measurement.variant),
            "n": measurement.n,
            "dtype": printable(measurement.dtype),
            "threads": measurement.threads,
            "level": printable(measurement.level) or None,
            "digest": printable(measurement.digest) or None,
            "status": printable(" ".join([measurement.status, *measurement.status_codes])),
            "flops": measurement.work.flops,
            "read_bytes": measurement.work.read_bytes,
            "write_bytes": measurement.work.write_bytes,
            "flop_per_s": derived.flop_per_s if computes else None,
            "byte_per_s": derived.byte_per_s,
            "flop_per_byte": derived.flop_per_byte if computes else None,
            "percent_of_roof": derived.percent_of_roof,
            "percent_of_ceiling": derived.percent_of_ceiling,
            "bound": printable(derived.bound) if derived.bound else None,
            "spread": derived.spread,
        }
        return {name: value for name, value in found.items() if value is not None}


def points(run: Run) -> tuple[Point, ...]:
    """Return every measurement whose number may be drawn and compared, in order; the others have no number outside."""
    found = []
    for name, measurement in zip(names(run), run.measurements, strict=True):
        derived = run.derived(measurement) if measurement.drawable else None
        if derived is not None:
            found.append(Point(name=name, measurement=measurement, derived=derived))
    return tuple(found)


def names(run: Run) -> tuple[str, ...]:
    """Return the name of each measurement of a run, in order, no two alike.

    The level is in it only where kernel, n, element type and threads do not tell two points apart.
    """
    keys = [(m.kernel, m.n, m.dtype, m.threads) for m in run.measurements]
    seen = Counter(keys)
    return numbered(
        point_name(*key, level=measurement.level if seen[key] > 1 else "")
        for key, measurement in zip(keys, run.measurements, strict=True)
    )


def point_name(kernel: str, n: int | None, dtype: str, threads: int, level: str = "") -> str:
    """Return what a point is called outside, e.g. `gemm.blocked[n=2048,f64,t=2]`, or `...,t=2,L2]` with a level."""
    parts = (
        None if n is None else f"n={n}",
        elided(printable(dtype), LONGEST_PART),
        f"t={threads}",
        elided(printable(level), LONGEST_PART) or None,
    )
    shown = ",".join(part for part in parts if part is not None)
    return f"{elided(printable(kernel).strip(), LONGEST_KERNEL)}[{shown}]"


def name_of_words(words: str) -> str:
    """Return the name of a point that is told in words (`gemm.naive n=384 f64 ×2`); other words stay what they are."""
    told = _IN_WORDS.fullmatch(words)
    if told is None:
        return elided(printable(words), LONGEST_KERNEL)
    n = None if told["n"] is None else int(told["n"])
    return point_name(told["kernel"], n, told["dtype"], int(told["threads"]), told["level"] or "")


def family_of(kernel: str) -> str:
    """Return the family of a kernel, printable, without white space and not empty."""
    return elided(printable(kernel.partition(".")[0]), LONGEST_PART).replace(" ", "_") or "kernel"


def numbered(names: Iterable[str]) -> tuple[str, ...]:
    """Return the names, with ` #2` and so on behind one that was there before."""
    found: dict[str, None] = {}
    for name in names:
        own, count = name, 1
        while own in found:
            count += 1
            own = f"{name} #{count}"
        found[own] = None
    return tuple(found)


def run_facts(run: Run) -> dict[str, str]:
    """Return what identifies a run and its conditions, as printable texts that are not empty."""
    machine, environment = run.machine, run.environment
    found = {
        "run": run.id,
        "label": run.label,
        "started_utc": run.started_utc,
        "revision": run.revision,
        "machine": machine.key,
        "cpu_model": machine.cpu_model,
        "microarchitecture": machine.microarchitecture,
        "arch": machine.arch,
        "system": machine.system,
        "virtualisation": machine.virtualisation,
        "python": environment.python,
        "numba": environment.numba,
        "llvm": environment.llvm,
        "numpy": environment.numpy,
        "grade": grade_of(run).letter,
    }
    texts = {name: elided(printable(text.strip()), LONGEST_KERNEL) for name, text in found.items() if text}
    return {name: text for name, text in texts.items() if text}
