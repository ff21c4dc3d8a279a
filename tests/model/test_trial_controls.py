"""What the controls of a trial hold up: all of it."""

from __future__ import annotations

from msgspec.structs import replace
from trial_of import FIVE_PERCENT, SAME, SLOWER, spread, trial_of

from roofline.model.trial_verdict import assay_defect, verdicts_of


def test_without_both_controls_nothing_is_concluded() -> None:
    whole = trial_of({"a": [spread(18, 0.02, FIVE_PERCENT), spread(44, 0.02, FIVE_PERCENT)], "b": [spread(18, 0.02)]})
    for control in (SAME, SLOWER):
        points = tuple(point for point in whole.points if point.name != control)
        trial = replace(whole, points=points, pairs=tuple(pair for pair in whole.pairs if pair.point != control))
        found = verdicts_of(trial)
        assert {verdict.verdict for verdict in found[:2]} == {"inconclusive"}
        assert "the trial has none" in str(assay_defect(trial, found))
