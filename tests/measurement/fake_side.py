"""One side of a trial that measures nothing: it plays what a test has written down.

Called as `fake_side.py SCRIPT SIDE FD FD`. SCRIPT is a JSON file: `kernels`, for each what a rehearsal finds of it;
`times`, for each the seconds of a call; `acts`, for `SIDE MOMENT KERNEL` what the side does then, where the moment is
`rehearse`, `ready`, `time`, `time once` (the first time) or `time twice` (from the second time on); `log`, a file that
all it is asked for is written to, and `pids`, one for the ids of all processes. Imports only the standard library, so
that it starts quickly.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from typing import Any

from sealing import Pipe


class Side:
    """What one process of a side does."""

    def __init__(self, script: dict[str, Any], side: str, pipe: Pipe) -> None:
        self.script, self.side, self.pipe = script, side, pipe
        note(script["pids"], str(os.getpid()))

    def say(self, message: Any) -> None:
        """Write one message."""
        self.pipe.say(message)

    def play(self, moment: str, kernel: str) -> bool:
        """Do what is written down for a moment; return whether there was anything."""
        verb, argument = self.script["acts"].get(f"{self.side} {moment} {kernel}", (None, None))
        if verb == "die":
            os.kill(os.getpid(), getattr(signal, argument))
            time.sleep(60)
        elif verb == "exit":
            print("the last line of the side", file=sys.stderr, flush=True)
            os._exit(argument)
        elif verb == "sleep":
            time.sleep(argument)
        elif verb == "sleep first":
            time.sleep(argument)
            return False
        elif verb == "say":
            self.say(argument)
        elif verb == "forge":
            self.pipe.forge(argument)
        elif verb == "write":
            os.write(self.pipe.descriptor, argument.encode())
        elif verb == "fork":
            if os.fork() == 0:
                note(self.script["pids"], str(os.getpid()))
                for number in (signal.SIGINT, signal.SIGTERM):
                    signal.signal(number, signal.SIG_IGN)
                time.sleep(600)
            return False
        return verb is not None

    def rehearse(self, points: list[dict[str, Any]]) -> None:
        """Say what is known of each point."""
        for index, point in enumerate(points):
            self.say({"record": "began", "index": index})
            if not self.play("rehearse", point["kernel"]):
                found = self.script["kernels"][point["kernel"]]
                mine = {**found, **found.get(self.side, {})}
                self.say({"record": "rehearsed", "rehearsed": {"kernel": point["kernel"], **mine}})

    def get_ready(self, points: list[dict[str, Any]]) -> None:
        """Begin with each point, and say that all are ready."""
        for index, point in enumerate(points):
            self.say({"record": "began", "index": index})
            self.play("ready", point["kernel"])
        self.say({"record": "ready"})

    def serve(self, points: list[dict[str, Any]], told: Any) -> None:
        """Time what is asked for, until an empty line or the end."""
        for line in told:
            if not line.strip():
                return
            place, counted, made = map(int, line.split())
            kernel = points[place]["kernel"]
            earlier = asked(self.script["log"], self.side, kernel)
            note(self.script["log"], json.dumps([self.side, "time", kernel, counted, made]))
            if self.play("time", kernel) or self.play("time twice" if earlier else "time once", kernel):
                continue
            sample_s = self.script["times"][kernel][self.side] * made / counted
            timed = {"samples_s": [1.2 * sample_s, sample_s], "roof_samples": [5e10] * 2, "clock_samples_hz": [3e9] * 2}
            self.say({"record": "timed", "timed": timed, "asked": line.strip()})


def note(path: str, line: str) -> None:
    """Append a line to a file."""
    with open(path, "a") as file:  # noqa: PTH123  pathlib would double the time that it takes to start
        file.write(line + "\n")


def asked(path: str, side: str, kernel: str) -> int:
    """Return how often a side was asked to time a kernel."""
    with open(path) as file:  # noqa: PTH123
        return sum(json.loads(line)[:3] == [side, "time", kernel] for line in file)


def main() -> None:
    """Serve one request."""
    with open(sys.argv[1]) as file:  # noqa: PTH123
        script = json.load(file)
    request = json.loads(sys.stdin.buffer.readline())
    pipe = Pipe(int(sys.argv[3]))
    pipe.hear_key(sys.stdin.buffer.readline())
    side = Side(script, sys.argv[2], pipe)
    points = request["plan"]["points"]
    what = "prepare" if request["rehearsed"] else "rehearse"
    note(script["log"], json.dumps([side.side, what, [point["kernel"] for point in points], request["plan"]["files"]]))
    if not request["rehearsed"]:
        side.rehearse(points)
        return
    side.get_ready(points)
    with os.fdopen(int(sys.argv[4])) as told:
        side.serve(points, told)


if __name__ == "__main__":
    main()
