"""What a CI service keeps compiled kernels under: `python -m bench.service.code_key`, two outputs of a step."""

from __future__ import annotations

import re
import sys
from importlib.metadata import version

import click

from bench.service.github import output_lines
from roofline.host import read_machine
from roofline.measurement.code_cache import CodeCache, code_cache
from roofline.model.machine import Machine


def code_key(machine: Machine, cache: CodeCache) -> str:
    """Return a key that differs where compiled kernels do: CPU model, Numba's version and the hash of all that decides.

    The folder's name is that hash: of the sources, the CPU's features, compilers and switches.
    """
    cpu = re.sub(r"[^A-Za-z0-9.]+", "-", machine.cpu_model).strip("-")[:60]
    return f"roofline-{machine.arch}-{cpu}-numba-{version('numba')}-{cache.folder.name}"


def main() -> int:
    """Print `key` and `path` in the form that GITHUB_OUTPUT takes, and return the exit code."""
    machine = read_machine()
    cache = code_cache(machine)
    click.echo(output_lines("key", code_key(machine, cache)) + output_lines("path", str(cache.folder)), nl=False)
    return 0


if __name__ == "__main__":
    sys.exit(main())
