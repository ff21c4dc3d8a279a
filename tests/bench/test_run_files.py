"""`run FILE.py`: no line of the file runs in the program that asks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from answer import Ask
from sample_host import sample_machine

from bench.planning import planned_elsewhere
from bench.trial import Asked, tried
from bench.versions import versions_of
from roofline.errors import KernelFileError, UsageError
from roofline.measurement.message import PlanRequest
from roofline.measurement.plan import KernelPoint
from roofline.model.trial import PROFILES

GOOD = """
import numpy as np
from roofline import Work, kernel

@kernel(
    family="mine",
    work=lambda n, size: Work(flops=n, read_bytes=n * size, write_bytes=n * size, allocate_bytes=n * size),
    arguments=lambda n, dtype, rng: (np.empty(n, dtype), rng.random(n).astype(dtype) + dtype(0.5)),
    reference=lambda out, x: x + x,
    compiled=False,
    sizes=(1000,),
)
def twice(out, x):
    \"\"\"out = x + x\"\"\"
    out[:] = x + x
"""


def asked(file: Path, text: str, patterns: tuple[str, ...] = ()) -> PlanRequest:
    file.write_text(text)
    return PlanRequest(
        files=(str(file),),
        mode="run",
        machine=sample_machine(),
        cpus=(0,),
        threads=(1,),
        dtypes=("f64",),
        isas=("scalar", "avx2"),
        patterns=patterns,
        memory_budget_bytes=2**30,
    )


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}


def test_the_plan_of_a_users_file_names_its_kernels_and_the_file(tmp_path: Path) -> None:
    plan = planned_elsewhere(asked(tmp_path / "kernels.py", GOOD), environment())
    assert plan.files == (str(tmp_path / "kernels.py"),)
    kernels = {point.kernel for point in plan.points if isinstance(point, KernelPoint)}
    assert kernels == {"mine.twice"}
    assert plan.sources == plan.files


def test_a_kernel_that_one_side_of_a_trial_lacks_is_told_with_the_side(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("new.py").write_text(GOOD)
    Path("old.py").write_text(GOOD.replace("twice", "once"))
    with (
        versions_of("old.py", "new.py", [], False) as versions,
        pytest.raises(UsageError, match=r"^old\.py: unknown kernel 'mine\.twice'"),
    ):
        tried(versions, Asked(("mine.twice",)), PROFILES["quick"], keep=print, report=print, limit_s=1.0)


def test_the_plan_names_the_users_libraries_that_decide_about_the_code(tmp_path: Path) -> None:
    library = tmp_path / "library" / "of_mine" / "core.py"
    library.parent.mkdir(parents=True)
    (library.parent / "__init__.py").write_text("")
    library.write_text("import numpy, json\n")
    (tmp_path / "own").mkdir()
    path = os.pathsep.join([str(tmp_path / "library"), *sys.path])
    asked_for = asked(tmp_path / "own" / "kernels.py", f"import of_mine.core\n{GOOD}")
    plan = planned_elsewhere(asked_for, {**environment(), "PYTHONPATH": path})
    assert [Path(source).relative_to(tmp_path).as_posix() for source in plan.sources] == [
        "library/of_mine/__init__.py", "library/of_mine/core.py", "own/kernels.py",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        ("raise ValueError('here')", UsageError, "line 1: ValueError: here"),
        ("import os; os.abort()", KernelFileError, "died of SIGABRT"),
        (GOOD.replace("Work(flops=n", "1 // 0 or Work(flops=n"), UsageError, "fails at n="),
    ],
    ids=["raises", "aborts", "work fails"],
)
def test_a_file_that_misbehaves_is_an_error_in_words(
    tmp_path: Path, text: str, error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        planned_elsewhere(asked(tmp_path / "kernels.py", text), environment())


def test_a_file_that_hangs_is_given_up(tmp_path: Path) -> None:
    request = asked(tmp_path / "kernels.py", "import time; time.sleep(600)")
    with pytest.raises(KernelFileError, match="said nothing for"):
        planned_elsewhere(request, environment(), patience_s=0.3)


@pytest.mark.parametrize(("word", "words"), [("nowhere.py", "is not there"), ("folder.py", "is a folder")])
def test_what_is_no_file_is_a_usage_error(
    ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, word: str, words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder.py").mkdir()
    answer = ask("run", word)
    assert (answer.code, words in answer.err) == (2, True)


RUNS = """
import json, sys
from bench.__main__ import main
code = main(["-q", "--results", sys.argv[1], "run", sys.argv[2], "--quick", "--budget", "0.5", "--threads", "1",
             "--dtype", "f64", "--json"])
print(json.dumps([code, sorted({name.split(".")[0] for name in sys.modules} & {"numba", "llvmlite", "kernels"})]))
"""


def test_the_program_that_asks_loads_neither_numba_nor_the_users_file(tmp_path: Path) -> None:
    """The slow one here: everything for real."""
    file = tmp_path / "kernels.py"
    file.write_text(GOOD + "\nassert 'bench.__main__' not in __import__('sys').modules\n")
    done = subprocess.run(
        [sys.executable, "-c", RUNS, str(tmp_path / "results"), str(file)],
        capture_output=True,
        text=True,
        env=environment(),
    )
    *document, last = done.stdout.strip().splitlines()
    assert json.loads(last) == [0, []], done.stderr
    run = json.loads("\n".join(document))
    assert [measurement["kernel"] for measurement in run["measurements"]] == ["mine.twice"]
    assert run["plan"]["files"] == [str(file)]
