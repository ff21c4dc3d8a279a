from __future__ import annotations

import json
from pathlib import Path

import click
import pytest
from answer import Ask
from ladder_run import ladder_run

from bench.cli.group import VERBS, program
from bench.cli.session import Session
from roofline.archive.document import decode
from roofline.archive.store import save
from roofline.model.run import Run


@pytest.mark.parametrize(
    ("line", "code", "words"),
    [
        ("--version", 0, ["roofline-suite"]),
        ("--help", 0, ["Verbs:", "ceilings", "completion"]),
        ("machine", 0, ["cores to use", "executes", "caches reported"]),
        ("list isas", 0, ["scalar", "f64 lanes"]),
        ("list runs", 0, ["sample", "20261104"]),
        ("show last", 0, ["gemm.blocked", "DRAM"]),
        ("show sample", 0, ["gemm.blocked"]),
        ("show last --format md", 0, ["| ---: |", "### "]),
        ("guide", 0, ["method", "adding-a-kernel"]),
        ("guide conventions", 0, ["# Conventions", "fused"]),
        ("completion bash", 0, ["_ROOFLINE_COMPLETE", "complete"]),
        ("completion zsh", 0, ["#compdef roofline"]),
        ("completion fish", 0, ["complete"]),
    ],
)
def test_a_command_answers_on_stdout(ask: Ask, results: Path, line: str, code: int, words: list[str]) -> None:
    answer = ask("--results", str(results), *line.split())
    assert answer.code == code
    assert [word for word in words if word not in answer.out] == []
    assert answer.err == ""


@pytest.mark.parametrize(
    ("line", "code", "words"),
    [
        ("mashine", 2, ["unknown verb 'mashine'", "did you mean 'machine'", "--help"]),
        ("--frobnicate", 2, ["--frobnicate", "--help"]),
        ("export last", 2, ["--to", "export --help"]),
        ("show nosuchrun", 2, ["nosuchrun"]),
        ("show last~7", 2, ["last~7"]),
        ("plot nosuchrun", 2, ["nosuchrun"]),
        ("plot last --dtype f16", 2, ["f16", "f64"]),
        ("plot last --threads 0", 2, ["0"]),
        ("plot last --size 360", 2, ["--ladder FAMILY"]),
        ("plot last --ladder gemms", 2, ["unknown family 'gemms'", "did you mean 'gemm'"]),
        ("plot last --ladder stream", 2, ["which kernel of stream improves which", "python -m bench run stream"]),
        ("plot last --ladder gemm --size 7", 2, ["at n = 7", "n = "]),
        ("plot last -o -", 2, ["'-'", "no name of a file"]),
        ("plot last -o /", 2, ["'/'", "no name of a file"]),
        ("all --wait nan", 2, ["nan", "--wait"]),
        ("plot last -o a.gif", 2, ["a.gif", ".svg, .png, .pdf"]),
        ("list nothing", 2, ["nothing", "kernels"]),
        ("guide methd", 2, ["unknown page 'methd'", "did you mean 'method'"]),
        ("completion tcsh", 2, ["tcsh", "bash"]),
        ("all --threads 4096", 2, ["4096", "may use", "--threads"]),
        ("all --threads two", 2, ["'two'", "expected"]),
        ("all --threads 0", 2, ["'0'", "expected"]),
        ("all --threads 1,,2", 2, ["'1,,2'", "commas"]),
        ("all --dtype f16", 2, ["unknown dtype 'f16'", "f32, f64"]),
        ("all --budget 0", 2, ["0", "--budget"]),
        ("all --budget nan", 2, ["--budget"]),
        ("all --label last", 2, ["'last'", "label"]),
        ("ceilings --isa sve9", 2, ["unknown ISA 'sve9'", "scalar"]),
        ("run gemm.blokced", 2, ["gemm.blokced", "gemm.blocked"]),
        ("run --isa avx2", 2, ["--isa"]),
    ],
)
def test_a_bad_request_is_one_line_on_stderr(ask: Ask, results: Path, line: str, code: int, words: list[str]) -> None:
    answer = ask("--results", str(results), *line.split(), session=Session(launch=_never))
    assert answer.code == code
    assert [word for word in words if word not in answer.err] == []
    assert answer.out == ""
    assert answer.err.startswith("error: ")
    assert answer.err.count("\n") == 1


def test_no_verb_shows_the_help(ask: Ask) -> None:
    answer = ask()
    assert answer.code == 0
    assert "Usage:" in answer.out


@pytest.mark.parametrize("line", ["all", "ceilings", "run gemm.naive"])
def test_a_results_folder_that_cannot_be_written_is_found_before_measuring(ask: Ask, tmp_path: Path, line: str) -> None:
    (tmp_path / "file").write_text("in the way")
    answer = ask(*line.split(), "--results", str(tmp_path / "file"), session=Session(launch=_never))
    assert answer.code == 73
    assert "--results" in answer.err
    assert answer.err.count("\n") == 1


def test_the_results_folder_is_looked_at_before_anything_else(ask: Ask, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    assert ask("all", "--threads", "4096", "--results", str(tmp_path / "file")).code == 73


def test_a_broken_archive_is_exit_code_4_with_the_reason(ask: Ask, tmp_path: Path) -> None:
    broken = tmp_path / "run.json"
    broken.write_text('{"schema": 1, "id": ')
    answer = ask("show", str(broken))
    assert answer.code == 4
    assert str(broken) in answer.err
    assert answer.err.count("\n") == 1


def test_one_broken_file_does_not_hide_the_other_runs(ask: Ask, run: Run, tmp_path: Path) -> None:
    path = save(run, tmp_path)
    path.with_name("20261105-000000-0000.json").write_text("nonsense")
    answer = ask("list", "runs", "--json", "--results", str(tmp_path))
    assert answer.code == 0
    assert sorted(bool(entry["error"]) for entry in json.loads(answer.out)) == [False, True]


def test_an_empty_results_folder_says_what_to_type(ask: Ask, tmp_path: Path) -> None:
    answer = ask("list", "runs", "--results", str(tmp_path))
    assert answer.code == 0
    assert "python -m bench all" in answer.err


def test_list_kernels_gives_the_registry_as_json(ask: Ask) -> None:
    facts = json.loads(ask("list", "kernels", "--json").out)
    triad = next(fact for fact in facts if fact["name"] == "stream.triad")
    assert triad["family"] == "stream"
    assert set(triad) == {
        "name", "family", "formula", "compiled", "parallel", "serial", "levels", "fastmath", "improves", "dtypes",
        "sizes", "tiles", "own_work", "digest",
    }  # fmt: skip


def test_machine_as_json_says_what_the_process_may_use(ask: Ask) -> None:
    document = json.loads(ask("machine", "--json").out)
    assert set(document) == {"key", "machine", "environment", "may_use", "caveats"}
    assert document["may_use"]["cpus"]


def test_show_as_json_is_the_archived_document(ask: Ask, run: Run, results: Path) -> None:
    answer = ask("show", "last", "--json", "--results", str(results))
    assert decode(answer.out.encode(), "stdout") == run


@pytest.mark.parametrize("words", [("show",), ("export", "--to", "csv"), ("verify",)])
def test_without_a_name_the_last_run_is_meant(ask: Ask, results: Path, words: tuple[str, ...]) -> None:
    assert ask(*words, "--results", str(results)) == ask(*words, "last", "--results", str(results))


def test_shared_options_work_before_and_after_the_verb(ask: Ask, results: Path) -> None:
    before = ask("--results", str(results), "list", "runs")
    after = ask("list", "runs", "--results", str(results))
    assert before == after
    assert "sample" in after.out


def test_plot_writes_beside_the_name_that_is_given(ask: Ask, few_results: Path, tmp_path: Path) -> None:
    answer = ask("plot", "last", "--results", str(few_results), "-o", str(tmp_path / "picture"))
    assert answer.code == 0
    assert answer.out.split() == [str(tmp_path / "picture.svg"), str(tmp_path / "picture.png")]
    assert (tmp_path / "picture.svg").read_text().startswith("<?xml")


def test_plot_to_a_pdf_writes_only_that_and_the_same_again(ask: Ask, few_results: Path, tmp_path: Path) -> None:
    written = []
    for name in ("one.pdf", "two.pdf"):
        answer = ask("plot", "last", "--results", str(few_results), "-o", str(tmp_path / name))
        assert answer.out.split() == [str(tmp_path / name)]
        written.append((tmp_path / name).read_bytes())
    assert written[0].startswith(b"%PDF-") and written[0] == written[1]


def test_plot_to_a_png_writes_only_that(ask: Ask, few_results: Path, tmp_path: Path) -> None:
    answer = ask("plot", "last", "--results", str(few_results), "-o", str(tmp_path / "one.png"))
    assert answer.code == 0
    assert [path.name for path in tmp_path.iterdir()] == ["one.png"]


@pytest.mark.parametrize(
    ("options", "suffix"),
    [("", ""), ("--dtype f64", "-f64"), ("--threads 1", "-1t"), ("--dtype f64 --threads 1", "-f64-1t")],
)
def test_a_chosen_picture_stands_beside_the_one_of_the_whole_run(
    ask: Ask, few_results: Path, tmp_path: Path, options: str, suffix: str
) -> None:
    path = tmp_path / "20261104-101500-a1b2.json"
    path.write_bytes(next(few_results.glob("*/*.json")).read_bytes())
    answer = ask("plot", str(path), *options.split())
    assert answer.code == 0
    assert answer.out.split() == [str(tmp_path / f"{path.stem}{suffix}.{ending}") for ending in ("svg", "png")]


def test_plot_of_a_ladder_names_its_files_and_then_tells_every_step(ask: Ask, tmp_path: Path) -> None:
    path = save(ladder_run(), tmp_path)
    answer = ask("plot", str(path), "--ladder", "reduction", "--dtype", "f64")
    assert answer.code == 0
    files, *ladders = answer.out.strip().split("\n\n")
    stem = f"{path.stem}-ladder-reduction-f64"
    assert files.split() == [str(path.with_name(f"{stem}.{ending}")) for ending in ("svg", "png")]
    assert all(Path(file).stat().st_size > 10_000 for file in files.split())
    assert [ladder.splitlines()[0] for ladder in ladders] == [
        "reduction.dot_1 and better: f64, n = 4096",
        "reduction.sum_1 and better: f64, n = 4096",
    ]
    assert [len(ladder.splitlines()) for ladder in ladders] == [5, 5]
    assert answer.err == ""


def test_plot_to_a_missing_folder_is_one_line(ask: Ask, few_results: Path, tmp_path: Path) -> None:
    answer = ask("plot", "last", "--results", str(few_results), "-o", str(tmp_path / "no" / "one.png"))
    assert answer.code == 73
    assert answer.err.count("\n") == 1


def test_control_characters_in_a_request_do_not_reach_the_terminal(ask: Ask) -> None:
    answer = ask("sh\x1b[31mow\u202e\n")
    assert answer.code == 2
    assert "\x1b" not in answer.err and "\u202e" not in answer.err
    assert answer.err.count("\n") == 1


def test_an_internal_error_is_one_line_and_a_traceback_only_with_v(ask: Ask, results: Path) -> None:
    short = ask("run", "stream.triad", "--results", str(results), session=Session(launch=_explode))
    assert short.code == 70
    assert short.err.startswith("error: internal error: ZeroDivisionError: on\\x07 purpose")
    assert short.err.count("\n") == 1
    long = ask("run", "stream.triad", "-v", "--results", str(results), session=Session(launch=_explode))
    assert long.code == 70
    assert "Traceback" in long.err


def test_an_interrupt_is_exit_code_130(ask: Ask, tmp_path: Path) -> None:
    answer = ask("run", "stream.triad", "--results", str(tmp_path), session=Session(launch=_interrupted))
    assert answer.code == 130
    assert answer.err == "error: interrupted\n"


@pytest.mark.parametrize("verb", VERBS)
def test_the_one_line_help_of_a_verb_opens_its_own_help(verb: str) -> None:
    group = program()
    command = group.get_command(click.Context(group), verb)
    assert command is not None and command.name == verb
    assert (command.help or "").partition("\n")[0] == VERBS[verb]


def _never(*args: object, **settings: object) -> Run:
    raise AssertionError("measuring has begun")


def _explode(*args: object, **settings: object) -> Run:
    raise ZeroDivisionError("on\x07 purpose")


def _interrupted(*args: object, **settings: object) -> Run:
    raise KeyboardInterrupt
