"""Plans for a user's own kernels, made by the planner: no line of a user's file runs in this process."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from roofline.errors import KernelFileError, UsageError
from roofline.measurement.interruption import catch_signals
from roofline.measurement.message import Planned, PlanRequest, Refused
from roofline.measurement.plan import Plan
from roofline.measurement.process import Died, Silent, WorkerProcess
from roofline.measurement.strays import adopting

PLANNER = (sys.executable, "-m", "bench.planner")
PATIENCE_S = 60.0
"""A file that takes longer to load hangs."""


def planned_elsewhere(
    request: PlanRequest,
    environment: Mapping[str, str],
    patience_s: float = PATIENCE_S,
    folder: Path | None = None,
) -> Plan:
    """Return the plan for kernels of the user's files, made in a process of its own.

    `folder` is where its process starts: one that holds another version of this suite makes that the planner.

    Raises UsageError for what the files or the request get wrong, KernelFileError when loading the files crashes or
    hangs, Interruption when a signal came.
    """
    with tempfile.TemporaryDirectory(prefix="roofline-plan-") as cache, adopting(), catch_signals() as interruption:
        worker = WorkerProcess(PLANNER, request, {**environment, "NUMBA_CACHE_DIR": cache}, interruption, folder)
        try:
            answer: Any = worker.hear(patience_s)
        finally:
            worker.stop()
    match answer:
        case Planned(plan=plan):
            return plan
        case Refused(message=message):
            raise UsageError(message)
        case Died() | Silent():
            files = ", ".join(request.files)
            raise KernelFileError(f"loading {files}: the process {answer.what}: {answer.detail}; mend the file")
    raise KernelFileError(f"loading {', '.join(request.files)}: the process said what is no plan")
