"""What several tests of measuring share."""

from __future__ import annotations

from pathlib import Path

import pytest
from fakes import FakeWorkers

POINTS = 4


@pytest.fixture
def workers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeWorkers:
    """Workers for a plan of POINTS points, whose code cache lies in the test's folder."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return FakeWorkers(tmp_path, POINTS)
