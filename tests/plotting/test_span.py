from __future__ import annotations

import pytest
from msgspec.structs import replace

from roofline.model.run import Run
from roofline.plotting.figure.points import points_of
from roofline.plotting.figure.span import Span, span_of, with_common_width

SIZE = {"width_px": 400.0, "least_height_px": 300.0, "most_height_px": 560.0}


def test_a_place_and_its_pixels_are_the_same_place() -> None:
    span = Span(0.01, 100.0, 1e8, 1e12, 400.0, 300.0)
    assert span.pixel(1.0, 1e10) == pytest.approx((200.0, 150.0))
    assert span.value(*span.pixel(3.0, 5e9)) == pytest.approx((3.0, 5e9))


def test_every_point_ridge_and_roof_is_inside(run: Run) -> None:
    compute = [c for c in run.ceilings.compute if (c.dtype, c.threads) == ("f64", 1)]
    memory = [c for c in run.ceilings.memory if c.threads == 1]
    drawn = points_of(run, "f64", [1])[1]
    span = span_of(compute, memory, drawn, **SIZE)
    peak = max(c.flop_per_s for c in compute)
    assert span.bottom < min(c.flop_per_s for c in compute) and peak < span.top
    assert all(span.left < peak / c.byte_per_s < span.right for c in memory)
    for point in drawn:
        assert span.left < point.derived.flop_per_byte < span.right
        assert span.bottom < point.derived.flop_per_s < span.top


def test_a_single_point_gets_two_decades_around_it(run: Run) -> None:
    point = points_of(run, "f64", [1])[1][0]
    span = span_of([], [], [point], **SIZE)
    assert span.right / span.left >= 99.9
    assert span.top / span.bottom >= 99.9
    assert span.left < point.derived.flop_per_byte < span.right


def test_heights_stay_within_their_limits(run: Run) -> None:
    steep = [replace(c, flop_per_s=c.flop_per_s * 10.0 ** (4 * i)) for i, c in enumerate(run.ceilings.compute[:3])]
    assert span_of(steep, [], [], **SIZE).height_px == SIZE["most_height_px"]
    assert span_of(run.ceilings.compute[:1], [], [], **{**SIZE, "least_height_px": 500.0}).height_px == 500.0


def test_panels_below_each_other_share_their_intensities_and_show_at_least_their_own(run: Run) -> None:
    spans = [
        span_of(
            [c for c in run.ceilings.compute if c.threads == threads],
            [],
            points_of(run, "f64", [1, 2])[threads],
            **SIZE,
        )
        for threads in (1, 2)
    ]
    common = with_common_width(spans, SIZE["least_height_px"], SIZE["most_height_px"])
    assert len({(span.left, span.right) for span in common}) == 1
    for own, shared in zip(spans, common, strict=True):
        assert shared.left <= own.left and own.right <= shared.right
        assert shared.bottom <= own.bottom and own.top <= shared.top
