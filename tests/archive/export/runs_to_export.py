"""Runs for the tests of the exports: small, hostile, and with what may not be drawn."""

from __future__ import annotations

from hostile import TEXTS
from msgspec.structs import replace
from small_run import small_run

from roofline.model.run import Failure, Run

FAILURES = (
    Failure(kind="wrong", point="gemm.broken n=384 f64 ×2", message="error 0.3, tolerance 1e-12"),
    Failure(kind="skipped", point="avx512 fma f64 ×1", message="this host has no avx512"),
)


def sound_run() -> Run:
    """Return the small run without what may not be drawn."""
    run = small_run()
    return replace(run, measurements=tuple(m for m in run.measurements if m.drawable), failures=())


def spoiled_run() -> Run:
    """Return a run whose first measurement is invalid and whose last has no samples, with two failures."""
    run = sound_run()
    first, *rest, last = run.measurements
    spoiled = (
        replace(first, kernel="spoiled.one", status="invalid", status_codes=("DCE",)),
        *rest,
        replace(last, kernel="spoiled.two", samples_s=(), roof_samples=(), clock_samples_hz=(), status="failed"),
    )
    return replace(run, measurements=spoiled, failures=FAILURES)


def hostile_run() -> Run:
    """Return a run in which every text that a file can choose is hostile, each in turn."""
    run = small_run()
    model = run.measurements[0]
    measurements = tuple(
        replace(model, kernel=text, digest=text, variant=text, status_codes=(text,), n=model.n + index)
        for index, text in enumerate((*TEXTS, "", " ", "\ud800", "a.b[c]", "=1+1", " =1+1", "ＡＢ", "＝1"))
    )
    twins = tuple(replace(model, kernel=f"x.{'y' * 5000}{middle}{'z' * 5000}", level="") for middle in "ab")
    machine = replace(run.machine, cpu_model=TEXTS[4], system=TEXTS[0], microarchitecture=TEXTS[8])
    failures = tuple(Failure(kind=text[:50], point=text, message=text) for text in TEXTS)
    unknown = replace(run.environment, affinity=None, governor=None, turbo=None, smt=None, python="", load_1min=None)
    return replace(
        run,
        label="=cmd|' /C calc'!A1",
        revision=TEXTS[7],
        machine=machine,
        environment=unknown,
        measurements=(*measurements, *twins),
        failures=(*failures, replace(failures[0], message="again")),
    )
