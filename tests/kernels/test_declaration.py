"""What a kernel may declare beyond its work: tiles, work of its own, sizes, dtypes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from roofline.errors import UsageError
from roofline.kernels.capacity import UNKNOWN, Capacity
from roofline.kernels.kernel import kernel
from roofline.model.work import Work

WORK: dict[str, Any] = {
    "work": lambda n, size: Work(flops=n, read_bytes=n * size, write_bytes=n * size, allocate_bytes=n * size),
    "arguments": lambda n, dtype, rng: (rng.random(n, dtype),),
    "reference": lambda a: a,
}


def ordinary(a):
    """a[i] = a[i]"""


def tiled(capacity: Capacity, dtype: str) -> tuple[int, ...]:
    return capacity.first_bytes // {"f64": 8, "f32": 4}[dtype], capacity.threads


def doubled(a, depth, threads):
    """a[i] = 2 a[i]"""


def test_tiles_follow_from_the_capacity_and_are_the_last_arguments():
    known = kernel(family="mine", tiles=tiled, **WORK)(doubled)
    capacity = Capacity(first_bytes=4096, threads=3)
    assert known.tiles_for(capacity, "f64") == (512, 3)
    assert known.named_tiles(capacity, "f64") == {"depth": 512, "threads": 3}
    array, *tiles = known.make_arguments(5, "f32", np.random.default_rng(0), capacity)
    assert array.shape == (5,)
    assert tiles == [1024, 3]
    assert known.make_arguments(5, "f32", np.random.default_rng(0))[1:] == known.tiles_for(UNKNOWN, "f32")


def test_a_kernel_without_tiles_takes_data_only():
    known = kernel(family="mine", **WORK)(ordinary)
    assert known.tiles_for(Capacity(first_bytes=4096), "f64") == ()
    assert known.named_tiles(Capacity(first_bytes=4096), "f64") == {}
    assert len(known.make_arguments(5, "f64", np.random.default_rng(0))) == 1


def test_the_reference_is_given_the_data_without_the_tiles():
    seen: list[tuple[Any, ...]] = []

    def reference(*arguments):
        seen.append(arguments)
        return arguments[0]

    for tiles, body in ((None, ordinary), (tiled, doubled)):
        known = kernel(family="mine", tiles=tiles, **{**WORK, "reference": reference})(body)
        arguments = known.make_arguments(5, "f64", np.random.default_rng(0))
        assert known.expected(arguments) is arguments[0]
        assert seen.pop() == arguments[:1]


def test_a_form_does_the_work_of_the_job_unless_it_declares_its_own():
    job = kernel(family="mine", **WORK)(ordinary)
    heavy = kernel(
        improves=job,
        name="heavy",
        own_work=lambda n, size: Work(flops=3 * n, read_bytes=5 * n * size, write_bytes=n * size),
    )(ordinary)
    assert heavy.work_of(7, "f32") == job.work_of(7, "f32") == job.own_work_of(7, "f32")
    assert heavy.own_work_of(7, "f32") == Work(flops=21, read_bytes=140, write_bytes=28)
    with pytest.raises(UsageError, match="size n is 0"):
        heavy.own_work_of(0, "f64")


def test_a_form_does_not_inherit_the_own_work_or_the_tiles_of_what_it_improves():
    own = WORK["work"]
    heavy = kernel(family="mine", own_work=own, tiles=tiled, serial=False, **WORK)(doubled)
    light = kernel(improves=heavy, name="light")(ordinary)
    assert heavy.own_work is own
    assert (light.own_work, light.tiles, light.serial) == (None, None, True)


def test_own_work_that_is_no_whole_number_is_refused_by_name():
    half = kernel(family="mine", own_work=lambda n, size: Work(flops=n / 2, read_bytes=0, write_bytes=0), **WORK)
    with pytest.raises(UsageError, match=r"mine\.ordinary declares flops = 3\.5 at n=7"):
        half(ordinary).own_work_of(7, "f64")


def test_a_form_has_the_sizes_and_dtypes_of_what_it_improves_unless_it_names_its_own():
    job = kernel(family="mine", sizes=(8, 64), dtypes=("f32", "i8"), **WORK)(ordinary)
    same = kernel(improves=job, name="same")(ordinary)
    other = kernel(improves=job, name="other", sizes=(), dtypes=("f64",))(ordinary)
    assert (same.sizes, same.dtypes) == ((8, 64), ("f32", "i8"))
    assert (other.sizes, other.dtypes) == ((), ("f64",))


def test_a_kernel_is_of_both_float_types_has_no_sizes_and_runs_on_one_thread_by_default():
    known = kernel(family="mine", **WORK)(ordinary)
    assert (known.dtypes, known.sizes, known.serial, known.own_work, known.tiles) == (
        ("f64", "f32"),
        (),
        True,
        None,
        None,
    )
