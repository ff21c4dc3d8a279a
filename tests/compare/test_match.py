"""Which point belongs to which, and which runs do not belong together."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from small_run import run_at
from two_runs import two_runs

from roofline.compare.match import matched, point_name, refuse_unlike
from roofline.errors import NotComparable, UsageError

BEFORE, AFTER = two_runs(1)
(POINT,) = BEFORE.measurements


def test_points_are_matched_by_kernel_n_dtype_and_threads() -> None:
    others = [replace(POINT, **fields) for fields in ({"kernel": "a.b"}, {"n": 7}, {"dtype": "f32"}, {"threads": 2})]
    faster = replace(POINT, samples_s=(1.0,), digest="other", level="L1", ceiling="another")
    found = matched(replace(BEFORE, measurements=(POINT, *others[:2])), replace(AFTER, measurements=(*others, faster)))
    assert found.pairs == ((POINT, faster), (others[0], others[0]), (others[1], others[1]))
    assert found.only_before == ()
    assert found.only_after == tuple(others[2:])


def test_level_and_variant_tell_points_apart_where_the_rest_repeats() -> None:
    near, far = (replace(POINT, level=level) for level in ("L1", "L3"))
    shared = replace(POINT, level="L1", variant="parallel")
    found = matched(replace(BEFORE, measurements=(near, far)), replace(AFTER, measurements=(far, shared, near)))
    assert found.pairs == ((near, near), (far, far))
    assert found.only_after == (shared,)


def test_what_is_the_same_in_everything_is_matched_in_its_order() -> None:
    first, second = (replace(POINT, repeats=repeats) for repeats in (1, 2))
    found = matched(replace(BEFORE, measurements=(first, second)), replace(AFTER, measurements=(first,)))
    assert (found.pairs, found.only_before) == (((first, first),), (second,))


def test_a_point_is_named_by_what_identifies_it() -> None:
    assert point_name(POINT) == "gemm.naive n=100 f64 ×1"


def test_runs_under_the_same_conditions_are_not_refused() -> None:
    refuse_unlike(BEFORE, AFTER)
    refuse_unlike(run_at(1), run_at(2))


def test_other_machines_and_conditions_are_refused_by_name() -> None:
    elsewhere = replace(AFTER, machine=replace(AFTER.machine, cores=64))
    with pytest.raises(NotComparable, match=r"machine\.cores: 2 and 64; --across"):
        refuse_unlike(BEFORE, elsewhere)
    otherwise = replace(AFTER, environment=replace(AFTER.environment, numba="0.99.0"))
    with pytest.raises(NotComparable, match=r"environment\.numba: .* and 0\.99\.0"):
        refuse_unlike(BEFORE, otherwise)


def test_a_run_beside_itself_is_refused() -> None:
    with pytest.raises(UsageError, match=f"{BEFORE.id} is the same run twice"):
        refuse_unlike(BEFORE, replace(BEFORE, label="another"))
