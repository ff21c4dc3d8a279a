from __future__ import annotations

from roofline.compare.ruling import found_text


def test_a_number_that_a_gate_found_has_no_exponent() -> None:
    assert found_text(1096.2, (83.08, 11723.4), "%") == "1096 % [83.08, 11723]"
    assert found_text(61.2, None, "") == "61.2"
    assert found_text(None, None, "%") == "nothing"
