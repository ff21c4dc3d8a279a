"""The rules of a gate, as they are written and read.

    rule       = floor | ratio | regression
    floor      = points ":" metric (">=" | "<=") number
    ratio      = points "/" points (">=" | "<=") number
    regression = points ":" "regression" "<=" number
    points     = pattern [ "[" condition { "," condition } "]" ]
    pattern    = a kernel or a family, with "*" for anything and "?" for one character
    condition  = dtype | level | "dtype=" dtype | "threads=" count | "t=" count | "n=" size | "level=" level
    metric     = "percent_of_roof" | "percent_of_ceiling" | "gflops" | "gbs" | "time_ms"

Blanks may stand between any two of these. Rates and percentages take `>=`, times `<=`, ratios either; a percentage may
end in `%`. A ratio is one of speeds: how many times as fast the first is as the second.
"""

from __future__ import annotations

import re
from math import isfinite

from roofline.compare.metric import METRICS
from roofline.compare.selector import Selector
from roofline.errors import UnknownName, UsageError
from roofline.model.struct import Value

RATIO, REGRESSION = "ratio", "regression"
_CONDITIONS = ("dtype", "threads", "n", "level")
_SHORT = {"t": "threads"}
"""As an exported point is named, `gemm.blocked[n=2048,f64,t=2,L2]`: that can be pasted into a rule."""
_LEVEL = re.compile(r"L[0-9]+|DRAM")
_PATTERN = re.compile(r"[^\s:/\[\]<>=,]+")
_WORD = re.compile(r"[A-Za-z0-9_.+-]+")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_BLANKS = re.compile(r"\s*")
_SHOWN = 200
"""Characters of a wrong rule that a message repeats."""
_MOST = 2**53


class Rule(Value, frozen=True, kw_only=True):
    """One rule of a gate. `parse_rule` makes it."""

    text: str
    """As its author wrote it."""
    points: Selector
    metric: str
    """A name in METRICS, RATIO or REGRESSION."""
    at_least: bool
    """True for `>=`, False for `<=`."""
    limit: float
    """In `unit`."""
    other: Selector | None = None
    """What a ratio divides by; None for other rules."""

    @property
    def unit(self) -> str:
        """Unit of the limit: `%`, `GFLOP/s`, `GB/s`, `ms`, or empty for a ratio."""
        if self.metric in METRICS:
            return METRICS[self.metric].unit
        return "%" if self.metric == REGRESSION else ""


def parse_rule(text: str) -> Rule:
    """Read one rule; the grammar stands above. Raises UsageError that names the column, from 1, and what is near."""
    reader = _Reader(text, "rule")
    points = reader.points()
    if reader.takes("/"):
        other = reader.points()
        at_least, limit = reader.at_least((">=", "<="), RATIO), reader.number(RATIO)
        return Rule(text=text.strip(), points=points, metric=RATIO, at_least=at_least, limit=limit, other=other)
    if not reader.takes(":"):
        raise reader.error("`:` and a metric, or `/` and another kernel")
    at, name = reader.word("a metric")
    if name != REGRESSION and name not in METRICS:
        raise reader.error_at(at, str(UnknownName("metric", name, [*METRICS, REGRESSION])))
    upwards = name in METRICS and METRICS[name].more_is_better
    at_least = reader.at_least((">=",) if upwards else ("<=",), name)
    limit = reader.number(name)
    return Rule(text=text.strip(), points=points, metric=name, at_least=at_least, limit=limit)


def parse_points(text: str) -> Selector:
    """Read a pattern with its conditions. Raises UsageError that names the column."""
    reader = _Reader(text, "pattern")
    points = reader.points()
    reader.end()
    return points


class _Reader:
    """A text and how far it has been read."""

    def __init__(self, text: str, what: str) -> None:
        self.text = text
        self.what = what
        self.at = 0

    def error(self, expected: str) -> UsageError:
        """Return the error about what stands here."""
        self._skip()
        rest = self.text[self.at : self.at + 20].strip()
        return self.error_at(self.at, f"found {rest!r}, expected {expected}" if rest else f"expected {expected}")

    def error_at(self, at: int, message: str) -> UsageError:
        shown = self.text if len(self.text) <= _SHOWN else f"{self.text[:_SHOWN]}..."
        return UsageError(f"{self.what} {shown!r}, column {at + 1}: {message}; see `python -m bench guide gate`")

    def takes(self, sign: str) -> bool:
        """Read a sign if it is the next one."""
        self._skip()
        if not self.text.startswith(sign, self.at):
            return False
        self.at += len(sign)
        return True

    def word(self, expected: str, kind: re.Pattern[str] = _WORD) -> tuple[int, str]:
        """Read a word; return where it began, too."""
        self._skip()
        found = kind.match(self.text, self.at)
        if found is None:
            raise self.error(expected)
        self.at = found.end()
        return found.start(), found[0]

    def points(self) -> Selector:
        _, pattern = self.word("a kernel or a pattern, as gemm.blocked or gemm.*", _PATTERN)
        wanted: dict[str, str | int] = {}
        if self.takes("["):
            self._condition(wanted)
            while self.takes(","):
                self._condition(wanted)
            if not self.takes("]"):
                raise self.error("`,` or `]`")
        threads, n = wanted.get("threads"), wanted.get("n")
        dtype, level = wanted.get("dtype"), wanted.get("level")
        return Selector(
            pattern=pattern,
            dtype=dtype if isinstance(dtype, str) else None,
            threads=threads if isinstance(threads, int) else None,
            n=n if isinstance(n, int) else None,
            level=level if isinstance(level, str) else None,
        )

    def _condition(self, wanted: dict[str, str | int]) -> None:
        at, name = self.word("a dtype, or one of dtype=, threads=, n=, level=")
        value: str | int
        if self.takes("="):
            name = _SHORT.get(name, name)
            if name not in _CONDITIONS:
                raise self.error_at(at, str(UnknownName("condition", name, _CONDITIONS)))
            value_at, value = self.word(f"a value of {name}")
            if name in ("threads", "n"):
                if not (value.isascii() and value.isdecimal() and len(value) <= 18 and int(value) > 0):
                    raise self.error_at(value_at, f"{name} is {value!r}, expected a whole number from 1")
                value = int(value)
        else:
            name, value = "level" if _LEVEL.fullmatch(name) else "dtype", name
        if name in wanted:
            raise self.error_at(at, f"{name} is given twice; give it once")
        wanted[name] = value

    def at_least(self, signs: tuple[str, ...], metric: str) -> bool:
        for sign in signs:
            if self.takes(sign):
                return sign == ">="
        raise self.error(" or ".join(f"`{sign}`" for sign in signs) + f" after {metric}")

    def number(self, metric: str) -> float:
        """Read the limit and the end."""
        at, found = self.word("a number", _NUMBER)
        limit = float(found)
        least = 0.0 if metric == REGRESSION else 1e-300
        if not isfinite(limit) or not least <= limit <= _MOST:
            wanted = "0 or more" if metric == REGRESSION else "above 0"
            raise self.error_at(at, f"the limit is {found}, expected {wanted}, and no more than 2^53")
        unit = "%" if metric == REGRESSION else METRICS[metric].unit if metric in METRICS else ""
        if unit == "%":
            self.takes("%")
        self.end(f", the limit is a plain number{f' in {unit}' if unit else ''}")
        return limit

    def end(self, hint: str = "") -> None:
        self._skip()
        if self.at < len(self.text):
            raise self.error(f"the end{hint}")

    def _skip(self) -> None:
        found = _BLANKS.match(self.text, self.at)
        assert found is not None  # it fits the empty text too
        self.at = found.end()
