"""JUnit XML: what CI services show as tests. Without a gate a point is a test; with one, a rule applied to a point."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from xml.etree import ElementTree

from roofline.archive.export.point import family_of, name_of_words, names, numbered, run_facts
from roofline.errors import NothingMeasured
from roofline.model.legible import elided, printable
from roofline.model.measurement import Measurement
from roofline.model.outcome import Outcome
from roofline.model.run import Failure, Run

LONGEST_MESSAGE = 2000
"""Characters of a message that are repeated."""


def junit_xml(run: Run, outcomes: Sequence[Outcome] = ()) -> bytes:
    """Return the report: `<error>` for what was not measured soundly, `<failure>` for a rule that failed, `<skipped>`
    for what was skipped or inconclusive. Raises NothingMeasured when there is nothing to report.
    """
    if outcomes:
        cases = [_of_outcome(outcome) for outcome in outcomes]
    else:
        measured = zip(names(run), run.measurements, strict=True)
        cases = [*(_of_measurement(run, *pair) for pair in measured), *map(_of_failure, run.failures)]
    if not cases:
        raise NothingMeasured(f"run {run.id} has neither measurements nor failures to report; measure kernels first")
    for case, name in zip(cases, numbered(case.get("name", "") for case in cases), strict=True):
        case.set("name", name)  # a service drops the second of two alike
    counts = {"tests": str(len(cases))}
    for attribute, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        counts[attribute] = str(sum(case.find(tag) is not None for case in cases))
    if run.elapsed_s is not None:
        counts["time"] = f"{run.elapsed_s:.3f}"
    facts = run_facts(run)
    root = ElementTree.Element("testsuites", {"name": "roofline-suite", **counts})
    of_run = {"timestamp": facts["started_utc"].removesuffix("Z"), "hostname": facts["machine"]}
    suite = ElementTree.SubElement(root, "testsuite", {"name": f"bench {run.id}", **counts, **of_run})
    _add_properties(suite, facts)
    suite.extend(cases)
    ElementTree.indent(root, " ")
    body: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return body + b"\n"


def _of_measurement(run: Run, name: str, measurement: Measurement) -> ElementTree.Element:
    derived = run.derived(measurement)
    case = _case(measurement.kernel, name, derived.median_s if derived and measurement.drawable else None)
    if measurement.drawable and derived is not None:
        found = {
            "percent_of_roof": derived.percent_of_roof,
            "gflop_per_s": derived.flop_per_s / 1e9 if measurement.work.flops else None,
            "gbyte_per_s": derived.byte_per_s / 1e9,
            "flop_per_byte": derived.flop_per_byte if measurement.work.flops else None,
            "level": measurement.level,
            "bound": derived.bound,
            "digest": measurement.digest,
            "status": " ".join([measurement.status, *measurement.status_codes]),
        }
        _add_properties(case, {key: _text(value) for key, value in found.items() if value not in (None, "")})
    else:
        why = " ".join([*measurement.status_codes, *measurement.caveats]) or "it has no samples"
        _add(case, "error", measurement.status, f"{measurement.status}: {why}; the number is kept and not shown")
    return case


def _of_failure(failure: Failure) -> ElementTree.Element:
    name = name_of_words(failure.point)
    kernel = failure.point.partition(" ")[0]
    case = _case(kernel if "." in kernel else "ceilings", name, None)
    if failure.kind == "skipped":
        _add(case, "skipped", failure.kind, failure.message)
    else:
        _add(case, "error", failure.kind, failure.message)
    return case


def _of_outcome(outcome: Outcome) -> ElementTree.Element:
    name = f"{name_of_words(outcome.point)}: {elided(printable(outcome.rule), 200)}"
    case = _case(outcome.kernel, name, outcome.median_s)
    interval = None if outcome.interval is None else f"{outcome.interval[0]:.6g} to {outcome.interval[1]:.6g}"
    found = {"found": outcome.found, "limit": outcome.limit, "unit": outcome.unit, "interval": interval}
    _add_properties(case, {key: _text(value) for key, value in found.items() if value not in (None, "")})
    if outcome.result == "failed":
        _add(case, "failure", outcome.rule, outcome.message)
    elif outcome.result != "passed":
        _add(case, "skipped", outcome.rule, outcome.message)
    return case


def _case(kernel: str, name: str, median_s: float | None) -> ElementTree.Element:
    case = ElementTree.Element("testcase", {"classname": f"bench.{family_of(kernel)}", "name": name})
    if median_s is not None:
        case.set("time", f"{median_s:.12f}")  # seconds per call, without an exponent: not every reader knows one
    return case


def _add(case: ElementTree.Element, tag: str, kind: str, message: str) -> None:
    said = elided(printable(message), LONGEST_MESSAGE)
    element = ElementTree.SubElement(case, tag, {"message": said})
    if tag != "skipped":
        element.set("type", elided(printable(kind), 200))
        element.text = said


def _add_properties(parent: ElementTree.Element, values: Mapping[str, str]) -> None:
    properties = ElementTree.SubElement(parent, "properties")
    for name, value in values.items():
        ElementTree.SubElement(properties, "property", {"name": name, "value": value})


def _text(value: str | float | None) -> str:
    return f"{value:.6g}" if isinstance(value, float) else printable(str(value))
