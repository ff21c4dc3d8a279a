"""A job that ends before there is a run to judge: what the service is told of it all the same."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from bench.service.artefacts import no_artefacts, write_summary_file
from bench.service.github import write_outputs, write_summary
from bench.service.judgement import ERROR
from bench.service.provider import GITHUB
from roofline.errors import ResultsError
from roofline.plotting.summary_markdown import refusal_markdown


@dataclass(frozen=True)
class Refusal:
    """Why there is no run, and what the program exits with."""

    message: str
    exit_code: int

    def tell(self, folder: Path, service: str, variables: Mapping[str, str]) -> None:
        """Write the summary, and on GitHub the outputs of the step; artefacts of an earlier job are removed.

        What cannot be written is left out: the reason for that is often the very error that is told.
        """
        text = refusal_markdown(self.message)
        with suppress(ResultsError):
            no_artefacts(folder)
        if service == GITHUB:
            outputs = {"run-id": "", "grade": "", "result": ERROR, "exit-code": str(self.exit_code)}
            with suppress(ResultsError):
                write_outputs(outputs, variables)
            with suppress(ResultsError):
                if write_summary(lambda limit_bytes: text if len(text.encode()) < limit_bytes else "", variables):
                    return
        with suppress(ResultsError):
            write_summary_file(text, folder)
