"""Threads that stay, each pinned to its CPU."""

from __future__ import annotations

import os
import threading

import pytest

from roofline.measurement.team import Team, pin_to

can_pin = pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system pins no threads")


def test_each_rank_works_and_results_come_by_rank() -> None:
    with Team((), 3) as team:
        assert team.each(lambda rank: rank * rank) == [0, 1, 4]
        assert team.each(lambda rank: rank, 2) == [0, 1]


def test_the_ranks_keep_their_threads_and_none_is_the_callers() -> None:
    with Team((), 2) as team:
        first = team.each(lambda rank: threading.get_ident())
        assert team.each(lambda rank: threading.get_ident()) == first
        assert len({*first, threading.get_ident()}) == 3


def test_all_ranks_work_at_once() -> None:
    met = threading.Barrier(3, timeout=30)
    with Team((), 3) as team:
        assert sorted(team.each(lambda rank: met.wait())) == [0, 1, 2]


def test_what_a_rank_raises_reaches_the_caller() -> None:
    def work(rank: int) -> None:
        if rank == 1:
            raise ZeroDivisionError("rank 1")

    with Team((), 2) as team:
        with pytest.raises(ZeroDivisionError, match="rank 1"):
            team.each(work)
        assert team.each(lambda rank: rank) == [0, 1]


@can_pin
def test_each_thread_is_pinned_to_its_own_cpu_and_the_caller_is_not() -> None:
    allowed = sorted(os.sched_getaffinity(0))
    cpus = (allowed[-1], allowed[0])
    with Team(cpus, 2) as team:
        assert team.pinned
        assert team.each(lambda rank: os.sched_getaffinity(0)) == [{cpus[0]}, {cpus[1]}]
    assert sorted(os.sched_getaffinity(0)) == allowed


@can_pin
def test_a_team_whose_cpu_is_refused_says_that_it_is_not_pinned() -> None:
    allowed = sorted(os.sched_getaffinity(0))
    with Team((allowed[0], 100_000), 2) as team:
        assert not team.pinned
        assert team.each(lambda rank: rank) == [0, 1]
    assert not pin_to(100_000)


def test_a_team_without_cpus_is_not_pinned() -> None:
    with Team((), 1) as team:
        assert not team.pinned


def test_the_barrier_counter_stands_alone_on_its_cache_line() -> None:
    with Team((), 1) as team:
        start = team.barrier_address - team._counter.ctypes.data
        assert start >= 64
        assert team._counter.nbytes - start >= 64


def test_every_round_of_work_starts_with_a_counter_of_zero() -> None:
    with Team((), 1) as team:
        team._counter[:] = 5
        assert team.each(lambda rank: int(team._counter.sum())) == [0]


def test_threads_end_with_the_team() -> None:
    with Team((), 2) as team:
        threads = team.each(lambda rank: threading.current_thread())
    for thread in threads:
        thread.join(timeout=30)
        assert not thread.is_alive()
