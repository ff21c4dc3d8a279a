"""Fixtures that several rooms share. That this file is here puts `sample_run` on the path of every test."""

from __future__ import annotations

import os
from tempfile import mkdtemp

import pytest
from sample_run import sample_run

from roofline.host import read_machine
from roofline.measurement.code_cache import code_cache
from roofline.model.run import Run

# Before any test loads Numba: its own cache would serve old code when a helper in another file changes.
os.environ["ROOFLINE_LOCK_FOLDER"] = mkdtemp(prefix="roofline-lock-")  # tests do not wait for each other's runs
os.environ["NUMBA_CACHE_DIR"] = str(code_cache(read_machine()).folder)


@pytest.fixture(scope="session")
def run() -> Run:
    """A rich run, as an archive would hold it."""
    return sample_run()
