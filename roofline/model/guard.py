"""The ways in which a number can lie that this suite watches for: one row each, by the code that messages use.

The guards themselves stand where their evidence is: in the assembly (`codegen`), beside the data and the samples
(`measurement`), in what the system says (`host`), or in the archived values alone (`model`). Each has a test with the
defect planted, the canary, and one without it, the clean twin; `bench guide guards` lists both.
"""

from __future__ import annotations

from roofline.model.struct import Value

REFUSED = "refused"
"""There is no number: the failure is kept, with its reason."""
INVALID = "invalid"
"""The number is kept in the archive, and never drawn or compared."""
DEGRADED = "degraded"
"""The number counts, with the code beside it."""
ABOVE_ROOF = "above_roof"
"""The point is kept with its likeliest cause, and never drawn or compared."""
CAVEAT = "caveat"
"""The whole run carries the code, with what was found and what to do."""
PREVENTED = "prevented"
"""It cannot happen: the canary proves that the suite would lie without what prevents it."""


class Guard(Value, frozen=True, kw_only=True):
    """One way to be wrong, what happens when it is found, and what to do then."""

    code: str
    """Stable upper-case name."""
    catches: str
    """The lie, in one line."""
    outcomes: tuple[str, ...]
    """What may happen when it fires."""
    remedy: str
    """One concrete next step."""


_ROWS: tuple[tuple[str, str, tuple[str, ...], str], ...] = (
    # the compiler
    (
        "DCE",
        "the compiler removed the work: nothing computes, or more per cycle than a core can",
        (REFUSED, INVALID),
        "use the result: write it to an argument or return it",
    ),
    (
        "HOIST",
        "the repeats do the work once: twice the repeats take no longer, or a call on data never seen before takes "
        "more than 1.5 times as long (2 on several threads)",
        (INVALID,),
        "make each call depend on memory that it writes, and do all of its work",
    ),
    (
        "SEEN",
        "calls on data never seen before take more than 1.25 times as long: work that is remembered, or branches that "
        "the CPU knows by heart",
        (DEGRADED,),
        "let each call do all of its work; let branches not depend on the data, or take more data",
    ),
    (
        "CSE",
        "chains that start equal were merged: fewer accumulators than declared",
        (REFUSED,),
        "check NUMBA_OPT and NUMBA_CPU_FEATURES",
    ),
    ("SLP", "a scalar ceiling was vectorised", (REFUSED,), "unset NUMBA_SLP_VECTORIZE"),
    (
        "WIDTH",
        "narrower or wider registers than the ceiling claims; a kernel faster than the registers seen in it can be",
        (REFUSED, DEGRADED),
        "check NUMBA_CPU_NAME and NUMBA_CPU_FEATURES",
    ),
    ("SOFTFMA", "multiply-adds became calls of a library function", (REFUSED,), "check NUMBA_CPU_FEATURES"),
    ("JIT", "something was compiled inside the timed region", (DEGRADED,), "report it: all is compiled before"),
    (
        "CACHE-STALE",
        "compiled code of another source, compiler or CPU was loaded",
        (PREVENTED,),
        "remove the cache folder that `bench doctor` names",
    ),
    ("CACHE-BAD", "a damaged cache of compiled code", (CAVEAT,), "none: it is removed and made again"),
    # the data
    (
        "DENORM",
        "subnormal numbers, which many cores handle in microcode",
        (INVALID,),
        "choose data whose values stay in the range of normal numbers",
    ),
    (
        "NONFINITE",
        "infinities or NaNs, with which every check seems to pass",
        (REFUSED, INVALID),
        "bound the values, and the number of calls that change them",
    ),
    ("ZERODATA", "zeros or constants, which some CPUs store and read faster", (INVALID,), "use random data"),
    (
        "ZEROPAGE",
        "memory that was never written: all of it is one page of zeros",
        (INVALID,),
        "write every buffer before it is timed",
    ),
    ("WRONG", "fast because wrong: the result differs from the reference", (REFUSED,), "mend the kernel"),
    (
        "COUNTED_TWICE",
        "more compulsory bytes declared than the arrays have, or more written ones than the output has",
        (REFUSED, ABOVE_ROOF),
        "count each distinct byte once; intermediates belong to `own_work`",
    ),
    (
        "DECLARED",
        "flops of a kernel that is not the suite's own are what its file declares: nobody has counted them",
        (CAVEAT,),
        "count them: `count_work`, on the page `adding-a-kernel`",
    ),
    # the memory system
    (
        "FIRSTTOUCH",
        "pages on another NUMA node than the threads that use them",
        (DEGRADED,),
        "write the buffers on the threads that use them, or bind the process to one node",
    ),
    (
        "THP",
        "huge pages under some of the buffers only, or switched off",
        (DEGRADED, CAVEAT),
        "`echo madvise > /sys/kernel/mm/transparent_hugepage/enabled` as root",
    ),
    ("FAULT", "page faults in the timed region", (DEGRADED, INVALID), "allocate and write before timing"),
    ("ALIAS", "an output overlaps another array", (REFUSED,), "give every argument memory of its own"),
    (
        "ALIAS4K",
        "loads that seem to depend on a store 4096 bytes away",
        (DEGRADED,),
        "place the arrays at different offsets within a page",
    ),
    (
        "SETCONF",
        "rows a multiple of 4096 bytes apart, which fall into the same sets of the caches",
        (CAVEAT,),
        "pad the rows by one cache line, or choose another n",
    ),
    (
        "WA",
        "bytes that a write-allocate cache moves and nobody counts",
        (PREVENTED,),
        "declare `allocate_bytes` for what is written without being read",
    ),
    (
        "STREAMW",
        "stores that sometimes fetch their lines and sometimes do not",
        (CAVEAT,),
        "compare with the nt_ patterns, which never fetch",
    ),
    (
        "LLC",
        "a cache that is not what is reported: data of one level measured in another",
        (CAVEAT,),
        "go by the measured levels",
    ),
    ("ABOVE", "a point above its roof", (ABOVE_ROOF,), "see the cause that is named; measure again"),
    ("MONO", "ceilings that contradict each other, measured twice", (DEGRADED,), "measure again on a quiet machine"),
    ("UNITS", "1024 where 1000 is meant, or a fused multiply-add counted once", (PREVENTED,), "report it"),
    # the machine
    ("SMT", "two threads on one core", (PREVENTED,), "pin one thread to each core"),
    ("HYBRID", "cores of different kinds measured as one", (CAVEAT,), "choose the kind with taskset"),
    ("LICENCE", "another clock beside the kernel than beside its roof", (DEGRADED,), "measure again, alone"),
    (
        "TURBO",
        "a clock that falls during the run: burst is not sustained",
        (CAVEAT,),
        "compare per cycle, or fix the clock",
    ),
    ("WARMUP", "samples that get faster or slower all the time", (DEGRADED,), "measure longer"),
    ("TIMER", "samples too short for the clock", (INVALID,), "measure again, or use a finer clock source"),
    ("STEAL", "the hypervisor gave CPU time to others", (DEGRADED, CAVEAT), "repeat on a less crowded host"),
    ("THROTTLE", "a CPU quota stopped the process", (INVALID, CAVEAT), "raise the quota or use fewer threads"),
    ("CPUCOUNT", "more CPUs counted than may be used", (CAVEAT,), "none: ceilings are of the CPUs that may be used"),
    ("UNPINNED", "threads that are not where they were pinned", (DEGRADED, CAVEAT), "measure again"),
    (
        "OVERSUB",
        "more threads that want to run than CPUs",
        (DEGRADED, CAVEAT),
        "stop other programs; unset OMP_NUM_THREADS and its like",
    ),
    ("POOL", "the first parallel region makes its threads; later ones do not", (PREVENTED,), "report it"),
    (
        "STATE",
        "a kernel, or its file, changed the process: folder, affinity, floating-point modes, timers, limits, threads",
        (DEGRADED,),
        "leave the process as it was; the next kernel gets a new one",
    ),
    ("GC", "Python's garbage collector ran in the timed region", (DEGRADED,), "report it: it is off while timing"),
    ("BUSY", "other programs used the CPUs", (DEGRADED, CAVEAT), "stop them, and measure again"),
    (
        "HOSTSWAP",
        "another machine, or the same one under other conditions",
        (CAVEAT,),
        "measure both in one job on one machine",
    ),
    ("NOPMU", "a counter that does not exist, read as zero", (PREVENTED,), "report it"),
    ("CLOCKBACK", "a clock that stood still or went back, or a system that slept", (DEGRADED,), "measure again"),
    # the statistics
    ("NOISY", "samples so wide that the median says little", (DEGRADED, ABOVE_ROOF), "measure again, longer"),
    (
        "ROOF_UNSTEADY",
        "a roof beside the kernel that was not the roof that is archived",
        (DEGRADED,),
        "measure again on a quiet machine",
    ),
    ("NO_FLAT_TOP", "a best sample that stands alone", (DEGRADED,), "measure again, longer"),
    ("LAUNCHES", "launches whose ceilings lie apart", (DEGRADED, INVALID), "measure again on a quiet machine"),
    ("RAISED", "a ceiling that blocks beside a kernel proved too low", (DEGRADED,), "none: it was measured again"),
    ("CLOCK", "a held clock beside one ceiling that the others did not hold", (DEGRADED,), "measure again"),
)

GUARDS: dict[str, Guard] = {
    code: Guard(code=code, catches=catches, outcomes=outcomes, remedy=remedy)
    for code, catches, outcomes, remedy in _ROWS
}
"""Every guard by its code."""
