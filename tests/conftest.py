"""Fixtures that several rooms share. That this file is here puts `sample_run` on the path of every test."""

from __future__ import annotations

import os

import pytest
from sample_run import sample_run

from roofline.host import read_machine
from roofline.measurement.code_cache import code_cache
from roofline.model.run import Run

# Before any test loads Numba: its own cache would serve old code when a helper in another file changes.
os.environ["NUMBA_CACHE_DIR"] = str(code_cache(read_machine()).folder)


@pytest.fixture(scope="session")
def run() -> Run:
    """A rich run, as an archive would hold it."""
    return sample_run()
