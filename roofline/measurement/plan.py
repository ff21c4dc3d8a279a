"""What a run is to measure, as data: made by `bench/plans.py`, carried to the worker as JSON."""

from __future__ import annotations

from collections.abc import Collection

from roofline.model.struct import Value


class ComputePoint(Value, frozen=True, kw_only=True, tag_field="point", tag="compute"):
    """A compute ceiling to measure."""

    isa: str
    dtype: str
    op: str
    threads: int
    launch: int = 1
    """Which launch of a worker measures it, from 1."""

    @property
    def name(self) -> str:
        """In words, as the ceiling will be called."""
        return f"{self.isa} {self.op} {self.dtype} ×{self.threads}"

    @property
    def code(self) -> str:
        """What has to be compiled for it."""
        return f"{self.isa} {self.op} {self.dtype}"

    @property
    def source(self) -> str:
        """Which function that is a version of: the cache keeps one index for each."""
        return "arithmetic"


class MemoryPoint(Value, frozen=True, kw_only=True, tag_field="point", tag="memory"):
    """A memory ceiling to measure, once the levels are known."""

    level: str
    pattern: str
    isa: str
    threads: int
    launch: int = 1
    """Which launch of a worker measures it, from 1."""

    @property
    def name(self) -> str:
        """In words, as the ceiling will be called."""
        return f"{self.level} {self.pattern} {self.isa} ×{self.threads}"

    @property
    def code(self) -> str:
        """What has to be compiled for it."""
        return f"{self.isa} {self.pattern}"

    @property
    def source(self) -> str:
        """Which function that is a version of."""
        return "stream"


class SweepPoints(Value, frozen=True, kw_only=True, tag_field="point", tag="sweep"):
    """The sweep of load bandwidth over working sets, from which the levels are found."""

    sizes: int = 40
    launch: int = 1
    """The first: the levels must be known before memory ceilings are measured."""

    @property
    def name(self) -> str:
        """In words."""
        return "working sets: which memory levels there are"

    @property
    def code(self) -> str:
        """What has to be compiled for it."""
        return "sweep"

    @property
    def source(self) -> str:
        """Which function that is a version of."""
        return "stream"


class KernelPoint(Value, frozen=True, kw_only=True, tag_field="point", tag="kernel"):
    """A kernel to measure, at a size n or in a memory level."""

    kernel: str
    dtype: str
    threads: int
    n: int | None = None
    level: str | None = None
    """When given, n follows: the largest whose footprint fits the level's working set."""
    launch: int = 1
    """The last one of the ceilings: kernels are held against all of them."""

    @property
    def name(self) -> str:
        """In words, e.g. `gemm.naive n=384 f64 ×2`."""
        where = f"n={self.n}" if self.n is not None else f"in {self.level}"
        return f"{self.kernel} {where} {self.dtype} ×{self.threads}"

    @property
    def code(self) -> str:
        """What has to be compiled for it."""
        return f"{self.kernel} {self.dtype} {'parallel' if self.threads > 1 else 'serial'}"

    @property
    def source(self) -> str:
        """Which function that is a version of."""
        return self.kernel


WEIGHTS = {SweepPoints: 12.0, ComputePoint: 1.0, MemoryPoint: 1.0, KernelPoint: 3.0}
"""Share of the budget that each kind of point gets, relative to a compute ceiling."""

OVERHEADS_S = {SweepPoints: 0.0, ComputePoint: 0.02, MemoryPoint: 0.07, KernelPoint: 0.16}
"""What each kind of point takes beside its samples: loading code, writing and checking data, searching a shape."""
AGAIN_OVERHEADS_S: dict[type[Value], float] = {ComputePoint: 0.01, MemoryPoint: 0.03}
"""The same in later launches, where the shape is known."""
LAUNCH_OVERHEAD_S = 1.5
"""What each launch after the first takes to start."""

Point = SweepPoints | ComputePoint | MemoryPoint | KernelPoint


class Plan(Value, frozen=True, kw_only=True):
    """Everything that one run is to measure, in order, within a budget."""

    mode: str
    """`all`, `quick`, `thorough`, `ceilings`, `run`: for the record."""
    budget_s: float
    """Wall time that measuring may take, compilation aside; each point gets a share."""
    threads: tuple[int, ...]
    """Thread counts, ascending."""
    cpus: tuple[int, ...]
    """Logical CPUs to pin to, one per thread of the largest count; empty where threads cannot be pinned."""
    dtypes: tuple[str, ...]
    isas: tuple[str, ...]
    """Names of the ISA rows to use, narrowest first."""
    points: tuple[Point, ...]
    memory_budget_bytes: int | None = None
    """What all buffers together may take; None when unknown."""
    files: tuple[str, ...] = ()
    """A user's files of kernels, which workers load."""
    sources: tuple[str, ...] = ()
    """The user's Python files that loading those has loaded, themselves among them."""
    seed: int = 0
    """Of the order of the points and the places of the buffers."""

    def overhead_s(self, first: int = 0) -> float:
        """Return what the points from `first` on take beside their samples."""
        points = self.points[first:]
        launches = len({point.launch for point in points if point.launch > 1})
        return sum(map(_overhead_s, points)) + launches * LAUNCH_OVERHEAD_S

    def launch_end(self, first: int) -> int:
        """Return the index behind the last of the points from `first` on that one worker measures."""
        launch = self.points[first].launch
        later = (index for index in range(first, len(self.points)) if self.points[index].launch != launch)
        return next(later, len(self.points))

    @property
    def launches(self) -> int:
        """How many workers measure it, if all goes well."""
        return max((point.launch for point in self.points), default=1)

    def weight(self, first: int = 0) -> float:
        """Return the weight of the point at `first` and all after it."""
        return sum(WEIGHTS[type(point)] for point in self.points[first:])


def _overhead_s(point: Point) -> float:
    overheads_s = AGAIN_OVERHEADS_S if point.launch > 1 and type(point) in AGAIN_OVERHEADS_S else OVERHEADS_S
    return overheads_s[type(point)]


def points_by_source(plan: Plan, codes: Collection[str]) -> list[list[Point]]:
    """Return the first point of each of these codes (`Point.code`), those of one source together, in order."""
    firsts: dict[str, Point] = {}
    for point in plan.points:
        if point.code in codes:
            firsts.setdefault(point.code, point)
    together: dict[str, list[Point]] = {}
    for point in firsts.values():
        together.setdefault(point.source, []).append(point)
    return list(together.values())
