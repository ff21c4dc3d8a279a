"""What a job measures: the plan that was typed, else the kernels that its rules name, else the quick suite."""

from __future__ import annotations

from collections.abc import Sequence

from bench.cli.request import Request
from bench.modes import MODES
from roofline.compare.rule import Rule
from roofline.compare.selector import Selector
from roofline.errors import UsageError

NAMED = ("quick", "all", "thorough")
"""Plans that have a name; any other is a list of kernels."""


def request_for(plan: str | None, rules: Sequence[Rule]) -> Request:
    """Return what is to be measured; `plan` is one of NAMED, or patterns of kernels with commas between them.

    Raises UsageError for a list of kernels that names nothing.
    """
    if plan is None:
        return _of_rules([points for rule in rules for points in (rule.points, rule.other) if points is not None])
    if plan.strip() in NAMED:
        return Request(mode=plan.strip(), draw=True)
    patterns = tuple(word.strip() for word in plan.split(","))
    if not all(patterns):
        raise UsageError(
            f"--plan {plan!r} names nothing between its commas; expected {', '.join(NAMED)} or kernels, as in "
            "gemm.*,stream.triad"
        )
    return Request(mode="run", patterns=patterns, draw=True)


def _of_rules(meant: Sequence[Selector]) -> Request:
    """Return a request for what these mean: a `*` alone is the quick suite, and no promise to measure every kernel.

    Thread counts and dtypes are those that are named where all name one. So are sizes; where only some do, each kernel
    has its own, for one size fits no two families.
    """
    patterns: dict[str, None] = {}
    for points in meant:
        patterns |= dict.fromkeys([points.pattern] if points.pattern.strip("*") else MODES["quick"].kernels)
    narrow = any(points.pattern.strip("*") for points in meant)
    threads, dtypes = [_word(points.threads) for points in meant], [points.dtype for points in meant]
    sizes = [_word(points.n) for points in meant]
    return Request(
        mode="run" if narrow else "quick",
        patterns=tuple(patterns) if narrow else ("*",),
        threads=_joined(threads, Request.threads),
        dtypes=_joined(dtypes, Request.dtypes),
        sizes=None if None in sizes or not sizes else _joined(sizes, ""),
        draw=True,
    )


def _word(number: int | None) -> str | None:
    return None if number is None else str(number)


def _joined(words: Sequence[str | None], default: str) -> str:
    """Return the words that are given, each once; `default` stands for those that are not, and for none."""
    given = [word or default for word in words] or [default]
    return ",".join(dict.fromkeys(",".join(given).split(",")))
