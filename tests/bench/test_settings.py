"""`[tool.bench]`: read from the nearest pyproject.toml, and never misread in silence."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.gating import rules_of
from bench.settings import Settings, settings_for
from roofline.errors import UsageError


def written(folder: Path, text: str) -> Settings:
    (folder / "pyproject.toml").write_text(text, encoding="utf-8")
    return settings_for(folder)


def test_all_of_the_section_is_read(tmp_path: Path) -> None:
    found = written(
        tmp_path,
        """
        [tool.bench]
        gate = ["gemm.blocked / gemm.naive >= 3", "gemm.*: regression <= 5"]
        baseline = "main"
        on-inconclusive = "exit"
        """,
    )
    assert found.gate == ("gemm.blocked / gemm.naive >= 3", "gemm.*: regression <= 5")
    assert (found.baseline, found.on_inconclusive, found.source) == ("main", "exit", tmp_path / "pyproject.toml")
    assert [rule.metric for rule in rules_of((), found)] == ["ratio", "regression"]


@pytest.mark.parametrize("text", ["", "[tool.ruff]\nline-length = 1\n", "[project]\nname = 'x'\n", "tool = 3\n"])
def test_without_the_section_nothing_is_set(tmp_path: Path, text: str) -> None:
    assert written(tmp_path, text) == Settings()


def test_an_empty_section_sets_nothing(tmp_path: Path) -> None:
    assert written(tmp_path, "[tool.bench]\n") == Settings(source=tmp_path / "pyproject.toml")


def test_the_nearest_file_is_read_and_no_other(tmp_path: Path) -> None:
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    written(tmp_path, "[tool.bench]\nbaseline = 'far'\n")
    assert settings_for(below).baseline == "far"
    (tmp_path / "a" / "pyproject.toml").write_text("[tool.bench]\nbaseline = 'near'\n")
    assert settings_for(below).baseline == "near"
    (below / "pyproject.toml").write_text("")
    assert settings_for(below).baseline is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[tool.bench\n", "cannot read"),
        ("[tool]\nbench = 3\n", r"\[tool\.bench\]: found a number, expected a table"),
        ("[[tool.bench]]\n", "found a list, expected a table"),
        ("[tool.bench]\nrules = []\n", "unknown key 'rules'"),
        ("[tool.bench]\non_inconclusive = 'fail'\n", "did you mean 'on-inconclusive'"),
        ("[tool.bench]\ngate = 'a: gflops >= 3'\n", "gate: found a text, expected a list of rules"),
        ("[tool.bench]\ngate = [3]\n", "gate: found a list with something else than texts"),
        ("[tool.bench]\nbaseline = 3\n", "baseline: found a number"),
        ("[tool.bench]\nbaseline = true\n", "baseline: found true or false"),
        ("[tool.bench]\nbaseline = ''\n", "baseline: found an empty text"),
        ("[tool.bench]\non-inconclusive = 'Fail'\n", "unknown on-inconclusive 'Fail'; did you mean 'fail'"),
        ("[tool.bench]\non-inconclusive = false\n", "unknown on-inconclusive 'False'"),
        ("[tool.bench]\non-inconclusive = ['fail']\n", "unknown on-inconclusive"),
    ],
)
def test_what_is_not_understood_is_refused_with_file_and_key(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(UsageError, match=words) as refused:
        written(tmp_path, text)
    assert str(tmp_path / "pyproject.toml") in str(refused.value)


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError, match="cannot read"):
        settings_for(tmp_path)


def test_a_wrong_rule_of_the_section_is_told_with_its_place(tmp_path: Path) -> None:
    found = written(tmp_path, "[tool.bench]\ngate = ['a: gflops >= 3', 'a: gflops > 3']\n")
    with pytest.raises(UsageError, match=r"pyproject\.toml: \[tool\.bench\] gate\[1\]: rule .* column 11"):
        rules_of((), found)


def test_rules_that_are_typed_go_before_those_of_the_section(tmp_path: Path) -> None:
    found = written(tmp_path, "[tool.bench]\ngate = ['wrong']\n")
    assert [rule.text for rule in rules_of(["a: gflops >= 3"], found)] == ["a: gflops >= 3"]


def test_no_rule_at_all_is_refused_with_what_to_type() -> None:
    with pytest.raises(UsageError, match=r"there is no rule; type one, as 'gemm\.blocked"):
        rules_of((), Settings())
