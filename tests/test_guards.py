"""No guard without its proof: each has a canary and a clean twin, and the documentation says which."""

from __future__ import annotations

import pytest
from guard_table import PAGE, marked_tests, page

from roofline.model.guard import GUARDS

TESTS = list(marked_tests())


@pytest.mark.parametrize("code", GUARDS)
@pytest.mark.parametrize("kind", ["canary", "twin"])
def test_every_guard_has_a_canary_and_a_clean_twin(code: str, kind: str) -> None:
    assert [test for test in TESTS if (test.kind, test.code) == (kind, code)], f"{code} has no {kind}"


def test_no_test_proves_a_guard_that_does_not_exist() -> None:
    assert {test.code for test in TESTS} <= GUARDS.keys()


def test_the_page_of_guards_is_what_the_tests_say() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "write it again: python tests/guard_table.py"
