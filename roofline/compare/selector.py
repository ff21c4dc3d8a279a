"""Which points of a run are meant: a pattern of kernels, and what must hold of the point."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from roofline.compare.match import point_name
from roofline.errors import UnknownName, UsageError
from roofline.model.ladder import family_of
from roofline.model.measurement import Measurement
from roofline.model.run import Failure
from roofline.model.struct import Value

_FAILED = re.compile(r"(\S+) (?:n=([0-9]{1,18})|in (\S+)) (\S+) ×([0-9]{1,9})")
"""How a failure names the point of a kernel: `gemm.naive n=384 f64 ×2`, `stream.copy in L2 f64 ×1`."""
_NAMED = 6
"""Points that a message names."""


class FailedPoint(NamedTuple):
    """A point of a kernel that has no number, as its failure names it."""

    kernel: str
    n: int | None
    level: str | None
    dtype: str
    threads: int


def failed_point(failure: Failure) -> FailedPoint | None:
    """Return the kernel's point that failed; None for a ceiling's."""
    found = _FAILED.fullmatch(failure.point)
    if found is None:
        return None
    kernel, n, level, dtype, threads = found.groups()
    return FailedPoint(kernel, int(n) if n else None, level, dtype, int(threads))


class Selector(Value, frozen=True, kw_only=True):
    """A pattern with a filter: `gemm.blocked*[f64, threads=2, n=384, level=L2]`."""

    pattern: str
    """A kernel or a family, with `*` and `?`."""
    dtype: str | None = None
    """Must be equal where it is given, as all that follow."""
    threads: int | None = None
    n: int | None = None
    level: str | None = None

    def __str__(self) -> str:
        """Write it as the grammar has it."""
        named = (("threads", self.threads), ("n", self.n), ("level", self.level))
        wanted = [*filter(None, [self.dtype]), *(f"{name}={value}" for name, value in named if value is not None)]
        return f"{self.pattern}[{', '.join(wanted)}]" if wanted else self.pattern

    @property
    def is_pattern(self) -> bool:
        """True when it may mean several kernels."""
        return "*" in self.pattern or "?" in self.pattern or "." not in self.pattern

    def names(self, kernel: str) -> bool:
        """Return whether the pattern fits a kernel or its family."""
        return any(_expression(self.pattern).fullmatch(name) for name in (kernel, family_of(kernel)))

    def fits(self, measurement: Measurement) -> bool:
        """Return whether a measurement is meant."""
        return (
            self.names(measurement.kernel)
            and self.dtype in (None, measurement.dtype)
            and self.threads in (None, measurement.threads)
            and self.n in (None, measurement.n)
            and self.level in (None, measurement.level)
        )

    def fits_failure(self, failure: Failure) -> bool:
        """Return whether a point that failed is meant, or may be: of its n and its level only one is known."""
        point = failed_point(failure)
        return (
            point is not None
            and self.names(point.kernel)
            and self.dtype in (None, point.dtype)
            and self.threads in (None, point.threads)
            and (self.n is None or point.n in (None, self.n))
            and (self.level is None or point.level in (None, self.level))
        )

    def refuse_nothing(self, where: str, measurements: Iterable[Measurement]) -> None:
        """Raise UsageError that says what is near, for a selector that means none of these; `where` names their run."""
        measurements = tuple(measurements)
        named = [measurement for measurement in measurements if self.names(measurement.kernel)]
        if named:
            there = list(dict.fromkeys(f"{point_name(m)} in {m.level or '?'}" for m in named))
            more = f" and {len(there) - _NAMED} more" if len(there) > _NAMED else ""
            raise UsageError(f"{self} means no point of {where}; it has {', '.join(there[:_NAMED])}{more}")
        kernels = dict.fromkeys(measurement.kernel for measurement in measurements)
        raise UnknownName("kernel", self.pattern, kernels, f"these are in {where}")


@lru_cache(maxsize=256)
def _expression(pattern: str) -> re.Pattern[str]:
    """Return what the pattern means. Not by fnmatch: brackets are a filter here."""
    parts = re.split(r"([*?])", re.sub(r"\*+", "*", pattern))
    return re.compile("".join({"*": ".*", "?": "."}.get(part, re.escape(part)) for part in parts), re.DOTALL)
