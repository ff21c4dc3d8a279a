"""The page of guards of the documentation, made from the tests: `python tests/guard_table.py` rewrites the page."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from roofline.model.guard import GUARDS

TESTS = Path(__file__).parent
PAGE = TESTS.parent / "bench" / "guide" / "guards.md"

HEAD = """# Guards

Ways in which a number can lie, and what this suite does about each. Every guard has a test with the defect planted (the
canary, on which it must fire) and one without it (the clean twin, on which it must stay silent).

What happens: *refused*, there is no number; *invalid*, it is kept in the file and never drawn or compared; *degraded*,
it counts, with the code beside it; *above_roof*, as invalid, with the likeliest cause; *caveat*, the run carries the
code; *prevented*, it cannot happen.

What no guard sees: code that works in a lone call and not among many, where one of many takes under 0.1 ms (10 ms on
several threads or in Python); up to a fifth of the work left undone in calls on known data; work that is remembered
where other data has other shapes, or takes more than 64 MiB, so that only the output is wiped. The flops of a kernel
that is not the suite's own are its author's claim (`DECLARED`), and so is that it reads what it overwrites.

This page is made from the tests, which stand below the table.

| code | what it catches | what happens | what to do |
|---|---|---|---|
"""
PROOFS = """
## Their tests

"""


class Marked(NamedTuple):
    """A test that is marked as canary or twin of a guard."""

    kind: str
    code: str
    test: str
    """`tests/codegen/test_audit.py::test_name`."""


def marked_tests() -> Iterator[Marked]:
    """Yield every use of `@pytest.mark.canary(code, ...)` and `@pytest.mark.twin(code, ...)` below tests/."""
    for path in sorted(TESTS.rglob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            for decorator in getattr(node, "decorator_list", ()):
                if not isinstance(decorator, ast.Call) or not isinstance(decorator.func, ast.Attribute):
                    continue
                if decorator.func.attr in ("canary", "twin"):
                    for argument in decorator.args:
                        code = ast.literal_eval(argument)
                        name = f"{path.relative_to(TESTS.parent)}::{getattr(node, 'name', '')}"
                        yield Marked(decorator.func.attr, code, name)


def page() -> str:
    """Return the page as it should be."""
    tests = list(marked_tests())
    rows, proofs = [], []
    for code, guard in GUARDS.items():
        cells = [f"`{code}`", guard.catches, ", ".join(guard.outcomes), guard.remedy]
        rows.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
        proofs.append(f"- `{code}`")
        for kind, title in (("canary", "canary"), ("twin", "clean twin")):
            names = [test.test for test in tests if (test.kind, test.code) == (kind, code)]
            proofs += [f"  - {title}: `{name}`" for name in names[:2]] or [f"  - {title}: none"]
    return HEAD + "\n".join(rows) + "\n" + PROOFS + "\n".join(proofs) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
