"""Annotations: what went wrong, beside the change that did it, as workflow commands of GitHub Actions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from bench.service.judgement import Judgement
from roofline.model.outcome import Outcome
from roofline.model.run import Failure
from roofline.plotting.text import elided, printable

MOST = 10
"""GitHub shows so many errors and so many warnings of a step, and drops the rest without a word."""
POINTS = 5
"""Points that one annotation names."""
TITLE_LENGTH, LINE_LENGTH = 120, 600
"""Longer than anything of the suite's own: only what a hostile file says is ever cut."""
LEVELS = {"failed": "error", "inconclusive": "warning"}
"""How loudly each result of a rule is told; one that passed is not."""


@dataclass(frozen=True)
class Annotation:
    """One box beside a change."""

    level: str
    """`error` or `warning`."""
    title: str
    lines: tuple[str, ...]

    def command(self) -> str:
        """Return the workflow command, one line."""
        title = _in_property(elided(printable(self.title), TITLE_LENGTH))
        message = "\n".join(elided(printable(line), LINE_LENGTH) for line in self.lines)
        return f"::{self.level} title={title}::{_in_message(message)}"


def no_verdict(message: str) -> Annotation:
    """Return the annotation that says why nothing could be judged."""
    return Annotation("error", "Roofline: no verdict", (message,))


def annotations_of(judgement: Judgement, fatal_kinds: Iterable[str]) -> list[Annotation]:
    """Return at most MOST annotations, errors first: one for each rule and result, one for each kind of failure.

    `fatal_kinds` are the kinds of failure that count. What finds no room is counted in the last annotation.
    """
    told = [*_of_error(judgement), *_of_outcomes(judgement.outcomes)]
    told += _of_failures(judgement.run.failures, frozenset(fatal_kinds))
    told.sort(key=lambda annotation: annotation.level != "error")
    if len(told) <= MOST:
        return told
    left_out = told[MOST - 1 :]
    titles = tuple(annotation.title for annotation in left_out)
    more = Annotation(left_out[0].level, f"{len(left_out)} more: all are in the summary", _few(titles))
    return [*told[: MOST - 1], more]


def _of_error(judgement: Judgement) -> Iterator[Annotation]:
    if judgement.error is not None:
        yield no_verdict(str(judgement.error))


def _of_outcomes(outcomes: Iterable[Outcome]) -> Iterator[Annotation]:
    grouped: dict[tuple[str, str], list[str]] = {}
    counts: dict[str, int] = {}
    for outcome in outcomes:
        counts[outcome.rule] = counts.get(outcome.rule, 0) + 1
        if outcome.result in LEVELS:
            grouped.setdefault((outcome.rule, outcome.result), []).append(f"{outcome.point}: {outcome.message}")
    for (rule, result), messages in grouped.items():
        head = f"{len(messages)} of {counts[rule]} points {result}"
        yield Annotation(LEVELS[result], f"Roofline gate: {rule}", (head, *_few(messages)))


def _of_failures(failures: Iterable[Failure], fatal_kinds: frozenset[str]) -> Iterator[Annotation]:
    grouped: dict[str, list[str]] = {}
    for failure in failures:
        if failure.kind in fatal_kinds:
            grouped.setdefault(failure.kind, []).append(f"{failure.point}: {failure.message}")
    for kind, messages in grouped.items():
        yield Annotation("error", f"Roofline: {len(messages)} {kind}", _few(messages))


def _few(lines: tuple[str, ...] | list[str]) -> tuple[str, ...]:
    """Return the lines, of many the first ones and how many there are."""
    if len(lines) <= POINTS:
        return tuple(lines)
    return (*lines[: POINTS - 1], f"and {len(lines) - POINTS + 1} more")


def _in_message(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _in_property(text: str) -> str:
    return _in_message(text).replace(":", "%3A").replace(",", "%2C")
