from __future__ import annotations

import io
from types import SimpleNamespace
from typing import Any

from bench.cli.progress import progress
from bench.cli.session import Session


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Closed(io.StringIO):
    def write(self, text: str) -> int:
        raise BrokenPipeError


def step(point: str, done: float = 0.25, remaining_s: float = 42.4) -> Any:
    return SimpleNamespace(point=point, done=done, remaining_s=remaining_s)


def test_without_a_terminal_a_line_comes_every_five_seconds() -> None:
    now_s = iter([0.0, 1.0, 6.0, 7.0])
    out = io.StringIO()
    with progress(Session(), out, clock=lambda: next(now_s)) as report:
        for point in ("early", "later", "again"):
            report(step(point))
    assert out.getvalue() == " 25 %  42 s left  later\n"


def test_a_line_that_says_nothing_new_comes_once_a_minute() -> None:
    out = io.StringIO()
    with progress(Session(), out, clock=iter(range(0, 1000, 10)).__next__) as report:
        for _ in range(7):
            report(step("pair"))
        assert out.getvalue().count("pair") == 2
        report(step("pair", done=0.5))
    assert out.getvalue().splitlines()[-1] == " 50 %  42 s left  pair"


def test_a_terminal_gets_a_bar_with_the_point_and_the_time_left() -> None:
    out = Terminal()
    with progress(Session(), out) as report:
        report(step("gemm.naive [red] n=384"))
    assert "gemm.naive [red] n=384" in out.getvalue()
    assert "42 s left" in out.getvalue()


def test_the_time_left_never_rises_until_it_has_run_out() -> None:
    out = io.StringIO()
    with progress(Session(), out, clock=iter(range(0, 1000, 10)).__next__) as report:
        for number, remaining_s in enumerate((40.0, 55.0, 30.0, 0.4, 5.0)):
            report(step(f"point {number}", remaining_s=remaining_s))
    assert [line.split()[2] for line in out.getvalue().splitlines()] == ["40", "40", "30", "0", "5"]


def test_a_time_that_nothing_tells_yet_is_left_out() -> None:
    out = io.StringIO()
    with progress(Session(), out, clock=iter(range(0, 1000, 10)).__next__) as report:
        for remaining_s in (float("inf"), 61.0):
            report(step("point", remaining_s=remaining_s))
    assert out.getvalue() == " 25 %  point\n 25 %  61 s left  point\n"


def test_nothing_is_drawn_between_two_reports() -> None:
    out = Terminal()
    with progress(Session(), out) as report:
        report(step("first"))
        before = out.getvalue()
        assert "first" in before
        assert _threads_that_draw() == []
        assert out.getvalue() == before


def test_quiet_writes_nothing() -> None:
    out = Terminal()
    with progress(Session(quiet=True), out) as report:
        report(step("silent"))
    assert out.getvalue() == ""


def test_a_closed_stderr_does_not_cost_the_run() -> None:
    with progress(Session(), Closed(), clock=iter(range(0, 1000, 10)).__next__) as report:
        report(step("unseen"))
        report(step("unseen"))


def test_control_characters_of_a_kernel_name_do_not_reach_the_terminal() -> None:
    out = io.StringIO()
    with progress(Session(), out, clock=iter(range(0, 1000, 10)).__next__) as report:
        report(step("evil\u202e"))
    assert "\u202e" not in out.getvalue()


def _threads_that_draw() -> list[str]:
    import threading

    return [thread.name for thread in threading.enumerate() if "refresh" in type(thread).__name__.lower()]
