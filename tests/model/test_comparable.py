"""Two runs of one machine under the same conditions, or not."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace
from sample_host import sample_environment, sample_machine

from roofline.model.comparable import ENVIRONMENT_FIELDS, MACHINE_FIELDS, differences
from roofline.model.machine import Blas, Cache
from roofline.model.run import Run

RUN = Run(
    id="20261201-120000-abcd",
    started_utc="2026-12-01T12:00:00Z",
    machine=sample_machine(),
    environment=replace(
        sample_environment(),
        governor="performance",
        turbo=False,
        smt=False,
        transparent_huge_pages="always",
        cgroup_cpus=2.0,
        memory_limit_bytes=2**30,
        python="3.11",
        numba="1",
        llvmlite="1",
        numpy="2",
    ),
)
OTHER: dict[type, Any] = {str: "other", int: 77, float: 7.5, bool: True, tuple: ("x",), dict: {"NUMBA_OPT": "0"}}


def changed(value: Any) -> Any:
    """Return another value of the same type."""
    if isinstance(value, tuple) and value and isinstance(value[0], Cache):
        return (Cache(name="L1", size_bytes=1),)
    other = OTHER[type(value)]
    return not value if isinstance(value, bool) else other


@pytest.mark.canary("HOSTSWAP")
@pytest.mark.parametrize("field", MACHINE_FIELDS)
def test_another_machine_is_named_by_what_differs(field: str) -> None:
    known = replace(RUN.machine, microarchitecture="zen4", core_classes=(2,), numa_nodes=1, system="Linux")
    run = replace(RUN, machine=known)
    swapped = replace(run, machine=replace(known, **{field: changed(getattr(known, field))}))
    (difference,) = differences(run, swapped)
    assert difference.startswith(f"machine.{field}: ")


@pytest.mark.canary("HOSTSWAP")
@pytest.mark.parametrize("field", ENVIRONMENT_FIELDS)
def test_other_conditions_are_named(field: str) -> None:
    value = getattr(RUN.environment, field)
    assert value is not None, f"the sample does not know its {field}"
    other = replace(RUN, environment=replace(RUN.environment, **{field: changed(value)}))
    (difference,) = differences(RUN, other)
    assert difference.startswith(f"environment.{field}: ")


@pytest.mark.twin("HOSTSWAP")
def test_load_free_memory_and_a_reboot_make_no_other_machine() -> None:
    later = replace(
        RUN,
        machine=replace(RUN.machine, memory_bytes=int(0.99 * (RUN.machine.memory_bytes or 0))),
        environment=replace(RUN.environment, load_1min=7.0, steal_share=0.4, memory_available_bytes=1, governor=None),
    )
    assert differences(RUN, RUN) == differences(RUN, later) == ()


def test_half_the_memory_is_another_machine() -> None:
    half = replace(RUN, machine=replace(RUN.machine, memory_bytes=(RUN.machine.memory_bytes or 0) // 2))
    assert [line.partition(":")[0] for line in differences(RUN, half)] == ["machine.memory_bytes"]


OPENBLAS = Blas(name="openblas", version="0.3.30", architecture="SkylakeX", threads=1)


def with_blas(*libraries: Blas) -> Run:
    return replace(RUN, environment=replace(RUN.environment, blas=libraries))


@pytest.mark.canary("HOSTSWAP")
@pytest.mark.parametrize("field", ["name", "version", "architecture"])
def test_another_blas_is_named(field: str) -> None:
    (difference,) = differences(with_blas(OPENBLAS), with_blas(replace(OPENBLAS, **{field: "other"})))
    assert difference.startswith("environment.blas: openblas 0.3.30 SkylakeX and ") and "other" in difference


@pytest.mark.twin("HOSTSWAP")
@pytest.mark.parametrize("libraries", [(), (replace(OPENBLAS, threads=2),), (Blas(name="mkl"), OPENBLAS)])
def test_a_blas_that_is_not_loaded_or_has_more_threads_is_no_difference(libraries: tuple[Blas, ...]) -> None:
    assert differences(with_blas(OPENBLAS), with_blas(*libraries)) == ()
