"""Blobs: what goes in comes out, and nothing that was damaged does."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from everview.delta.frame import batch_bytes, batch_of, decode, encode, peek
from everview.errors import StateError

BATCH = pa.RecordBatch.from_pydict(
    {"a": pa.array([1, None, 3]), "s": pa.array(["x", "👩‍🌾", None]),
     "d": pa.array([1, 2, None], pa.decimal128(38, 6))}
)  # fmt: skip


@given(
    st.dictionaries(st.text("abc#", max_size=3), st.one_of(st.integers(), st.text(max_size=5))),
    st.lists(st.binary(max_size=30), max_size=4),
)
def test_header_and_parts(header: dict[str, object], parts: list[bytes]) -> None:
    blob = encode(header, parts)
    found, views = decode(blob)
    assert found == peek(blob) == header
    assert [bytes(v) for v in views] == parts
    assert decode(memoryview(blob))[0] == header


def test_batches() -> None:
    header, parts = decode(
        encode({"rows": 3}, [batch_bytes(BATCH), b"raw", batch_bytes(BATCH[:0])])
    )
    assert header == {"rows": 3}
    assert batch_of(parts[0]) == BATCH
    assert bytes(parts[1]) == b"raw"
    assert batch_of(parts[2]).num_rows == 0
    assert batch_of(parts[2]).schema == BATCH.schema


def test_the_same_content_is_the_same_bytes() -> None:
    assert encode({"a": 1}, [batch_bytes(BATCH)]) == encode({"a": 1}, [batch_bytes(BATCH)])
    sliced = pa.concat_batches([BATCH, BATCH]).slice(3)
    assert encode({}, [batch_bytes(sliced)]) == encode({}, [batch_bytes(BATCH)])


@settings(max_examples=200, deadline=None)
@given(st.integers(0), st.integers(0, 7))
def test_any_flipped_bit_is_found(at: int, bit: int) -> None:
    blob = bytearray(encode({"a": 1}, [batch_bytes(BATCH)]))
    blob[at % len(blob)] ^= 1 << bit
    with pytest.raises(StateError):
        decode(bytes(blob))


def test_any_cut_is_found() -> None:
    blob = encode({"a": 1}, [b"some bytes"])
    for end in range(len(blob)):
        with pytest.raises(StateError):
            decode(blob[:end])


def test_compressed() -> None:
    """Columns of equal values take little room in blobs and logs."""
    batch = pa.RecordBatch.from_pydict({"a": pa.array([7] * 100_000)})
    assert len(encode({}, [batch_bytes(batch)])) < 8_000
