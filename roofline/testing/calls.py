"""The calls that tests have measured in one session, and the fixture's object through which they do."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

from roofline.archive.store import find, load
from roofline.errors import MachineBusy, MeasurementError, NotComparable, UnknownName, UsageError
from roofline.host import read_environment, read_machine, usable_cpus
from roofline.host.caveats import CODEGEN_VARIABLES
from roofline.model.claim import Claim, claim_of
from roofline.model.comparable import differences
from roofline.model.grade import grade_of
from roofline.model.isa import DTYPE_BITS
from roofline.model.machine import Environment
from roofline.model.run import Run
from roofline.plotting.text import elided, printable
from roofline.testing.point import DISABLED, Point, Policy, point_of
from roofline.testing.verdict_on import give_up

if TYPE_CHECKING:
    from roofline.measurement.function import Function
    from roofline.measurement.yardstick import Yardstick

LONGEST_NAME = 60


class Calls:
    """What one session of pytest has measured, and what it measures with."""

    def __init__(self, config: pytest.Config) -> None:
        """Read the options; nothing is measured or loaded yet."""
        strict = config.getoption("roofline_strict")
        self.policy = Policy(
            on_inconclusive=config.getini("roofline_on_inconclusive") or ("fail" if strict else "skip"), strict=strict
        )
        self.disabled = _why_disabled(config)
        self.is_worker = hasattr(config, "workerinput")
        self.points: list[Point] = []
        self.archived: Run | None = None
        self.results = config.rootpath / "results"
        self.machine = read_machine()
        self.yardstick: Yardstick | None = None

    def read_archived(self, name: str) -> None:
        """Take ceilings from a saved run. Raises UsageError, ArchiveError, or NotComparable for other conditions."""
        run = load(find(name, self.results))
        here = Run(id="", started_utc="", machine=self.machine, environment=read_environment())
        if apart := differences(run, here):
            raise NotComparable(
                f"the run is of another machine, or of other conditions ({'; '.join(apart)}); measure one here: "
                "python -m bench ceilings"
            )
        self.archived = run

    def obstacle(self, threads: int) -> str:
        """Return what keeps a call on so many threads from being measured here; empty when nothing does."""
        if self.is_worker:
            return (
                "nothing is measured beside other workers of pytest-xdist: they would measure each other; run the tests "
                "of the roof without -n"
            )
        if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
            return "NUMBA_DISABLE_JIT is set: no ceiling can be compiled; unset it"
        if not self.machine.isas:
            return f"no instruction set of this machine ({self.machine.arch}) is known: there is no ceiling"
        cores = len(usable_cpus())
        if threads > cores:
            return f"{threads} threads are asked for, and this process may use {cores} cores"
        try:
            with self._code_cache():
                import roofline.measurement.yardstick  # noqa: F401
        except ImportError as error:
            return f"this system cannot be measured on: {error}"
        return ""

    def prepared(
        self, function: Callable[..., Any], args: Sequence[Any], named: Mapping[str, Any], threads: int
    ) -> Function:
        """Return the function, called once, ready to be timed. Raises what it does."""
        __tracebackhide__ = True
        from roofline.measurement.function import Function

        return Function(function, args, named, threads)

    def _code_cache(self) -> AbstractContextManager[None]:
        from roofline.measurement.cache_folder import suite_code_cache  # loads Numba

        return suite_code_cache(self.machine)

    @contextmanager
    def measuring(self, command: str) -> Iterator[tuple[Yardstick, tuple[str, ...]]]:
        """Hold the machine and lend its yardstick, and what there is to note. Raises MachineBusy."""
        from roofline.measurement.lock import lock_folder, machine_lock
        from roofline.measurement.yardstick import Yardstick

        with self._code_cache(), machine_lock(lock_folder(), command) as hold:
            if self.yardstick is None:
                run = self.archived
                known = {} if run is None else {"ceilings": run.ceilings, "levels": run.levels}
                self.yardstick = Yardstick(self.machine, usable_cpus(), **known)  # type: ignore[arg-type]
            yield self.yardstick, tuple(f"{caveat.code}: {caveat.message}" for caveat in hold.caveats())

    def unfit(self, environment: Environment, threads: int) -> tuple[str, ...]:
        """Return what of the host's conditions leaves no number of a call on so many threads fit for an assertion."""
        found = [
            f"CODEGEN: {name}={environment.variables[name]!r} may change the machine code of the ceilings; unset it"
            for name in sorted(CODEGEN_VARIABLES & environment.variables.keys())
            if name.startswith("NUMBA_")
        ]
        if environment.affinity is None:
            found.append("UNPINNED: the system does not tell which CPUs may be used: threads may move between cores")
        quota = environment.cgroup_cpus
        if quota is not None and quota < threads:
            found.append(f"THROTTLE: the CPU quota is {quota:.3g}, less than {threads} threads need; raise it")
        if self.archived is not None and (grade := grade_of(self.archived)).letter == "D":
            found.append(f"the saved run is of grade D ({grade.meaning}): {'; '.join(grade.reasons[:2])}")
        return tuple(found)

    def close(self) -> None:
        """End the threads that measured."""
        if self.yardstick is not None:
            self.yardstick.__exit__()
            self.yardstick = None


class Roofline:
    """The fixture's object, for one test."""

    def __init__(self, calls: Calls, request: pytest.FixtureRequest) -> None:
        """`request` is the test's."""
        self._calls = calls
        self._request = request

    def __call__(
        self,
        function: Callable[..., Any],
        /,
        *args: Any,
        flops: float | None = None,
        bytes: float | None = None,
        read_bytes: float | None = None,
        write_bytes: float | None = None,
        dtype: str = "f64",
        threads: int = 1,
        level: str | None = None,
        name: str | None = None,
        kwargs: Mapping[str, Any] | None = None,
    ) -> Point:
        """Time `function(*args, **kwargs)` beside the roof that binds it, and return where it stands.

        `flops` and `bytes` are of one call, bytes read plus written; `read_bytes` and `write_bytes` say more. `threads`
        are those that the call uses; `level` is where its data lies, by default the nearest memory level that holds it.
        It is called once first, also where nothing is measured: what it raises comes out. Skips the test where the
        machine cannot be measured on now. Raises UsageError for arguments that mean nothing.
        """
        __tracebackhide__ = True
        claim = claim_of(flops=flops, bytes=bytes, read_bytes=read_bytes, write_bytes=write_bytes)
        shown = _checked(function, dtype, threads, level, name)
        named = dict(kwargs or {})
        calls = self._calls
        if calls.disabled:
            function(*args, **named)
            return self._kept(
                Point(
                    name=shown,
                    test=self._test,
                    dtype=dtype,
                    threads=threads,
                    status=DISABLED,
                    notes=(calls.disabled,),
                    policy=calls.policy,
                )
            )
        return self._kept(self._measured(function, args, named, shown, claim, dtype, threads, level))

    def assert_at_least(self, point: Point, percent_of_roof: float) -> None:
        """Demand so many percent of the roof: the same as `point.assert_at_least`."""
        __tracebackhide__ = True
        point.assert_at_least(percent_of_roof)

    @property
    def _test(self) -> str:
        return str(self._request.node.nodeid)

    def _measured(
        self,
        function: Callable[..., Any],
        args: Sequence[Any],
        named: Mapping[str, Any],
        shown: str,
        claim: Claim,
        dtype: str,
        threads: int,
        level: str | None,
    ) -> Point:
        __tracebackhide__ = True
        calls = self._calls
        if obstacle := calls.obstacle(threads):
            function(*args, **named)
            self._give_up(shown, obstacle)
        prepared = calls.prepared(function, args, named, threads)
        try:
            with calls.measuring(f"pytest {printable(self._test)}") as (yardstick, notes):
                environment = read_environment()
                measurement = yardstick.measure(prepared, shown, claim, dtype, level)
                return point_of(
                    measurement,
                    yardstick.ceilings,
                    test=self._test,
                    claim=claim,
                    cpus_used=prepared.cpus_used,
                    unfit=calls.unfit(environment, threads),
                    notes=notes,
                    policy=calls.policy,
                )
        except MachineBusy as busy:
            self._give_up(shown, str(busy).partition("; wait for it")[0])
        except MeasurementError as error:
            self._give_up(shown, str(error))

    def _kept(self, point: Point) -> Point:
        self._calls.points.append(point)
        if "benchmark" in self._request.fixturenames and point.status != DISABLED:
            benchmark = self._request.getfixturevalue("benchmark")
            if isinstance(extra := getattr(benchmark, "extra_info", None), dict):
                extra.update(
                    percent_of_roof=point.percent_of_roof,
                    gflops=point.gflops,
                    gbs=point.gbs,
                    flop_per_byte=point.flop_per_byte,
                    bound=point.bound,
                    status=point.status,
                )
        return point

    def _give_up(self, shown: str, reason: str) -> NoReturn:
        __tracebackhide__ = True
        give_up(f"{shown}: {reason}", self._calls.policy.strict)


def _checked(function: Any, dtype: Any, threads: Any, level: Any, name: Any) -> str:
    """Return what the call is named. Raises UsageError for arguments that mean nothing."""
    if not callable(function):
        raise UsageError(
            f"{repr(function)[:60]} cannot be called; give the function and its arguments: roofline(fn, x, flops=...)"
        )
    if dtype not in DTYPE_BITS:
        raise UnknownName("dtype", str(dtype), DTYPE_BITS)
    if type(threads) is not int or threads < 1:
        raise UsageError(f"threads={threads!r} is no number of threads, expected a whole number from 1 on")
    if not isinstance(level, str | None) or not isinstance(name, str | None):
        raise UsageError(f"level={level!r}, name={name!r}: expected texts, e.g. level='L2'")
    own = getattr(function, "__name__", None) or type(function).__name__
    return elided(printable(name or str(own)), LONGEST_NAME)


def _why_disabled(config: pytest.Config) -> str:
    """Return what keeps the session from measuring; empty where it measures."""
    if config.getoption("roofline_enable"):
        return ""
    if config.getoption("roofline_disable"):
        return "not measured: --roofline-disable"
    if config.getoption("benchmark_disable", False) and not config.getoption("benchmark_enable", False):
        return "not measured: --benchmark-disable (--roofline-enable measures all the same)"
    return ""


def now_utc() -> str:
    """Return the time as the archive writes it."""
    return f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
