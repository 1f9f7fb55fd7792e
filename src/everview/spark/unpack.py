"""Output blobs as typed rows: the changes of a view as an ordinary streaming DataFrame.

    (shard, blob) of the last stage ── unpack ──▶ kind, epoch, columns          retract form
            └─ by key, shuffle ──────────┘  └───▶ deleted, epoch, columns       upsert form

The extra shuffle is there only if a key's old and new row (without key: equal rows) may leave
different shards: an epoch's changes would not be net, and a tombstone of one shard could overtake
the row of another.

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
from everview.delta.changelog import canonical, retract, upsert
from everview.delta.consolidate import consolidate
from everview.delta.delta import Delta, merge
from everview.delta.frame import batch_bytes, batch_of, decode, encode, peek
from everview.delta.vector import arrow_type
from everview.schema import DELETED, EPOCH, KIND
from everview.spark.hosted import BLOBS, Hosted
from everview.spark.source import blob_rows

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
    schema = spark_schema(dataflow_of(hosted.program), form)
    return gathered(blobs, hosted).mapInArrow(unpacker(hosted, form), schema)


def gathered(blobs: DataFrame, hosted: Hosted) -> DataFrame:
    """Output blobs with what belongs together in one partition."""
    if dataflow_of(hosted.program).settled:
        return blobs
    return blobs.mapInArrow(_by_identity(hosted), BLOBS).repartition("shard")


def unpacker(hosted: Hosted, form: Form) -> Unpack:
    """Blobs of one partition -> its changes in this form, as one Arrow batch per epoch's shard."""

    def unpack(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        flow = dataflow_of(hosted.program)
        yield from unpack_blobs(flow, (b for batch in batches for b in blobs_of(batch)), form)

    return unpack


def blobs_of(batch: pa.RecordBatch) -> Iterator[memoryview]:
    for value in batch.column("blob"):
        yield memoryview(value.as_buffer())


def unpack_blobs(
    flow: Dataflow, blobs: Iterator[memoryview], form: Form
) -> Iterator[pa.RecordBatch]:
    """The changes in a series of output blobs: one by one, or all at once where keys may repeat."""
    schema, together, epoch = changelog_schema(flow, form), [], 0
    for blob in blobs:
        if "changes" not in peek(blob):
            continue
        header, parts = decode(blob)
        epoch = header["changes"]
        if flow.settled:
            yield _formed(flow, batch_of(parts[0]), form, epoch).cast(schema)
        else:
            together.append(Delta.from_arrow(batch_of(parts[0]), flow.columns))
    if together:
        delta = canonical(consolidate(merge(together)), flow.key)
        yield _formed(flow, delta.to_arrow(), form, epoch).cast(schema)


def _formed(flow: Dataflow, batch: pa.RecordBatch, form: Form, epoch: int) -> pa.RecordBatch:
    return (retract if form == "retract" else upsert)(batch, flow.key, epoch)


def _by_identity(hosted: Hosted) -> Unpack:
    """Output blobs cut again, by the hash of what belongs together."""

    def cut_again(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        flow = dataflow_of(hosted.program)
        out: list[tuple[int, bytes]] = []
        for blob in (b for batch in batches for b in blobs_of(batch)):
            if "changes" not in peek(blob):
                out.append((0, bytes(blob)))
                continue
            header, parts = decode(blob)
            delta = Delta.from_arrow(batch_of(parts[0]), flow.columns)
            route = Route("hash", flow.identity)
            shard = shards_of(delta.columns, route, len(delta), flow.shards)
            out += [
                (s, encode(header, [batch_bytes(delta.take(at).to_arrow())]))
                for s, at in cut(shard, flow.shards)
            ]
        yield blob_rows(hosted, out)

    return cut_again
