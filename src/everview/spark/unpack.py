"""Output blobs as typed rows: the changes of a view as an ordinary streaming DataFrame.

    (shard, blob) of the last stage ── unpack ──▶ kind, epoch, columns         retract form
                                   └─ by key, shuffle, unpack ──▶ deleted, epoch, columns   upsert

The extra shuffle of the upsert form is there only if a key's old and new row may leave different
shards; else a tombstone of one could overtake the row of the other.

Not here: the forms (delta/changelog), files (connect/changelog).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType

from everview.dataflow.dataflow import Dataflow, Route
from everview.dataflow.program import dataflow_of
from everview.dataflow.route import cut, shards_of
from everview.delta.changelog import DELETED, EPOCH, KIND, canonical, retract, upsert
from everview.delta.consolidate import consolidate
from everview.delta.delta import Delta, merge
from everview.delta.frame import batch_bytes, batch_of, decode, encode, peek
from everview.delta.vector import arrow_type
from everview.spark.source import blob_rows
from everview.spark.stage import BLOBS, Hosted

Form = Literal["retract", "upsert"]
Unpack = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]


def changelog_schema(flow: Dataflow, form: Form) -> pa.Schema:
    """The Arrow schema of the changes in this form."""
    first = pa.field(KIND, pa.string()) if form == "retract" else pa.field(DELETED, pa.bool_())
    columns = [pa.field(c.name, arrow_type(c.type)) for c in flow.columns]
    return pa.schema([first, pa.field(EPOCH, pa.int64()), *columns])


def spark_schema(flow: Dataflow, form: Form) -> StructType:
    return from_arrow_schema(changelog_schema(flow, form))


def unpacked(blobs: DataFrame, hosted: Hosted, form: Form) -> DataFrame:
    """The typed changes of a frame of output blobs."""
    flow = dataflow_of(hosted.program)
    if form == "upsert" and not flow.settled:
        blobs = blobs.mapInArrow(_by_key(hosted), BLOBS).repartition("shard")
    return blobs.mapInArrow(unpacker(hosted, form), spark_schema(flow, form))


def unpacker(hosted: Hosted, form: Form) -> Unpack:
    """Blobs of one partition -> its changes in this form, as one Arrow batch per epoch's shard."""

    def unpack(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        flow = dataflow_of(hosted.program)
        gather = form == "upsert" and not flow.settled
        yield from unpack_blobs(
            flow, (b for batch in batches for b in blobs_of(batch)), form, gather
        )

    return unpack


def blobs_of(batch: pa.RecordBatch) -> Iterator[memoryview]:
    for value in batch.column("blob"):
        yield memoryview(value.as_buffer())


def unpack_blobs(
    flow: Dataflow, blobs: Iterator[memoryview], form: Form, gather: bool
) -> Iterator[pa.RecordBatch]:
    """The changes in a series of output blobs; `gather`: all at once, because keys may repeat."""
    schema, together, epoch = changelog_schema(flow, form), [], 0
    for blob in blobs:
        if "changes" not in peek(blob):
            continue
        header, parts = decode(blob)
        epoch = header["changes"]
        if gather:
            together.append(Delta.from_arrow(batch_of(parts[0]), flow.columns))
        else:
            yield _formed(flow, batch_of(parts[0]), form, epoch).cast(schema)
    if together:
        delta = canonical(consolidate(merge(together)), flow.key)
        yield _formed(flow, delta.to_arrow(), form, epoch).cast(schema)


def _formed(flow: Dataflow, batch: pa.RecordBatch, form: Form, epoch: int) -> pa.RecordBatch:
    return (retract if form == "retract" else upsert)(batch, flow.key, epoch)


def _by_key(hosted: Hosted) -> Unpack:
    """Output blobs cut again, by the hash of the view's key."""

    def cut_again(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        flow = dataflow_of(hosted.program)
        out: list[tuple[int, bytes]] = []
        for blob in (b for batch in batches for b in blobs_of(batch)):
            if "changes" not in peek(blob):
                continue
            header, parts = decode(blob)
            delta = Delta.from_arrow(batch_of(parts[0]), flow.columns)
            route = Route("hash", flow.key)
            shard = shards_of(delta.columns, route, len(delta), flow.shards)
            out += [
                (s, encode(header, [batch_bytes(delta.take(at).to_arrow())]))
                for s, at in cut(shard, flow.shards)
            ]
        yield blob_rows(hosted, out)

    return cut_again
