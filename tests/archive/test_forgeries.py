"""Each forgery is one small edit of a real run, and `verify` says where it is."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from proved_run import proved_run
from small_run import small_run

from roofline.archive.document import encode
from roofline.archive.tree import Defect
from roofline.archive.verification import verify
from roofline.model.final import rejudged

Edit = Callable[[Any], Any]
NOW = datetime(2100, 1, 1, tzinfo=UTC)


@cache
def document() -> Any:
    return json.loads(encode(proved_run()))


def defects(tmp_path: Path, edit: Edit) -> dict[str, Defect]:
    """Return what is said of the run after an edit, by path."""
    tree = deepcopy(document())
    edit(tree)
    path = tmp_path / "run.json"
    path.write_text(json.dumps(tree))
    return {defect.path: defect for defect in reversed(verify(path, NOW).defects)}


def kernel(name: str, tree: Any) -> Any:
    return next(measurement for measurement in tree["measurements"] if measurement["kernel"] == name)


def test_the_run_itself_holds(tmp_path: Path) -> None:
    assert defects(tmp_path, lambda tree: None) == {}


def every_kernel(**fields: Any) -> Edit:
    """Return an edit of every measurement."""

    def edit(tree: Any) -> None:
        for measurement in tree["measurements"]:
            measurement |= deepcopy(fields)

    return edit


def first(tree: Any) -> Any:
    return tree["ceilings"]["compute"][0]


def one_launch_of_each(tree: Any) -> None:
    del tree["plan"]["again"]
    for ceiling in (*tree["ceilings"]["compute"], *tree["ceilings"]["memory"]):
        del ceiling["launches"][1:]


def raised_by(name: str) -> Edit:
    def edit(tree: Any) -> None:
        triad = kernel("stream.triad", tree)
        level, pattern, isa, _ = triad["ceiling"].split()
        memory = tree["ceilings"]["memory"]
        own = next(c for c in memory if (c["level"], c["pattern"], c["isa"]) == (level, pattern, isa))
        own["raised_by"] = name

    return edit


def swapped(tree: Any) -> None:
    launches = first(tree)["launches"]
    launches[0], launches[1] = launches[1], launches[0]


def more_work(tree: Any) -> None:
    alone = deepcopy(tree["measurements"][0])
    alone["work"]["flops"] *= 2
    tree["measurements"].append({**alone, "threads": 2})


def older(tree: Any) -> None:
    tree["schema"] = 1


def timed(subject: Any) -> dict[str, Any]:
    return {name: subject[name] for name in ("samples_s", "clock_samples_hz")}


def unplanned(tree: Any) -> None:
    tree["plan"]["points"] = [point for point in tree["plan"]["points"] if not point.startswith("stream.triad in L1 ")]


def scaled(samples: Any) -> list[float]:
    return [sample * 0.77 for sample in samples]


FORGERIES: dict[str, tuple[Edit, str]] = {
    "a launch repeated": (
        lambda t: first(t)["launches"].append(first(t)["launches"][0]),
        "ceilings.compute[0].launches[3].samples_s",
    ),
    "samples of one launch in another": (
        lambda t: first(t)["launches"][1].update(timed(first(t)["launches"][0])),
        "ceilings.compute[0].launches[1].samples_s",
    ),
    "samples of one kernel as another's": (
        lambda t: t["measurements"][1].update(timed(t["measurements"][0])),
        "measurements[1].samples_s",
    ),
    "one launch fewer than planned": (lambda t: first(t)["launches"].pop(), "ceilings.compute[0].launches"),
    "one launch more than planned": (
        lambda t: t["ceilings"]["memory"][0]["launches"].append(deepcopy(first(t)["launches"][0])),
        "ceilings.memory[0].launches",
    ),
    "one launch of each, by an older version": (one_launch_of_each, "ceilings"),
    "no launch at all": (lambda t: first(t).update(launches=[]), "ceilings.compute[0].launches"),
    "a launch without samples": (
        lambda t: first(t)["launches"][0].update(samples_s=[], clock_samples_hz=[]),
        "ceilings.compute[0].launches[0].samples_s",
    ),
    "launches in another order": (swapped, "ceilings.compute[0].launches[1].evidence.started_s"),
    "scaled samples of a launch": (
        lambda t: first(t)["launches"][0].update(samples_s=scaled(first(t)["launches"][0]["samples_s"])),
        "ceilings.compute[0].launches[0].samples_s[0]",
    ),
    "a launch that lasted longer than it took": (
        lambda t: first(t)["launches"][0]["evidence"].update(interval_s=1e-6),
        "ceilings.compute[0].launches[0].samples_s",
    ),
    "caveats of a launch": (
        lambda t: first(t)["launches"][0].update(caveats=["GC"]),
        "ceilings.compute[0].launches[0].caveats",
    ),
    "a throttled launch that is called sound": (
        lambda t: first(t)["launches"][0]["evidence"].update(throttled_s=0.1),
        "ceilings.compute[0].launches[0].invalid",
    ),
    "raised by nobody": (raised_by("nobody.nothing"), "raised_by"),
    "raised by a kernel that stayed below": (raised_by("stream.triad"), "raised_by"),
    "no audit": (lambda t: first(t).update(audited=False), "ceilings.compute[0].audited"),
    "caveats deleted": (lambda t: t.update(caveats=[]), "caveats"),
    "a caveat of the levels deleted": (
        lambda t: t.update(caveats=[c for c in t["caveats"] if c["code"] not in ("LLC", "LEVELS")]),
        "caveats",
    ),
    "a caveat of the ceilings invented": (lambda t: t["caveats"].append({"code": "TURBO", "message": "x"}), "caveats"),
    "evidence deleted": (every_kernel(evidence=None), "measurements[0].evidence"),
    "evidence cleaned": (every_kernel(evidence={}), "measurements[0].evidence"),
    "evidence of a launch deleted": (
        lambda t: first(t)["launches"][0].update(evidence=None),
        "ceilings.compute[0].launches[0].evidence",
    ),
    "faults hidden": (lambda t: t["measurements"][0]["evidence"].update(minor_faults=None), "measurements[0].evidence"),
    "digests deleted": (every_kernel(digest=""), "measurements[0].digest"),
    "a digest of machine code deleted": (
        lambda t: kernel("gemm.naive", t).update(assembly_digest=""),
        "assembly_digest",
    ),
    "a wider register": (lambda t: kernel("gemm.naive", t).update(vector_register="zmm"), "vector_register"),
    "another register in the same code": (
        lambda t: kernel("stream.triad", t).update(assembly_digest=kernel("gemm.naive", t)["assembly_digest"]),
        "vector_register",
    ),
    "a library's register": (lambda t: kernel("gemm.naive", t).update(compiled=False), "compiled"),
    "no ceiling of its own": (
        lambda t: t["measurements"][0].update(ceiling="", roof_samples=[], roof_clock_samples_hz=[]),
        "measurements[0].ceiling",
    ),
    "scaled samples of a kernel": (
        lambda t: t["measurements"][0].update(samples_s=scaled(t["measurements"][0]["samples_s"])),
        "measurements[0].samples_s[0]",
    ),
    "caveats of a kernel": (lambda t: t["measurements"][0].update(caveats=["SETCONF"]), "measurements[0].caveats"),
    "an empty plan": (lambda t: t.update(plan={}), "plan.points"),
    "a plan without a ceiling": (lambda t: t["plan"]["points"].remove("scalar fma f64 ×1"), "plan.points"),
    "a plan without a kernel": (unplanned, "measurements[0]"),
    "shorter than its samples": (lambda t: t.update(elapsed_s=0.001), "elapsed_s"),
    "no time": (lambda t: t.update(elapsed_s=None), "elapsed_s"),
    "two at once": (
        lambda t: t["measurements"][1]["evidence"].update(started_s=t["measurements"][0]["evidence"]["started_s"]),
        "evidence.started_s",
    ),
    "from the future": (
        lambda t: t.update(started_utc="9999-01-01T00:00:00Z", id="99990101-000000-abcd"),
        "started_utc",
    ),
    "more cores": (lambda t: t["machine"].update(cores=64, hardware_threads=128), "machine.cores"),
    "the capacity of a level": (lambda t: t["levels"][1].update(effective_bytes=2**20), "levels[1].effective_bytes"),
    "the bandwidth of a level": (
        lambda t: t["levels"][0].update(byte_per_s=1.01 * t["levels"][0]["byte_per_s"]),
        "levels[0].byte_per_s",
    ),
    "levels in another order": (lambda t: t["levels"].reverse(), "levels"),
    "the sweep deleted": (lambda t: t.update(sweep=[]), "sweep"),
    "more work on more threads": (more_work, "measurements[6].work"),
    "a label": (lambda t: t.update(label="official"), "content_digest"),
    "a label, and no digest": (lambda t: t.update(label="official", content_digest=""), "content_digest"),
    "an older schema": (older, "schema"),
}  # fmt: skip


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forgery_is_found_where_it_is(tmp_path: Path, name: str) -> None:
    edit, path = FORGERIES[name]
    found = defects(tmp_path, edit)
    assert any(place == path or (path not in found and place.endswith(path)) for place in found), sorted(found)


def test_a_failure_explains_a_launch_that_is_missing(tmp_path: Path) -> None:
    def edit(tree: Any) -> None:
        first(tree)["launches"].pop()
        tree["failures"].append({"kind": "crashed", "point": "scalar fma f64 ×1", "message": "the worker died"})

    assert "ceilings.compute[0].launches" not in defects(tmp_path, edit)


def test_layout_and_order_are_no_edit(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_text(json.dumps(document(), indent=4, sort_keys=True))
    assert verify(path, NOW).defects == ()


def test_a_run_whose_version_kept_no_evidence_holds_with_a_note(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_bytes(encode(rejudged(small_run())))
    found = verify(path)
    assert found.defects == ()
    assert any("no evidence" in doubt for doubt in found.doubts)
