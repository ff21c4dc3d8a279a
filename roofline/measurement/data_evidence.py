"""What the data of a measurement is like: whether it was written, and whether it is what real data is."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from roofline.measurement.buffers import PAGE_BYTES
from roofline.model.evidence import DataEvidence

LINE_BYTES = 64
MOST_BYTES = 2**20
"""Of larger arrays so many bytes are looked at, in pieces from the first to the last."""
MANY_ROWS = 16
"""Fewer rows, all in one set of a cache, still fit into it."""
_PIECES = 64
_LEAST_MAPPED_BYTES = 2**20
"""Of smaller data the system's books of pages tell nothing that is worth their time."""
_MAPPING = re.compile(r"([0-9a-f]{1,16})-([0-9a-f]{1,16}) ")
_ON_NODE = re.compile(r"\bN([0-9]{1,4})=([0-9]{1,12})")
_COUNTED = re.compile(r"(Rss|AnonHugePages): +([0-9]{1,15}) kB")


def data_evidence(
    inputs: Sequence[np.ndarray],
    outputs: Sequence[np.ndarray],
    smaps: Path = Path("/proc/self/smaps"),
    thread_nodes: Sequence[int] = (),
) -> DataEvidence:
    """Return what is seen of arrays that are read, and of those that are written.

    Inputs are looked at for lines that repeat, as long as they are data and no indices; all for numbers that are not
    normal. `smaps` are the system's books of
    this process's memory (proc(5)); where it has none, shares are None. `thread_nodes` are the NUMA nodes that the
    threads run on, on a machine with several.
    """
    lines = repeated = subnormals = nonfinite = 0
    for array in [array for array in inputs if array.dtype.kind == "f" or array.itemsize == 1]:  # not indices
        for piece in _pieces(array):
            seen, again = _lines(piece)
            lines, repeated = lines + seen, repeated + again
    for array in (*inputs, *outputs):
        if array.dtype.kind == "f":
            tiny = np.finfo(array.dtype).tiny
            for piece in _pieces(array):
                values = np.abs(piece.view(array.dtype))
                subnormals += int(np.count_nonzero((values < tiny) & (values > 0)))
                nonfinite += int(values.size - np.count_nonzero(np.isfinite(values)))
    arrays = (*inputs, *outputs)
    resident, huge = mapped_shares(arrays, smaps) if arrays else (None, None)
    return DataEvidence(
        lines=lines,
        repeated_lines=repeated,
        subnormals=subnormals,
        nonfinite=nonfinite,
        resident_share=resident,
        huge_share=huge,
        node_shares=node_shares(arrays, smaps.with_name("numa_maps")) if len(set(thread_nodes)) else {},
        thread_shares={str(node): thread_nodes.count(node) / len(thread_nodes) for node in sorted(set(thread_nodes))},
        array_bytes=sum(array.nbytes for array in arrays),
        offsets_bytes=tuple(int(array.ctypes.data) % PAGE_BYTES for array in arrays),
        written_arrays=len(outputs),
        row_bytes=tuple(
            abs(int(array.strides[0])) for array in inputs if array.ndim > 1 and array.shape[0] >= MANY_ROWS
        ),
    )


def mapped_shares(arrays: Sequence[np.ndarray], smaps: Path) -> tuple[float | None, float | None]:
    """Return which share of the arrays' mappings has memory of its own, and which share of that is on huge pages.

    A page that was only ever read is the one page of zeros that all processes share, which does not count as resident.
    """
    if sum(array.nbytes for array in arrays) < _LEAST_MAPPED_BYTES:
        return None, None
    try:
        text = smaps.read_text(encoding="ascii", errors="replace")
    except OSError:
        return None, None
    spans = [(int(array.ctypes.data), int(array.ctypes.data) + array.nbytes) for array in arrays]
    size_bytes = resident_bytes = huge_bytes = covered_bytes = 0
    for line in text.splitlines():
        mapping = _MAPPING.match(line)
        if mapping:
            low, high = int(mapping[1], 16), int(mapping[2], 16)
            covered_bytes = sum(max(0, min(high, end) - max(low, start)) for start, end in spans)
            size_bytes += covered_bytes
        elif covered_bytes and (counted := _COUNTED.match(line)):
            # More than the arrays may be mapped around them: their alignment, or memory of others.
            found_bytes = min(int(counted[2]) * 1024, covered_bytes)
            resident_bytes += found_bytes if counted[1] == "Rss" else 0
            huge_bytes += found_bytes if counted[1] == "AnonHugePages" else 0
    if not size_bytes:
        return None, None
    return resident_bytes / size_bytes, huge_bytes / resident_bytes if resident_bytes else 0.0


def node_shares(arrays: Sequence[np.ndarray], numa_maps: Path) -> dict[str, float]:
    """Return which share of the pages of the arrays' mappings lies on each NUMA node, from numa_maps (numa(7)).

    Empty where the system does not tell.
    """
    try:
        lines = numa_maps.read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return {}
    places = []
    for line in lines:
        start, _, rest = line.partition(" ")
        if re.fullmatch("[0-9a-f]{1,16}", start):
            places.append((int(start, 16), {node: int(pages) for node, pages in _ON_NODE.findall(rest)}))
    places.sort(key=lambda place: place[0])
    starts = [start for start, _ in places]
    mappings = {bisect_right(starts, int(array.ctypes.data)) - 1 for array in arrays}
    pages: Counter[str] = Counter()
    for mapping in mappings - {-1}:
        pages.update(places[mapping][1])
    total = sum(pages.values())
    return {node: count / total for node, count in sorted(pages.items())} if total else {}


def _pieces(array: np.ndarray) -> list[np.ndarray]:
    """Return the bytes of an array, of a large one pieces from all over it, in whole cache lines."""
    flat = array.ravel("K").view(np.uint8) if array.flags.forc else np.ascontiguousarray(array).view(np.uint8).ravel()
    if flat.size <= MOST_BYTES:
        return [flat]
    length = MOST_BYTES // _PIECES
    starts = np.linspace(0, flat.size - length, _PIECES).astype(np.int64) // LINE_BYTES * LINE_BYTES
    return [flat[start : start + length] for start in starts]


def _lines(piece: np.ndarray) -> tuple[int, int]:
    """Return how many cache lines a piece has, and how many of them equal another or hold one byte throughout."""
    count = piece.size // LINE_BYTES
    rows = piece[: count * LINE_BYTES].reshape(count, LINE_BYTES)
    keys = np.ascontiguousarray(rows).view(f"V{LINE_BYTES}").ravel()
    distinct = np.unique(keys).size
    return count, count - distinct
