from __future__ import annotations

import re

import pytest

from roofline.plotting.text import elided, markdown, printable


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("gemm.blas", "gemm.blas"),
        ("two\nlines", r"two\nlines"),
        ("red\x1b[31m", r"red\x1b[31m"),
        ("right\u202eleft", r"right\u202eleft"),
        ("half \ud800", r"half \ud800"),
        ("bell\x07\x9b", r"bell\x07\x9b"),
        ("漢字 é ×2", "漢字 é ×2"),
    ],
)
def test_invisible_characters_are_written_as_escapes(name: str, shown: str) -> None:
    assert printable(name) == shown


def test_a_cut_name_keeps_both_ends_and_has_the_length_asked_for() -> None:
    assert elided("gemm.interchanged_and_blocked", 12) == "gemm.i…ocked"
    assert elided("gemm.blas", 9) == "gemm.blas"
    assert all(len(elided("abcdefgh", length)) == length for length in range(1, 9))


@pytest.mark.parametrize(
    ("name", "literal"),
    [
        ("a|b", r"a\|b"),
        ("`code`", r"\`code\`"),
        ("*bold* ~~struck~~", r"\*bold\* \~\~struck\~\~"),
        ("![image](x)", r"\!\[image\](x)"),
        ("<img src=x>", "&#60;img src=x&#62;"),
        ("&lt;", "&#38;lt;"),
        ("@team #12 $x$", "&#64;team &#35;12 &#36;x&#36;"),
        ("https://x www.x", "https&#58;//x www&#46;x"),
        ("::error::x", "&#58;:error::x"),
        ("_lead and nt_store", r"\_lead and nt_store"),
        ("a\nb", r"a\\nb"),
    ],
)
def test_markdown_shows_every_character_literally(name: str, literal: str) -> None:
    assert markdown(name) == literal


def test_no_pipe_of_a_name_ends_a_cell() -> None:
    for name in ("|", r"\|", r"\\|", "a||b", "`|`"):
        assert not re.search(r"(?<!\\)(?:\\\\)*\|", markdown(name)), name
