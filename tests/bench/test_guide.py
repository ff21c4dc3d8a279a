from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from answer import Ask

from bench.cli.guide import pages, title
from bench.exit_codes import FATAL_KINDS
from roofline.kernels.counting import count_work
from roofline.kernels.kernel import Kernel, kernel
from roofline.kernels.registry import all_kernels
from roofline.model import verdict
from roofline.model.ceiling_caveat import CAVEAT_MEANINGS
from roofline.model.measurement import STATUSES
from roofline.model.run import Run
from roofline.plotting.summary import tables


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def test_the_examples_of_kernels_run_and_their_work_and_results_are_proved() -> None:
    names: dict[str, Any] = {"__name__": "roofline.kernels.example"}
    for block in blocks(pages()["adding-a-kernel"], "python"):
        exec(block, names)
    examples = [value for value in names.values() if isinstance(value, Kernel)]
    assert [example.name for example in examples] == ["example.blend", "example.factored", "example.in_two_passes"]
    for example in examples:
        arguments = example.make_arguments(13, "f64", np.random.default_rng(0))
        expected = example.expected(arguments)
        example.body(*arguments)
        np.testing.assert_allclose(arguments[0], expected, rtol=example.tolerance(13, "f64"))
        assert count_work(example, 13, scratch=True) == example.own_work_of(13, "f64")


def test_every_part_of_a_declaration_is_explained() -> None:
    told = {re.split(r"\W", words)[0] for words in code_in(pages()["adding-a-kernel"])}
    assert set(inspect.signature(kernel).parameters) - {"family", "name"} - told == set()


def code_in(text: str) -> list[str]:
    return re.findall(r"`([^`\n]+)`", text)


@pytest.mark.parametrize("page", list(pages()))
def test_a_page_has_a_heading_and_is_printed_as_it_is_when_piped(ask: Ask, page: str) -> None:
    text = pages()[page]
    assert text.startswith("# ")
    assert ask("guide", page).out == text
    assert f"{page:<16}{title(text)}" in ask("guide").out.splitlines()


def test_with_colours_a_page_is_laid_out(ask: Ask) -> None:
    answer = ask("guide", "method", "--color", "always")
    assert "\x1b[" in answer.out
    assert "**" not in answer.out


def explained_in(page: str) -> set[str]:
    """What stands in backquotes, up to a colon."""
    return {words.partition(":")[0] for words in code_in(pages()[page])}


def test_every_heading_of_the_tables_is_explained(run: Run) -> None:
    shown = [table for table in tables(run) if table.title != "Machine"]
    headings = {column.title.removeprefix("nt_") for table in shown for column in table.columns}
    assert len(headings) > 30
    assert headings - explained_in("tables") == set()
    sections = set(re.findall("^## ([^:,\n]*)", pages()["tables"], re.MULTILINE))
    assert sections == {table.title.partition(":")[0] for table in shown}


def test_every_status_code_and_kind_of_failure_is_explained() -> None:
    codes = set(re.findall(r'"([A-Z_]{3,})"', inspect.getsource(verdict))) - {"DRAM"}
    assert {"NOISY", "NEARER_LEVEL", "ROOF_TOO_LOW"} <= codes
    explained = explained_in("tables") | explained_in("guards")
    assert {*codes, *CAVEAT_MEANINGS, *STATUSES, *FATAL_KINDS, "skipped"} - explained == set()


def test_the_page_of_the_file_names_what_a_reader_looks_for() -> None:
    sought = {*STATUSES, "samples_s", "roof_samples", "status_codes", "percent_of_roof", "percent_of_ceiling"}
    assert sought - set(re.findall(r"\w+", pages()["files"])) == set()


def test_the_readme_links_every_page() -> None:
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    assert set(re.findall(r"\(bench/guide/([\w-]+)\.md\)", readme)) == set(pages())


def ladders_in(page: str) -> list[list[str]]:
    """Return the cells of every row of a ladder: family, rungs and library calls, n, intensities, what it shows."""
    return [row.split(" | ") for row in re.findall(r"^\| (`\w+` \| .*) \|$", pages()[page], re.MULTILINE)]


def kernels_of(family: str, rungs: str) -> tuple[list[str], list[str]]:
    """Return the full names of the rungs of a ladder, and of the library calls after the semicolon."""
    path, _, references = rungs.partition(";")
    prefix = family.strip("`") + "."
    return [prefix + name for name in names_in(path)], [prefix + name for name in names_in(references)]


def names_in(text: str) -> list[str]:
    return re.findall(r"`(\w+)`", text)


def test_the_page_of_the_families_has_every_ladder_in_its_order() -> None:
    known = all_kernels()
    told = [kernels_of(family, rungs) for family, rungs, *_ in ladders_in("families")]
    feet = [name for name, kernel in known.items() if kernel.improves is None]
    assert sorted(path[0] for path, _ in told) == sorted(feet)
    for path, references in told:
        forms = [kernel for kernel in known.values() if path[0] in (kernel.name, kernel.improves)]
        assert path == [kernel.name for kernel in forms if kernel.compiled]
        assert references == [kernel.name for kernel in forms if not kernel.compiled]


def test_the_page_of_the_families_tells_intensities_as_declared_and_at_the_sizes_that_are_measured() -> None:
    known = all_kernels()
    for family, rungs, _, intensities, _ in ladders_in("families"):
        foot = known[kernels_of(family, rungs)[0][0]]
        told = [(text, int(n)) for text, n in re.findall(r"([\d.]+) at (\d+)", intensities)]
        assert told
        for text, n in told:
            assert text == f"{foot.work_of(n, foot.dtypes[0]).flop_per_byte:.3g}", (foot.name, n)
        if foot.sizes:
            assert [n for _, n in told] == list(foot.sizes), foot.name
