"""`verify`: is a run or trial file what it says it is."""

from __future__ import annotations

import json
from typing import Any

import click

from bench.cli.saved import completed
from bench.cli.session import Session
from bench.cli.verb import Verb
from roofline.archive.store import find
from roofline.archive.tree import Defect
from roofline.archive.verification import Verification, verify
from roofline.errors import ArchiveError
from roofline.plotting.text import printable

DOES_NOT_HOLD = 4


@click.command("verify", cls=Verb)
@click.argument("names", metavar="[RUN]...", nargs=-1, shell_complete=completed)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--strict", is_flag=True, help="Exit with 4 for what holds and is no sound result, too.")
@click.pass_obj
def command(session: Session, /, names: tuple[str, ...], as_json: bool, strict: bool) -> int:
    """Derive every number of a run or trial again from its raw samples.

    Checks the numbers, the verdicts, the grade, the plan, the evidence and the consistency of each RUN (by default the
    last) or file of a trial (`ab`), and says what does not hold. Exits with 4 when something does not. Needs no Numba,
    and runs nothing that the file says. Who invents samples and all that goes with them is not found: see the guide
    page `files`.
    """
    found = [_verified(name, session) for name in names or ("last",)]
    if as_json:
        click.echo(json.dumps([_document(one) for one in found], indent=1, ensure_ascii=False))
    else:
        for one in found:
            _tell(one)
    broken = any(one.defects or (strict and one.doubts) for one in found)
    return DOES_NOT_HOLD if broken else 0


def _verified(name: str, session: Session) -> Verification:
    """Return the verification; a file that cannot be read is what does not hold, and hides no other one."""
    path = find(name, session.results)
    try:
        return verify(path)
    except ArchiveError as error:
        unreadable = Defect("file", str(error), "a run or trial file that can be read")
        return Verification(source=str(path), numbers=0, defects=(unreadable,))


def _tell(one: Verification) -> None:
    for defect in one.defects:
        click.echo(f"{printable(one.source)}: {printable(str(defect))}")
    for doubt in one.doubts:
        click.echo(f"{printable(one.source)}: note: {printable(doubt)}")
    ends = "all hold" if not one.defects else f"{len(one.defects)} of its claims do not hold"
    click.echo(f"{printable(one.source)}: {one.numbers} numbers derived again from the samples, {ends}")


def _document(one: Verification) -> dict[str, Any]:
    return {
        "source": one.source,
        "holds": not one.defects,
        "numbers": one.numbers,
        "defects": [{"path": d.path, "found": d.found, "expected": d.expected} for d in one.defects],
        "doubts": list(one.doubts),
    }
