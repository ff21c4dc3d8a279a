from __future__ import annotations

import io

import pytest
from answer import Ask

from bench.cli.session import PIPED_COLUMNS, Session


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stream", "color", "no_color", "coloured"),
    [
        (Terminal, "auto", "", True),
        (Terminal, "auto", "1", False),
        (Terminal, "never", "", False),
        (Terminal, "always", "1", True),
        (io.StringIO, "auto", "", False),
        (io.StringIO, "always", "", True),
        (io.StringIO, "never", "", False),
    ],
)
def test_colours_follow_the_option_then_no_color_then_the_terminal(
    monkeypatch: pytest.MonkeyPatch, stream: type[io.StringIO], color: str, no_color: str, coloured: bool
) -> None:
    monkeypatch.setenv("NO_COLOR", no_color)
    monkeypatch.setenv("TERM", "xterm-256color")
    out = stream()
    Session(color=color).console(out).print("text", style="red")
    assert ("\x1b" in out.getvalue()) == coloured


def test_piped_text_is_not_cut_at_80_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    assert Session().console(io.StringIO()).width == PIPED_COLUMNS
    monkeypatch.setenv("COLUMNS", "66")
    assert Session().console(io.StringIO()).width == 66


def test_no_colour_reaches_a_pipe_unless_it_is_asked_for(ask: Ask) -> None:
    assert "\x1b" not in ask("machine").out
    assert "\x1b" in ask("machine", "--color", "always").out


def test_markup_in_a_name_is_shown_as_it_is() -> None:
    out = io.StringIO()
    Session().console(out).print("[red]kernel[/red] :smile:")
    assert out.getvalue().strip() == "[red]kernel[/red] :smile:"
