"""Sessions of pytest inside a test."""

from __future__ import annotations

from importlib.metadata import entry_points

from point_with import FakeYardstick

from roofline.measurement import cache_folder, function, yardstick
from roofline.testing import fixture, points_file, points_table

PLUGIN = "roofline.testing.plugin"
_INSTALLED = any(found.value == PLUGIN for found in entry_points(group="pytest11"))
LOAD = ("-p", "no:hypothesispytest", "-p", "no:cacheprovider", *(() if _INSTALLED else ("-p", PLUGIN)))
"""Loads the plugin where the installation does not; Hypothesis's would load Hypothesis for every session."""

LOADED = (FakeYardstick, cache_folder, function, yardstick, fixture, points_file, points_table)
"""A session inside forgets what it has loaded, and NumPy cannot be loaded once more: all of it is there before."""

FAKE = """
from point_with import FakeYardstick
from roofline.testing.calls import Calls
from roofline.testing.plugin import CALLS

def pytest_configure(config):
    config.stash[CALLS] = Calls(config)
    config.stash[CALLS].yardstick = FakeYardstick({answer})
"""
"""A conftest with which every call reaches what `answer` says."""
