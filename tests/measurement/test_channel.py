"""Lines in a worker's pipe are its own, each once and in order; without a key there are no seals."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from sample_host import sample_machine

from roofline.measurement.channel import Seal, Speaker, new_key
from roofline.measurement.interruption import catch_signals
from roofline.measurement.message import Finished, PlanRequest, message_from
from roofline.measurement.process import Died, WorkerProcess

KEY = new_key()
REQUEST = PlanRequest(
    files=(), mode="run", machine=sample_machine(), cpus=(), threads=(1,), dtypes=(), isas=(), patterns=()
)


def test_lines_come_out_as_they_went_in() -> None:
    ours, theirs = Seal(KEY), Seal(KEY)
    for text in (b"", b"{}", b"a b \xff", b"{}"):
        assert theirs.opened(ours.sealed(text)) == text


def test_a_line_that_is_repeated_or_left_out_or_changed_or_of_another_is_refused() -> None:
    ours = Seal(KEY)
    first, second = ours.sealed(b"one"), ours.sealed(b"two")
    repeated = Seal(KEY)
    assert (repeated.opened(first), repeated.opened(first)) == (b"one", None)
    for line in (second, first + b"!", b"one", Seal(new_key()).sealed(b"one")):
        assert Seal(KEY).opened(line) is None


def test_a_launcher_that_knows_no_seals_gets_none() -> None:
    read_end, write_end = os.pipe()
    Speaker(write_end, "")(Finished())
    assert message_from(os.read(read_end, 1000)) == Finished()
    os.close(read_end)
    os.close(write_end)


WORKER = """
import os, subprocess, sys
from pathlib import Path
from roofline.measurement.channel import asked_by_launcher
from roofline.measurement.message import Refused, plan_request_from

pipe = os.stat(int(sys.argv[1])).st_ino
request, send = asked_by_launcher(plan_request_from)
send(Refused(message=repr(sys.argv[1:])))
send(Refused(message=repr(os.read(0, 100))))
look = "import os,sys\\nfor n in range(3, 1024):\\n try: print(os.fstat(n).st_ino)\\n except OSError: pass"
seen = subprocess.run([sys.executable, "-ISc", look], close_fds=False, capture_output=True, text=True).stdout.split()
send(Refused(message=repr(str(pipe) in seen)))
os.closerange(3, 256)
send(Refused(message="still heard"))
os.write(next(n for n in range(256, 1024) if os.path.exists(f"/proc/self/fd/{n}")), b'{"record": "finished"}\\n')
"""


@pytest.mark.skipif(sys.platform != "linux", reason="looks at descriptors through /proc")
def test_the_pipe_is_not_where_a_kernel_closes_descriptors_or_starts_programs_and_its_key_is_nowhere() -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with catch_signals() as interruption:
        worker = WorkerProcess((sys.executable, "-c", WORKER), REQUEST, environment, interruption)
        try:
            heard = [worker.hear(patience_s=60.0) for _ in range(5)]
        finally:
            worker.stop()
    assert [message.message for message in heard[:4]] == ["[]", "b''", "False", "still heard"]
    assert isinstance(heard[4], Died)
    assert "kernels write to no pipe" in heard[4].detail


OLDER = """
import os, sys
first, pipe = b'{"record": "finished"}', int(sys.argv[1])
request, key = sys.stdin.readline(), sys.stdin.readline().strip()
from roofline.measurement.channel import Seal
os.write(pipe, first + b"\\n" + first + b"\\n" + Seal(key).sealed(first) + b"\\n" + first + b"\\n")
"""


@pytest.mark.parametrize("other_version", [True, False])
def test_another_version_of_the_suite_may_know_no_seals_until_it_has_shown_one(
    other_version: bool, tmp_path: Path
) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = (sys.executable, "-c", OLDER)
    folder = tmp_path if other_version else None
    with catch_signals() as interruption:
        worker = WorkerProcess(command, REQUEST, environment, interruption, folder)
        try:
            heard = [type(worker.hear(patience_s=60.0)) for _ in range(4)]
        finally:
            worker.stop()
    assert heard == ([Finished] * 3 + [Died] if other_version else [Died] * 4)
