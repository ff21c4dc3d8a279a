from __future__ import annotations

import re

import pytest
from answer import Ask

from bench.cli.guide import pages, title


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def test_the_example_of_a_kernel_runs_and_its_work_is_proved() -> None:
    found = blocks(pages()["adding-a-kernel"], "python")
    names: dict[str, object] = {"__name__": "example"}
    for block in found:
        exec(block, names)
    assert len(found) == 2
    assert "blend" in names


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
