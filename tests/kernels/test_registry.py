from __future__ import annotations

from types import ModuleType

import pytest

from roofline.errors import UnknownName, UsageError
from roofline.kernels.kernel import kernel
from roofline.kernels.registry import all_kernels, kernel_named, kernels_in, select
from roofline.model.work import Work


def module_with(name: str, **kernels) -> ModuleType:
    module = ModuleType(name)
    vars(module).update(kernels)
    for declared in kernels.values():
        declared.body.__module__ = name
    return module


def declare(short: str):
    def body(a):
        """a[i] = a[i]"""

    return kernel(
        family="test",
        name=short,
        work=lambda n, size: Work(flops=0, read_bytes=0, write_bytes=0),
        arguments=lambda n, dtype, rng: (rng.random(n, dtype),),
        reference=lambda a: a,
    )(body)


def test_the_suite_has_its_kernels_family_by_family_from_the_bottom_up():
    built_in = [
        "stream.copy",
        "stream.scale",
        "stream.add",
        "stream.triad",
        "blas.axpy",
        "blas.dot",
        "gemv.naive",
        "gemv.blocked",
        "gemv.blas",
        "gemm.naive",
        "gemm.interchanged",
        "gemm.blocked",
        "gemm.blas",
    ]
    assert [name for name in all_kernels() if name in built_in] == built_in


def test_only_the_stream_family_runs_in_every_level():
    assert {known.family for known in all_kernels().values() if known.levels} == {"stream"}


def test_an_improved_kernel_shares_work_data_and_reference_or_brings_all_three():
    known = all_kernels()
    for better in known.values():
        if better.improves:
            plain = known[better.improves]
            assert better.family == plain.family
            shared = [getattr(better, part) is getattr(plain, part) for part in ("work", "arguments", "reference")]
            # the same job on data of another kind: quantised weights
            other_data = better.family == "quantised" and not any(shared)
            other_order = better.name == "gemv.columns" and shared == [True, False, True]
            assert all(shared) or other_data or other_order, better.name


def test_a_kernel_is_found_by_its_full_name():
    assert kernel_named("gemm.blocked").name == "gemm.blocked"


def test_an_unknown_kernel_says_the_nearest_and_how_to_list_them():
    with pytest.raises(UnknownName, match=r"did you mean 'stream\.triad'.*python -m bench list kernels"):
        kernel_named("stream.traid")


@pytest.mark.parametrize(
    ("patterns", "names"),
    [
        (["gemv"], ["gemv.naive", "gemv.columns", "gemv.blocked", "gemv.parallel", "gemv.blas"]),
        (["gem?.naive"], ["gemv.naive", "gemm.naive"]),
        (["gemm.bl*", "stream.add"], ["stream.add", "gemm.blocked", "gemm.blas"]),
        (["stream.cop[xy]", "stream.copy"], ["stream.copy"]),
        (["blas"], ["blas.axpy", "blas.dot"]),
    ],
)
def test_patterns_select_in_the_order_of_the_registry_each_once(patterns: list[str], names: list[str]):
    assert [known.name for known in select(patterns)] == names


def test_no_pattern_selects_all():
    assert select([]) == tuple(all_kernels().values())


def test_a_pattern_that_fits_nothing_is_refused_even_beside_one_that_does():
    with pytest.raises(UnknownName, match=r"unknown kernel 'gem'; did you mean .*bench list kernels"):
        select(["stream", "gem"])


def test_capitals_do_not_fit():
    with pytest.raises(UnknownName):
        select(["GEMM"])


def test_patterns_can_select_from_other_kernels():
    mine = kernels_in([module_with("mine", one=declare("one"), two=declare("two"))])
    assert [known.name for known in select(["test.t*"], mine)] == ["test.two"]


def test_two_kernels_of_one_name_are_refused_with_where_they_are():
    first = module_with("first", same=declare("same"))
    second = module_with("second", same=declare("same"))
    with pytest.raises(UsageError, match=r"two kernels are called test\.same: in first and in second"):
        kernels_in([first, second])


def test_a_kernel_that_a_module_only_imported_is_not_declared_there():
    borrower = module_with("borrower", own=declare("own"))
    vars(borrower)["naive"] = kernel_named("gemm.naive")
    assert list(kernels_in([borrower])) == ["test.own"]
