"""Each line of the diagnosis: fine, in doubt, and unknown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ceilings_of import compute, launch, memory
from msgspec.structs import replace
from sample_host import sample_environment, sample_machine

from roofline.host import read_environment, read_machine
from roofline.host.diagnosis import Facts, Finding, diagnose, read_facts
from roofline.model.ceilings import Ceilings
from roofline.model.evidence import Evidence
from roofline.model.launch import Launch
from roofline.model.machine import Environment, Machine
from roofline.model.run import Run

FINE = Facts(clock_source="tsc", runnable=1, cache_folder="/cache")
QUIET = replace(
    sample_environment(),
    governor="performance",
    turbo=False,
    smt=False,
    transparent_huge_pages="madvise",
    load_1min=0.1,
    steal_share=0.0,
    affinity=(0, 1),
    cpus_used=(0, 1),
    cgroup_cpus=None,
    memory_available_bytes=2**33,
    threading_layer="omp",
    variables={},
)
MACHINE = replace(sample_machine(), hardware_threads=2, numa_nodes=1, virtualisation="none")
STEADY = Evidence(clock_resolution_s=2e-8, clock_overhead_s=2e-8)


def measured(compute_rates: Launch, dram_rates: Launch, layer: str | None = "omp") -> Run:
    """Return a short run whose ceilings had these samples."""
    return Run(
        id="20261201-120000-abcd",
        started_utc="2026-12-01T12:00:00Z",
        machine=MACHINE,
        environment=replace(QUIET, threading_layer=layer),
        ceilings=Ceilings(
            compute=(replace(compute(1e11), launches=(replace(compute_rates, evidence=STEADY),)),),
            memory=(replace(memory(1e10), launches=(replace(dram_rates, evidence=STEADY),)),),
        ),
    )


RUN = measured(launch(1e11), launch(1e10))


def found(check: str, run: Run | None = RUN, facts: Facts = FINE, **environment: Any) -> Finding:
    findings = diagnose(MACHINE, replace(QUIET, **environment), facts, run)
    (finding,) = [finding for finding in findings if finding.check == check]
    return finding


def test_a_quiet_tuned_machine_is_ok_in_every_line() -> None:
    findings = diagnose(MACHINE, QUIET, FINE, RUN)
    assert {finding.state for finding in findings} == {"ok"}
    assert len({finding.check for finding in findings}) == len(findings) == 19


@pytest.mark.parametrize(
    ("check", "environment", "state"),
    [
        ("governor", {"governor": "powersave"}, "warn"),
        ("turbo", {"turbo": True}, "warn"),
        ("SMT", {"smt": True}, "ok"),
        ("huge pages", {"transparent_huge_pages": "never"}, "warn"),
        ("load", {"load_1min": 3.0}, "warn"),
        ("steal", {"steal_share": 0.03}, "warn"),
        ("CPU quota", {"cgroup_cpus": 1.5}, "warn"),
        ("CPU quota", {"cgroup_cpus": 0.5}, "fail"),
        ("CPU quota", {"cgroup_cpus": 2.0}, "ok"),
        ("affinity", {"affinity": (0,)}, "warn"),
        ("affinity", {"affinity": None}, "warn"),
        ("variables", {"variables": {"NUMBA_OPT": "0"}}, "warn"),
    ],
)
def test_a_condition_is_told_with_the_next_step(check: str, environment: dict[str, Any], state: str) -> None:
    finding = found(check, **environment)
    assert finding.state == state
    assert bool(finding.next_step) == (state != "ok")


def test_what_is_unknown_says_so_and_is_never_guessed() -> None:
    nothing = diagnose(Machine(cpu_model="?", arch="x86_64"), Environment(), Facts(), None)
    known = {finding.check for finding in nothing if finding.state == "ok"}
    assert known == {"virtual machine", "CPU quota", "variables", "cache folder"}
    assert [finding for finding in nothing if finding.state == "fail"] == []


@pytest.mark.parametrize(
    ("samples", "state", "word"),
    [
        (launch(100.0), "ok", "quiet"),
        (launch(100.0, 98.0, 96.0, 94.0), "warn", "noisy"),
        (launch(100.0, 80.0, 60.0, 40.0), "fail", "very noisy"),
    ],
)
def test_noise_is_scored_by_the_middle_half_of_the_samples(samples: Launch, state: str, word: str) -> None:
    finding = found("noise, compute", measured(samples, launch(1e10)))
    assert (finding.state, finding.found.partition(":")[0]) == (state, word)


def test_dram_may_be_noisier_than_arithmetic() -> None:
    samples = launch(100.0, 98.0, 97.5, 97.0)
    assert found("noise, compute", measured(samples, samples)).state == "warn"
    assert found("noise, DRAM", measured(samples, samples)).state == "ok"


def test_an_unsteady_clock_a_coarse_timer_and_a_slow_source_are_told() -> None:
    shaky = replace(launch(1e11), clock_samples_hz=(3e9, 2.9e9, 2.8e9, 3e9, 2.7e9, 3e9))
    assert found("clock stability", measured(shaky, launch(1e10))).state == "warn"
    coarse = replace(STEADY, clock_resolution_s=15.6e-3)
    slow = replace(RUN.ceilings.compute[0], launches=(replace(launch(1e11), evidence=coarse),))
    assert found("timer", replace(RUN, ceilings=Ceilings(compute=(slow,)))).state == "warn"
    assert found("clock source", facts=Facts(clock_source="hpet", cache_folder="/c")).state == "warn"


def test_a_slow_threading_layer_and_a_cache_that_is_refused_are_told() -> None:
    assert found("threading layer", measured(launch(1e11), launch(1e10), "workqueue")).state == "warn"
    assert found("threading layer", measured(launch(1e11), launch(1e10), None)).state == "unknown"
    refused = Facts(clock_source="tsc", cache_folder="/cache", cache_refused="Read-only file system")
    assert "Read-only file system" in found("cache folder", facts=refused).found


def test_without_measuring_nothing_is_said_of_noise() -> None:
    checks = {finding.check for finding in diagnose(MACHINE, QUIET, FINE, None)}
    assert checks.isdisjoint({"noise, compute", "noise, DRAM", "timer", "clock stability", "threading layer"})


@pytest.mark.parametrize(
    "host", ["intel_two_sockets_smt", "alder_lake_hybrid", "guest_without_cpufreq", "container_cgroup_v2", "garbage"]
)
def test_every_recorded_host_can_be_diagnosed(host: str, hosts: Path) -> None:
    root = hosts / host
    machine, environment = read_machine(root), read_environment(root)
    findings = diagnose(machine, environment, read_facts("/cache", None, root), None)
    assert {finding.state for finding in findings} <= {"ok", "warn", "fail", "unknown"}
    assert all(finding.found.isprintable() for finding in findings)
