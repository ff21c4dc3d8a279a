"""Signals raise, wait while a run is saved, and are handed on to a launch. No signal is sent: handlers are called."""

from __future__ import annotations

import os
import select
import signal
from collections.abc import Callable

import pytest

from roofline.measurement.interruption import CAUGHT, Interruption, Signals, catch_signals, interruptible


def come(number: int) -> None:
    """Do what the system does when the signal comes."""
    handler = signal.getsignal(number)
    assert isinstance(handler, Callable)  # type: ignore[arg-type]
    handler(number, None)


def noticed(descriptor: int) -> list[int]:
    """Return the signals that a launch would hear of."""
    readable, _, _ = select.select([descriptor], [], [], 0)
    return list(os.read(descriptor, 100)) if readable else []


@pytest.mark.parametrize("number", CAUGHT)
def test_a_signal_raises_and_is_no_exception_that_anything_swallows(number: signal.Signals) -> None:
    with interruptible(), pytest.raises(Interruption, match=f"interrupted by {number.name}") as stop:
        come(number)
    assert stop.value.number == number
    assert not isinstance(stop.value, Exception)


def test_handlers_are_put_back() -> None:
    before = [signal.getsignal(number) for number in CAUGHT]
    with interruptible(), catch_signals():
        assert signal.getsignal(signal.SIGTERM) not in before
    assert [signal.getsignal(number) for number in CAUGHT] == before


def test_the_first_signal_waits_until_what_holds_it_is_done() -> None:
    done = []
    with interruptible() as signals, pytest.raises(Interruption, match="SIGTERM"), signals.held():
        come(signal.SIGTERM)
        done.append("saved")
    assert done == ["saved"]


def test_a_second_signal_changes_nothing_and_the_first_is_what_ends_the_run() -> None:
    done = []
    with interruptible() as signals, pytest.raises(Interruption, match="SIGTERM"), signals.held():
        come(signal.SIGTERM)
        come(signal.SIGINT)
        done.append("saved")
    assert done == ["saved"]


def test_a_third_signal_does_not_wait() -> None:
    done = []
    with interruptible() as signals, pytest.raises(Interruption, match="SIGHUP"), signals.held():
        come(signal.SIGTERM)
        come(signal.SIGTERM)
        come(signal.SIGHUP)
        done.append("saved")
    assert done == []


def test_without_a_signal_nothing_is_raised_and_later_ones_raise_again() -> None:
    with interruptible() as signals:
        with signals.held():
            pass
        with pytest.raises(Interruption):
            come(signal.SIGHUP)


def test_an_error_says_more_than_the_signal_that_waits() -> None:
    with interruptible() as signals, pytest.raises(OSError, match="full"), signals.held():
        come(signal.SIGTERM)
        raise OSError("full")


def test_a_signal_that_waits_when_a_launch_begins_is_handed_on_to_it() -> None:
    with interruptible() as signals, signals.held():
        come(signal.SIGTERM)
        with catch_signals() as descriptor:
            assert noticed(descriptor) == [signal.SIGTERM]
            come(signal.SIGINT)
            assert noticed(descriptor) == [signal.SIGINT]
        with catch_signals() as descriptor:
            assert noticed(descriptor) == []


def test_a_signal_after_a_launch_waits_again() -> None:
    signals = Signals()
    with pytest.raises(Interruption, match="SIGINT"), signals.held():
        signals.handle(signal.SIGTERM, None)
        assert signals.take() == signal.SIGTERM
        signals.handle(signal.SIGINT, None)
