"""Compute ceilings: independent chains of arithmetic, the best number of them, proved by the assembly."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from roofline.codegen.assembly import assembly_of
from roofline.codegen.audit import audit_arithmetic
from roofline.codegen.dot_audit import audit_dot
from roofline.codegen.loops import flops_per_turn
from roofline.errors import CodegenError
from roofline.kernels.kernel import numpy_type
from roofline.measurement.blocks import CHAIN_TURNS, Intervals, arithmetic_block, dot_block, take
from roofline.measurement.probe import Sampler, Stage, collect, least_of_the_best
from roofline.measurement.sampling import calibrate
from roofline.model.ceilings import Audit, ComputeCeiling
from roofline.model.isa import Isa

CHAINS = (8, 12, 16)
"""Accumulators that the search tries: latency x ports is 8 on most cores (4 x 2) and 16 on the widest (4 x 4)."""
SPARE_REGISTERS = 4
"""Registers that the factor and both signs of the term need beside the accumulators, and one to spare."""

_FACTORS = {"f64": (1 - 2**-20, 2**-20), "f32": (1 - 2**-20, 2**-20), "i8": (57, -39)}
"""Factor and term of the chains, by dtype; see `loops.arithmetic` and `dot.dot_chains`."""


def candidate_chains(isa: Isa) -> tuple[int, ...]:
    """Return the numbers of accumulators that fit the register file."""
    return tuple(chains for chains in CHAINS if chains <= isa.registers - SPARE_REGISTERS)


@cache
def arithmetic_code(isa: Isa, dtype: str, op: str, chains: int) -> tuple[Any, Audit]:
    """Return the compiled block and its proof. Raises CodegenError when the audit refuses it."""
    lanes = isa.lanes(dtype)
    block = dot_block(lanes, chains) if op == "dot" else arithmetic_block(op, lanes, chains, dtype)
    counter = np.zeros(1, np.int64)
    block(counter.ctypes.data, 1, 1, 1, 1, *_factors(dtype), np.zeros((1, 3), np.int64))
    assembly = assembly_of(block)
    if op == "dot":
        return block, audit_dot(assembly, isa, chains)
    return block, audit_arithmetic(assembly, isa, dtype, op, chains)


def _factors(dtype: str) -> tuple[Any, Any]:
    factor, term = _FACTORS[dtype]
    return numpy_type(dtype)(factor), numpy_type(dtype)(term)


class ComputeProbe:
    """Measures compute ceilings and remembers the number of chains that won."""

    def __init__(self, stage: Stage) -> None:
        """`stage` holds the team and the clock."""
        self.stage = stage
        self._chains: dict[tuple[str, str, str], int] = {}

    def measure(
        self, isa: Isa, dtype: str, op: str, threads: int, budget_s: float, chains: int | None = None
    ) -> ComputeCeiling:
        """Return the ceiling of one launch: the best sample with so many `chains`, by default the best number.

        Raises CodegenError when no number of chains passes its audit.
        """
        chains = self._best_chains(isa, dtype, op) if chains is None else chains
        _, audit = arithmetic_code(isa, dtype, op, chains)
        sampler = self.sampler(isa, dtype, op, chains, threads)
        launch = collect(sampler, self.stage, budget_s, ComputeCeiling.flat_within)
        return ComputeCeiling(
            isa=isa.name,
            dtype=dtype,
            op=op,
            threads=threads,
            flop_per_s=0.0,
            flop_per_cycle=0.0,
            clock_hz=0.0,
            chains=chains,
            audited=True,
            audit=audit,
            launches=(launch,),
        ).rederived()

    def sampler(self, isa: Isa, dtype: str, op: str, chains: int, threads: int) -> Sampler:
        """Return calibrated code for this shape. Raises CodegenError when the audit refuses it."""
        block, _ = arithmetic_code(isa, dtype, op, chains)
        team = self.stage.team
        factor, term = _factors(dtype)

        def sample(turns: int, samples: int) -> Intervals:
            def call(_: int, out: np.ndarray) -> None:
                block(team.barrier_address, threads, samples, turns, CHAIN_TURNS, factor, term, out)

            return take(team, threads, samples, call)

        turns = calibrate(lambda count: min(sample(count, 3).samples_s), self.stage.sample_s, first=1000)
        amount = threads * turns * flops_per_turn(op, isa.lanes(dtype), chains)
        return Sampler(lambda samples: sample(turns, samples), amount, threads)

    def _best_chains(self, isa: Isa, dtype: str, op: str) -> int:
        key = (isa.name, dtype, op)
        if key not in self._chains:
            rates: dict[int, float] = {}
            refusals: list[CodegenError] = []
            for chains in candidate_chains(isa):
                try:
                    rates[chains] = self.sampler(isa, dtype, op, chains, 1).best_rate()
                except CodegenError as refusal:
                    refusals.append(refusal)
            if not rates:
                raise refusals[0]
            self._chains[key] = least_of_the_best(rates)
        return self._chains[key]
