"""Bytes: how deltas travel between stages and rest in logs.

    magic | header length | crc32 | header (JSON) | part 0 | part 1 | ...

The header is a small dictionary; `parts` are Arrow IPC streams (lz4) or raw arrays, whose lengths
the header records. The checksum covers the header's length, the header and the parts.

Not here: what headers and parts mean (dataflow/pack, state/log).
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Sequence
from typing import Any, TypeAlias

import pyarrow as pa

from everview.errors import StateError

_MAGIC = b"EVW1"
_PREFIX, _SIZE = struct.Struct("<4sII"), struct.Struct("<I")
_OPTIONS = pa.ipc.IpcWriteOptions(compression="lz4")

Part: TypeAlias = bytes | memoryview | pa.Buffer


def encode(header: dict[str, Any], parts: Sequence[Part] = ()) -> bytes:
    """One blob of a header and parts."""
    views = [memoryview(p).cast("B") for p in parts]
    head = json.dumps({**header, "#parts": [len(v) for v in views]}).encode()
    crc = zlib.crc32(head, zlib.crc32(_SIZE.pack(len(head))))
    for v in views:
        crc = zlib.crc32(v, crc)
    return b"".join([_PREFIX.pack(_MAGIC, len(head), crc), head, *views])


def decode(blob: bytes | memoryview) -> tuple[dict[str, Any], list[memoryview]]:
    """Header and parts of a blob; StateError if a bit is wrong."""
    view = memoryview(blob)
    if len(view) < _PREFIX.size:
        raise StateError("FRAME.SHORT", "a stored block is cut short")
    magic, head_size, crc = _PREFIX.unpack_from(view)
    found = zlib.crc32(view[_PREFIX.size :], zlib.crc32(_SIZE.pack(head_size)))
    if magic != _MAGIC or found != crc:
        raise StateError("FRAME.CHECKSUM", "a stored block does not match its checksum")
    return _split(view, head_size)


def _split(view: memoryview, head_size: int) -> tuple[dict[str, Any], list[memoryview]]:
    at = _PREFIX.size + head_size
    header = json.loads(bytes(view[_PREFIX.size : at]))
    parts = []
    for size in header.pop("#parts"):
        parts.append(view[at : at + size])
        at += size
    return header, parts


def peek(blob: bytes | memoryview) -> dict[str, Any]:
    """The header alone, unchecked."""
    view = memoryview(blob)
    return _split(view, _PREFIX.unpack_from(view)[1])[0]


def batch_bytes(batch: pa.RecordBatch) -> pa.Buffer:
    """A record batch as an IPC stream."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema, options=_OPTIONS) as writer:
        writer.write_batch(batch)
    return sink.getvalue()


def batch_of(part: Part) -> pa.RecordBatch:
    """The record batch of `batch_bytes`."""
    with pa.ipc.open_stream(pa.py_buffer(part)) as reader:
        return reader.read_next_batch()
