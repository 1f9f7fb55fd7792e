"""Rows of any streaming DataFrame as packed blobs.

    df ─ select the columns wanted ─▶ mapInArrow: ops, checks, pack ─▶ (shard, blob)

Within an epoch Spark keeps the order of rows in a partition but gives none between partitions. If
one key can change twice in an epoch, name an `order_by` column whose values increase with each
change.

Not here: files we read ourselves (spark/source), packing (dataflow/pack).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import DataFrame
from pyspark.sql.types import StructType

from everview.connect.accept import accept, ops_of
from everview.connect.convert import from_arrow
from everview.dataflow.laps import Laps
from everview.dataflow.pack import packer_of, raw_text
from everview.dataflow.program import dataflow_of
from everview.delta.changes import Changes
from everview.delta.vector import Vector
from everview.errors import InputError
from everview.schema import Relation
from everview.spark.hosted import BLOBS, Hosted
from everview.spark.source import blob_rows, wakes

_CHANGE, _ORDER = "#change", "#order"


@dataclass(frozen=True, slots=True)
class Stream:
    """A streaming DataFrame as a relation's source. `change` None: rows only arrive."""

    relation: Relation
    frame: DataFrame
    change: str | None = None
    order_by: str | None = None


def packed(stream: Stream, hosted: Hosted, names: tuple[str, ...]) -> DataFrame:
    """The stream's changes as blobs; `names`: the columns wanted."""
    there = _names(stream.frame.schema)
    extra = [n for n in (stream.change, stream.order_by) if n is not None]
    for name in (*names, *extra):
        if name.lower() not in there:
            raise InputError(
                "INPUT.COLUMN",
                f"the stream of {stream.relation.name} has no column {name}",
                fix=f"its columns are {', '.join(there.values())}",
            )
    frame = stream.frame
    picked = [frame[there[n.lower()]].alias(n) for n in names]
    for given, ours in ((stream.change, _CHANGE), (stream.order_by, _ORDER)):
        if given is not None:
            picked.append(frame[there[given.lower()]].alias(ours))
    read = _reader(stream.relation, hosted, names, stream.change is not None)
    return frame.select(*picked).mapInArrow(read, BLOBS)


def _names(schema: StructType) -> dict[str, str]:
    return {f.name.lower(): f.name for f in schema.fields}


def _reader(
    relation: Relation, hosted: Hosted, names: tuple[str, ...], changing: bool
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def read(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        context = TaskContext.get()
        number = context.partitionId() if context is not None else 0
        flow, packer = dataflow_of(hosted.program), packer_of(hosted.program)
        if number == 0:
            yield blob_rows(hosted, wakes(flow))
        laps, shard, seen = Laps(), 0, 0
        for batch in batches:
            place = (f"partition {number:06d}", seen)
            changes = _changes(relation, batch, names, changing, place, flow.zone)
            laps.lap("scan")
            packed = [(p.shard, p.blob) for p in packer.pack(changes)]
            shard = packed[-1][0] if packed else shard
            seen += batch.num_rows
            laps.lap("pack")
            yield blob_rows(hosted, packed)
            laps.skip()
        if seen:
            yield blob_rows(hosted, [(shard, laps.blob(seen))])

    return read


def _changes(
    relation: Relation, batch: pa.RecordBatch, names: tuple[str, ...], changing: bool,
    place: tuple[str, int], zone: str,
) -> Changes:  # fmt: skip
    segment, start = place
    columns: dict[str, pa.Array] = {}
    parse = None
    for name in names:
        column, bad = from_arrow(batch.column(name), relation.column(name), zone=zone)
        columns[name] = column
        if bad is not None:
            parse = bad if parse is None else parse | bad
    unknown = None
    op = np.ones(batch.num_rows, np.int8)
    if changing:
        op, unknown = ops_of(batch.column(_CHANGE), relation)

    def raw(i: int) -> str:
        vectors = {n: Vector.from_arrow(a, relation.column(n).type) for n, a in columns.items()}
        return raw_text(vectors, i)

    changes = accept(
        relation, columns, op, segment=segment, start=start, rows=None, raw=raw,
        parse=parse, unknown=unknown,
    )  # fmt: skip
    if _ORDER in batch.schema.names:
        order = batch.column(_ORDER)
        kept = order if changes.rows is None else order.take(pa.array(changes.rows))
        changes.order = kept
    return changes
