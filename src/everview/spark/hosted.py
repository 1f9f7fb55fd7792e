"""A program on Spark: what every task of a query is told, and what a task knows of its query.

Not here: building the query (spark/host), its stages (spark/processor).
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import lru_cache

from pyspark import TaskContext

from everview.dataflow.program import Program, dataflow_of

BLOBS = "shard INT, blob BINARY"


@dataclass(frozen=True, slots=True)
class Hosted:
    """A program on Spark: where arenas live, the Spark key of each shard, and how many tasks share
    the reading of an epoch's files."""

    program: Program
    scratch: str
    keys: tuple[int, ...]
    tasks: int = 4


@lru_cache(maxsize=64)
def state_mark(hosted: Hosted) -> str:
    """A digest of all that the meaning of stored state depends on: the dataflow, and the shards'
    keys. Every token of the query begins with it."""
    meaning = repr((dataflow_of(hosted.program), hosted.keys))
    return hashlib.sha256(meaning.encode()).hexdigest()[:16]


def task_property(name: str) -> str | None:
    context = TaskContext.get()
    return context.getLocalProperty(name) if context is not None else None


def epoch_number() -> int:
    """The number of the micro-batch that this task belongs to."""
    return int(task_property("streaming.sql.batchId") or 0)


def query_id() -> str:
    """The streaming query's id: the same after every restart from its checkpoint."""
    return task_property("sql.streaming.queryId") or "unknown"
