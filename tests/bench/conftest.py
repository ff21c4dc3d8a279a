"""What the tests of the commands share: a results folder with one run, and the program called in this process."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from answer import Answer, Ask
from msgspec.structs import replace

from bench.__main__ import main
from bench.cli.session import Session
from roofline.archive.store import save
from roofline.model.ceilings import Ceilings
from roofline.model.run import Run


@pytest.fixture
def ask(capsys: pytest.CaptureFixture[str]) -> Ask:
    """Call the program with words, and return its exit code and what it wrote."""

    def call(*words: str, session: Session | None = None) -> Answer:
        code = main(words, session)
        return Answer(code, *capsys.readouterr())

    return call


@pytest.fixture(scope="session")
def results(run: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A results folder that holds the sample run, labelled `sample`. Tests only read it."""
    folder = tmp_path_factory.mktemp("results")
    save(run, folder)
    return folder


@pytest.fixture(scope="session")
def few_results(run: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A results folder whose run is quick to draw."""
    folder = tmp_path_factory.mktemp("few_results")
    save(replace(run, ceilings=replace(run.ceilings, memory=()), measurements=run.measurements[:1]), folder)
    return folder


@pytest.fixture(autouse=True)
def no_width(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no COLUMNS of the surroundings (pytest-xdist sets it) decide how wide the output is."""
    monkeypatch.delenv("COLUMNS", raising=False)


@pytest.fixture
def few(run: Run) -> dict[str, Any]:
    """What a small run measures: quick to draw."""
    gemm = next(m for m in run.measurements if m.kernel == "gemm.naive")
    return {"ceilings": Ceilings(compute=run.ceilings.compute), "measurements": (gemm,)}
