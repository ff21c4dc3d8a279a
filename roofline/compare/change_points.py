"""Where a series of numbers became another: E-divisive, with a permutation test.

Between the values before and after a place lies the energy distance of Szekely and Rizzo, with exponent 1,

    E = m n / (m + n) * (2 mean|x - y| - mean|x - x'| - mean|y - y'|)

which is zero where both sides are distributed alike. The place with the largest E is a change point when shuffled
series seldom have a larger one; then both parts are looked at in the same way. (Matteson and James, "A nonparametric
approach for multiple change point analysis of multivariate data", JASA 109, 2014; used for the performance of software
by Daly and others, "The use of change point detection to identify software performance regressions", ICPE 2020.)
Shuffling stops as soon as enough shuffles were larger, which decides the same (Besag and Clifford, "Sequential Monte
Carlo p-values", Biometrika 78, 1991).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

LEAST_SIDE = 4
"""Values that must stand on each side of a change point. Of eight values no order is rare enough: ten can prove one."""
_FEWEST = 2
"""Values that have any distances among them."""
SIGNIFICANCE = 0.01
"""Share of series without any change in which one is found nevertheless."""
SHUFFLES = 999
_MOST = 400
"""Longer series are looked at in their last so many values: the work grows with the square."""
_TINY = 1e-12


def change_points(values: Sequence[float], seed: int = 0) -> tuple[int, ...]:
    """Return the places of the first values after each change, ascending. The same values and seed give the same."""
    import numpy as np

    skipped = max(0, len(values) - _MOST)
    series = np.asarray(values[skipped:], dtype=float)
    apart = np.abs(series[:, None] - series[None, :])
    rng = np.random.default_rng(seed)
    found: list[int] = []
    parts = [(0, len(series))]
    while parts:
        start, end = parts.pop()
        if end - start < 2 * LEAST_SIDE:
            continue
        inside = apart[start:end, start:end]
        place, energy = _largest(inside)
        if energy <= _TINY * float(inside.max()) or _largest(inside, _FEWEST)[0] != place:
            continue  # nothing, or a change with too few values beyond it: here it would stand at a wrong place
        if _is_rare(inside, energy, rng):
            found.append(start + place)
            parts += [(start, start + place), (start + place, end)]
    return tuple(sorted(place + skipped for place in found))


def _largest(apart: np.ndarray[Any, Any], least_side: int = LEAST_SIDE) -> tuple[int, float]:
    """Return the place that divides best, and its energy; `apart` are the distances of all pairs.

    `least_side` values stay on each side.
    """
    import numpy as np

    count = len(apart)
    places = np.arange(least_side, count - least_side + 1)
    upper = np.triu(apart, 1)
    # Sums over pairs, by the number of values before the place: both before, and all that touch one before.
    both = np.concatenate(([0.0], np.cumsum(upper.sum(axis=0))))[places]
    touching = np.concatenate(([0.0], np.cumsum(upper.sum(axis=1))))[places]
    after = float(upper.sum()) - touching
    m, n = places.astype(float), (count - places).astype(float)
    energies = m * n / (m + n) * (
        2 * (touching - both) / (m * n) - 2 * both / (m * (m - 1)) - 2 * after / (n * (n - 1))
    )  # fmt: skip
    best = int(np.argmax(energies))
    return int(places[best]), float(energies[best])


def _is_rare(apart: np.ndarray[Any, Any], energy: float, rng: np.random.Generator) -> bool:
    allowed = round(SIGNIFICANCE * (SHUFFLES + 1)) - 1
    larger = 0
    for _ in range(SHUFFLES):
        order = rng.permutation(len(apart))
        larger += _largest(apart[order][:, order])[1] >= energy * (1 - _TINY)
        if larger > allowed:
            return False
    return True
