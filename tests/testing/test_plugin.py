"""The plugin from outside, with a yardstick that measures nothing."""

from __future__ import annotations

import json
import os
import sys
import tomllib
from pathlib import Path

import pytest
from inner import FAKE, LOAD, PLUGIN

from roofline.measurement.lock import FILE

pytest_plugins = "pytester"

ONE = """
calls = []

def fn(*args, **kwargs):
    calls.append((args, kwargs))

def test_one(roofline):
    point = roofline(fn, 1, 2, flops=4e6, kwargs={"x": 3})
    assert calls[0] == ((1, 2), {"x": 3})
    point.assert_at_least(percent_of_roof=55)
"""


@pytest.fixture(autouse=True)
def beside(pytester: pytest.Pytester) -> None:
    """Let sessions inside find what lies beside this file."""
    pytester.syspathinsert(Path(__file__).parent)


def faked(pytester: pytest.Pytester, answer: str, source: str = ONE, *words: str) -> pytest.RunResult:
    pytester.makeconftest(FAKE.format(answer=answer))
    pytester.makepyfile(test_it=source)
    return pytester.runpytest(*LOAD, "-rs", "-p", "no:xdist", *words)


def test_the_plugin_is_what_the_package_registers() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["entry-points"]["pytest11"] == {"roofline": PLUGIN}


def test_a_session_without_the_fixture_loads_and_shows_nothing(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytester.makeconftest(
        """
        import sys

        def pytest_unconfigure():
            heavy = {"numba", "numpy", "matplotlib", "msgspec", "psutil", "scipy", "pandas"}
            rooms = {name for name in sys.modules if name.startswith(("roofline.", "bench"))}
            print("loaded:", sorted(heavy & set(sys.modules)), sorted(rooms))
        """
    )
    pytester.makepyfile("def test_plain():\n    pass\n\ndef test_unused(request):\n    pass\n")
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]), prepend=os.pathsep)
    result = pytester.runpytest_subprocess(*LOAD, "-p", "no:xdist")
    result.assert_outcomes(passed=2)
    rooms = "['roofline.testing', 'roofline.testing.plugin']"
    result.stdout.fnmatch_lines([f"*loaded: [[]] {rooms.replace('[', '[[]')}"])
    result.stdout.no_fnmatch_line("*= roofline =*")


@pytest.mark.parametrize(
    ("answer", "words", "outcome"),
    [
        ("60", (), "passed"),
        ("50", (), "failed"),
        ("55, 0.05", (), "skipped"),
        ("55, 0.05", ("-o", "roofline_on_inconclusive=fail"), "failed"),
        ("55, 0.05", ("-o", "roofline_on_inconclusive=pass"), "passed"),
        ("55, 0.05", ("--roofline-strict",), "failed"),
        ("60, others_s=0.9", (), "skipped"),
        ("60, others_s=0.9", ("--roofline-strict",), "failed"),
        ("130", (), "failed"),
        ("130", ("--roofline-disable",), "skipped"),
    ],
)
def test_a_test_ends_as_its_point_does(
    pytester: pytest.Pytester, answer: str, words: tuple[str, ...], outcome: str
) -> None:
    faked(pytester, answer, ONE, *words).assert_outcomes(**{outcome: 1})


def test_the_fixture_asserts_as_its_point_does(pytester: pytest.Pytester) -> None:
    source = """
        def test_one(roofline):
            roofline.assert_at_least(roofline(list, flops=4e6), 55)
    """
    faked(pytester, "60", source).assert_outcomes(passed=1)
    faked(pytester, "50", source).assert_outcomes(failed=1)


def test_the_summary_shows_every_point_and_why_it_is_doubted(pytester: pytest.Pytester) -> None:
    source = """
        def test_two(roofline):
            roofline(list, flops=4e6, name="first")
            roofline(list, flops=4e6, name="\\x1b[31mred")
    """
    result = faked(pytester, "60, others_s=0.9", source)
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(
        [
            "*= roofline =*",
            "call *time *GFLOP/s *roof *95 % *bound *status",
            "first * 1.67 ms * 2.40 * 60.0 % * avx2 fma f64 ×1 *degraded BUSY",
            "\\x1b[[]31mred * 60.0 % *",
            "ceilings measured in 1.5 s",
            "first: BUSY: other programs used the CPUs*",
        ]
    )


def test_calls_of_one_name_are_told_apart_by_their_test(pytester: pytest.Pytester) -> None:
    source = """
        def test_small(roofline):
            roofline(len, "12", flops=4)

        def test_large(roofline):
            roofline(len, "1234", flops=8)
            roofline(max, 1, 2, flops=8)
    """
    result = faked(pytester, "60", source)
    result.stdout.fnmatch_lines(["len in test_small *", "len in test_large *", "max  *"])


def test_disabled_calls_once_and_measures_nothing(pytester: pytest.Pytester) -> None:
    source = """
        calls = []

        def test_one(roofline):
            point = roofline(calls.append, 1, flops=4)
            assert (calls, point.status, point.percent_of_roof) == ([1], "disabled", None)
            point.assert_at_least(55)
    """
    for option in ("--roofline-disable", "--benchmark-disable"):
        result = faked(pytester, "60", source, option)
        result.assert_outcomes(skipped=1)
        result.stdout.fnmatch_lines([f"*append: not measured: {option}*"])
    faked(pytester, "60", ONE, "--benchmark-disable", "--roofline-enable").assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("roofline(fn)", "neither flops nor bytes"),
        ("roofline(fn, flops=-1)", "flops=-1 is no amount of work"),
        ("roofline(fn, bytes=float('nan'))", "bytes=nan is no amount of work"),
        ("roofline(5, flops=1)", "5 cannot be called"),
        ("roofline(fn, flops=1, dtype='f16')", "unknown dtype 'f16'"),
        ("roofline(fn, flops=1, dtype=[])", "unknown dtype"),
        ("roofline(fn, flops=1, threads=0)", "threads=0 is no number of threads"),
        ("roofline(fn, flops=1, level=2)", "level=2"),
        ("roofline(fn, flops=1, kwargs={'boom': 1})", "ZeroDivisionError"),
        ("roofline(coroutine, flops=1)", "returns a coroutine, which has computed nothing"),
        ("roofline(generator, flops=1)", "returns a generator, which has computed nothing"),
    ],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_call_that_means_nothing_fails(pytester: pytest.Pytester, call: str, message: str) -> None:
    source = f"""
def fn(boom=0):
    1 / (1 - boom)

async def coroutine():
    pass

def generator():
    yield

def test_one(roofline):
    {call}
"""
    result = faked(pytester, "60", source)
    result.assert_outcomes(failed=1)
    assert message in result.stdout.str()


def test_more_threads_than_cores_are_skipped(pytester: pytest.Pytester) -> None:
    source = "def test_one(roofline):\n    roofline(list, flops=4, threads=100000)\n"
    result = faked(pytester, "60", source)
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["*100000 threads are asked for, and this process may use * cores*"])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_process_that_a_test_forks_is_a_skip_and_does_not_hang(pytester: pytest.Pytester) -> None:
    source = """
import os

def test_one(roofline):
    if child := os.fork():
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
        return
    try:
        roofline(list, flops=1)
    except BaseException as skipped:
        os._exit(7 if "has forked" in str(skipped) else 8)
    os._exit(9)
"""
    faked(pytester, "60", source).assert_outcomes(passed=1)


@pytest.mark.skipif(sys.platform == "win32", reason="no flock")
def test_another_run_that_holds_the_machine_is_a_skip(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    import fcntl

    monkeypatch.setenv("ROOFLINE_LOCK_FOLDER", str(tmp_path))
    with (tmp_path / FILE).open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        result = faked(pytester, "60")
        result.assert_outcomes(skipped=1)
        result.stdout.fnmatch_lines(["*fn: another run measures on this machine: another process"])
        faked(pytester, "60", ONE, "--roofline-strict").assert_outcomes(failed=1)


def test_the_json_holds_every_point_with_its_samples(pytester: pytest.Pytester) -> None:
    path = pytester.path / "points.json"
    path.write_text("old")
    faked(pytester, "60", ONE, f"--roofline-json={path}").assert_outcomes(passed=1)
    document = json.loads(path.read_text())
    (point,) = document["points"]
    assert (document["schema"], point["test"], point["status"]) == (1, "test_it.py::test_one", "ok")
    assert point["percent_of_roof"] == pytest.approx(60, rel=0.01)
    assert len(point["measurement"]["samples_s"]) == 12
    assert document["ceilings"][0]["isa"] == "avx2"
    assert [found.name for found in pytester.path.glob("*.tmp")] == []


def test_the_json_of_a_session_without_points_is_empty(pytester: pytest.Pytester) -> None:
    path = pytester.path / "points.json"
    faked(pytester, "60", "def test_x():\n    pass\n", f"--roofline-json={path}").assert_outcomes(passed=1)
    assert json.loads(path.read_text())["points"] == []


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--roofline-json", "nowhere/x.json"), "expected a file in a folder that exists"),
        (("-o", "roofline_on_inconclusive=maybe"), "expected skip, fail or pass"),
        (("--roofline-run", "nowhere.json"), "there is no file 'nowhere.json'"),
    ],
)
def test_an_option_that_means_nothing_is_a_usage_error(
    pytester: pytest.Pytester, words: tuple[str, ...], message: str
) -> None:
    result = faked(pytester, "60", ONE, *words)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert message in result.stderr.str() + result.stdout.str()
