"""Outcomes that no gate has found."""

from __future__ import annotations

from typing import Any

from roofline.model.outcome import Outcome


def outcome(result: str = "failed", rule: str = "gemm.*: gflops >= 3", **fields: Any) -> Outcome:
    settled = {
        "kernel": "gemm.naive",
        "point": "gemm.naive n=384 f64 ×1",
        "message": "found 2, expected >= 3",
        **fields,
    }
    return Outcome(rule=rule, result=result, limit=3.0, unit="GFLOP/s", **settled)
