"""The pytest-benchmark harness, `pytest bench/`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace
from threadpoolctl import threadpool_info

from bench.test_kernels import percent_of_roof
from roofline.kernels.library import blas_threads
from roofline.kernels.registry import kernel_named
from roofline.model.ceilings import Ceilings
from roofline.model.roof import roof_of
from roofline.model.run import Run

ROOT = Path(__file__).parents[2]


def harness(*options: str) -> str:
    """Run the harness on one kernel and return what it printed."""
    command = [sys.executable, "-m", "pytest", "bench/", "-k", "stream.triad-f32", "-p", "no:cacheprovider", *options]
    # pytest-benchmark times nothing where it sees xdist, which may be what runs this test
    alone = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_XDIST_")}
    done = subprocess.run(
        command, cwd=ROOT, env=alone, check=False, capture_output=True, text=True, stdin=subprocess.DEVNULL
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_harness_times_kernels_and_tells_their_rates(tmp_path: Path):
    file = tmp_path / "times.json"
    assert "1 passed" in harness("--benchmark-max-time=0.001", f"--benchmark-json={file}")
    (timed,) = json.loads(file.read_text())["benchmarks"]
    told = timed["extra_info"]
    work = kernel_named("stream.triad").work_of(told["n"], "f32")
    assert told["flop_per_s"] == work.flops / timed["stats"]["median"]
    assert told["flop_per_byte"] == work.flop_per_byte
    assert told["bytes"] == work.bytes
    assert told["error"] <= told["tolerance"]
    assert told["digest"] == kernel_named("stream.triad").digest
    assert "percent_of_roof" in told


def test_the_harness_without_timing_is_a_correctness_test(tmp_path: Path):
    output = harness("--benchmark-disable")
    assert "1 passed" in output
    assert "Median" not in output


def test_percent_of_roof_is_the_least_time_over_the_median_time_in_the_level_that_holds_the_data(run: Run):
    triad = kernel_named("stream.triad")
    capacities = {level.name: level.effective_bytes for level in run.levels if level.effective_bytes}
    assert capacities
    for level, footprint_bytes in {**capacities, "DRAM": 2 * max(capacities.values())}.items():
        work = triad.work_of(triad.n_for(footprint_bytes, "f64"), "f64")
        roof = roof_of(run.ceilings, dtype="f64", threads=1, level=level, work=work)
        assert percent_of_roof(run, work, "f64", 2 * roof.least_s(work)) == pytest.approx(50)


def test_a_run_without_ceilings_gives_no_percentage(run: Run):
    bare = replace(run, ceilings=Ceilings())
    assert percent_of_roof(bare, kernel_named("stream.triad").work_of(100, "f64"), "f64", 1.0) is None


def test_the_blas_is_held_to_its_threads_and_let_go():
    def threads() -> list[int]:
        return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]

    before = threads()
    with blas_threads(1):
        assert threads() == [1] * len(before)
    assert threads() == before
    assert before
