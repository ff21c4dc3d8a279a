from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from answer import Ask
from measured import Measured, only_file
from msgspec.structs import replace

from bench.cli.session import Session
from roofline.archive.document import decode
from roofline.archive.store import find, load
from roofline.measurement.lock import lock_folder, machine_lock
from roofline.measurement.plan import Plan
from roofline.model.run import Failure, KernelMeasured, Record, Run

Keep = Callable[[Record], None]


def failed(kind: str) -> tuple[Failure, ...]:
    return (Failure(kind=kind, point="gemm.naive n=384 f64 ×1", message="as planned"),)


def test_all_saves_draws_and_prints(ask: Ask, tmp_path: Path, few: dict[str, Any]) -> None:
    answer = ask("all", "--quick", "--results", str(tmp_path), session=Session(launch=Measured(**few)))
    assert answer.code == 0
    path = only_file(tmp_path, "*.json")
    assert answer.out.splitlines()[-3:] == [str(path.with_suffix(suffix)) for suffix in (".json", ".svg", ".png")]
    assert "gemm.naive" in answer.out
    assert list(tmp_path.glob("*/*.part")) == []


def test_ceilings_and_run_draw_nothing(ask: Ask, tmp_path: Path, few: dict[str, Any]) -> None:
    for words in (["ceilings"], ["run", "gemm.naive"]):
        assert ask(*words, "--results", str(tmp_path), session=Session(launch=Measured(**few))).code == 0
    assert {path.suffix for path in tmp_path.glob("*/*")} == {".json"}


def test_json_is_the_saved_document_and_alone_on_stdout(ask: Ask, tmp_path: Path, few: dict[str, Any]) -> None:
    session = Session(launch=Measured(**few))
    answer = ask("run", "gemm.naive", "--json", "--results", str(tmp_path), session=session)
    assert decode(answer.out.encode(), "stdout") == load(only_file(tmp_path, "*.json"))
    assert "saved" in answer.err


def test_quiet_says_nothing_on_stderr(ask: Ask, tmp_path: Path, few: dict[str, Any]) -> None:
    answer = ask("run", "gemm.naive", "-q", "--results", str(tmp_path), session=Session(launch=Measured(**few)))
    assert answer.err == ""
    assert "gemm.naive" in answer.out


def test_the_archive_tells_what_was_asked_for(ask: Ask, tmp_path: Path, few: dict[str, Any]) -> None:
    launch = Measured(**few)
    words = ["run", "gemm.naive", "--dtype", "f32", "--threads", "1", "--label", "my change", "--budget", "7"]
    ask(*words, "--results", str(tmp_path), session=Session(launch=launch))
    run = load(find("my change", tmp_path))
    assert run.argv[: len(words)] == tuple(words)
    assert run.plan["kernels"] == ["gemm.naive"]
    assert run.plan["dtypes"] == ["f32"]
    assert launch.plan is not None
    assert (launch.plan.threads, launch.plan.dtypes, launch.plan.budget_s) == ((1,), ("f32",), 7.0)


@pytest.mark.parametrize(
    ("kind", "code"), [("wrong", 6), ("crashed", 6), ("hung", 6), ("raised", 6), ("codegen", 6), ("skipped", 0)]
)
def test_a_failed_kernel_is_exit_code_6_and_the_rest_is_saved(
    ask: Ask, tmp_path: Path, few: dict[str, Any], kind: str, code: int
) -> None:
    session = Session(launch=Measured(**few, failures=failed(kind)))
    answer = ask("run", "gemm", "--results", str(tmp_path), session=session)
    assert answer.code == code
    assert "as planned" in answer.out
    assert len(load(only_file(tmp_path, "*.json")).measurements) == 1


def test_nothing_measured_is_exit_code_5_and_leaves_nothing_behind(ask: Ask, tmp_path: Path) -> None:
    answer = ask("run", "gemm", "--results", str(tmp_path), session=Session(launch=Measured()))
    assert answer.code == 5
    assert "nothing was measured" in answer.err
    assert list(tmp_path.glob("*/*")) == []


def test_a_run_of_failures_only_is_exit_code_5_and_kept_as_evidence(ask: Ask, tmp_path: Path) -> None:
    session = Session(launch=Measured(failures=failed("crashed")))
    answer = ask("run", "gemm", "--results", str(tmp_path), session=session)
    assert answer.code == 5
    assert "as planned" in answer.err
    assert load(only_file(tmp_path, "*.json")).failures == failed("crashed")


def test_named_kernels_that_were_all_skipped_are_exit_code_5_and_the_ceilings_are_kept(
    ask: Ask, tmp_path: Path, few: dict[str, Any]
) -> None:
    session = Session(launch=Measured(ceilings=few["ceilings"], failures=failed("skipped")))
    answer = ask("run", "gemm", "--results", str(tmp_path), session=session)
    assert answer.code == 5
    assert "none of the kernels asked for could be measured: as planned" in answer.err
    assert load(only_file(tmp_path, "*.json")).ceilings == few["ceilings"]


def test_a_budget_that_no_run_can_keep_is_remarked_on(ask: Ask, tmp_path: Path, few: dict[str, Any]) -> None:
    for budget, told in (("0.5", True), ("500", False)):
        session = Session(launch=Measured(**few))
        answer = ask("run", "gemm", "--budget", budget, "--results", str(tmp_path), session=session)
        assert ("the run takes longer" in answer.err) == told


def test_what_was_kept_survives_a_launcher_that_dies(ask: Ask, tmp_path: Path, few: dict[str, Any]) -> None:
    (gemm,) = few["measurements"]

    def dies(plan: Plan, run: Run, *, keep: Keep, progress: Callable[[Any], None]) -> Run:
        keep(KernelMeasured(measurement=gemm))
        raise RuntimeError("half way")

    answer = ask("run", "gemm", "--results", str(tmp_path), session=Session(launch=dies))
    assert answer.code == 70
    assert load(only_file(tmp_path, "*.part")).measurements == (gemm,)


def test_a_run_that_cannot_be_drawn_is_still_saved_and_shown(ask: Ask, run: Run, tmp_path: Path) -> None:
    copy = next(m for m in run.measurements if m.work.flops == 0)
    session = Session(launch=Measured(measurements=(copy,)))
    answer = ask("all", "--results", str(tmp_path), session=session)
    assert answer.code == 0
    assert "no picture" in answer.err
    assert json.loads(only_file(tmp_path, "*.json").read_text())["measurements"]


def test_a_run_on_a_machine_that_another_one_holds_exits_with_75_before_anything_is_measured(
    ask: Ask, tmp_path: Path, few: dict[str, Any]
) -> None:
    launch = Measured(**few)
    with machine_lock(lock_folder(), "roofline all"):
        refused = ask("ceilings", "--results", str(tmp_path), session=Session(launch=launch))
        assert refused.code == 75
        assert refused.err.startswith("error: another run measures on this machine: process ")
        assert launch.plan is None
        assert list(tmp_path.glob("*/*")) == []
        beside = ask("ceilings", "--allow-concurrent", "--results", str(tmp_path), session=Session(launch=launch))
    assert beside.code == 0
    assert "BUSY" in [caveat.code for caveat in load(find("last", tmp_path)).caveats]


def test_a_folder_that_was_only_removed_in_mid_run_costs_nothing(ask: Ask, tmp_path: Path, few: dict[str, Any]) -> None:
    def removed(plan: Plan, run: Run, *, keep: Keep, progress: Callable[[Any], None]) -> Run:
        shutil.rmtree(tmp_path / "results")
        return replace(run, complete=True, **few)

    answer = ask("ceilings", "--results", str(tmp_path / "results"), session=Session(launch=removed))
    assert answer.code == 0
    assert load(only_file(tmp_path / "results", "*.json")).ceilings == few["ceilings"]
