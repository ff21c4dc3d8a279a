"""One launch of fake workers, with what it told its caller."""

from __future__ import annotations

from pathlib import Path

from fakes import FakeWorkers, empty_run

from roofline.measurement.launch import launch
from roofline.measurement.progress import Progress
from roofline.model.run import Record, Run


class Launched:
    """One launch, with what it told its caller."""

    def __init__(self, workers: FakeWorkers, patience_s: float = 60.0, root: Path = Path("/")) -> None:
        self.kept: list[Record] = []
        self.progress: list[Progress] = []
        self.run: Run = launch(
            workers.plan,
            empty_run(),
            keep=self.kept.append,
            progress=self.progress.append,
            command=workers.command,
            patience_s=patience_s,
            root=root,
        )

    @property
    def measured(self) -> list[str]:
        """Operations of the ceilings, in order."""
        return [ceiling.op for ceiling in self.run.ceilings.compute]

    @property
    def failed(self) -> list[tuple[str, str]]:
        """Kind and point of the failures, in order."""
        return [(failure.kind, failure.point) for failure in self.run.failures]
