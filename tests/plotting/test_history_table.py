"""The tables of a history, and how they draw and write a change."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from small_run import run_at

from roofline.compare.history import history_of
from roofline.plotting.history_table import SPARKLINE, history_tables, shift_text, shifts_text, sparkline


@pytest.mark.parametrize(
    ("values", "drawn"),
    [
        ((1.0,), "▄"),
        ((5.0, 5.0, 5.0), "▄▄▄"),
        ((1.0, 2.0), "▁█"),
        (tuple(range(10, 19)), "▁▂▃▄▅▆▇██"),
        ((3.0, 1.0, 2.0), "█▁▅"),
    ],
)
def test_bars_lie_between_the_least_value_and_the_largest(values: tuple[float, ...], drawn: str) -> None:
    assert sparkline(values) == drawn


def test_of_many_values_the_last_are_drawn() -> None:
    assert sparkline([99.0] * 10 + [1.0] * SPARKLINE) == "▄" * SPARKLINE


@pytest.mark.parametrize(
    ("size", "text"), [(0.0234, "+2.3 %"), (-0.0994, "-9.9 %"), (0.0996, "+10 %"), (-0.5, "-50 %"), (2.0, "+200 %")]
)
def test_a_change_is_written_in_percent(size: float, text: str) -> None:
    assert shift_text(size) == text


def test_several_changes_are_written_as_their_span() -> None:
    assert shifts_text([0.15, 0.12]) == "+12 to +15 %"
    assert shifts_text([0.121, 0.122]) == "+12 %"


def test_a_row_has_first_last_and_best_and_what_differs_is_told_by_run() -> None:
    def at(minute: int, times: float) -> object:
        run = run_at(minute)
        gemm = run.measurements[-1]
        longer = replace(gemm, samples_s=tuple(1e-3 * times for _ in range(6)), roof_samples=())
        return replace(run, measurements=(longer,))

    first, middle, last = at(0, 2.0), at(1, 1.0), at(2, 3.0)
    last = replace(last, environment=replace(last.environment, numba="9.9"))
    points, conditions = history_tables(history_of([first, middle, last], "time_ms"))
    (row,) = points.rows
    assert row[1:6] == ("3", "2", "3", "1", "-")
    (told,) = conditions.rows
    assert told[0] == last.id and "environment.numba" in told[2]
    rates, _ = history_tables(history_of([first, middle, last], "gflops"))
    assert float(rates.rows[0][4]) == pytest.approx(2 * float(rates.rows[0][2]), rel=0.01)  # most is best
