"""The revision of the code that was measured."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

TIMEOUT_S = 5.0


def revision(folder: Path, git: str = "git") -> str | None:
    """Return the Git revision checked out in `folder`, with `+dirty` when tracked files have changes.

    None where there is no checkout, no commit yet, no `git`, or no answer in time: a run needs no Git.
    """
    program = shutil.which(git)
    if program is None:
        return None
    # A repository can name a program as its fsmonitor; looking at a folder must not run it.
    command = [program, "-C", str(folder), "-c", "core.fsmonitor=false", "describe"]
    options = ["--always", "--abbrev=12", "--exclude=*", "--dirty=+dirty"]
    # GIT_DIR and the like, set inside hooks, would answer for another folder.
    variables = {name: text for name, text in os.environ.items() if not name.startswith("GIT_")}
    try:
        answer = subprocess.run(
            [*command, *options],
            env={**variables, "GIT_OPTIONAL_LOCKS": "0"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return answer.stdout.strip() or None if answer.returncode == 0 else None
