"""Compiling ahead: what a plan needs, into Numba's cache, shared out between workers that run side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from roofline.errors import CodegenError
from roofline.kernels.registry import kernel_named
from roofline.measurement.code_cache import Claims
from roofline.measurement.compute import arithmetic_code, candidate_chains
from roofline.measurement.latency import chase_code
from roofline.measurement.memory import SWEEP_SHAPE, shapes_for, stream_code
from roofline.measurement.message import Began, Request
from roofline.measurement.plan import ComputePoint, KernelPoint, MemoryPoint, Point, SweepPoints, points_by_source
from roofline.measurement.subject import prepare
from roofline.measurement.team import Team
from roofline.model.isa import Isa, isa_named

_COMPILE_N = 8


def compile_claimed(request: Request, team: Team, isas: Sequence[Isa], send: Callable[[Began], None]) -> None:
    """Compile the code that a request names (`compile_only`), as far as no other worker has claimed it.

    All versions of one function are one claim: two processes that wrote to one index would lose entries.
    """
    points = request.plan.points
    claims = Claims(Path(request.claims_folder))
    for number, together in enumerate(points_by_source(request.plan, request.compile_only or ())):
        if not claims.take(number):
            continue
        for point in together:
            send(Began(index=points.index(point)))
            with suppress(Exception):  # measuring will meet the same refusal, and report it with its point
                _compile(point, team, isas)
        claims.finish(number)


def _compile(point: Point, team: Team, isas: Sequence[Isa]) -> None:
    match point:
        case SweepPoints():
            chase_code()
            stream_code(isas[-1], "load", SWEEP_SHAPE)
        case ComputePoint():
            isa = isa_named(point.isa, isas)
            for chains in candidate_chains(isa):
                with suppress(CodegenError):  # as in the search: one shape's refusal is not another's
                    arithmetic_code(isa, point.dtype, point.op, chains)
        case MemoryPoint():
            isa = isa_named(point.isa, isas)
            near = () if point.pattern.startswith("nt_") else shapes_for(isa, point.pattern, far=False)
            for shape in {*near, *shapes_for(isa, point.pattern, far=True)}:
                with suppress(CodegenError):
                    stream_code(isa, point.pattern, shape)
        case KernelPoint():
            prepare(kernel_named(point.kernel), _COMPILE_N, point.dtype, team, point.threads).take(1)
