"""Where machine code is kept: the suite's own from run to run, a user's no longer than its run."""

from __future__ import annotations

from copy import copy
from pathlib import Path

import numba
import pytest
from numba import njit

from roofline.codegen.kept import FOLDER, kept
from roofline.kernels.compile import _compiled
from roofline.kernels.kernel import Kernel
from roofline.kernels.registry import kernel_named


def written_into(folder: Path) -> bool:
    return any(folder.rglob("*.nbi"))


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """The suite's lasting folder, and the one of everybody else."""
    lasting, scratch = tmp_path / "lasting", tmp_path / "scratch"
    monkeypatch.setenv(FOLDER, str(lasting))
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(scratch))
    return lasting, scratch


def three() -> int:
    return 3


def test_the_suites_own_code_lies_in_its_folder_and_everybody_elses_stays_where_it_was(folders):
    lasting, scratch = folders
    assert kept(nogil=True)(three)() == 3
    assert (written_into(lasting), written_into(scratch)) == (True, False)
    assert njit(cache=True)(three)() == 3
    assert written_into(scratch)


def test_without_a_folder_of_its_own_it_lies_with_the_rest(folders, monkeypatch):
    lasting, scratch = folders
    monkeypatch.delenv(FOLDER)
    assert kept(three)() == 3
    assert (written_into(lasting), written_into(scratch)) == (False, True)


def as_of_a_user(kernel: Kernel) -> Kernel:
    body = type(kernel.body)(kernel.body.__code__, kernel.body.__globals__, kernel.body.__name__)
    body.__module__ = "roofline_user_0_mine"
    object.__setattr__(kernel, "body", body)
    return kernel


@pytest.mark.parametrize("users", [False, True])
def test_a_kernel_of_a_users_file_is_not_kept_with_the_suites(users, folders):
    kernel = copy(kernel_named("reduction.sum_1"))
    dispatcher = _compiled.__wrapped__(as_of_a_user(kernel) if users else kernel, False, True)
    lasting, scratch = folders
    located = str(dispatcher._cache.cache_path)
    assert located.startswith(str(scratch if users else lasting))
