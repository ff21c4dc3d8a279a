from __future__ import annotations

import importlib.util
import subprocess
import sys
from dataclasses import FrozenInstanceError
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roofline.errors import UnknownName, UsageError
from roofline.kernels.digest import digest_of
from roofline.kernels.kernel import kernel
from roofline.kernels.registry import all_kernels, kernel_named
from roofline.model.work import Work

WORK = {
    "work": lambda n, size: Work(flops=n, read_bytes=n * size, write_bytes=n * size, allocate_bytes=n * size),
    "arguments": lambda n, dtype, rng: (rng.random(n, dtype),),
    "reference": lambda a: a,
}

SOURCE = '''
from somewhere import decorate

TILE = 64
OTHER = 1

def inner(x):
    return x + 1

@decorate(
    work=lambda n: n,
)
def body(a):
    """First line."""
    # a comment
    for i in range(0, a.size, TILE):
        a[i] = inner(a[i])
'''


def digest_of_source(folder: Path, text: str, options: Any = ()) -> str:
    """Load `text` as a module and return the digest of its function `body`."""
    path = folder / f"m{len(list(folder.iterdir()))}.py"
    path.write_text(text.replace("from somewhere import decorate", "decorate = lambda **k: lambda f: f"))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return digest_of(module.body, options)


def ordinary(a):
    """a[i] = a[i]"""


def test_a_kernel_takes_its_name_from_the_function_and_its_formula_from_the_docstring():
    known = kernel(family="mine", **WORK)(ordinary)
    assert (known.name, known.family, known.formula) == ("mine.ordinary", "mine", "a[i] = a[i]")
    assert (known.compiled, known.parallel, known.fastmath, known.levels, known.improves) == (
        True,
        False,
        frozenset(),
        False,
        None,
    )


def test_a_kernel_can_be_given_another_name():
    assert kernel(family="mine", name="other", **WORK)(ordinary).name == "mine.other"


def test_a_kernel_cannot_be_changed():
    with pytest.raises(FrozenInstanceError):
        kernel_named("stream.copy").name = "x"  # type: ignore[misc]


def test_a_kernel_without_a_docstring_is_refused():
    def silent(a):
        a[0] = 0

    with pytest.raises(UsageError, match=r"mine\.silent has no docstring"):
        kernel(family="mine", **WORK)(silent)


def test_a_kernel_that_declares_too_little_is_refused():
    with pytest.raises(UsageError, match=r"mine\.ordinary declares no work and no reference"):
        kernel(family="mine", arguments=WORK["arguments"])(ordinary)


@pytest.mark.parametrize(("family", "name"), [("", "x"), ("a.b", "x"), ("a", "x/y"), ("a", "x y")])
def test_a_name_that_would_not_be_a_name_is_refused(family: str, name: str):
    with pytest.raises(UsageError, match="expected letters, digits and underscores"):
        kernel(family=family, name=name, **WORK)(ordinary)


def test_an_unknown_fast_math_flag_is_refused():
    with pytest.raises(UnknownName, match="unknown fast-math flag 'reasoc'; did you mean 'reassoc'"):
        kernel(family="mine", fastmath=["reasoc"], **WORK)(ordinary)


def test_an_unknown_dtype_is_refused():
    with pytest.raises(UnknownName, match="dtype 'f16'"):
        kernel_named("stream.copy").make_arguments(3, "f16", np.random.default_rng(0))


def test_a_size_below_one_is_refused():
    with pytest.raises(UsageError, match="size n is 0"):
        kernel_named("stream.copy").make_arguments(0, "f64", np.random.default_rng(0))
    with pytest.raises(UsageError, match="size n is -1"):
        kernel_named("stream.copy").work_of(-1, "f64")


def test_the_tolerance_grows_with_the_square_root_of_the_chain_and_is_none_for_a_copy():
    dot = kernel_named("blas.dot")
    assert dot.tolerance(100, "f64") == 8 * 10 * np.finfo("f8").eps
    assert dot.tolerance(400, "f32") == pytest.approx(2 * dot.tolerance(100, "f32"))
    assert kernel_named("stream.copy").tolerance(10**6, "f32") == 0


@pytest.mark.parametrize("name", list(all_kernels()))
@settings(max_examples=25, deadline=None, derandomize=True)
@given(
    size_bytes=st.integers(20_000, 2**40), multiple=st.sampled_from([1, 3, 8]), dtype=st.sampled_from(["f64", "f32"])
)
def test_n_for_is_the_largest_multiple_that_fits(name: str, size_bytes: int, multiple: int, dtype: str):
    known = kernel_named(name)
    size_bytes = max(size_bytes, known.work_of(multiple, dtype).footprint_bytes)  # some weights alone take more
    n = known.n_for(size_bytes, dtype, multiple)
    assert n % multiple == 0
    assert known.work_of(n, dtype).footprint_bytes <= size_bytes
    assert known.work_of(n + multiple, dtype).footprint_bytes > size_bytes


def test_a_footprint_that_fits_nothing_is_refused():
    with pytest.raises(UsageError, match=r"gemm\.naive f64 touches 1536 bytes at n=8, which is more than the 1000"):
        kernel_named("gemm.naive").n_for(1000, "f64", 8)


def test_a_footprint_that_does_not_grow_is_refused():
    flat = kernel(
        family="mine",
        work=lambda n, size: Work(flops=n, read_bytes=8, write_bytes=0),
        arguments=WORK["arguments"],
        reference=WORK["reference"],
    )(ordinary)
    with pytest.raises(UsageError, match="does not grow with n"):
        flat.n_for(100, "f64")


def test_digests_tell_all_kernels_apart():
    digests = {known.digest for known in all_kernels().values()}
    assert len(digests) == len(all_kernels())
    assert all(len(digest) == 16 and int(digest, 16) >= 0 for digest in digests)


@pytest.mark.parametrize(
    ("found", "replaced"),
    [
        ("a[i] = inner(a[i])", "a[i] = inner(a[i]) * 1"),
        ("TILE = 64", "TILE = 32"),
        ("return x + 1", "return x + 2"),
        ("def body(a):", "def body(a, b=0):"),
    ],
    ids=["code", "constant", "function it calls", "signature"],
)
def test_the_digest_changes_when_what_runs_changes(tmp_path: Path, found: str, replaced: str):
    assert found in SOURCE
    assert digest_of_source(tmp_path, SOURCE) != digest_of_source(tmp_path, SOURCE.replace(found, replaced))


@pytest.mark.parametrize(
    ("found", "replaced"),
    [
        ("    # a comment\n", "\n    # another\n\n"),
        ('"""First line."""', '"""Another\n\n    text.\n    """'),
        ("work=lambda n: n,", "work=lambda n: n + 1,"),
        ("OTHER = 1", "OTHER = 2\n\n\n"),
    ],
    ids=["comment", "docstring", "declaration", "constant it does not use"],
)
def test_the_digest_stays_when_only_words_or_places_change(tmp_path: Path, found: str, replaced: str):
    assert found in SOURCE
    assert digest_of_source(tmp_path, SOURCE) == digest_of_source(tmp_path, SOURCE.replace(found, replaced))


def test_the_digest_changes_with_the_compile_options(tmp_path: Path):
    assert digest_of_source(tmp_path, SOURCE, ["reassoc"]) != digest_of_source(tmp_path, SOURCE)


def test_a_function_without_a_source_file_has_no_digest():
    room: dict[str, Any] = {}
    exec("def lost(a):\n    return a", room)
    with pytest.raises(UsageError, match="lost has no source"):
        digest_of(room["lost"])


def test_declaring_a_kernel_does_not_load_numba():
    code = "import sys, roofline.kernels.kernel; sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_work_that_is_no_whole_number_is_refused_by_name():
    @kernel(
        family="odd",
        work=lambda n, size: Work(flops=0, read_bytes=n / 2 * size, write_bytes=0),
        arguments=lambda n, dtype, rng: (np.ones(n, dtype),),
        reference=lambda a: a,
    )
    def half(a):
        """nothing"""

    with pytest.raises(UsageError, match=r"odd\.half declares read_bytes = 28\.0 at n=7"):
        half.work_of(7, "f64")
