"""A worker that measures nothing: it plays what a test has written down.

Called as `fake_worker.py SCRIPT FD`. SCRIPT is a JSON file: `points`, for each index of a point what it does there
(a list of [verb, argument]), for `early` before the first, and for `compiling` when it only compiles; `startup`, what
it does before it has read its request; `pids`, a file that every process's id is written to; `places`, one for what
each is asked for and where its threads are to stay. Reads one request on standard input, speaks the message protocol on
FD, and imports only the standard library, so that it starts quickly.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

from sealing import Pipe


def play(acts: list[list[Any]], pipe: Pipe, pids: Path) -> None:
    """Do what is written down."""
    for verb, argument in acts:
        if verb == "say":
            pipe.say(argument)
        elif verb == "forge":
            pipe.forge(argument)
        elif verb == "write":
            os.write(pipe.descriptor, argument.encode())
        elif verb == "die":
            os.kill(os.getpid(), getattr(signal, argument))
        elif verb == "die with a cache":
            if "NUMBA_CACHE_DIR" in os.environ:
                os.kill(os.getpid(), getattr(signal, argument))
        elif verb == "note variables":
            path, names = argument
            with Path(path).open("a") as file:
                file.write(json.dumps([os.environ.get(name) for name in names]) + "\n")
        elif verb == "exit":
            print("one line\nthe last line of the worker", file=sys.stderr, flush=True)
            os._exit(argument)
        elif verb == "sleep":
            time.sleep(argument)
        elif verb == "ignore":
            signal.signal(getattr(signal, argument), signal.SIG_IGN)
        elif verb == "flood":
            for stream in (1, 2):
                for _ in range(argument):
                    os.write(stream, b"x" * 65536 + b"\n")
        elif verb == "fork":
            child = os.fork()
            if child == 0:
                if argument != "with the pipe":
                    os.close(pipe.descriptor)
                time.sleep(600)
                os._exit(0)
            note(child, pids)
        elif verb == "tell":
            os.write(2, argument.encode())
        elif verb == "daemon":
            if os.fork() == 0:  # leaves its group and its parent, as a daemon does
                os.setsid()
                child = os.fork()
                if child == 0:
                    os.close(pipe.descriptor)
                    if argument == "with nothing in its environment":
                        os.execve("/bin/sleep", ["sleep", "600"], {})
                    time.sleep(600)
                note(child, pids)
                os._exit(0)
            os.wait()
        elif verb == "replace":
            path, text = argument
            Path(path).write_text(text)
        elif verb == "once":
            first = pids.with_name("once")
            if not first.exists():
                first.touch()
                play([argument], pipe, pids)
        elif verb == "close":
            os.close(pipe.descriptor)
        else:
            raise ValueError(verb)


def note(pid: int, pids: Path) -> None:
    """Append a process's id to the file."""
    with pids.open("a") as file:
        file.write(f"{pid}\n")


def main() -> None:
    """Serve one request."""
    script = json.loads(Path(sys.argv[1]).read_text())
    pipe = Pipe(int(sys.argv[2]))
    pids = Path(script["pids"])
    note(os.getpid(), pids)
    play(script["startup"], pipe, pids)
    request = json.loads(sys.stdin.buffer.readline())
    pipe.hear_key(sys.stdin.buffer.readline())
    with Path(script["places"]).open("a") as file:
        file.write(f"{'measures' if request['compile_only'] is None else 'compiles'} {os.environ.get('OMP_PLACES')}\n")
    if request["compile_only"] is None:
        play(script["points"].get("early", []), pipe, pids)
        for index in range(request["first"], request["end"]):
            play([["say", {"record": "began", "index": index}]], pipe, pids)
            play(script["points"][str(index)], pipe, pids)
    else:
        play(script["points"].get("compiling", []), pipe, pids)
        for number in range(len(request["compile_only"])):
            (Path(request["claims_folder"]) / f"{number}.done").touch()
    play([["say", {"record": "finished"}]], pipe, pids)


if __name__ == "__main__":
    main()
