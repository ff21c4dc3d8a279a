"""What identifies a machine: the name of its folder."""

from __future__ import annotations

import re
from typing import Any

import pytest
from msgspec.structs import replace
from sample_host import sample_machine

from roofline.model.machine import Cache, Machine

MACHINE = sample_machine()


def test_the_key_is_a_slug_with_threads_and_a_hash() -> None:
    assert re.fullmatch("amd-epyc-2t-[0-9a-f]{8}", MACHINE.key)
    assert MACHINE.key == sample_machine().key


@pytest.mark.parametrize(
    "fields",
    [
        {"cpu_model": "AMD EPYC 2"},
        {"features": ("sse2",)},
        {"cores": 4},
        {"memory_bytes": 2**34},
        {"virtualisation": None},
        {"caches": (Cache(name="L1", size_bytes=1),)},
    ],
)
def test_whatever_identifies_the_machine_changes_its_key(fields: dict[str, Any]) -> None:
    assert replace(MACHINE, **fields).key != MACHINE.key


def test_memory_that_varies_with_the_kernel_does_not_change_the_key() -> None:
    assert MACHINE.memory_bytes is not None
    assert replace(MACHINE, memory_bytes=MACHINE.memory_bytes - 5_000_000).key == MACHINE.key


@pytest.mark.parametrize("model", ["", "../../etc", "\x00\n", "Ampère® Altra™ (64)", "x" * 500, "-", "C:\\CON"])
def test_the_key_is_always_a_plain_file_name(model: str) -> None:
    key = Machine(cpu_model=model, arch="x86_64").key
    assert re.fullmatch("[a-z0-9]+(-[a-z0-9]+)*", key)
    assert len(key) < 64


def test_a_cache_is_found_by_name() -> None:
    found = MACHINE.cache("L2")
    assert found is not None
    assert found.name == "L2"
    assert MACHINE.cache("L9") is None
