"""The README and the guide say nothing that the program does not know."""

from __future__ import annotations

import re
import shlex
import tomllib
from pathlib import Path

import click
import pytest

from bench.__main__ import INTERNAL_ERROR, INTERRUPTED
from bench.cli.ab import INCONCLUSIVE, SLOWER
from bench.cli.group import VERBS, program
from bench.cli.guide import pages
from bench.cli.session import Session
from bench.exit_codes import EXIT_CODES

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
TEXTS = {"README": README, **pages()}
SET_UP = "python3 -m venv .venv && .venv/bin/pip install -e '.[dev]' && .venv/bin/python -m bench all"
TEST = ".venv/bin/python -m pytest"


def commands(text: str) -> list[str]:
    """Return what follows `python -m bench` or `roofline` in code, up to the end of the code or a shell operator."""
    code = [*re.findall(r"`([^`\n]+)`", text), *re.findall(r"^```[a-z]*\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)]
    called = re.compile(r"(?:python -m bench|(?<!from )\broofline) ([a-z](?:'[^'\n]*'|[^\n'|>;)&])*)")
    return [found[1].strip().rstrip('"') for piece in code for found in called.finditer(piece)]


ALL_COMMANDS = sorted({command for text in TEXTS.values() for command in commands(text)})


def test_the_two_commands_stand_in_one_block() -> None:
    assert f"```\n{SET_UP}\n{TEST}\n```" in README


def test_every_verb_is_in_the_readme() -> None:
    shown = {command.split()[0] for command in commands(README)}
    assert set(VERBS) <= shown


@pytest.mark.parametrize("line", ALL_COMMANDS)
def test_a_command_in_the_documentation_parses(line: str) -> None:
    verb, *words = shlex.split(line)
    group = program()
    with click.Context(group, obj=Session()) as parent:
        command = group.get_command(parent, verb)
        assert command is not None, f"no verb {verb!r}"
        command.make_context(verb, words, parent=parent)


@pytest.mark.parametrize("option", sorted(set(re.findall(r"`(--?[a-z][a-z-]*)", README)) - {"--benchmark-enable"}))
def test_an_option_in_the_readme_exists(option: str) -> None:
    group = program()
    verbs = [group.get_command(click.Context(group), verb) for verb in VERBS]
    known = {
        name
        for verb in verbs
        if verb
        for parameter in verb.params
        for name in (*parameter.opts, *parameter.secondary_opts)
    }
    assert option in known


def test_every_exit_code_of_the_program_is_in_the_readme() -> None:
    section = README[README.index("| exit code | means |") :].split("\n\n")[0]
    shown = [int(code) for cell in re.findall(r"^\| ([\d, ]+) \|", section, re.MULTILINE) for code in cell.split(",")]
    assert {0, SLOWER, INCONCLUSIVE, *EXIT_CODES.values(), INTERNAL_ERROR, INTERRUPTED} <= set(shown)
    assert shown == sorted(shown)


@pytest.mark.parametrize("link", sorted(set(re.findall(r"\]\(([^):]+)\)", README))))
def test_a_link_in_the_readme_leads_somewhere(link: str) -> None:
    assert (ROOT / link).exists()


def test_every_page_of_the_guide_is_linked() -> None:
    assert [page for page in pages() if f"(bench/guide/{page}.md)" not in README] == []


def test_the_installed_script_is_the_same_program() -> None:
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["scripts"]
    assert scripts == {"roofline": "bench.__main__:run"}
