"""The plugin beside pytest-benchmark, pytest-xdist, saved runs and the machine itself."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from random import Random

import pytest
from inner import FAKE, LOAD
from msgspec.structs import replace
from small_run import small_run

from roofline.archive.identity import new_id
from roofline.archive.store import save
from roofline.host import read_environment, read_machine

pytest_plugins = "pytester"

REAL = """
import numba
import numpy as np
import pytest

rng = np.random.default_rng(0)

@numba.njit
def triad(a, b, c, s):
    for i in range(a.size):
        a[i] = b[i] + s * c[i]

def physical(point):
    assert point.median_s > 0
    if point.status in ("ok", "degraded"):
        assert 0 < point.percent_of_roof <= 103
        low, high = point.interval
        assert 0 < low <= point.percent_of_roof <= high
    else:
        with pytest.raises(AssertionError):
            point.assert_at_least(0.01)

def test_numpy(roofline):
    n = 64
    point = roofline(np.dot, rng.random((n, n)), rng.random((n, n)), flops=2 * n**3)
    physical(point)
    assert point.bound.endswith("fma f64 ×1") and point.level == ""

def test_numba(roofline):
    n = 1000
    point = roofline(triad, *rng.random((3, n)), 0.5, flops=2 * n, read_bytes=16 * n, write_bytes=8 * n)
    physical(point)
    assert point.level == "L1" and point.bound.startswith("L1 ")

def test_impossible(roofline):
    point = roofline(triad, *rng.random((3, 1000)), 0.5, flops=1e9)
    with pytest.raises(AssertionError, match="above the roof: what cannot be true is refused"):
        point.assert_at_least(1)
"""


@pytest.fixture(autouse=True)
def beside(pytester: pytest.Pytester) -> None:
    """Let sessions inside find what lies beside this file."""
    pytester.syspathinsert(Path(__file__).parent)


def test_real_calls_stand_under_a_real_roof(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_it=REAL)
    result = pytester.runpytest(*LOAD, "-p", "no:xdist", "--roofline-json=points.json")
    result.assert_outcomes(passed=3)
    document = json.loads((pytester.path / "points.json").read_text())
    assert all(point["measurement"]["roof_samples"] for point in document["points"])
    assert all(ceiling["audited"] for ceiling in document["ceilings"])


def test_benchmark_gets_the_fields(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pytest_benchmark")
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)  # of the session around: it measures nothing there
    pytester.makeconftest(FAKE.format(answer="60"))
    pytester.makepyfile(
        """
        def test_both(benchmark, roofline):
            benchmark.pedantic(list, rounds=1)
            roofline(list, flops=4e6)
        """
    )
    result = pytester.runpytest(*LOAD, "-p", "no:xdist", "--benchmark-json=b.json")
    result.assert_outcomes(passed=1)
    extra = json.loads((pytester.path / "b.json").read_text())["benchmarks"][0]["extra_info"]
    assert extra["percent_of_roof"] == pytest.approx(60, rel=0.01)
    assert extra["gflops"] == pytest.approx(2.4, rel=0.01)
    assert (extra["bound"], extra["status"], extra["gbs"], extra["flop_per_byte"]) == ("avx2 fma f64 ×1", "ok", 0, 0)


def test_without_benchmark_nothing_breaks(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(FAKE.format(answer="60"))
    pytester.makepyfile("def test_one(roofline):\n    roofline(list, flops=4e6).assert_at_least(55)\n")
    result = pytester.runpytest(*LOAD, "-p", "no:xdist", "-p", "no:benchmark")
    result.assert_outcomes(passed=1)


def test_workers_of_xdist_measure_nothing(pytester: pytest.Pytester) -> None:
    pytest.importorskip("xdist")
    pytester.makepyfile(
        """
        def test_one(roofline):
            roofline(print, "called", flops=4e6).assert_at_least(55)
        """
    )
    result = pytester.runpytest(*LOAD, "-n", "1", "-rs")
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["*print: nothing is measured beside other workers of pytest-xdist*without -n*"])
    pytester.runpytest(*LOAD, "-n", "1", "--roofline-strict").assert_outcomes(failed=1)


def saved(folder: Path, cpu_model: str | None = None) -> Path:
    """Save a run that was made under the conditions of this session, or on another CPU."""
    machine, sample = read_machine(), small_run()
    run = replace(
        sample,
        id=new_id(datetime.now(UTC), Random(0)),
        machine=replace(machine, cpu_model=cpu_model or machine.cpu_model),
        environment=read_environment(),
    )
    return save(run, folder)


def test_a_saved_run_of_another_machine_is_a_usage_error(pytester: pytest.Pytester) -> None:
    path = saved(pytester.path / "results", cpu_model="Another CPU")
    pytester.makepyfile(test_it="def test_one(roofline):\n    roofline(list, flops=4e6)\n")
    result = pytester.runpytest(*LOAD, "-p", "no:xdist", f"--roofline-run={path}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "machine.cpu_model: Another CPU and " in result.stderr.str() + result.stdout.str()
    pytester.makepyfile(test_it="def test_plain():\n    pass\n")  # it hinders nobody who does not use it
    pytester.runpytest(*LOAD, "-p", "no:xdist", f"--roofline-run={path}").assert_outcomes(passed=1)


def test_what_a_saved_run_has_no_ceiling_of_is_skipped(pytester: pytest.Pytester) -> None:
    saved(pytester.path / "results")
    pytester.makeini("[pytest]\nroofline_run = last\n")
    pytester.makepyfile("def test_one(roofline):\n    roofline(list, flops=4e6, dtype='i8')\n")
    result = pytester.runpytest(*LOAD, "-p", "no:xdist", "-rs")
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["*the archived run has no audited ceiling of arithmetic in i8 on 1 threads*"])
