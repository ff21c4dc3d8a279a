"""Where a series became another, and how seldom one is found that is not there."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roofline.compare.change_points import LEAST_SIDE, change_points


def noise(seed: int, count: int, spread: float = 0.02, tails: bool = False) -> list[float]:
    rng = Random(seed)
    values = [rng.gauss(50, 50 * spread) for _ in range(count)]
    return [v * (1 + rng.expovariate(1)) if tails and rng.random() < 0.05 else v for v in values]


def stepped(seed: int, *parts: tuple[int, float]) -> list[float]:
    """Return noise of 2 %, in parts of so many values around so many times its level."""
    values = iter(noise(seed, sum(count for count, _ in parts)))
    return [next(values) * level for count, level in parts for _ in range(count)]


@pytest.mark.parametrize("tails", [False, True])
def test_in_pure_noise_one_is_found_in_about_one_series_of_a_hundred(tails: bool) -> None:
    found = sum(bool(change_points(noise(seed, 16, tails=tails), seed)) for seed in range(150))
    assert found <= 6  # of 1.5 expected: more is seen once in 1000 times


@pytest.mark.parametrize(
    ("parts", "places"),
    [
        (((10, 1.0), (10, 1.2)), (10,)),
        (((5, 1.0), (15, 1.2)), (5,)),
        (((20, 1.0), (20, 1.2), (20, 1.0)), (20, 40)),
    ],
)
def test_a_step_is_found_where_it_is(parts: tuple[tuple[int, float], ...], places: tuple[int, ...]) -> None:
    found = [change_points(stepped(seed, *parts), seed) for seed in range(3)]
    assert all(set(one) >= set(places) for one in found)
    assert found.count(places) >= 2  # in what lies between, one in a hundred times another is seen


def test_a_change_that_is_soon_taken_back_is_not_found() -> None:
    """What the guide says: no single place divides such a series well."""
    assert change_points(stepped(1, (20, 1.0), (5, 1.2), (20, 1.0))) == ()


def test_one_strange_run_is_no_change() -> None:
    values = noise(1, 20)
    values[9] *= 3
    assert change_points(values) == ()


@pytest.mark.parametrize("values", [(), (1.0,), (5.0,) * 30, (1.0, 2.0) * 3, (0.0,) * 12])
def test_too_few_values_and_values_without_any_difference_have_none(values: tuple[float, ...]) -> None:
    assert change_points(values) == ()


def test_a_change_needs_ten_values_and_four_on_each_side() -> None:
    assert LEAST_SIDE == 4
    assert change_points((1.0,) * 4 + (2.0,) * 4) == ()  # 1 of 35 divisions is not rare enough
    assert (5,) in [change_points((1.0,) * 5 + (2.0,) * 5, seed) for seed in range(5)]  # 1 of 126 is
    assert change_points((1.0,) * 6 + (2.0,) * 6) == (6,)


@pytest.mark.parametrize("behind", [2, 3, 4, 5])
def test_a_change_is_told_at_its_place_or_not_yet(behind: int) -> None:
    for seed in (0, 1):
        later = change_points(stepped(seed, (20, 1.0), (behind, 1.3)), seed)
        earlier = change_points(stepped(seed, (behind, 1.0), (20, 1.3)), seed)
        assert later == ((20,) if behind >= LEAST_SIDE else ())
        assert earlier == ((behind,) if behind >= LEAST_SIDE else ())


def test_a_long_series_is_looked_at_in_its_newest_values() -> None:
    old_step = (1.0,) * 20 + (2.0,) * 480
    assert change_points(old_step) == ()
    assert change_points((1.0,) * 480 + (2.0,) * 20) == (480,)


@settings(max_examples=25, derandomize=True, deadline=None)
@given(st.lists(st.floats(1, 100), min_size=8, max_size=24), st.integers(0, 2**32), st.sampled_from((0.125, 2.0, 64.0)))
def test_the_unit_decides_nothing_and_places_leave_room(values: list[float], seed: int, unit: float) -> None:
    found = change_points(values, seed)
    assert found == change_points(values, seed)
    edges = (0, *found, len(values))
    assert all(after - before >= LEAST_SIDE for before, after in pairwise(edges))
    assert change_points([unit * value for value in values], seed) == found
