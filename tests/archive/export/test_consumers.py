"""Every export is read by the program that it is made for."""

from __future__ import annotations

import csv
import io
import subprocess
import sys
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace
from small_run import run_at, small_run

from roofline.archive.export import exported
from roofline.archive.export.asv_results import commit_of
from roofline.archive.export.delivery import deliver
from roofline.archive.export.point import points
from roofline.archive.export.pytest_benchmark_json import statistics_of
from roofline.model.run import Run

RUN = small_run()
NAMES = [point.name for point in points(RUN)]
MEDIANS = {point.name: point.derived.median_s for point in points(RUN)}


def slower(run: Run, factor: float = 2.0) -> Run:
    """Return a run whose samples took longer."""
    measurements = tuple(replace(m, samples_s=tuple(s * factor for s in m.samples_s)) for m in run.measurements)
    return replace(run, measurements=measurements)


def two_files(tmp_path: Path, to: str) -> list[str]:
    """Write the run and one that took twice as long; return the paths."""
    paths = [tmp_path / "before.json", tmp_path / "after.json"]
    for run, path in zip((RUN, slower(RUN)), paths, strict=True):
        deliver(exported(run, to), to, path)
    return [str(path) for path in paths]


def said(tmp_path: Path, *words: str) -> str:
    """Return what a program of this Python says; it must end with 0."""
    result = subprocess.run([sys.executable, "-m", *words], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert "Traceback" not in result.stderr
    return result.stdout


def test_pytest_benchmark_compares_two_exports(tmp_path: Path) -> None:
    files = two_files(tmp_path, "pytest-benchmark")
    shown = said(tmp_path, "pytest_benchmark", "compare", *files, "--columns=median", "--group-by=fullname")
    for name in NAMES:
        before, after = [line for line in shown.splitlines() if line.startswith(f"{name} (")]
        assert "(1.0)" in before and "(2.00)" in after


@pytest.mark.parametrize("count", [1, 2, 3, 5, 6, 7, 8, 9, 30, 300])
def test_the_statistics_are_those_of_pytest_benchmark(count: int) -> None:
    stats = pytest.importorskip("pytest_benchmark.stats").Stats()
    rng = Random(count)
    samples_s = [1e-3 * rng.lognormvariate(0, 1) for _ in range(count)]
    stats.data = samples_s
    ours = statistics_of(samples_s, 10)
    assert {name: ours[name] for name in stats.fields} == pytest.approx(stats.as_dict())
    assert ours["data"] == samples_s


def test_pyperf_compares_two_exports_and_tells_the_statistics_of_one(tmp_path: Path) -> None:
    paths = two_files(tmp_path, "pyperf")
    compared = said(tmp_path, "pyperf", "compare_to", *paths)
    assert all(name in compared for name in NAMES)
    assert compared.count("2.00x slower") >= len(NAMES)
    assert "Number of benchmarks: " + str(len(NAMES)) in said(tmp_path, "pyperf", "stats", paths[0])


def test_pyperf_reads_medians_and_metadata(tmp_path: Path) -> None:
    pyperf = pytest.importorskip("pyperf")
    suite = pyperf.BenchmarkSuite.load(two_files(tmp_path, "pyperf")[0])
    assert {one.get_name(): one.median() for one in suite} == MEDIANS
    told = suite.get_benchmark(NAMES[-1]).get_metadata()
    assert told["percent_of_roof"] == pytest.approx(points(RUN)[-1].derived.percent_of_roof)
    assert (told["cpu_model_name"], told["loops"]) == (RUN.machine.cpu_model, RUN.measurements[-1].repeats)


def test_asv_compares_two_exports_in_one_results_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    compare = pytest.importorskip("asv.commands.compare").Compare
    before, after = run_at(1), slower(run_at(2))
    for run in (before, after):
        deliver(exported(run, "asv"), "asv", tmp_path)
    conf = SimpleNamespace(results_dir=str(tmp_path), benchmark_dir="")
    hashes = [commit_of(run)[:8] for run in (before, after)]
    machine = before.machine.key
    worsened, improved = compare.print_table(conf, *hashes, factor=1.1, split=False, machine=machine)
    table = capsys.readouterr().out
    assert worsened and not improved
    assert all(f"{kernel}('{rest[:-1]}')" in table for kernel, _, rest in (name.partition("[") for name in NAMES))


def test_asv_loads_results_machine_and_benchmarks(tmp_path: Path) -> None:
    results = pytest.importorskip("asv.results")
    for path in deliver(exported(RUN, "asv"), "asv", tmp_path):
        assert path.exists()
    (loaded,) = results.iter_results(str(tmp_path))
    kernel, _, rest = NAMES[-1].partition("[")
    params = loaded.get_result_params(kernel)
    at = params[0].index(repr(rest[:-1]))
    assert loaded.get_result_value(kernel, params)[at] == MEDIANS[NAMES[-1]]
    assert loaded.get_result_samples(kernel, params)[at] == list(RUN.measurements[-1].samples_s)
    stats = loaded.get_result_stats(kernel, params)[at]
    assert stats["ci_99_a"] <= stats["q_25"] <= MEDIANS[NAMES[-1]] <= stats["q_75"] <= stats["ci_99_b"]
    assert (stats["repeat"], stats["number"]) == (len(RUN.measurements[-1].samples_s), RUN.measurements[-1].repeats)


def test_a_clean_revision_is_the_commit_and_no_other_code_is_called_by_one() -> None:
    assert commit_of(replace(RUN, revision="6bca674553d3")) == "6bca674553d3"
    dirty = [commit_of(replace(RUN, revision=name)) for name in ("6bca674553d3+dirty", None, "../../x")]
    assert len(set(dirty)) == 1 and len(dirty[0]) == 40


def test_prometheus_parses_the_metrics() -> None:
    parser = pytest.importorskip("prometheus_client.openmetrics.parser")
    text = exported(RUN, "openmetrics")[""].decode()
    families = {family.name: family for family in parser.text_string_to_metric_families(text)}
    times = families["roofline_kernel_time_seconds"]
    assert {sample.labels["point"]: sample.value for sample in times.samples} == MEDIANS
    assert (times.unit, times.type) == ("seconds", "gauge")
    shares = [sample.value for sample in families["roofline_kernel_roof_ratio"].samples]
    assert shares == pytest.approx([(point.derived.percent_of_roof or 0) / 100 for point in points(RUN)])
    assert families["roofline_run"].samples[0].labels["run"] == RUN.id


def test_the_labels_of_a_gauge_are_the_same_for_other_code() -> None:
    def gauges(run: Run) -> list[str]:
        lines = exported(run, "openmetrics")[""].decode().splitlines()
        return [line.rpartition(" ")[0] for line in lines if line.startswith("roofline_kernel_time")]

    other = replace(RUN, revision="0" * 12, measurements=tuple(replace(m, digest="f00") for m in RUN.measurements))
    assert gauges(RUN) == gauges(other)


def test_csv_has_a_row_for_each_point_under_headers_with_units() -> None:
    rows = list(csv.DictReader(io.StringIO(exported(RUN, "csv")[""].decode())))
    assert {row["point"]: float(row["median_s"]) for row in rows} == MEDIANS
    assert {"byte_per_s", "flop_per_s", "percent_of_roof", "flop_per_byte", "digest", "threads"} <= set(rows[0])


def test_pandas_reads_parquet_with_types_and_samples(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    path = tmp_path / "run.parquet"
    deliver(exported(RUN, "parquet"), "parquet", path)
    frame: Any = pandas.read_parquet(path)
    assert dict(zip(frame["point"], frame["median_s"], strict=True)) == MEDIANS
    assert list(frame["samples_s"][0]) == list(RUN.measurements[0].samples_s)
    assert (frame["n"].dtype, frame["median_s"].dtype) == ("int64", "float64")


def test_parquet_without_pyarrow_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    from roofline.errors import UsageError

    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(UsageError, match=r"pip install 'roofline-suite\[parquet\]'"):
        exported(RUN, "parquet")
