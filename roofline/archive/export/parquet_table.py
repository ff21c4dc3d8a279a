"""Parquet: data frames and databases (pandas, polars, DuckDB), with the raw samples. Needs pyarrow."""

from __future__ import annotations

import io

from roofline.archive.export.columns import COLUMNS, rows
from roofline.archive.export.point import points, run_facts
from roofline.errors import UsageError
from roofline.model.run import Run

SAMPLES = "samples_s"
"""The column that CSV has no room for: all samples of a point, seconds per call, in order."""


def parquet_table(run: Run) -> bytes:
    """Return one row for each point, the columns of CSV and the samples. Raises UsageError without pyarrow."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise UsageError(
            f"parquet is written by pyarrow, which cannot be loaded here ({error}); "
            "install it with: pip install 'roofline-suite[parquet]', or export to csv"
        ) from error
    types = {str: pyarrow.string(), int: pyarrow.int64(), float: pyarrow.float64()}
    fields = [(name, types[kind]) for name, kind in COLUMNS.items()]
    schema = pyarrow.schema([*fields, (SAMPLES, pyarrow.list_(pyarrow.float64()))], metadata=run_facts(run))
    samples = [list(point.measurement.samples_s) for point in points(run)]
    table = [{**row, SAMPLES: values} for row, values in zip(rows(run), samples, strict=True)]
    file = io.BytesIO()
    parquet.write_table(pyarrow.Table.from_pylist(table, schema=schema), file)
    return file.getvalue()
