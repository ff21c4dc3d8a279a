"""The table of instruction sets."""

from __future__ import annotations

import pytest

from roofline.errors import UnknownName
from roofline.model.isa import DTYPE_BITS, ISAS, isa_named, isa_of_register, isas_of


def names(arch: str, *features: str) -> list[str]:
    """Return the names of what such a host executes."""
    return [isa.name for isa in isas_of(arch, features)]


def test_a_host_executes_every_width_that_its_features_allow_narrowest_first() -> None:
    assert names("x86_64", "sse2") == ["scalar", "sse2"]
    assert names("x86_64", "sse2", "avx") == ["scalar", "sse2", "avx"]
    assert names("x86_64", "fma", "sse2", "avx512f", "avx", "avx2") == ["scalar", "sse2", "avx2", "avx512"]
    assert names("aarch64", "neon", "sve") == ["scalar", "neon"]


def test_avx2_without_fma_is_only_avx() -> None:
    assert names("x86_64", "sse2", "avx", "avx2") == ["scalar", "sse2", "avx"]


def test_an_unknown_architecture_executes_nothing_that_is_known() -> None:
    assert names("riscv64", "v") == names("x86_64") == []


@pytest.mark.parametrize(
    ("name", "f64", "f32"),
    [("scalar", 1, 1), ("sse2", 2, 4), ("avx", 4, 8), ("avx2", 4, 8), ("avx512", 8, 16), ("neon", 2, 4)],
)
def test_lanes_are_register_bits_over_element_bits(name: str, f64: int, f32: int) -> None:
    isa = isa_named(name, ISAS)
    assert (isa.lanes("f64"), isa.lanes("f32")) == (f64, f32)


def test_an_unknown_dtype_or_isa_says_what_is_known() -> None:
    with pytest.raises(UnknownName, match=r"unknown dtype 'f46'; did you mean 'f64'\? \(known: f32, f64, i8\)"):
        ISAS[0].lanes("f46")
    with pytest.raises(UnknownName, match=r"unknown ISA 'avx512' \(known: scalar, sse2\); this host executes only"):
        isa_named("avx512", isas_of("x86_64", ["sse2"]))


def test_every_row_is_one_name_of_one_architecture() -> None:
    rows = [(isa.arch, isa.name) for isa in ISAS]
    assert len(set(rows)) == len(rows)
    assert all(isa.vector_bits % max(DTYPE_BITS.values()) == 0 for isa in ISAS)


def test_a_register_seen_in_the_assembly_tells_the_isa() -> None:
    host = isas_of("x86_64", ["sse2", "avx", "avx2", "fma", "avx512f"])
    found = [isa_of_register(register, host) for register in ("scalar", "xmm", "ymm", "zmm")]
    assert [isa.name for isa in found if isa is not None] == ["scalar", "sse2", "avx2", "avx512"]
    assert isa_of_register("v", isas_of("aarch64", ["neon"])) == isa_named("neon", ISAS)
    assert isa_of_register(None, host) is isa_of_register("v", host) is isa_of_register("", host) is None
