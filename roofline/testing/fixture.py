"""The object behind the fixture `roofline`, through which one test measures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

import pytest

from roofline.errors import MachineBusy, MeasurementError, UnknownName, UsageError
from roofline.host import read_environment
from roofline.model.claim import Claim, claim_of
from roofline.model.isa import DTYPE_BITS
from roofline.plotting.text import elided, printable
from roofline.testing.calls import Calls
from roofline.testing.point import DISABLED, UNFIT, Point, point_of
from roofline.testing.verdict_on import give_up

LONGEST_NAME = 60


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
            with calls.measuring(f"pytest {printable(self._test)}") as (yardstick, hold):
                environment = read_environment()
                measurement = yardstick.measure(prepared, shown, claim, dtype, level)
                beside = hold.caveats()
                others = tuple(f"{caveat.code}: {caveat.message}" for caveat in beside if caveat.code in UNFIT)
                return point_of(
                    measurement,
                    yardstick.ceilings,
                    test=self._test,
                    claim=claim,
                    cpus_used=prepared.cpus_used,
                    unfit=(*others, *calls.unfit(environment, threads)),
                    notes=tuple(f"{caveat.code}: {caveat.message}" for caveat in beside if caveat.code not in UNFIT),
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
    if not isinstance(dtype, str) or dtype not in DTYPE_BITS:
        raise UnknownName("dtype", str(dtype), DTYPE_BITS)
    if type(threads) is not int or threads < 1:
        raise UsageError(f"threads={threads!r} is no number of threads, expected a whole number from 1 on")
    if not isinstance(level, str | None) or not isinstance(name, str | None):
        raise UsageError(f"level={level!r}, name={name!r}: expected texts, e.g. level='L2'")
    own = getattr(function, "__name__", None) or type(function).__name__
    return elided(printable(name or str(own)), LONGEST_NAME)
