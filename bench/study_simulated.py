"""Whether `ab` keeps its promises where the truth is known: simulated trials under many kinds of noise, as a table.

    python -m bench.study_simulated [--families 400] [--kernels 20]

Every family is one trial of so many kernels and both controls. The noise is that of shared machines: each process has
an effect of its own, the machine drifts, a neighbour comes and goes, interrupts lengthen samples; and worse. What a
process sees, its probes see, by as much as the scenario says. The pairs are accepted and judged by the code that `ab`
runs (`model/trial_verdict.decided`). Intervals are Clopper and Pearson's, 95 %, one-sided.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import click
import numpy as np
from scipy.stats import beta

from roofline.model.trial import CONTROLS, PROBE_APART, PROFILES, Profile
from roofline.model.trial_verdict import (
    Differences,
    Verdict,
    decided,
    defect_of_controls,
    places_to_confirm,
    screened,
)

SAMPLES = 5
"""Of a kernel in one process, as `ab` takes them."""
SLOWDOWN = 1.05
TITLES = (
    *("noise", "families", "false alarms", "at most", "kernels concluded", "power at +5 %", "at least"),
    *("+5 % concluded", "controls failed"),
)


@dataclass(frozen=True)
class Noise:
    """One kind of machine. Shares are of a kernel's time."""

    launch: float = 0.005
    """Standard deviation of what each process adds."""
    drift: float = 0.0
    """Standard deviation of the machine's change from one turn to the next."""
    returns: float = 1.0
    """Share of the drift that stays: below 1 it comes back (an AR(1) process)."""
    neighbour: float = 0.0
    """What a neighbour adds while it is there; it comes in one turn of fifty and stays for eleven."""
    spikes: float = 0.0
    """Share of samples that an interrupt hits ..."""
    spike: float = 0.0
    """... and what it then adds on average."""
    jitter: float = 0.003
    tail: float = 0.0
    """Exponent of Pareto's law for what each process adds, instead of a normal one; 0 for none."""
    period: int = 0
    """Turns of a throttling that comes and goes; 0 for none."""
    throttle: float = 0.0
    tick: float = 0.0
    """What the clock's step is of a sample: 0.0007 for 1 µs of 1.5 ms."""
    missing: float = 0.0
    """Share of pairs that are lost."""
    second_turn: float = 0.0
    """What whoever comes second in a pair loses."""
    seen: float = 1.0
    """How much of what disturbs a kernel its probes see."""


SCENARIOS = {
    "quiet": Noise(),
    "ci": Noise(launch=0.015, drift=0.004, neighbour=0.15, spikes=0.08, spike=0.3),
    "ci, blind probes": Noise(launch=0.015, drift=0.004, neighbour=0.15, spikes=0.08, spike=0.3, seen=0.0),
    "bad": Noise(launch=0.03, drift=0.01, neighbour=0.35, spikes=0.2, spike=0.5),
    "bad, blind probes": Noise(launch=0.03, drift=0.01, neighbour=0.35, spikes=0.2, spike=0.5, seen=0.0),
    "heavy tails (Pareto 1.5)": Noise(launch=0.005, tail=1.5),
    "throttling in step": Noise(launch=0.01, period=2, throttle=0.2),
    "throttling, period 7": Noise(launch=0.01, period=7, throttle=0.1),
    "clock of 41.67 ns": Noise(launch=0.005, tick=41.67e-9 / 1.5e-3),
    "clock of 1 µs": Noise(launch=0.005, tick=1e-6 / 1.5e-3),
    "clock of 15.6 ms": Noise(launch=0.005, tick=15.6e-3 / 1.5e-3),
    "drift that returns (0.9)": Noise(launch=0.01, drift=0.01, returns=0.9),
    "second turn 10 % slower": Noise(launch=0.01, second_turn=0.1),
    "a tenth of pairs missing": Noise(launch=0.01, missing=0.1),
    "nothing at all (ties)": Noise(launch=0.0, jitter=0.0),
}


@dataclass
class Counts:
    """What became of the families of one scenario."""

    families: int = 0
    alarms: int = 0
    """Families with a kernel called slower, where none was."""
    points: int = 0
    concluded: int = 0
    slowed: int = 0
    slowed_concluded: int = 0
    found: int = 0
    controls_failed: int = 0


def simulated(
    noise: Noise, profile: Profile, effects: np.ndarray, rng: np.random.Generator, stage: int
) -> list[Differences]:
    """Return the accepted pairs of every point of one stage of one trial.

    `effects` are the heads' times over the bases', one for each point.
    """
    points = len(effects)
    planned = profile.screen_pairs if stage == 1 else profile.confirm_pairs
    pairs = (1 + profile.rejected_per_accepted) * planned
    turns = pairs * points * 2
    state = np.zeros(turns)
    if noise.drift:
        steps = rng.normal(0, noise.drift, turns)
        state += _ar1(steps, noise.returns)
    if noise.neighbour:
        state += np.log1p(noise.neighbour) * _comes_and_goes(turns, rng)
    if noise.period:
        state += np.log1p(noise.throttle) * (np.arange(turns) % noise.period < noise.period / 2)
    machine = state.reshape(pairs, points, 2)
    machine[:, :, 1] += noise.second_turn
    own = rng.normal(0, noise.launch, machine.shape)
    if noise.tail:
        own += noise.launch * rng.pareto(noise.tail, machine.shape)
    samples = np.exp(machine + own)[..., None] * (1 + np.abs(rng.normal(0, noise.jitter, (*machine.shape, SAMPLES))))
    if noise.spikes:
        hit = rng.random(samples.shape) < noise.spikes
        samples = samples * (1 + hit * rng.exponential(noise.spike, samples.shape))
    base_first = rng.random((pairs, points)) < 0.5
    head = np.where(base_first, 1, 0)[..., None]
    best = samples.min(axis=-1)
    base_s = np.take_along_axis(best, 1 - head, 2)[..., 0]
    head_s = np.take_along_axis(best, head, 2)[..., 0] * effects
    if noise.tick:
        ticks = max(noise.tick, 1e-12)
        base_s, head_s = (np.maximum(np.round(times / ticks), 1) * ticks for times in (base_s, head_s))
    probes = -noise.seen * machine + rng.normal(0, noise.jitter / 3, machine.shape)
    base_roof, head_roof = (np.take_along_axis(probes, place, 2)[..., 0] for place in (1 - head, head))
    accepted = (np.abs(base_roof - head_roof) <= PROBE_APART) & (rng.random((pairs, points)) >= noise.missing)
    by_time = np.log(head_s / base_s)
    by_roof = by_time + head_roof - base_roof
    return [
        Differences(
            by_time=tuple(by_time[accepted[:, point], point][:planned].tolist()),
            by_roof=tuple(by_roof[accepted[:, point], point][:planned].tolist()),
        )
        for point in range(points)
    ]


def _ar1(steps: np.ndarray, returns: float) -> np.ndarray:
    if returns == 1.0:
        return np.cumsum(steps)
    state = np.empty_like(steps)
    last = 0.0
    for place, step in enumerate(steps.tolist()):
        last = returns * last + step
        state[place] = last
    return state


def _comes_and_goes(turns: int, rng: np.random.Generator) -> np.ndarray:
    """Return 0 and 1: absent for 50 turns on average, there for 11."""
    lengths = np.where(np.arange(turns) % 2 == 0, rng.geometric(0.02, turns), rng.geometric(0.09, turns))
    return np.repeat(np.arange(turns) % 2, lengths)[:turns]


def judged(noise: Noise, profile: Profile, effects: np.ndarray, rng: np.random.Generator) -> list[Verdict]:
    """Return the verdicts of one simulated trial; the last two effects are those of the controls."""
    points = len(effects)
    kernels = points - 2
    first = simulated(noise, profile, effects, rng, 1)
    controls = [*("",) * kernels, *CONTROLS]
    again = list(places_to_confirm(controls, [screened(found, profile) for found in first]))
    second = simulated(noise, profile, effects[again], rng, 2) if again else []
    fresh = dict(zip(again, second, strict=True))
    return [decided(str(place), first[place], fresh.get(place), profile, kernels) for place in range(points)]


def studied(noise: Noise, profile: Profile, kernels: int, families: int, seed: int) -> Counts:
    """Return what becomes of so many families without any change, and of as many with all kernels 5 % slower."""
    counts = Counts()
    rng = np.random.default_rng(seed)
    for slowdown in (1.0, SLOWDOWN):
        effects = np.concatenate([np.full(kernels, slowdown), [1.0, SLOWDOWN]])
        for _ in range(families if slowdown == 1.0 else max(1, families // 5)):
            verdicts = judged(noise, profile, effects, rng)
            controls = list(zip(CONTROLS, verdicts[kernels:], strict=True))
            failed = defect_of_controls(controls, verdicts[:kernels], profile) is not None
            said = ["inconclusive" if failed else verdict.verdict for verdict in verdicts[:kernels]]
            concluded = sum(one != "inconclusive" for one in said)
            counts.families += 1
            counts.controls_failed += failed
            if slowdown == 1.0:
                counts.alarms += "slower" in said
                counts.points += kernels
                counts.concluded += concluded
            else:
                counts.slowed += kernels
                counts.slowed_concluded += concluded
                counts.found += said.count("slower")
    return counts


def at_most(events: int, trials: int) -> float:
    """Return the upper 95 % bound of a probability of which so many events were seen."""
    return 1.0 if events >= trials else float(beta.ppf(0.95, events + 1, trials - events))


def at_least(events: int, trials: int) -> float:
    """Return the lower one."""
    return 0.0 if events == 0 else float(beta.ppf(0.05, events, trials - events + 1))


def row(name: str, counts: Counts, families: int) -> Iterator[str]:
    """Yield the cells of one scenario."""
    yield name
    yield str(families)
    yield str(counts.alarms)
    yield f"{100 * at_most(counts.alarms, families):.2f} %"
    yield f"{100 * counts.concluded / counts.points:.1f} %"
    if counts.slowed_concluded:
        yield f"{100 * counts.found / counts.slowed_concluded:.1f} %"
        yield f"{100 * at_least(counts.found, counts.slowed_concluded):.1f} %"
    else:
        yield from ("-", "-")
    yield f"{100 * counts.slowed_concluded / counts.slowed:.1f} %"
    yield f"{100 * counts.controls_failed / counts.families:.1f} %"


@click.command()
@click.option("--families", default=400, show_default=True, type=click.IntRange(min=5), help="Trials of a scenario.")
@click.option("--kernels", default=20, show_default=True, type=click.IntRange(min=1), help="Of each trial.")
@click.option("--profile", "profile_name", default="full", show_default=True, type=click.Choice(list(PROFILES)))
@click.option("--seed", default=1, show_default=True)
def main(families: int, kernels: int, profile_name: str, seed: int) -> None:
    """Print the table as Markdown."""
    click.echo(f"| {' | '.join(TITLES)} |\n|{'---|' * len(TITLES)}")
    for name, noise in SCENARIOS.items():
        counts = studied(noise, PROFILES[profile_name], kernels, families, seed)
        click.echo(f"| {' | '.join(row(name, counts, families))} |")


if __name__ == "__main__":
    main()
