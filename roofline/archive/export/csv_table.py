"""CSV with a header: spreadsheets, pandas, change-point detectors."""

from __future__ import annotations

import csv
import io
from typing import Any

from roofline.archive.export.columns import COLUMNS, rows
from roofline.model.run import Run

FORMULAS = ("=", "+", "-", "@", "＝", "＋", "－", "＠")
"""What a spreadsheet takes for the beginning of a formula, which it would compute."""


def csv_table(run: Run) -> bytes:
    """Return one row for each point under a header, UTF-8; a text that looks like a formula gets a `'` in front."""
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for row in rows(run):
        writer.writerow({name: neutral(value) for name, value in row.items()})
    return text.getvalue().encode("utf-8")


def neutral(value: Any) -> Any:
    """Return a cell that no spreadsheet computes."""
    return f"'{value}" if isinstance(value, str) and value.lstrip().startswith(FORMULAS) else value
