"""One name a point, the same in every format."""

from __future__ import annotations

from msgspec.structs import replace
from runs_to_export import hostile_run, sound_run
from small_run import small_run

from roofline.archive.export.point import name_of_words, names, numbered, point_name, points


def test_a_point_is_named_by_kernel_size_element_type_and_threads() -> None:
    measurement = replace(small_run().measurements[0], kernel="gemm.blocked", n=2048, dtype="f64", threads=2)
    assert names(replace(small_run(), measurements=(measurement,))) == ("gemm.blocked[n=2048,f64,t=2]",)


def test_the_level_is_in_the_name_only_where_the_size_does_not_tell_two_points_apart() -> None:
    one = replace(small_run().measurements[0], kernel="stream.copy", n=64, level="L1")
    others = (replace(one, level="L2"), replace(one, n=128))
    assert names(replace(small_run(), measurements=(one, *others))) == (
        "stream.copy[n=64,f64,t=1,L1]",
        "stream.copy[n=64,f64,t=1,L2]",
        "stream.copy[n=128,f64,t=1]",
    )


def test_names_are_printable_short_and_unlike_each_other() -> None:
    found = names(hostile_run())
    assert len(set(found)) == len(found)
    assert all(name.isprintable() and name == name.strip() and len(name) <= 1024 for name in found)


def test_a_name_that_was_there_gets_a_number_that_was_not() -> None:
    assert numbered(["a", "a", "a #2", "a"]) == ("a", "a #2", "a #2 #2", "a #3")


def test_words_become_the_name_that_the_point_has_when_it_is_measured() -> None:
    assert name_of_words("gemm.naive n=384 f64 ×2") == point_name("gemm.naive", 384, "f64", 2)
    assert name_of_words("gemm.naive in L2 f64 ×2") == "gemm.naive[f64,t=2,L2]"
    assert name_of_words("avx512 fma f64 ×1") == "avx512 fma f64 ×1"


def test_what_may_not_be_drawn_is_no_point() -> None:
    run = sound_run()
    spoiled = (replace(run.measurements[0], status="above_roof"), *run.measurements[1:])
    assert len(points(replace(run, measurements=spoiled))) == len(run.measurements) - 1
