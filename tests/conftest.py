"""Fixtures that several rooms share. That this file is here puts `sample_run` on the path of every test."""

from __future__ import annotations

import pytest
from sample_run import sample_run

from roofline.model.run import Run


@pytest.fixture(scope="session")
def run() -> Run:
    """A rich run, as an archive would hold it."""
    return sample_run()
