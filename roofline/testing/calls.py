"""The calls that tests have measured in one session, and what they are measured with."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from roofline.archive.store import find, load
from roofline.errors import NotComparable
from roofline.host import read_environment, read_machine, usable_cpus
from roofline.model.comparable import differences
from roofline.model.grade import grade_of
from roofline.model.host_caveat import CODEGEN_VARIABLES
from roofline.model.machine import Environment
from roofline.model.run import Run
from roofline.testing.point import Point, Policy

if TYPE_CHECKING:
    from roofline.measurement.function import Function
    from roofline.measurement.lock import Hold
    from roofline.measurement.yardstick import Yardstick


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
        self._process = os.getpid()

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
                "nothing is measured beside other workers of pytest-xdist: they would measure each other; run the "
                "tests of the roof without -n"
            )
        if self.yardstick is not None and self._process != os.getpid():
            return "a process that a test has forked has none of the threads that measure; call it in the test itself"
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
    def measuring(self, command: str) -> Iterator[tuple[Yardstick, Hold]]:
        """Hold the machine and lend its yardstick, and what tells who measured meanwhile. Raises MachineBusy."""
        from roofline.measurement.lock import lock_folder, machine_lock
        from roofline.measurement.yardstick import Yardstick

        with self._code_cache(), machine_lock(lock_folder(), command) as hold:
            if self.yardstick is None:
                run = self.archived
                known = {} if run is None else {"ceilings": run.ceilings, "levels": run.levels}
                self.yardstick = Yardstick(self.machine, usable_cpus(), **known)  # type: ignore[arg-type]
                self._process = os.getpid()
            yield self.yardstick, hold

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
