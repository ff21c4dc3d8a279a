"""The pytest plugin: options, the fixture `roofline`, a table at the end. It loads nothing until a test uses it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from roofline.testing.calls import Calls
    from roofline.testing.fixture import Roofline

_CALLS: pytest.StashKey[Calls] = pytest.StashKey()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options; all of them begin with `--roofline`."""
    group = parser.getgroup("roofline", "percent of this machine's roof")
    group.addoption(
        "--roofline-disable",
        action="store_true",
        help="Call each function once and measure nothing; assertions on its roof are skipped. "
        "So does --benchmark-disable.",
    )
    group.addoption("--roofline-enable", action="store_true", help="Measure, whatever disables it.")
    group.addoption(
        "--roofline-strict", action="store_true", help="Fail where an unfit machine or a wide interval would skip."
    )
    group.addoption(
        "--roofline-run",
        metavar="RUN",
        help="Take the ceilings from a saved run of this machine: a path, or a name in the folder results.",
    )
    group.addoption("--roofline-json", metavar="FILE", help="Write all points with their samples as JSON.")
    parser.addini("roofline_run", "Saved run that ceilings are taken from; as --roofline-run.", default="")
    parser.addini(
        "roofline_on_inconclusive",
        "Where the interval straddles the limit: skip (default; fail with --roofline-strict), fail or pass.",
        default="",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Refuse what no session could do: an unknown policy, a file that cannot be written."""
    policy = config.getini("roofline_on_inconclusive")
    if policy not in ("", "skip", "fail", "pass"):
        raise pytest.UsageError(f"roofline_on_inconclusive is {policy!r}, expected skip, fail or pass")
    path = config.getoption("roofline_json")
    if path is not None and (not Path(path).absolute().parent.is_dir() or Path(path).is_dir()):
        raise pytest.UsageError(f"--roofline-json {path}: expected a file in a folder that exists")


def pytest_collection_finish(session: pytest.Session) -> None:
    """Read the saved run, when there is one and a test needs it. Raises UsageError for one of another machine."""
    config = session.config
    name = config.getoption("roofline_run") or config.getini("roofline_run")
    if name and any("roofline" in getattr(item, "fixturenames", ()) for item in session.items):
        from roofline.errors import RooflineError

        calls = _calls(config)
        try:
            if not calls.disabled and not calls.is_worker:
                calls.read_archived(name)
        except RooflineError as error:
            raise pytest.UsageError(f"--roofline-run {name}: {error}") from error


@pytest.fixture
def roofline(request: pytest.FixtureRequest) -> Roofline:
    """Time a callable beside the roof that binds it: `point = roofline(fn, *args, flops=..., bytes=...)`.

    `point.assert_at_least(percent_of_roof=55)` then fails, passes, or skips where that cannot be told.
    """
    from roofline.testing.fixture import Roofline

    return Roofline(_calls(request.config), request)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Show all points in a table."""
    calls = config.stash.get(_CALLS, None)
    if calls is not None and calls.points:
        from roofline.testing.points_table import lines

        terminalreporter.section("roofline")
        for line in lines(calls):
            terminalreporter.write_line(line)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write the points where they are asked for; workers of pytest-xdist have none."""
    path = session.config.getoption("roofline_json")
    if path is None or hasattr(session.config, "workerinput"):
        return
    from roofline.testing.points_file import write

    try:
        write(_calls(session.config), Path(path))
    except OSError as error:
        session.config.issue_config_time_warning(
            pytest.PytestWarning(f"--roofline-json {path}: {error.strerror or error}"), stacklevel=2
        )
        session.exitstatus = session.exitstatus or pytest.ExitCode.USAGE_ERROR


def pytest_unconfigure(config: pytest.Config) -> None:
    """End the threads that measured."""
    calls = config.stash.get(_CALLS, None)
    if calls is not None:
        calls.close()


def _calls(config: pytest.Config) -> Calls:
    """Return what this session has measured and knows."""
    from roofline.testing.calls import Calls

    if _CALLS not in config.stash:
        config.stash[_CALLS] = Calls(config)
    return config.stash[_CALLS]
