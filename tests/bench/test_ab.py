"""`ab`: what is asked for, what is shown, and what it exits with."""

from __future__ import annotations

import json
import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from answer import Answer, Ask
from git_repository import commit, git, repository, worktrees
from msgspec.structs import replace
from trial_of import FIVE_PERCENT, SAME, SLOWER, TINY, spread, trial_of

from bench.cli.session import Session
from bench.trial import Asked
from bench.versions import Version
from roofline.archive.trials import SUFFIX, load_trial, save_trial
from roofline.errors import NotComparable
from roofline.measurement.interruption import Interruption
from roofline.model.run import Caveat
from roofline.model.trial import PROFILES, Profile, Trial, TrialFailure

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
NOTICED = {SLOWER: [spread(6, 0.01, FIVE_PERCENT), spread(7, 0.01, FIVE_PERCENT)]}
SLOW = [spread(6, 0.005, 0.1), spread(7, 0.005, 0.1)]
FAST = [spread(6, 0.005, -0.1), spread(7, 0.005, -0.1)]
STILL = [spread(6, 0.005)]
NOISY = [spread(6, 0.5)]
CRASHED = TrialFailure(point="b", side="head", kind="crashed", message="died of SIGSEGV")
MISSING = TrialFailure(point="only", side="base", kind="skipped", message="only the head has it")


def short(points: dict[str, Any], **fields: Any) -> Trial:
    """Return a trial of few pairs."""
    return trial_of(points, TINY, NOTICED, **fields)


@pytest.mark.parametrize(
    ("trial", "code"),
    [
        (short({"a": STILL}), 0),
        (short({"a": FAST}), 0),
        (short({"a": SLOW}), 1),
        (short({"a": SLOW, "b": NOISY}, failures=(CRASHED,)), 1),
        (short({"a": NOISY}), 3),
        (short({"a": FAST, "b": NOISY}), 3),
        (trial_of({"a": SLOW}, TINY, {SLOWER: [spread(6, 0.01), spread(7, 0.01)]}), 3),
        (short({"a": [[0.1] * 5]}, complete=False, reason="time limit"), 3),
        (short({"a": STILL}, failures=(CRASHED,)), 6),
        (short({"a": NOISY}, failures=(CRASHED,)), 6),
        (short({"a": STILL}, failures=(MISSING,)), 0),
        (short({"a": SLOW}, complete=False, reason="SIGINT"), 130),
        (short({"a": STILL}, complete=False, reason="SIGTERM"), 143),
        (short({"a": STILL}, complete=False, reason="SIGHUP"), 129),
        (short({}, complete=False, reason="SIGINT"), 130),
        (short({}), 5),
    ],
)  # fmt: skip
def test_the_verdicts_decide_the_exit_code(trial: Trial, code: int, ask: Ask, tmp_path: Path) -> None:
    assert ask("ab", "--again", str(save_trial(trial, tmp_path))).code == code


def test_a_saved_trial_is_shown_as_it_was_when_it_was_measured(ask: Ask, tmp_path: Path) -> None:
    one = tried_by(ask, tmp_path, short({"a": SLOW, "b": STILL}))
    path = one.out.splitlines()[-1]
    other = ask("ab", "--again", path)
    assert other.out == "\n".join(one.out.splitlines()[:-1]) + "\n"
    assert other.err == one.err
    assert other.code == one.code == 1


@pytest.fixture
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no note wrap."""
    monkeypatch.setenv("COLUMNS", "250")


@pytest.mark.usefixtures("wide")
def test_the_table_says_what_was_found_of_every_kernel(ask: Ask, tmp_path: Path) -> None:
    trial = short(
        {"a": SLOW, "b": FAST, "c": STILL, "d": NOISY, "crashed": []},
        failures=(replace(CRASHED, point="crashed"), MISSING),
        caveats=(Caveat(code="VM", message="virtual machine"),),
    )
    answer = ask("ab", "--again", str(save_trial(trial, tmp_path)))
    rows = {line.split()[0]: line for line in answer.out.splitlines() if line.strip() and line.split()[0] in "abcd"}
    assert "+10.5 %" in rows["a"] and "slower" in rows["a"] and "6+7" in rows["a"] and "1.00 ms" in rows["a"]
    assert "-9.5 %" in rows["b"] and "faster" in rows["b"]
    assert "same within 5 %" in rows["c"]
    assert any("its pairs vary too much" in line and line.split()[-1] == "d" for line in answer.out.splitlines())
    assert "main -> HEAD, tiny profile" in answer.out
    assert "control: same code" in answer.out and "held" in answer.out and "noticed" in answer.out
    assert "it failed: see below" in answer.out
    assert "only the head has it" in answer.out and "died of SIGSEGV" in answer.out
    assert "1 slower, 1 faster, 1 same, 2 inconclusive; 2 not compared; 60 s" in answer.err
    assert "VM: virtual machine" in answer.err


@pytest.mark.usefixtures("wide")
def test_controls_that_did_not_hold_are_told_in_words(ask: Ask, tmp_path: Path) -> None:
    for controls, words in (
        ({SAME: SLOW}, "the same code on both sides was found slower"),
        ({SLOWER: [spread(6, 0.01), spread(7, 0.01)]}, "5 % more calls were not noticed"),
    ):
        trial = trial_of({"a": SLOW}, TINY, {**NOTICED, **controls})
        answer = ask("ab", "--again", str(save_trial(trial, tmp_path)))
        assert f"nothing is concluded: control: {'same' if SAME in controls else 'slower'} code: {words}" in answer.err
        assert "the controls did not hold" in answer.out
        assert ("differs" if SAME in controls else "missed") in answer.out


@pytest.mark.usefixtures("wide")
def test_an_interrupted_trial_says_so(ask: Ask, tmp_path: Path) -> None:
    trial = short({"a": [[0.0]]}, complete=False, reason="SIGINT")
    answer = ask("ab", "--again", str(save_trial(trial, tmp_path)))
    assert "incomplete: SIGINT; what was measured counts" in answer.err
    assert "the trial ended before it had enough pairs (SIGINT)" in answer.out


def test_json_is_one_document_and_nothing_else(ask: Ask, tmp_path: Path) -> None:
    path = save_trial(short({"a": SLOW}), tmp_path)
    for answer in (
        ask("ab", "--again", str(path), "--json"), tried_by(ask, tmp_path, load_trial(path), "--json"),
    ):  # fmt: skip
        document = json.loads(answer.out)
        assert [verdict["verdict"] for verdict in document["verdicts"]] == ["slower", "same", "slower"]
        assert answer.out == path.read_text() and answer.code == 1


class Tried:
    """Stands in for what measures: gives a trial back, and remembers what it was asked for."""

    def __init__(self, trial: Trial | BaseException) -> None:
        self.trial = trial
        self.asked: dict[str, Any] = {}
        self.texts: list[list[str]] = []

    def __call__(
        self,
        versions: tuple[Version, Version],
        asked: Asked,
        profile: Profile,
        *,
        keep: Callable[..., Any],
        **rest: Any,
    ) -> Trial:
        self.asked = {"versions": versions, "asked": asked, "profile": profile, **rest}
        self.texts = [[Path(file).read_text() for file in version.files] for version in versions]
        if isinstance(self.trial, BaseException):
            raise self.trial
        keep(replace(self.trial, complete=False, pairs=()))
        return self.trial


def tried_by(ask: Ask, folder: Path, trial: Trial | BaseException, *words: str, tried: Tried | None = None) -> Answer:
    """Call `ab` for two files with something that stands in for what measures."""
    for name in ("old.py", "new.py"):
        (folder / name).write_text(name)
    session = Session(tried=tried or Tried(trial))
    return ask("--results", str(folder / "results"), "ab", *(words if "old.py" in " ".join(words) else
               (str(folder / "old.py"), str(folder / "new.py"), *words)), session=session)  # fmt: skip


def test_what_is_asked_for_reaches_what_measures(ask: Ask, tmp_path: Path) -> None:
    tried = Tried(short({"a": STILL}))
    options = ("--quick", "--kernel", "mine.*", "--kernel", "x.y", "--dtype", "f32,f64", "--size", "64,128",
               "--threads", "1", "--limit", "30")  # fmt: skip
    answer = tried_by(ask, tmp_path, tried.trial, *options, tried=tried)
    assert answer.code == 0
    assert tried.texts == [["old.py"], ["new.py"]]
    assert tried.asked["asked"] == Asked(
        patterns=("mine.*", "x.y"), threads=(1,), dtypes=("f32", "f64"), sizes=(64, 128)
    )
    assert (tried.asked["profile"], tried.asked["limit_s"]) == (PROFILES["quick"], 30.0)
    assert tried.asked["argv"][2] == "ab"
    tried_by(ask, tmp_path, tried.trial, tried=tried)
    assert tried.asked["profile"] == PROFILES["full"]


def test_a_trial_is_saved_while_it_grows_and_at_its_end(ask: Ask, tmp_path: Path) -> None:
    trial = short({"a": STILL})
    answer = tried_by(ask, tmp_path, trial)
    (path,) = (tmp_path / "results").glob(f"*/*{SUFFIX}")
    assert answer.out.splitlines()[-1] == str(path)
    assert load_trial(path) == trial
    assert len(list(path.parent.iterdir())) == 1


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (NotComparable("no kernel is on both sides"), 4, "no kernel is on both sides"),
        (Interruption(2), 130, "interrupted by SIGINT"),
    ],
)
def test_an_error_of_what_measures_is_one_line(
    error: BaseException, code: int, words: str, ask: Ask, tmp_path: Path
) -> None:
    answer = tried_by(ask, tmp_path, error)
    assert (answer.code, answer.out) == (code, "")
    assert answer.err == f"error: {words}\n"


def test_signals_after_the_last_pair_wait_for_the_file(ask: Ask, tmp_path: Path) -> None:
    def late(*words: Any, **options: Any) -> Trial:
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.getsignal(number)(number, None)  # type: ignore[operator, misc]
        return short({"a": STILL})

    answer = tried_by(ask, tmp_path, short({}), tried=late)  # type: ignore[arg-type]
    assert (answer.code, answer.err) == (143, "error: interrupted by SIGTERM\n")
    assert len(list((tmp_path / "results").glob(f"*/*{SUFFIX}"))) == 1


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((), "ab needs a revision or a file to compare with, as in `ab main` or `ab OLD.py NEW.py`"),
        (("--again", "x.ab.json", "main"), "--again judges a saved trial and measures nothing"),
        (("old.py",), "old.py is compared with nothing"),
        (("old.py", "none.py"), "'none.py' is not there"),
        (("old.py", "old.py", "old.py"), "compares exactly two files"),
        (("main", "HEAD", "x"), "'x' is no Python file; expected BASE [HEAD] [FILE.py]..."),
        (("main", "x.py", "HEAD"), "'HEAD' is no Python file"),
        (("old.py", "old.py", "--threads", "0"), "--threads '0' is no thread count"),
        (("old.py", "old.py", "--limit", "0"), "0"),
        (("old.py", "old.py", "--dtype", "f63"), "did you mean 'f64'"),
    ],
)
def test_what_cannot_be_asked_for_exits_with_2_and_says_what_to_do(
    words: tuple[str, ...], told: str, ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("old.py").write_text("")
    answer = ask("ab", *words, session=Session(tried=Tried(short({"a": STILL}))))
    assert (answer.code, answer.out) == (2, "")
    assert told in answer.err and answer.err.count("\n") == 1


def test_a_file_that_is_no_trial_exits_with_4(ask: Ask, tmp_path: Path) -> None:
    (tmp_path / "x").write_text("{}")
    for name in ("x", "none"):
        answer = ask("ab", "--again", str(tmp_path / name))
        assert (answer.code, answer.out) == (4, "")


@needs_git
@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("v1", "mine.py"), 0, ""),
        (("v1", "HEAD", "mine.py"), 0, ""),
        (("v1",), 2, "this repository is not the suite itself: name its files of kernels"),
        (("v11", "mine.py"), 2, "unknown revision 'v11'; did you mean 'v1'?"),
        (("--", "--help", "mine.py"), 2, "unknown revision '--help'"),
        (("a;b", "mine.py"), 2, "unknown revision 'a;b'"),
        (("v1", "gone.py"), 2, "gone.py is not there in v1"),
    ],
)
def test_revisions_are_compared_and_their_folders_removed(
    words: tuple[str, ...], code: int, told: str, ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "repo"
    repository(folder, {"mine.py": "one"})
    git(folder, "tag", "v1")
    commit(folder, {"mine.py": "two"})
    monkeypatch.chdir(folder)
    tried = Tried(short({"a": STILL}))
    answer = ask("--results", str(tmp_path / "results"), "ab", *words, session=Session(tried=tried))
    assert answer.code == code and told in answer.err
    assert tried.texts == ([["one"], ["two"]] if code == 0 else [])
    assert worktrees(folder) == [str(folder)]


@needs_git
def test_changes_are_refused_and_measured_as_they_lie_when_asked_for(
    ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository(tmp_path / "repo", {"mine.py": "one"})
    monkeypatch.chdir(tmp_path / "repo")
    Path("mine.py").write_text("three")
    tried = Tried(short({"a": STILL}))
    refused = ask("--results", "../r", "ab", "main", "mine.py", session=Session(tried=tried))
    assert refused.code == 2
    assert "mine.py; commit or stash them, or measure the files as they lie here with --worktree" in refused.err
    assert ask("--results", "../r", "ab", "main", "mine.py", "--worktree", session=Session(tried=tried)).code == 0
    assert tried.texts == [["one"], ["three"]]


def test_the_help_says_what_it_does_and_exits_with(ask: Ask) -> None:
    answer = ask("ab", "--help")
    assert "BASE [HEAD] [FILE.py]..." in answer.out
    for option in ("--quick", "--worktree", "--kernel", "--limit", "--again", "--json", "--wait"):
        assert option in answer.out
    assert "Exits with 1 when a kernel is slower" in " ".join(answer.out.split())
    assert all(len(line) <= 80 for line in answer.out.splitlines())
