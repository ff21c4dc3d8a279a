"""The planner: a process of its own that loads a user's kernel files and says what to measure.

Started as `python -m bench.planner FD`: reads one PlanRequest on standard input, writes Planned or Refused to FD. What
a user's file does to the process costs an answer, never the program that asked.
"""

from __future__ import annotations

import faulthandler

from msgspec.structs import replace

from bench.plans import plan_for
from roofline.errors import RooflineError
from roofline.kernels.origin import users_sources
from roofline.kernels.user_files import load_user_files
from roofline.measurement.channel import asked_by_launcher
from roofline.measurement.message import Planned, PlanRequest, Refused, plan_request_from
from roofline.measurement.strays import die_with_launcher


def answer_to(request: PlanRequest) -> Planned | Refused:
    """Load the files, plan, and return the plan or why there is none."""
    try:
        own = load_user_files(request.files)
        patterns = request.patterns or tuple(own)
        asked = {name: getattr(request, name) for name in request.__struct_fields__ if name not in ("files", "mode")}
        plan = plan_for(request.mode, **{**asked, "patterns": patterns})
        plan = replace(plan, files=request.files, sources=users_sources())
    except RooflineError as error:
        return Refused(message=str(error))
    except Exception as error:  # a declaration's own function: work(), sizes
        return Refused(message=f"planning {', '.join(request.files)}: {type(error).__name__}: {error}; mend the file")
    return Planned(plan=plan)


def main() -> None:
    """Serve one request."""
    faulthandler.enable()
    die_with_launcher()
    request, send = asked_by_launcher(plan_request_from)
    send(answer_to(request))


if __name__ == "__main__":
    main()
