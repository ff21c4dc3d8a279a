"""Correct first: a kernel whose result is wrong gets no time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from roofline.errors import UsageError, WrongResult
from roofline.kernels.kernel import Kernel
from roofline.model.measurement import MOST_TOLERANCE


def check(
    kernel: Kernel,
    call: Callable[..., Any],
    arguments: tuple[Any, ...],
    n: int,
    dtype: str,
    expected: np.ndarray | None = None,
) -> tuple[float, float]:
    """Run `call` once on copies of `arguments` and return its (scaled error, tolerance).

    The output is what the call returns, or else the first argument; one that is only written is filled with NaN
    before, so that an element that is left out shows. The error is max|x - ref| / max|ref|, the tolerance
    `Kernel.tolerance`; `arguments` are those of size `n` in `dtype` and stay as they are. `expected` is what the
    reference yields for them, by default asked here.
    Raises WrongResult when the error is not within the tolerance (so also for NaN), when the output has
    another shape or dtype than the reference, or when an input has changed.
    """
    first = next(argument for argument in arguments if isinstance(argument, np.ndarray))
    point = f"{kernel.name} n={n} {dtype}"
    copies = tuple(argument.copy("K") if isinstance(argument, np.ndarray) else argument for argument in arguments)
    if kernel.only_writes(n, dtype, first) and copies[0].shape == first.shape:
        poison(copies[0])
    returned = call(*copies)
    output = copies[0] if returned is None else returned
    for position, (copy, original) in enumerate(zip(copies, arguments, strict=True)):
        if copy is not output and not np.array_equal(copy, original, equal_nan=True):
            raise WrongResult(f"{point} changed its input argument {position}; expected it to write only its output")
    expected = np.asarray(kernel.expected(arguments)) if expected is None else expected
    _same_kind(point, output, expected)
    error = scaled_error(np.asarray(output), expected)
    tolerance = kernel.tolerance(n, dtype)
    if tolerance > MOST_TOLERANCE:
        raise UsageError(
            f"{point} would pass with an error of {tolerance:.3g}, expected at most {MOST_TOLERANCE:g}: a result "
            "so far off is none; let `roundings` say how long the longest chain of roundings is"
        )
    ok = error <= tolerance  # in this direction, so that NaN fails
    if not ok:
        raise WrongResult(
            f"{point} is wrong: scaled error {error:.3g}, expected at most {tolerance:.3g}; "
            f"{_first_bad(np.asarray(output), expected, tolerance)}; mend the kernel or its reference"
        )
    return error, tolerance


def poison(output: np.ndarray) -> None:
    """Fill an array with what no right result can hold: NaN, or the least whole number."""
    output.fill(np.nan if output.dtype.kind == "f" else np.iinfo(output.dtype).min)


def scaled_error(output: np.ndarray, expected: np.ndarray) -> float:
    """Return max|output - expected| / max|expected|; NaN or infinity when either is not finite."""
    difference = float(np.max(np.abs(output.astype("f8") - expected)))
    scale = float(np.max(np.abs(expected)))
    return difference / scale if scale else difference


def _same_kind(point: str, output: Any, expected: np.ndarray) -> None:
    shape = np.shape(output)
    if shape != expected.shape:
        raise WrongResult(f"{point} has an output of shape {shape}, expected {expected.shape}; mend the kernel")
    # a compiled function hands Python a float for a scalar of any dtype
    if not isinstance(output, float) or isinstance(output, np.floating):
        dtype = np.asarray(output).dtype
        if dtype != expected.dtype:
            raise WrongResult(
                f"{point} has an output of type {dtype}, expected {expected.dtype}; keep to the dtype of the arguments"
            )


def _first_bad(output: np.ndarray, expected: np.ndarray, tolerance: float) -> str:
    limit = tolerance * float(np.max(np.abs(expected)))
    good = np.abs(output.astype("f8") - expected) <= limit
    index = tuple(int(axis) for axis in np.unravel_index(np.argmin(good), good.shape))
    where = f"[{', '.join(map(str, index))}]" if index else "the result"
    return f"first at {where}: got {output[index]:.9g}, expected {expected[index]:.9g}"
