"""Correct first: a kernel whose result is wrong gets no time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from roofline.errors import UsageError, WrongResult
from roofline.kernels.kernel import Kernel
from roofline.model.measurement import MOST_TOLERANCE


@dataclass(frozen=True)
class Expected:
    """What a right call yields, and what its rounding errors are measured by."""

    values: np.ndarray
    magnitudes: np.ndarray | None = None
    """For each value, what its terms add up to without their signs; None where |value| says it."""

    @property
    def scale(self) -> np.ndarray:
        """What the error of each element is divided by."""
        sizes: np.ndarray = np.abs(self.values.astype("f8"))
        return sizes if self.magnitudes is None else np.maximum(sizes, self.magnitudes)


def expected_of(kernel: Kernel, arguments: tuple[Any, ...]) -> Expected:
    """Return what the reference yields for these arguments. Raises UsageError for magnitudes of another shape."""
    values = np.asarray(kernel.expected(arguments))
    magnitudes = kernel.magnitudes(arguments)
    if magnitudes is not None and magnitudes.shape != values.shape:
        raise UsageError(
            f"magnitude() of {kernel.name} has the shape {magnitudes.shape}, expected that of its result, "
            f"{values.shape}; mend its declaration"
        )
    return Expected(values, magnitudes)


def check(
    kernel: Kernel,
    call: Callable[..., Any],
    arguments: tuple[Any, ...],
    n: int,
    dtype: str,
    expected: Expected | None = None,
) -> tuple[float, float]:
    """Run `call` once on copies of `arguments` and return its (scaled error, tolerance).

    The output is what the call returns, or else the first argument; one that is only written is filled with NaN
    before, so that an element that is left out shows. The error is that of `scaled_error`, the tolerance
    `Kernel.tolerance`; `arguments` are those of size `n` in `dtype` and stay as they are. `expected` is what is
    right for them, by default asked here.
    Raises WrongResult when the error is not within the tolerance (so also for NaN), when the output has
    another shape or dtype than the reference, or when an input has changed; UsageError when the declaration would
    let anything pass.
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
    expected = expected_of(kernel, arguments) if expected is None else expected
    _same_kind(point, output, expected.values)
    error = scaled_error(np.asarray(output), expected)
    tolerance = kernel.tolerance(n, dtype)
    _refuse_lenient(point, tolerance, expected)
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


def scaled_error(output: np.ndarray, expected: Expected) -> float:
    """Return the largest error of any element: |x - ref| / max(|ref|, magnitude); NaN when one is not finite.

    Each element is held against its own value: none can hide behind a larger one. Where terms of both signs cancel,
    rounding is relative to the terms, of which little may be left: a sum t1 + ... + tk is computed to within
    k u (|t1| + ... + |tk|), whatever it amounts to (Higham, Accuracy and Stability, 3.5 and 4.2). A kernel with such
    sums declares them as its `magnitude`. So do the test programs of the BLAS, which call it the gauge (Dongarra,
    Du Croz, Hammarling, Hanson, ACM TOMS 14(1), 1988, algorithm 656). An element that is exact has no error.
    """
    return float(np.max(_errors(output, expected)))


def _errors(output: np.ndarray, expected: Expected) -> np.ndarray:
    difference = np.abs(output.astype("f8") - expected.values)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(difference == 0, 0.0, difference / expected.scale)


def _refuse_lenient(point: str, tolerance: float, expected: Expected) -> None:
    """Raise UsageError for a declaration by which results that are far off would pass."""
    allowed = tolerance
    if expected.magnitudes is not None and (known := expected.values != 0).any():
        sizes = np.abs(expected.values[known].astype("f8"))
        allowed *= float(np.median(expected.scale[known] / sizes))  # single sums may cancel, most must not
    if allowed > MOST_TOLERANCE:
        raise UsageError(
            f"{point} would pass with an error of {allowed:.3g}, expected at most {MOST_TOLERANCE:g}: a result "
            "so far off is none; let `roundings` say how long the longest chain of roundings is, and `magnitude` what "
            "the terms of a result add up to"
        )


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


def _first_bad(output: np.ndarray, expected: Expected, tolerance: float) -> str:
    good = _errors(output, expected) <= tolerance
    index = tuple(int(axis) for axis in np.unravel_index(np.argmin(good), good.shape))
    where = f"[{', '.join(map(str, index))}]" if index else "the result"
    found = f"first at {where}: got {output[index]:.9g}, expected {expected.values[index]:.9g}"
    if expected.magnitudes is None and np.all(
        np.abs(output.astype("f8") - expected.values) <= tolerance * np.max(expected.scale)
    ):
        found += " (if terms of both signs cancel there, declare what they add up to without their signs: `magnitude`)"
    return found
