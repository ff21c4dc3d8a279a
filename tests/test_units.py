"""Prefixes at the edge."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roofline.units import byte_rate, duration, flop_rate, frequency, intensity, memory_size

quick = settings(max_examples=150, derandomize=True, deadline=None)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (flop_rate(56.8e9), "56.8 GFLOP/s"),
        (flop_rate(1.2345e12), "1.23 TFLOP/s"),
        (flop_rate(999.96e6), "1.00 GFLOP/s"),
        (flop_rate(0), "0 FLOP/s"),
        (flop_rate(0.5), "0.5 FLOP/s"),
        (flop_rate(3e18), "3000 PFLOP/s"),
        (byte_rate(227e9), "227 GB/s"),
        (byte_rate(1e9), "1.00 GB/s"),
        (byte_rate(18.9e9, 2), "19 GB/s"),
        (frequency(3.615e9), "3.62 GHz"),
        (memory_size(32 * 1024), "32 KiB"),
        (memory_size(1.5 * 2**20), "1.5 MiB"),
        (memory_size(2**30), "1 GiB"),
        (memory_size(100 * 2**20), "100 MiB"),
        (memory_size(1), "1 B"),
        (memory_size(0), "0 B"),
        (duration(1.25e-3), "1.25 ms"),
        (duration(60), "60.0 s"),
        (duration(2.5e-10), "0.25 ns"),
        (duration(3e-6), "3.00 µs"),
        (duration(999.96e-6), "1.00 ms"),
        (duration(9.9996e-3), "10.0 ms"),
        (duration(5123), "5123 s"),
        (memory_size(1017 * 1024), "1017 KiB"),
        (memory_size(1023.9 * 1024), "1 MiB"),
        (intensity(9.9996), "10.0 flop/B"),
        (intensity(1 / 12), "0.0833 flop/B"),
        (intensity(0), "0 flop/B"),
        (intensity(144), "144 flop/B"),
    ],
)
def test_a_quantity_is_written_with_its_prefix(text: str, expected: str) -> None:
    assert text == expected


PREFIXES = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}


@quick
@given(st.floats(1.0, 9.9e17))
def test_a_rate_reads_back_to_three_digits(rate: float) -> None:
    found = re.fullmatch(r"([0-9.]+) ([kMGTP]?)B/s", byte_rate(rate))
    assert found is not None
    assert float(found[1]) * PREFIXES[found[2]] == pytest.approx(rate, rel=5.1e-3)
    assert 1 <= float(found[1]) < 1000


SIZES = {"B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}


@quick
@given(st.integers(1, 2**49))
def test_a_size_reads_back_to_three_digits(size_bytes: int) -> None:
    number, unit = memory_size(size_bytes).split(" ")
    assert float(number) * SIZES[unit] == pytest.approx(size_bytes, rel=5.1e-3)


TIMES = {"s": 1.0, "ms": 1e-3, "µs": 1e-6, "ns": 1e-9}


@quick
@given(st.floats(1e-9, 1e5))
def test_a_time_reads_back_to_three_digits(seconds: float) -> None:
    number, unit = duration(seconds).split(" ")
    assert float(number) * TIMES[unit] == pytest.approx(seconds, rel=5.1e-3)


def test_a_negative_rate_keeps_its_sign() -> None:
    assert flop_rate(-56.8e9) == "-56.8 GFLOP/s"


@pytest.mark.canary("UNITS")
def test_a_gibibyte_per_second_is_no_gigabyte_per_second() -> None:
    assert byte_rate(2**30) == "1.07 GB/s"
    assert memory_size(10**9) == "954 MiB"


@pytest.mark.twin("UNITS")
def test_rates_count_in_thousands_and_memory_in_1024() -> None:
    assert (byte_rate(1e9), flop_rate(1e9), memory_size(2**30)) == ("1.00 GB/s", "1.00 GFLOP/s", "1 GiB")
