"""What only a process of its own can show: pipes, start-up imports, completion."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from bench.cli.group import VERBS

ROOT = Path(__file__).parents[2]
HEAVY = ("numba", "llvmlite", "numpy", "scipy", "pandas", "matplotlib", "rich", "msgspec")


def bench(*words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "bench", *words]
    environment = {**os.environ, **variables}
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


def test_help_loads_nothing_heavy() -> None:
    code = f"""
import sys
from bench.__main__ import main
code = main(["--help"])
print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)
sys.exit(code)
"""
    answer = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert answer.stderr.strip() == "[]"


@pytest.mark.parametrize("words", ["guide method", "machine", "list isas --json"])
def test_a_reader_that_leaves_early_is_no_error(words: str) -> None:
    read_end, write_end = os.pipe()
    os.close(read_end)
    command = [sys.executable, "-m", "bench", *words.split()]
    answer = subprocess.run(
        command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=write_end, stderr=subprocess.PIPE, text=True, check=False
    )
    os.close(write_end)
    assert answer.stderr == ""
    assert answer.returncode == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full, where every write finds a full disk")
def test_a_full_disk_under_stdout_is_one_line() -> None:
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", "bench", "machine"]
        answer = subprocess.run(command, cwd=ROOT, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert answer.returncode == 73
    assert answer.stderr.count("\n") == 1
    assert "No space left" in answer.stderr


def test_a_closed_stdout_costs_only_what_would_be_said_there() -> None:
    command = f"{sys.executable} -m bench list isas >&-"
    answer = subprocess.run(command, shell=True, cwd=ROOT, stderr=subprocess.PIPE, text=True, check=False)
    assert (answer.returncode, answer.stderr) == (0, "")


def test_text_that_the_terminal_cannot_encode_is_escaped(results: Path) -> None:
    answer = bench("show", "last", "--results", str(results), PYTHONIOENCODING="ascii")
    assert answer.returncode == 0
    assert "\\xb5s" in answer.stdout


def test_the_exit_code_of_the_process_is_that_of_the_program() -> None:
    answer = bench("mashine")
    assert answer.returncode == 2
    assert "did you mean 'machine'" in answer.stderr


def test_json_of_a_process_is_alone_on_stdout() -> None:
    assert json.loads(bench("machine", "--json").stdout)["machine"]["cpu_model"]


def test_the_shell_gets_candidates() -> None:
    variables = {"_ROOFLINE_COMPLETE": "bash_complete", "COMP_WORDS": "roofline com", "COMP_CWORD": "1"}
    answer = bench(**variables)
    assert answer.returncode == 0
    assert answer.stdout.split() == [f"plain,{verb}" for verb in VERBS if verb.startswith("com")]


@pytest.mark.parametrize(
    ("words", "begun"), [("show", "l"), ("verify", "202611"), ("plot", "sam"), ("resume", "la"), ("compare", "sam")]
)
def test_completion_asks_for_the_names_of_saved_runs(results: Path, words: str, begun: str) -> None:
    typed = f"roofline --results {results} {words} {begun}"
    variables = {"_ROOFLINE_COMPLETE": "bash_complete", "COMP_WORDS": typed, "COMP_CWORD": str(len(typed.split()) - 1)}
    found = [line.removeprefix("plain,") for line in bench(**variables).stdout.split()]
    assert found and all(name.startswith(begun) for name in found)


def test_columns_left_out_for_width_are_named_in_one_remark(results: Path) -> None:
    answer = bench("show", "last", "--results", str(results), COLUMNS="80")
    assert max(map(len, answer.stdout.splitlines())) <= 80
    assert answer.stderr.startswith("80 columns are too few, left out: sustained, launches, chains, audited, ")
    assert "spread, seen of Kernels;" in answer.stderr
    assert answer.stderr.count("\n") == 1
    assert bench("show", "last", "-q", "--results", str(results), COLUMNS="80").stderr == ""


@pytest.mark.parametrize("columns", ["0", "-1", "wide", ""])
def test_a_width_that_is_none_changes_nothing(columns: str, results: Path) -> None:
    plain = bench("list", "runs", "--results", str(results))
    assert bench("list", "runs", "--results", str(results), COLUMNS=columns).stdout == plain.stdout != ""


def test_python_that_strips_docstrings_is_told_of_and_no_kernel_is_blamed() -> None:
    answer = bench("list", "kernels", PYTHONOPTIMIZE="2")
    assert answer.returncode == 2
    assert "Python was told to strip them all: run it without -OO" in answer.stderr


@pytest.mark.parametrize("number", ["SIGINT", "SIGTERM"])
def test_a_signal_while_the_process_ends_does_not_change_its_exit_code(number: str) -> None:
    late = f"import atexit, os, signal; atexit.register(lambda: os.kill(os.getpid(), signal.{number}))"
    code = f"{late}; import sys; sys.argv[1:] = ['guide', 'nonsense']; from bench.__main__ import run; run()"
    answer = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=False)
    assert answer.returncode == 2
