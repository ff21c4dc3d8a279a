"""What may differ between two runs on one machine."""

from __future__ import annotations

import os
import platform
import re
import sys
from collections.abc import Collection, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import psutil

from roofline.host.cgroup import cpu_quota, memory_limit_bytes
from roofline.host.limits import memory_available_bytes, read_affinity, usable_cpus
from roofline.host.topology import read_topology
from roofline.host.tree import Tree, decimal_number, whole_number
from roofline.model.machine import Environment

PREFIXES = ("NUMBA_", "OMP_", "OPENBLAS_", "GOMP_", "KMP_", "MKL_")
"""Variables that change what is compiled or how many threads run it."""
_CPUS = "sys/devices/system/cpu"


def read_environment(
    root: Path = Path("/"),
    *,
    affinity: Collection[int] | None = None,
    variables: Mapping[str, str] | None = None,
    llvm: str | None = None,
) -> Environment:
    """Read the conditions of a run from /proc and /sys below `root`.

    `affinity` and `variables` default to those of this process; `llvm` is the version that llvmlite states, which
    only code generation can ask for. BLAS libraries are found where they are loaded, in the worker. Never raises:
    what cannot be read is None.
    """
    tree = Tree(root)
    allowed = read_affinity(root) if affinity is None else tuple(sorted(affinity))
    return Environment(
        governor=_governor(tree),
        turbo=_turbo(tree),
        smt=_smt(tree),
        transparent_huge_pages=_transparent_huge_pages(tree),
        load_1min=_load_1min(tree),
        steal_share=_steal_share(tree),
        affinity=allowed,
        cpus_used=usable_cpus(root, allowed),
        cgroup_cpus=cpu_quota(tree),
        memory_limit_bytes=memory_limit_bytes(tree),
        memory_available_bytes=memory_available_bytes(root),
        python=platform.python_version(),
        numba=_version("numba"),
        llvmlite=_version("llvmlite"),
        llvm=llvm,
        numpy=_version("numpy"),
        variables={
            name: value
            for name, value in sorted((os.environ if variables is None else variables).items())
            if name.startswith(PREFIXES)
        },
    )


def _governor(tree: Tree) -> str | None:
    """Return the governor of all CPUs, or all that there are, with commas."""
    paths = (f"{_CPUS}/cpu{cpu}/cpufreq/scaling_governor" for cpu in tree.numbered(_CPUS, "cpu"))
    return ", ".join(sorted({governor for path in paths if (governor := tree.word(path))})) or None


def _turbo(tree: Tree) -> bool | None:
    no_turbo = _switch(tree, f"{_CPUS}/intel_pstate/no_turbo")
    if no_turbo is not None:
        return not no_turbo
    boost = _switch(tree, f"{_CPUS}/cpufreq/boost")
    return _switch(tree, f"{_CPUS}/cpu0/cpufreq/boost") if boost is None else boost


def _smt(tree: Tree) -> bool | None:
    active = _switch(tree, f"{_CPUS}/smt/active")  # since Linux 4.19
    if active is not None:
        return active
    topology = read_topology(tree)
    if topology.cores is None or topology.hardware_threads is None:
        return None
    return topology.hardware_threads > topology.cores


def _switch(tree: Tree, path: str) -> bool | None:
    return {0: False, 1: True}.get(-1 if (number := tree.number(path)) is None else number)


def _transparent_huge_pages(tree: Tree) -> str | None:
    chosen = re.search(r"\[([a-z]+)\]", tree.word("sys/kernel/mm/transparent_hugepage/enabled") or "")
    return chosen[1] if chosen else None


def _load_1min(tree: Tree) -> float | None:
    if tree.is_live and sys.platform != "linux":
        return float(psutil.getloadavg()[0])
    words = (tree.text("proc/loadavg") or "").split()
    load = decimal_number(words[0]) if words else None
    return load if load is not None and load >= 0 else None


def _steal_share(tree: Tree) -> float | None:
    """Return steal / all CPU time since boot. Guest time is part of user time; see proc(5)."""
    lines = (line.split() for line in (tree.text("proc/stat") or "").splitlines())
    words = next((line[1:9] for line in lines if line and line[0] == "cpu"), [])
    times = [number for word in words if (number := whole_number(word)) is not None and number >= 0]
    total = sum(times)
    return times[7] / total if len(times) == 8 and total else None


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
