"""The codes that degrade a ceiling, and what they tell."""

from __future__ import annotations

CAVEAT_MEANINGS = {
    "NO_FLAT_TOP": "the best sample stands alone, so the ceiling may be too low; measure again",
    "LAUNCHES": "the best samples of its launches lie more than 3 % apart: neighbours, or where its memory lay; "
    "the median counts",
    "MONO": "contradicts others, measured twice: below a narrower register's, below one core's times the cores where "
    "nothing is shared, or below a level further away; measure again on a quiet machine",
    "CLOCK": "the clock held beside it is more than 5 % off the others' of this ISA and thread count, measured twice: "
    "the rate stands, what is said per cycle does not; measure again",
    "RAISED": "too low when it was measured: blocks beside a kernel were faster, so it was measured again then "
    "(`raised_by` in the archive names the kernel)",
}
"""What the codes in a ceiling's `caveats` tell."""
