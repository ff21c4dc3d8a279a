from __future__ import annotations

from itertools import cycle
from pathlib import Path

import pytest
from hostile import TEXTS
from msgspec.structs import replace

from bench.service.github import SUMMARY_BYTES, no_commands, output_lines, write_outputs, write_summary
from bench.service.judgement import Judgement
from roofline.errors import ResultsError
from roofline.model.run import Run


def outputs(text: str) -> dict[str, str]:
    """Return what the runner reads in the file of outputs."""
    found = {}
    lines = iter(text.splitlines())
    for line in lines:
        name, end = line.split("<<", 1)
        values = []
        while (value := next(lines)) != end:
            values.append(value)
        found[name] = "\n".join(values)
    return found


def test_the_outputs_of_a_step_are_run_grade_result_and_exit_code(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "output"
    file.write_text("earlier=1\n")
    write_outputs(Judgement(run, exit_code=6).outputs, {"GITHUB_OUTPUT": str(file)})
    text = file.read_text()
    assert text.startswith("earlier=1\n")
    found = outputs(text.removeprefix("earlier=1\n"))
    assert found == {"run-id": run.id, "grade": "B", "result": "ungated", "exit-code": "6"}


@pytest.mark.parametrize("text", TEXTS)
def test_no_value_sets_another_output(run: Run, tmp_path: Path, text: str) -> None:
    file = tmp_path / "output"
    write_outputs(Judgement(replace(run, id=text)).outputs, {"GITHUB_OUTPUT": str(file)})
    assert set(outputs(file.read_text())) == {"run-id", "grade", "result", "exit-code"}
    assert file.read_bytes().count(b"\n") == len(file.read_text().splitlines()) == 12
    assert file.stat().st_size < 4000


def test_an_end_that_a_value_holds_is_not_used() -> None:
    tokens = cycle(("known", "fresh"))
    assert output_lines("x", "end_known", lambda: next(tokens)) == "x<<end_fresh\nend_known\nend_fresh\n"


def test_a_summary_is_appended_and_told_how_much_room_is_left(tmp_path: Path) -> None:
    file = tmp_path / "summary"
    file.write_bytes(b"x" * 100)
    rooms: list[int] = []

    def summary(limit_bytes: int) -> str:
        rooms.append(limit_bytes)
        return "mine"

    assert write_summary(summary, {"GITHUB_STEP_SUMMARY": str(file)})
    assert rooms == [SUMMARY_BYTES - 100]
    assert file.read_bytes() == b"x" * 100 + b"mine"
    assert not write_summary(summary, {})


def test_a_file_that_cannot_be_written_is_named(run: Run, tmp_path: Path) -> None:
    with pytest.raises(ResultsError, match=r"GITHUB_OUTPUT names .*missing"):
        write_outputs(Judgement(run).outputs, {"GITHUB_OUTPUT": str(tmp_path / "missing" / "output")})


def test_the_log_takes_no_commands_until_the_context_ends_well() -> None:
    said: list[str] = []
    with no_commands(said.append):
        said.append("::error::no command")
    token = said[0].removeprefix("::stop-commands::")
    assert len(token) == 32
    assert said[1:] == ["::error::no command", f"::{token}::"]
    said.clear()
    with pytest.raises(KeyError), no_commands(said.append):
        raise KeyError
    assert len(said) == 1
