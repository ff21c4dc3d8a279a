"""What is seen of the data: tiny arrays with each defect, and without."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from roofline.errors import UsageError
from roofline.kernels.kernel import Kernel, kernel
from roofline.measurement.buffers import Arena, array_offsets
from roofline.measurement.data_evidence import data_evidence, mapped_shares, node_shares
from roofline.measurement.subject import prepare
from roofline.measurement.team import Team
from roofline.model.evidence import Evidence
from roofline.model.judging import Circumstances, aliases, verdict_of
from roofline.model.work import Work

RNG = np.random.default_rng(1)
SMAPS = Path("/proc/self/smaps")


def codes(*inputs: np.ndarray, outputs: tuple[np.ndarray, ...] = ()) -> tuple[str, ...]:
    """Return what makes a measurement on these arrays invalid."""
    evidence = Evidence(data=data_evidence(inputs, outputs))
    return verdict_of(evidence, Circumstances(samples=1, threads=1)).invalid


@pytest.mark.twin("ZERODATA", "DENORM", "NONFINITE")
@pytest.mark.parametrize("dtype", ["f8", "f4", "i1"])
@pytest.mark.parametrize("size", [8, 1000, 100_003, 3_000_000])
def test_random_data_is_sound(dtype: str, size: int) -> None:
    data = RNG.integers(-128, 128, size).astype("i1") if dtype == "i1" else RNG.random(size).astype(dtype) + 0.5
    assert codes(data) == ()


@pytest.mark.canary("ZERODATA")
@pytest.mark.parametrize("value", [0.0, 0.5])
def test_one_value_everywhere_is_no_data(value: float) -> None:
    assert codes(np.full(10_000, value)) == ("ZERODATA",)
    assert codes(RNG.random(10_000), np.full(100_000, value)) == ("ZERODATA",)


def test_a_repeated_piece_is_no_data_either_but_indices_may_repeat() -> None:
    assert codes(np.tile(RNG.random(64), 500)) == ("ZERODATA",)
    assert codes(np.zeros(100_000, np.int32)) == ()


@pytest.mark.canary("DENORM")
@pytest.mark.parametrize(("dtype", "tiny"), [("f8", 1e-310), ("f4", 1e-40)])
def test_one_subnormal_number_is_found_in_inputs_and_outputs(dtype: str, tiny: float) -> None:
    data = RNG.random(5000).astype(dtype) + np.dtype(dtype).type(0.5)
    decayed = data.copy()
    decayed[1234] = tiny
    assert codes(decayed) == codes(data, outputs=(decayed,)) == ("DENORM",)


@pytest.mark.canary("NONFINITE")
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_number_that_is_none_is_found(value: float) -> None:
    data = RNG.random(5000)
    data[4999] = value
    assert codes(data) == ("NONFINITE",)


def test_fortran_order_strides_and_empty_arrays_can_be_looked_at() -> None:
    assert codes(np.asfortranarray(RNG.random((300, 200))), RNG.random((50, 60))[::2, ::3], np.empty(0)) == ()


@pytest.mark.canary("ZEROPAGE")
def test_memory_that_was_only_read_is_found() -> None:
    if mapped_shares([written_arena().bytes], SMAPS)[0] is None:
        pytest.skip("the system keeps no books of a process's memory")
    arena = Arena(8 * 2**20)
    data = arena.bytes.view(np.float64)
    assert data.sum() == 0.0  # reads every page, and all of them are one
    assert "ZEROPAGE" in codes(data)


@pytest.mark.twin("ZEROPAGE")
def test_memory_that_was_written_is_its_own() -> None:
    assert codes(written_arena().bytes.view(np.float64)) == ()


def written_arena() -> Arena:
    arena = Arena(8 * 2**20)
    arena.fill(7)
    return arena


@pytest.mark.canary("THP")
@pytest.mark.twin("THP")
def test_shares_of_huge_pages_are_read_from_the_systems_books(tmp_path: Path) -> None:
    data = np.ones(2**20 // 8)
    start = int(data.ctypes.data)
    books = tmp_path / "smaps"
    text = "{:x}-{:x} rw-p 0 00:00 0\nRss:  {} kB\nAnonHugePages: {} kB\nffff0000-ffff1000 r 0\nRss: 9 kB\n"
    books.write_text(text.format(start - 4096, start + 2**20 + 4096, 1024, 512))
    assert mapped_shares([data], books) == (1.0, 0.5)
    books.write_text(text.format(start - 4096, start + 2**20 + 4096, 256, 0))
    assert mapped_shares([data], books) == (0.25, 0.0)


@pytest.mark.parametrize("text", ["", "garbage", "ffffffffffffffffff-0 rw\nRss: x kB\n", "\0\r\n"])
def test_garbage_in_the_books_is_unknown(tmp_path: Path, text: str) -> None:
    books = tmp_path / "smaps"
    books.write_text(text)
    assert mapped_shares([np.ones(2**18)], books) == (None, None)
    assert mapped_shares([np.ones(2**18)], tmp_path / "none") == (None, None)


@pytest.mark.twin("ALIAS4K")
@pytest.mark.parametrize("arrays", [2, 3, 4])
@pytest.mark.parametrize("size_bytes", [4096, 5000, 2**20])
def test_buffers_are_placed_so_that_no_load_seems_to_follow_a_store(arrays: int, size_bytes: int) -> None:
    offsets = [offset % 4096 for offset in array_offsets(size_bytes, arrays)]
    for written in range(arrays):  # whichever of them is written
        others = [offset for place, offset in enumerate(offsets) if place != written]
        assert not aliases([*others, offsets[written]], 1)


def kernel_with(arguments: Any) -> Kernel:
    @kernel(
        family="test",
        work=lambda n, size: Work(flops=n, read_bytes=n * size, write_bytes=n * size, allocate_bytes=n * size),
        arguments=arguments,
        reference=lambda b, a: a + 1,
        compiled=False,
    )
    def plus_one(b, a):  # type: ignore[no-untyped-def]
        """b = a + 1"""
        b[:] = a + 1

    return plus_one


def overlapping(n: int, dtype: Any, rng: Any) -> tuple[Any, ...]:
    a = rng.random(n + 1).astype(dtype)
    return a[1:], a[:-1]


@pytest.mark.canary("ALIAS")
def test_an_output_that_overlaps_an_input_is_refused_before_anything_is_timed() -> None:
    with Team((), 1) as team, pytest.raises(UsageError, match=r"ALIAS: test\.plus_one gets arguments 0 and 1"):
        prepare(kernel_with(overlapping), 100, "f64", team, 1)


@pytest.mark.twin("ALIAS")
def test_arguments_in_memory_of_their_own_are_measured() -> None:
    apart = kernel_with(lambda n, dtype, rng: (np.empty(n, dtype), rng.random(n).astype(dtype)))
    with Team((), 1) as team:
        assert prepare(apart, 100, "f64", team, 1).error == 0.0


@pytest.mark.canary("FIRSTTOUCH")
def test_pages_on_the_nodes_are_counted_from_the_systems_books(tmp_path: Path) -> None:
    data = np.ones(1000)
    start = int(data.ctypes.data)
    maps = tmp_path / "numa_maps"
    maps.write_text(
        f"{start - 8192:x} default anon=600 dirty=600 N0=450 N1=150 kernelpagesize_kB=4\n"
        f"{start + 2**30:x} default anon=9 N1=9\n0fff default file=/x N7=1\ngarbage N1=5\n"
    )
    assert node_shares([data], maps) == {"0": 0.75, "1": 0.25}
    seen = data_evidence([data], [], smaps=tmp_path / "smaps", thread_nodes=(0, 0, 1, 1))
    assert (seen.node_shares, seen.thread_shares) == ({"0": 0.75, "1": 0.25}, {"0": 0.5, "1": 0.5})
    assert node_shares([data], tmp_path / "none") == {}


@pytest.mark.canary("SETCONF")
def test_the_distance_of_rows_is_seen() -> None:
    assert data_evidence([RNG.random((64, 512)), RNG.random((3, 512)), RNG.random(9)], []).row_bytes == (4096,)
