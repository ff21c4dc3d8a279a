"""Threads that stay, each pinned to its CPU."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import pytest

from roofline.measurement.team import Team, pin_library_threads, pin_to, pool_variables

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


_PINNED_IN_A_FRESH_PROCESS = """
import os, threading
first = threading.Event()
threads = [threading.Thread(target=first.wait, daemon=True) for _ in range(3)]
for thread in threads:
    thread.start()
from roofline.measurement.team import pin_library_threads
allowed = sorted(os.sched_getaffinity(0))
pin_library_threads((allowed[0], allowed[-1]))
assert sorted(os.sched_getaffinity(0)) == allowed
print(all(os.sched_getaffinity(thread.native_id) == {allowed[-1]} for thread in threads))
first.set()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells of a library's threads")
def test_threads_that_libraries_have_started_are_kept_off_the_callers_cpu() -> None:
    done = subprocess.run([sys.executable, "-c", _PINNED_IN_A_FRESH_PROCESS], capture_output=True, text=True)
    assert done.stdout.strip() == "True", done.stderr


def test_one_cpu_leaves_library_threads_where_they_are() -> None:
    pin_library_threads((0,))
    pin_library_threads(())


def test_thread_pools_are_told_how_many_threads_and_where_each_stays() -> None:
    variables = pool_variables(2, (4, 6, 8))
    assert variables["OMP_PLACES"] == "{4},{6}"
    assert {variables[f"{library}_NUM_THREADS"] for library in ("NUMBA", "OMP", "OPENBLAS")} == {"2"}
    assert "OMP_PLACES" not in pool_variables(2, ())
