"""What a started view's changes are written to. A sink sees every epoch once, in order.

| sink               | where changes are put together             |
|--------------------|--------------------------------------------|
| memory, console    | on the driver, from the output blobs       |
| parquet, json, csv | in the tasks, as parts of a folder's epoch |

Not here: any Spark sink through `view.changes()` (spark/unpack), file formats (connect/changelog).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from threading import Lock
from typing import Any, Literal, Protocol

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import DataFrame

from everview.connect.changelog import (
    Format,
    PartFile,
    claim,
    commit_epoch,
    epochs,
    sweep,
    write_part,
)
from everview.connect.fold import Row, retract
from everview.connect.live import LiveTable, Progress
from everview.dataflow.laps import READ, TIMES, Laps
from everview.dataflow.program import dataflow_of
from everview.delta.frame import decode, encode, peek
from everview.errors import ConfigError
from everview.spark.hosted import BLOBS, Hosted
from everview.spark.source import blob_rows
from everview.spark.unpack import Form, blobs_of, changelog_schema, gathered, unpack_blobs


@dataclass(slots=True)
class Outcome:
    """What an epoch gave besides changes: how many, refused rows, statistics per stage's shard, and
    added up over all tasks, the changes read and milliseconds by part."""

    read: int = 0
    changes: int = 0
    rejects: list[dict[str, Any]] = field(default_factory=list)
    stats: list[dict[str, Any]] = field(default_factory=list)
    times: Counter[str] = field(default_factory=Counter)


class Sink(Protocol):
    """Takes the output blobs of one epoch, all of them, exactly once."""

    def write(self, blobs: DataFrame, epoch: int) -> Outcome: ...

    def close(self) -> None: ...


class MemorySink:
    """Keeps the answer, and the changes of every epoch, on the driver."""

    def __init__(self, on: Hosted, form: Form = "retract", show: LiveTable | None = None) -> None:
        self.on, self.form, self.show = on, form, show
        self.flow = dataflow_of(on.program)
        self.answer: Counter[Row] = Counter()
        self.changes: list[tuple[int, pa.Table]] = []
        self.progress: Callable[[], Progress] = Progress
        self._epoch: int | None = None
        self._lock = Lock()

    def start_from(self, answer: Counter[Row], epoch: int | None) -> None:
        """Go on from the answer of an earlier run, after its last epoch."""
        self.answer, self._epoch = Counter(answer), epoch
        if self.show is not None:
            self.show.answer = Counter(answer)

    def held(self) -> tuple[int | None, Counter[Row]]:
        """The last epoch that is in the answer (None before the first), and the answer."""
        with self._lock:
            return self._epoch, Counter(self.answer)

    def write(self, blobs: DataFrame, epoch: int) -> Outcome:
        found = [memoryview(b) for b in blobs.toArrow().column("blob").to_pylist()]
        outcome = outcome_of(found)
        schema = changelog_schema(self.flow, "retract")
        table = pa.Table.from_batches(list(unpack_blobs(self.flow, iter(found), "retract")), schema)
        with self._lock:
            retract(self.answer, table, epoch)
            self._epoch = epoch
        outcome.changes = table.num_rows
        if self.show is not None:
            self.show.update(epoch, table, self.progress())
        else:
            self.changes.append((epoch, self._in_form(table, found)))
        return outcome

    def _in_form(self, table: pa.Table, found: list[memoryview]) -> pa.Table:
        if self.form == "retract":
            return table
        batches = list(unpack_blobs(self.flow, iter(found), "upsert"))
        return pa.Table.from_batches(batches, changelog_schema(self.flow, "upsert"))

    def close(self) -> None:
        if self.show is not None:
            self.show.__exit__()


class FolderSink:
    """Writes a changelog folder: each task its part, the driver the epoch's manifest."""

    def __init__(self, on: Hosted, folder: str, format: Format, form: Form, owner: str) -> None:
        self.on, self.folder, self.format, self.form = on, folder, format, form
        claim(folder, owner)
        sweep(folder, before=max(epochs(folder), default=-1) + 1)

    def write(self, blobs: DataFrame, epoch: int) -> Outcome:
        write = _part_writer(self.on, self.folder, epoch, self.format, self.form)
        rows = (
            gathered(blobs, self.on).mapInArrow(write, BLOBS).toArrow().column("blob").to_pylist()
        )
        parts = [peek(b)["part"] for b in rows if "part" in peek(b)]
        files = [PartFile(**{**p, "columns": tuple(map(tuple, p["columns"]))}) for p in parts]
        commit_epoch(self.folder, epoch, files)
        outcome = outcome_of([memoryview(b) for b in rows])
        outcome.changes = sum(f.rows for f in files)
        return outcome

    def close(self) -> None:
        """Every epoch is complete when it is written."""


def _part_writer(
    on: Hosted, folder: str, epoch: int, format: Format, form: Form
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """A task's blobs -> its part of the epoch; what is no change passes through."""

    def write(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        flow = dataflow_of(on.program)
        blobs = [b for batch in batches for b in blobs_of(batch)]
        others = [bytes(b) for b in blobs if "changes" not in peek(b)]
        laps = Laps()
        rows = list(unpack_blobs(flow, iter(blobs), form))
        if rows:
            context = TaskContext.get()
            number = context.partitionId() if context is not None else 0
            part = write_part(folder, epoch, number, rows, format)
            others.append(encode({"part": asdict(part)}))
            laps.lap("sink")
            others.append(laps.blob())
        yield blob_rows(on, [(0, b) for b in others])

    return write


def outcome_of(blobs: list[memoryview]) -> Outcome:
    """Rejects and statistics among output blobs."""
    outcome = Outcome()
    for blob in blobs:
        header = peek(blob)
        if "rejects" in header:
            outcome.rejects += decode(blob)[0]["rejects"]
        elif "stats" in header:
            outcome.stats.append(header)
        elif TIMES in header:
            outcome.times.update(header[TIMES])
            outcome.read += header[READ]
    return outcome


Kind = Literal["memory", "console", "parquet", "json", "csv"]


def apart(text: str, view: str) -> str:
    """The sink for one of several views: a folder of its own in the folder that is named."""
    return f"{text}/{view}" if ":" in text else text


def open_sink(on: Hosted, text: str, form: Form, owner: str) -> MemorySink | FolderSink:
    """The sink that `memory`, `console`, `parquet:DIR`, `json:DIR` or `csv:DIR` names. `owner`: the
    id of the query, which alone writes to its folder."""
    kind, colon, folder = text.partition(":")
    flow = dataflow_of(on.program)
    if kind == "memory" and not colon:
        return MemorySink(on, form)
    if kind == "console" and not colon:
        table = LiveTable(flow.view, [c.name for c in flow.columns], flow.key)
        table.__enter__()
        return MemorySink(on, form, table)
    if kind in ("parquet", "json", "csv") and folder:
        return FolderSink(on, folder, kind, form, owner)  # type: ignore[arg-type]
    raise ConfigError(
        "CONFIG.SINK", f"there is no sink {text!r}",
        fix="memory, console, parquet:DIR, json:DIR or csv:DIR",
    )  # fmt: skip
