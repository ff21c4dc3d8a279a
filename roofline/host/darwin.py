"""The machine as macOS tells it: `sysctl -a`."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Collection, Mapping

from archspec.cpu import TARGETS

from roofline.host.features import features_from_flags, kept_features
from roofline.host.processor import UNKNOWN
from roofline.host.tree import fields, printable, whole_number
from roofline.model.isa import isas_of
from roofline.model.machine import Cache, Machine


def read_sysctl() -> str:
    """Return the output of `sysctl -a`; empty when it cannot be run."""
    try:
        told = subprocess.run(["/usr/sbin/sysctl", "-a"], capture_output=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return told.stdout.decode("utf-8", errors="replace")


def machine_from_sysctl(text: str, features: Collection[str] | None = None) -> Machine:
    """Return the machine that a `sysctl -a` output describes.

    Of Apple's hybrid chips the caches are those of the performance cores (`hw.perflevel0`): the plain
    `hw.l1dcachesize` is that of the slowest. `features` are LLVM's, where known better.
    """
    told = fields(text.splitlines())
    name = printable(told.get("machdep.cpu.brand_string")) or UNKNOWN
    arch = _arch(told, name)
    flags = features_from_flags(_flags(told)) if features is None else kept_features(features)
    guest = _number(told, "kern.hv_vmm_present")
    return Machine(
        cpu_model=name,
        microarchitecture=_microarchitecture(name),
        arch=arch,
        features=flags,
        isas=tuple(isa.name for isa in isas_of(arch, flags)),
        sockets=_number(told, "hw.packages"),
        cores=_number(told, "hw.physicalcpu"),
        core_classes=_core_classes(told),
        hardware_threads=_number(told, "hw.logicalcpu"),
        caches=_caches(told),
        memory_bytes=_number(told, "hw.memsize"),
        virtualisation=None if guest is None else "vm" if guest else "none",
        system="Darwin",
    )


def _number(told: Mapping[str, str], *names: str) -> int | None:
    """Return the first of these values that is there and not negative."""
    numbers = (whole_number(told.get(name)) for name in names)
    return next((number for number in numbers if number is not None and number >= 0), None)


def _arch(told: Mapping[str, str], name: str) -> str:
    if name.startswith("Apple") or told.get("hw.optional.arm64") == "1":
        return "aarch64"
    return "x86_64" if "machdep.cpu.vendor" in told else UNKNOWN


def _flags(told: Mapping[str, str]) -> list[str]:
    intel = " ".join(told.get(f"machdep.cpu.{name}", "") for name in ("features", "leaf7_features", "extfeatures"))
    optional = (key.rpartition(".")[2] for key, value in told.items() if "hw.optional." in key and value == "1")
    return [*intel.split(), *optional]


def _microarchitecture(name: str) -> str | None:
    """Return archspec's name of an Apple chip (`Apple M1 Pro` is an `m1`)."""
    chip = re.match(r"Apple (M\d+)\b", name)
    return chip[1].lower() if chip and chip[1].lower() in TARGETS else None


def _core_classes(told: Mapping[str, str]) -> tuple[int, ...]:
    levels = range(_number(told, "hw.nperflevels") or 0)
    classes = [_number(told, f"hw.perflevel{level}.physicalcpu") for level in levels[:8]]
    return tuple(cores for cores in classes if cores)


def _caches(told: Mapping[str, str]) -> tuple[Cache, ...]:
    threads = _number(told, "hw.perflevel0.logicalcpu", "hw.logicalcpu") or 1
    cores = _number(told, "hw.perflevel0.physicalcpu", "hw.physicalcpu") or threads
    sharers = [whole_number(word) for word in told.get("hw.cacheconfig", "").split()]  # of memory, L1, L2, L3
    caches = []
    for level, kind in ((1, "l1d"), (2, "l2"), (3, "l3")):
        size_bytes = _number(told, f"hw.perflevel0.{kind}cachesize", f"hw.{kind}cachesize")
        if not size_bytes:
            continue
        shared_by = _number(told, f"hw.perflevel0.cpusper{kind}")
        if shared_by is None and "hw.perflevel0.physicalcpu" not in told and level < len(sharers):
            shared_by = sharers[level]
        shared_by = min(threads, max(shared_by or 0, threads // max(1, cores), 1))
        caches.append(
            Cache(
                name=f"L{level}",
                size_bytes=size_bytes,
                line_bytes=_number(told, "hw.cachelinesize"),
                shared_by=shared_by,
                instances=-(-threads // shared_by),
            )
        )
    return tuple(caches)
