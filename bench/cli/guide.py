"""`guide`: the documentation, offline."""

from __future__ import annotations

import sys
from importlib.resources import files

import click

from bench.cli.session import Session
from bench.cli.verb import Verb
from roofline.errors import UnknownName


@click.command("guide", cls=Verb)
@click.argument("page", required=False)
@click.pass_obj
def command(session: Session, /, page: str | None) -> None:
    """Read the documentation.

    Without PAGE, the pages that there are. On a terminal a page is laid out; piped, it is plain Markdown.
    """
    texts = pages()
    if page is None:
        for name, text in texts.items():
            click.echo(f"{name:<16}{title(text)}")
    elif page.removesuffix(".md") not in texts:
        raise UnknownName("page", page, texts, "python -m bench guide lists them")
    elif sys.stdout.isatty() or session.color == "always":
        from rich.markdown import Markdown

        session.console(sys.stdout).print(Markdown(texts[page.removesuffix(".md")]))
    else:
        click.echo(texts[page.removesuffix(".md")], nl=False)


def pages() -> dict[str, str]:
    """Return the Markdown of every page by name."""
    found = (path for path in (files("bench") / "guide").iterdir() if path.name.endswith(".md"))
    return {
        path.name.removesuffix(".md"): path.read_text(encoding="utf-8")
        for path in sorted(found, key=lambda path: path.name)
    }


def title(text: str) -> str:
    """Return the heading that a page starts with."""
    return text.partition("\n")[0].lstrip("# ")
