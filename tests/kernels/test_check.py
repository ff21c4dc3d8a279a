from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from roofline.errors import UsageError, WrongResult
from roofline.kernels.check import Expected, check, scaled_error
from roofline.kernels.kernel import Kernel, kernel
from roofline.kernels.registry import kernel_named
from roofline.model.work import Work

TRIAD = kernel_named("stream.triad")
AXPY = kernel_named("blas.axpy")
DOT = kernel_named("blas.dot")
GEMM = kernel_named("gemm.naive")


def arguments_of(kernel, n=9, dtype="f64"):
    return kernel.make_arguments(n, dtype, np.random.default_rng(1))


def refused(kernel, call: Callable[..., Any], n=9, dtype="f64") -> str:
    """Return the message with which a wrong call is refused."""
    with pytest.raises(WrongResult) as caught:
        check(kernel, call, arguments_of(kernel, n, dtype), n, dtype)
    return str(caught.value)


def right_triad(a, b, c, q):
    a[:] = b + q * c


@pytest.mark.twin("WRONG")
def test_a_right_result_gives_its_error_and_tolerance():
    error, tolerance = check(TRIAD, right_triad, arguments_of(TRIAD), 9, "f64")
    assert error == 0
    assert tolerance == TRIAD.tolerance(9, "f64") > 0


def test_the_arguments_stay_as_they_were():
    arguments = arguments_of(AXPY)
    before = [np.copy(argument) for argument in arguments]
    check(AXPY, AXPY.body, arguments, 9, "f64")
    assert all(np.array_equal(a, b) for a, b in zip(arguments, before, strict=True))


def test_a_wrong_element_is_named_with_what_was_got_and_expected():
    def wrong(a, b, c, q):
        right_triad(a, b, c, q)
        a[4] = 77

    message = refused(TRIAD, wrong, dtype="f32")
    assert message.startswith("stream.triad n=9 f32 is wrong: scaled error ")
    assert f"expected at most {TRIAD.tolerance(9, 'f32'):.3g}" in message
    assert "first at [4]: got 77, expected 1." in message


def test_an_element_of_a_matrix_is_named_by_row_and_column():
    def wrong(C, A, B):
        np.dot(A, B, out=C)
        C[2, 5] = 0

    assert "first at [2, 5]: got 0, expected" in refused(GEMM, wrong)


@pytest.mark.canary("WRONG", "NONFINITE")
def test_one_nan_is_wrong():
    def wrong(a, b, c, q):
        right_triad(a, b, c, q)
        a[3] = np.nan

    message = refused(TRIAD, wrong)
    assert "scaled error nan" in message
    assert "first at [3]: got nan" in message


def test_one_infinity_is_wrong():
    def wrong(a, b, c, q):
        right_triad(a, b, c, q)
        a[3] = np.inf

    assert "scaled error inf" in refused(TRIAD, wrong)


def test_a_kernel_that_does_nothing_is_wrong_even_where_the_output_held_the_right_numbers():
    a, b, c, q = arguments_of(TRIAD)
    right_triad(a, b, c, q)
    with pytest.raises(WrongResult, match=r"first at \[0\]: got nan"):
        check(TRIAD, lambda a, b, c, q: None, (a, b, c, q), 9, "f64")


@pytest.mark.canary("WRONG")
def test_a_loop_that_stops_one_short_is_wrong():
    def wrong(a, b, c, q):
        right_triad(a[:-1], b[:-1], c[:-1], q)

    assert "first at [8]: got nan" in refused(TRIAD, wrong)


def test_an_update_in_place_that_does_nothing_is_wrong():
    assert "first at [0]" in refused(AXPY, lambda y, x, a: None)


def test_an_update_in_place_is_not_poisoned():
    assert check(AXPY, AXPY.body, arguments_of(AXPY), 9, "f64")[0] == 0


@pytest.mark.parametrize("n", [9, 1000])
def test_a_sum_that_leaves_out_the_last_element_is_wrong(n: int):
    message = refused(DOT, lambda x, y: float(np.dot(x[:-1], y[:-1])), n, "f32")
    assert "first at the result: got" in message


def test_a_changed_input_is_refused_though_the_result_is_right():
    def wrong(a, b, c, q):
        right_triad(a, b, c, q)
        c[0] += 1

    assert "stream.triad n=9 f64 changed its input argument 2" in refused(TRIAD, wrong)


def test_a_kernel_that_returns_its_result_may_change_no_argument():
    def wrong(x, y):
        total = float(np.dot(x, y))
        x[0] = 0
        return total

    assert "changed its input argument 0" in refused(DOT, wrong)


def test_an_output_of_another_dtype_is_refused():
    assert "output of type float64, expected float32" in refused(DOT, lambda x, y: np.dot(x, y).astype("f8"), 9, "f32")


def test_an_output_of_another_shape_is_refused():
    assert "output of shape (9,), expected ()" in refused(DOT, lambda x, y: x * y)


def test_a_kernel_that_returns_nothing_where_a_scalar_is_due_is_refused():
    assert "output of shape (9,), expected ()" in refused(DOT, lambda x, y: None)


def test_the_size_can_be_told_apart_from_the_length_of_the_first_array():
    _, tolerance = check(DOT, lambda x, y: np.dot(x, y), arguments_of(DOT), 900, "f64")
    assert tolerance == DOT.tolerance(900, "f64")


def rows_of_sums(magnitude: Callable[..., Any] | None) -> Kernel:
    """Return y = A x with terms of both signs."""

    def product(y, A, x):  # type: ignore[no-untyped-def]
        """y = A x"""
        y[:] = A @ x

    return kernel(
        family="test",
        work=lambda n, size: Work(
            flops=2 * n * n, read_bytes=n * n * size, write_bytes=n * size, allocate_bytes=n * size
        ),
        arguments=lambda n, dtype, rng: (
            np.empty(n, dtype),
            rng.standard_normal((n, n)).astype(dtype),
            rng.standard_normal(n).astype(dtype),
        ),
        reference=lambda y, A, x: (A.astype("f8") @ x.astype("f8")).astype(A.dtype),
        magnitude=magnitude,
        compiled=False,
    )(product)


SIGNLESS = rows_of_sums(lambda y, A, x: np.abs(A) @ np.abs(x))


def cancelling() -> tuple[np.ndarray, ...]:
    """Return arguments whose first sum cancels but for a millionth of its terms."""
    y, A, x = arguments_of(SIGNLESS, 500, "f32")
    A[0] -= x * (A[0] @ x / (x @ x))
    return y, A, x


@pytest.mark.canary("WRONG")
@pytest.mark.parametrize("large", [1e8, np.finfo("f8").max])
def test_one_huge_element_hides_no_other(large: float):
    def wrong(a, b, c, q):
        right_triad(a, b, c, q)
        a[5] *= 1 + 1e-9

    a, b, c, q = arguments_of(TRIAD)
    b[0] = large
    check(TRIAD, right_triad, (a, b, c, q), 9, "f64")
    with pytest.raises(WrongResult, match=r"scaled error 1e-09, .* first at \[5\]"):
        check(TRIAD, wrong, (a, b, c, q), 9, "f64")


@pytest.mark.twin("WRONG")
def test_a_sum_that_cancels_is_held_against_its_terms():
    error, tolerance = check(SIGNLESS, SIGNLESS.body, cancelling(), 500, "f32")
    assert error < tolerance / 10


def test_a_sum_that_cancels_beyond_what_its_kernel_declares_says_what_to_declare():
    with pytest.raises(WrongResult, match=r"if terms of both signs cancel there, declare .*`magnitude`"):
        check(rows_of_sums(None), SIGNLESS.body, cancelling(), 500, "f32")


@pytest.mark.canary("WRONG")
def test_a_sum_of_both_signs_that_leaves_out_a_hundredth_of_its_terms_is_wrong():
    def wrong(y, A, x):
        y[:] = A @ x
        y[0] = A[0, :-5] @ x[:-5]

    with pytest.raises(WrongResult, match=r"first at \[0\]"):
        check(SIGNLESS, wrong, cancelling(), 500, "f32")


def test_magnitudes_that_let_anything_pass_are_refused():
    lenient = rows_of_sums(lambda y, A, x: np.full(y.shape, 1e9))
    with pytest.raises(UsageError, match=r"would pass with an error of .*, expected at most 0\.05"):
        check(lenient, lenient.body, arguments_of(lenient), 9, "f32")


def test_magnitudes_of_another_shape_are_refused():
    scalar = rows_of_sums(lambda y, A, x: 1.0)
    with pytest.raises(UsageError, match=r"has the shape \(\), expected that of its result, \(9,\)"):
        check(scalar, scalar.body, arguments_of(scalar), 9, "f32")


def test_zero_is_right_where_zero_is_expected_and_nothing_else_is():
    assert scaled_error(np.zeros(3), Expected(np.zeros(3))) == 0
    assert scaled_error(np.array([0, 1e-300]), Expected(np.zeros(2))) == np.inf
    assert scaled_error(np.array([0, 1e-17]), Expected(np.zeros(2), np.ones(2))) == 1e-17
