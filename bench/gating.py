"""A gate as the commands make it: which rules, which baseline, and what became of a run before them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.settings import Settings
from roofline.archive.baselines import baseline_file, baselines
from roofline.archive.store import find, load
from roofline.compare.gate import exit_code, judge, needs_baseline
from roofline.compare.rule import Rule, parse_rule
from roofline.errors import UnknownName, UsageError
from roofline.model.outcome import Outcome
from roofline.model.run import Run

PASS = "pass"


@dataclass(frozen=True)
class Judged:
    """What became of a run."""

    run: Run
    baseline: Run | None
    """What it was held against; None where no rule asks for that."""
    outcomes: tuple[Outcome, ...]
    on_inconclusive: str
    """One of `roofline.compare.gate.ON_INCONCLUSIVE`."""

    @property
    def exit_code(self) -> int:
        """How the program ends."""
        return exit_code(self.outcomes, self.on_inconclusive)


def rules_of(texts: Sequence[str], settings: Settings) -> tuple[Rule, ...]:
    """Return the rules that were typed, else those of the settings. Raises UsageError when there is none."""
    if texts:
        return tuple(map(parse_rule, texts))
    rules = []
    for place, text in enumerate(settings.gate):
        try:
            rules.append(parse_rule(text))
        except UsageError as error:
            raise UsageError(f"{settings.source}: [tool.bench] gate[{place}]: {error}") from error
    if not rules:
        raise UsageError(
            "there is no rule; type one, as 'gemm.blocked / gemm.naive >= 3', or write `gate` into [tool.bench] of "
            "pyproject.toml; see `python -m bench guide gate`"
        )
    return tuple(rules)


def judged(
    run: Run,
    rules: Sequence[Rule],
    results: Path,
    settings: Settings,
    baseline: str | None = None,
    on_inconclusive: str | None = None,
) -> Judged:
    """Hold a run against the rules; `baseline` and `on_inconclusive`, where given, go before the settings.

    Raises what `judge` raises, and UsageError for a baseline that does not exist or whose run is gone.
    """
    name = baseline or settings.baseline
    held = baseline_run(name, run, results) if name is not None and needs_baseline(rules) else None
    outcomes = judge(run, rules, held)
    return Judged(run, held, outcomes, on_inconclusive or settings.on_inconclusive or PASS)


def baseline_run(name: str, run: Run, results: Path) -> Run:
    """Return the run of a baseline, that of the run's own machine first; or any saved run that is so named."""
    known = [named.baseline.name for named in baselines(results)]
    if name in known:
        return load(baseline_file(name, results, prefer=run.machine.key))
    try:
        path = find(name, results)
    except UnknownName:
        hint = "`python -m bench baseline set NAME` sets one; a saved run may be named too"
        raise UnknownName("baseline", name[:80], known, hint) from None
    return load(path)
