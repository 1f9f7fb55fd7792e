"""A program on Spark: what every task of a query is told, and what a task knows of its query.

Not here: building the query (spark/host), its stages (spark/processor).
"""

from __future__ import annotations

from dataclasses import dataclass

from pyspark import TaskContext

from everview.dataflow.program import Program

BLOBS = "shard INT, blob BINARY"


@dataclass(frozen=True, slots=True)
class Hosted:
    """A program on Spark: where arenas live, and the Spark key of each shard."""

    program: Program
    scratch: str
    keys: tuple[int, ...]


def task_property(name: str) -> str | None:
    context = TaskContext.get()
    return context.getLocalProperty(name) if context is not None else None


def epoch_number() -> int:
    """The number of the micro-batch that this task belongs to."""
    return int(task_property("streaming.sql.batchId") or 0)


def query_id() -> str:
    """The streaming query's id: the same after every restart from its checkpoint."""
    return task_property("sql.streaming.queryId") or "unknown"
