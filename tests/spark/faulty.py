"""A stage that fails when it is told to: for tests of retries. Python workers import it from here.

    order(folder, DIE, epoch=3, stage=0)     the first attempt that gets there takes the order away

The attempt has then done all its work: new chunks written, arena left, output handed to Spark.

Not here: what a stage does (spark/stage).
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from everview.spark.hosted import epoch_number
from everview.spark.processor import StageProcessor

RAISE, HANG = "raise", "hang"
PATIENCE = 120  # seconds until a hanging attempt gives up


def order(folder: Path, what: str, *, epoch: int, stage: int) -> Path:
    """Make the first attempt of that stage in that epoch fail; the file goes when it does."""
    file = folder / f"{what}-{epoch}-{stage}"
    file.touch()
    return file


def hanging(folder: Path) -> list[int]:
    """Process ids of the attempts that hang, waiting to be killed."""
    return [int(f.name.split("-")[1]) for f in folder.glob("pid-*")]


class Faulty(StageProcessor):
    """Orders are in the folder `faults` beside the scratch folder."""

    def handleInputRows(
        self,
        key: Any,
        rows: Iterator[pd.DataFrame],
        timerValues: Any,
    ) -> Iterator[pd.DataFrame]:
        yield from super().handleInputRows(key, rows, timerValues)
        folder = Path(self.hosted.scratch).parent / "faults"
        if self._taken(folder, RAISE):
            raise RuntimeError("the stage was told to fail")
        if self._taken(folder, HANG):
            (folder / f"pid-{os.getpid()}").touch()
            signal.sigtimedwait([], PATIENCE)
            raise RuntimeError("nobody killed this worker")

    def _taken(self, folder: Path, what: str) -> bool:
        try:
            (folder / f"{what}-{epoch_number()}-{self.number}").unlink()
        except FileNotFoundError:
            return False
        return True
