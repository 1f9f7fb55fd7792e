"""Changelogs as folders of files: written by parallel tasks, complete epoch by epoch.

    out/00000000000000000007-0003-<attempt>.parquet     one part: task 3 of epoch 7
        _epochs/00000000000000000007.json               epoch 7 is complete: the names of its parts

A part is written under a hidden name and renamed; an epoch counts only once its manifest is there,
and the manifest appears at once, by a link that fails if it is there already. When Spark runs an
epoch again, the parts of the first run that was committed stay and the new ones are removed. A
reader goes by the manifests; files of attempts that failed are nobody's and `sweep` removes them.

Two forms. Retract: `kind` (+I, -U, +U, -D), `epoch`, then the view's columns. Upsert: `epoch`, the
view's columns and `deleted`; a deletion holds the key and NULL elsewhere. In CSV and JSON decimals
are plain decimal text, dates and timestamps ISO, binary base64; CSV writes NULL as nothing and the
empty text as `""`. The column types stand in the manifest, so what is read is what was written.

Not here: folding a changelog to the answer (fold), what is emitted (operators).
"""

from __future__ import annotations

import base64
import json
import math
import os
import re
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, BinaryIO, Literal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from everview.connect.delimited import Layout, whole_file
from everview.connect.durable import place_once, sync
from everview.connect.json_lines import parse_json
from everview.connect.lines import split_lines
from everview.delta.vector import python
from everview.errors import InputError
from everview.schema import Type

Format = Literal["parquet", "json", "csv"]
MANIFESTS, OWNER = "_epochs", "owner"
_ENDING = {"parquet": ".parquet", "json": ".json", "csv": ".csv"}
_PART = re.compile(r"([0-9]{20})-([0-9]{4,})-[0-9a-f]{8}\.(parquet|json|csv)")


@dataclass(frozen=True, slots=True)
class PartFile:
    """A file that a task wrote: its name in the folder, its rows, its bytes, its columns."""

    name: str
    rows: int
    bytes: int
    columns: tuple[tuple[str, str], ...] = ()


def write_part(
    folder: str, epoch: int, part: int, batches: Iterable[pa.RecordBatch], format: Format
) -> PartFile:
    """Write the batches of one task as one file. It counts once `commit_epoch` names it."""
    if format not in _ENDING:
        raise InputError(
            "INPUT.FORMAT", f"there is no changelog format {format!r}", fix="parquet, json or csv"
        )
    os.makedirs(folder, exist_ok=True)
    name = f"{epoch:020d}-{part:04d}-{uuid.uuid4().hex[:8]}{_ENDING[format]}"
    hidden = os.path.join(folder, f".{name}.tmp")
    schema: pa.Schema | None = None
    rows = 0
    try:
        with open(hidden, "wb") as file:
            write: _Write | None = None
            try:
                for batch in batches:
                    if write is None:
                        schema = _plain_schema(batch.schema)
                        write = _WRITERS[format](file, schema)
                    write(_plain(batch, schema))
                    rows += batch.num_rows
            finally:
                if write is not None:
                    write(None)
            file.flush()
            os.fsync(file.fileno())
        os.replace(hidden, os.path.join(folder, name))
    finally:
        if os.path.exists(hidden):
            os.unlink(hidden)
    size = os.path.getsize(os.path.join(folder, name))
    columns = () if schema is None else tuple((f.name, type_text(f.type)) for f in schema)
    return PartFile(name, rows, size, columns)


def claim(folder: str, owner: str) -> None:
    """Make the folder the changelog of this query; refused if it is another's. Else epochs of two
    queries would mix: to `commit_epoch` the other's epoch 0 is a repetition."""
    os.makedirs(os.path.join(folder, MANIFESTS), exist_ok=True)
    target = os.path.join(folder, MANIFESTS, OWNER)
    hidden = os.path.join(folder, MANIFESTS, f".{uuid.uuid4().hex}.tmp")
    with open(hidden, "w", encoding="utf-8") as file:
        file.write(owner)
    if place_once(hidden, target):
        if not epochs(folder):
            return
        os.unlink(target)
    else:
        os.unlink(hidden)
        with open(target, encoding="utf-8") as file:
            if file.read() == owner:
                return
    raise InputError(
        "SINK.TAKEN",
        f"{folder} is the changelog of another query, or of an earlier run without a checkpoint",
        fix="name another folder, or go on from the checkpoint of the query that wrote it",
    )


def commit_epoch(folder: str, epoch: int, parts: Sequence[PartFile]) -> bool:
    """Make the parts the content of the epoch; False if it was there (the parts are removed)."""
    os.makedirs(os.path.join(folder, MANIFESTS), exist_ok=True)
    target = os.path.join(folder, MANIFESTS, f"{epoch:020d}.json")
    hidden = os.path.join(folder, MANIFESTS, f".{uuid.uuid4().hex}.tmp")
    manifest = {"epoch": epoch, "parts": [asdict(p) for p in parts]}
    if parts:
        sync(folder)
    with open(hidden, "w", encoding="utf-8") as file:
        json.dump(manifest, file)
        file.flush()
        os.fsync(file.fileno())
    if place_once(hidden, target):
        return True
    os.unlink(hidden)
    kept = {p.name for p in _manifest(target)}
    for p in parts:
        if p.name not in kept and os.path.exists(os.path.join(folder, p.name)):
            os.unlink(os.path.join(folder, p.name))
    return False


def epochs(folder: str) -> list[int]:
    """The committed epochs, in order."""
    try:
        names = os.listdir(os.path.join(folder, MANIFESTS))
    except FileNotFoundError:
        return []
    return sorted(int(n[:-5]) for n in names if re.fullmatch(r"[0-9]{20}\.json", n))


def read_changelog(folder: str) -> Iterator[tuple[int, pa.Table]]:
    """The committed epochs in order, each as one table (without columns if it has no parts)."""
    for epoch in epochs(folder):
        parts = _manifest(os.path.join(folder, MANIFESTS, f"{epoch:020d}.json"))
        tables = [_read_part(folder, p) for p in parts if p.columns]
        yield epoch, pa.concat_tables(tables) if tables else pa.table({})


def sweep(folder: str, before: int) -> list[str]:
    """Remove files of attempts that were not committed, of epochs below `before`; their names."""
    kept: set[str] = set()
    for epoch in epochs(folder):
        manifest = os.path.join(folder, MANIFESTS, f"{epoch:020d}.json")
        kept.update(p.name for p in _manifest(manifest))
    removed = []
    for name in sorted(os.listdir(folder)):
        part = _PART.fullmatch(name.removeprefix(".").removesuffix(".tmp"))
        if part and name not in kept and int(part.group(1)) < before:
            os.unlink(os.path.join(folder, name))
            removed.append(name)
    return removed


def _manifest(path: str) -> list[PartFile]:
    with open(path, encoding="utf-8") as file:
        parts = json.load(file)["parts"]
    return [
        PartFile(p["name"], p["rows"], p["bytes"], tuple((n, t) for n, t in p["columns"]))
        for p in parts
    ]


# ------------------------------------------------------------------------------------------- types

_NAMES: dict[str, pa.DataType] = {
    "boolean": pa.bool_(), "int8": pa.int8(), "int16": pa.int16(), "int32": pa.int32(),
    "int64": pa.int64(), "float": pa.float32(), "double": pa.float64(), "string": pa.string(),
    "binary": pa.binary(), "date": pa.date32(), "timestamp": pa.timestamp("us", "UTC"),
    "timestamp_ntz": pa.timestamp("us"),
}  # fmt: skip
_SQL: dict[str, Type] = {
    "boolean": Type("BOOLEAN"), "int8": Type("TINYINT"), "int16": Type("SMALLINT"),
    "int32": Type("INT"), "int64": Type("BIGINT"), "float": Type("FLOAT"),
    "double": Type("DOUBLE"), "string": Type("STRING"), "binary": Type("BINARY"),
    "date": Type("DATE"), "timestamp": Type("TIMESTAMP"), "timestamp_ntz": Type("TIMESTAMP_NTZ"),
}  # fmt: skip


def type_text(t: pa.DataType) -> str:
    """The name of a column's type in a manifest."""
    if pa.types.is_decimal128(t):
        return f"decimal({t.precision},{t.scale})"
    for name, known in _NAMES.items():
        if known == t:
            return name
    raise InputError("INPUT.TYPE", f"a changelog cannot hold columns of type {t}")


def _sql_type(name: str) -> Type:
    found = re.fullmatch(r"decimal\((\d+),(\d+)\)", name)
    if found:
        return Type("DECIMAL", int(found.group(1)), int(found.group(2)))
    return _SQL[name]


def _plain_schema(schema: pa.Schema) -> pa.Schema:
    """The schema with dictionaries, large texts and other zones in their plain form."""
    return pa.schema([(f.name, _plain_type(f.type)) for f in schema])


def _plain_type(t: pa.DataType) -> pa.DataType:
    if pa.types.is_dictionary(t):
        return _plain_type(t.value_type)
    if pa.types.is_large_string(t) or pa.types.is_string_view(t):
        return pa.string()
    if pa.types.is_large_binary(t) or pa.types.is_binary_view(t):
        return pa.binary()
    if pa.types.is_timestamp(t):
        return pa.timestamp("us", None if t.tz is None else "UTC")
    type_text(t)
    return t


def _plain(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    if batch.schema.names != schema.names:
        raise InputError(
            "INPUT.CHANGELOG",
            f"a part's batches must have the same columns: {', '.join(schema.names)}",
        )
    arrays = [a.cast(t) if a.type != t else a
              for a, t in zip(batch.columns, schema.types, strict=True)]  # fmt: skip
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


# ----------------------------------------------------------------------------------------- writing

_Write = Callable[[pa.RecordBatch | None], None]  # None: the end


def _parquet(file: BinaryIO, schema: pa.Schema) -> _Write:
    writer = pq.ParquetWriter(file, schema, compression="zstd")
    return lambda batch: writer.close() if batch is None else writer.write_batch(batch)


def _json(file: BinaryIO, schema: pa.Schema) -> _Write:
    names = [json.dumps(n, ensure_ascii=False) for n in schema.names]

    def write(batch: pa.RecordBatch | None) -> None:
        if batch is None:
            return
        columns = [_texts(a, json_form=True) for a in batch.columns]
        for row in zip(*columns, strict=True):
            fields = ", ".join(f"{n}: {v}" for n, v in zip(names, row, strict=True))
            file.write(f"{{{fields}}}\n".encode())

    return write


def _csv(file: BinaryIO, schema: pa.Schema) -> _Write:
    file.write((",".join(_quoted(n) for n in schema.names) + "\n").encode())

    def write(batch: pa.RecordBatch | None) -> None:
        if batch is None:
            return
        columns = [_texts(a, json_form=False) for a in batch.columns]
        for row in zip(*columns, strict=True):
            file.write((",".join(row) + "\n").encode())

    return write


_WRITERS: dict[str, Callable[[BinaryIO, pa.Schema], _Write]] = {
    "parquet": _parquet, "json": _json, "csv": _csv,
}  # fmt: skip


def _texts(array: pa.Array, *, json_form: bool) -> list[str]:
    """A column's values as they stand in a JSON or CSV line."""
    t, null = array.type, "null" if json_form else ""
    quote: Callable[[str], str] = _json_text if json_form else _quoted
    make: Callable[[Any], str]
    if pa.types.is_decimal(t):
        make = (lambda v: f'"{v:f}"') if json_form else (lambda v: f"{v:f}")
    elif pa.types.is_string(t):
        make = quote
    elif pa.types.is_binary(t):
        return [
            null if v is None else quote(base64.b64encode(v).decode()) for v in array.to_pylist()
        ]
    elif pa.types.is_boolean(t):
        return [null if v is None else str(v).lower() for v in array.to_pylist()]
    elif pa.types.is_floating(t):
        return [null if v is None else _float_text(v, json_form) for v in _shortest(array)]
    elif pa.types.is_integer(t):
        make = str
    else:
        make = (lambda v: f'"{_moment(v)}"') if json_form else _moment
    return [null if v is None else make(v) for v in python(array)]


def _moment(value: Any) -> str:
    return value if isinstance(value, str) else str(value.isoformat())


def _shortest(array: pa.Array) -> list[str | None]:
    """Floats as the shortest text that reads back as the same value of their own width."""
    texts: list[str | None] = array.cast(pa.string()).to_pylist()
    return texts


def _float_text(text: str, json_form: bool) -> str:
    value = float(text)
    if not math.isfinite(value):
        word = "NaN" if math.isnan(value) else ("Infinity" if value > 0 else "-Infinity")
        return f'"{word}"' if json_form else word
    return text


def _json_text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)


def _quoted(value: str) -> str:
    """A CSV text: quoted where it must be; the empty text is `""`, for nothing at all is NULL."""
    if value and not any(c in value for c in ',"\r\n') and value == value.strip():
        return value
    return '"' + value.replace('"', '""') + '"'


# ----------------------------------------------------------------------------------------- reading


def _read_part(folder: str, part: PartFile) -> pa.Table:
    path = os.path.join(folder, part.name)
    schema = pa.schema([(n, _arrow(t)) for n, t in part.columns])
    if part.name.endswith(".parquet"):
        return pq.read_table(path).cast(schema)
    with open(path, "rb") as file:
        data = file.read()
    types = {n: _sql_type(t) for n, t in part.columns}
    if part.name.endswith(".json"):
        columns, _, bad = parse_json(split_lines(np.frombuffer(data, np.uint8)), types)
    else:
        data = data[data.find(b"\n") + 1 :]
        layout = Layout(tuple(n for n, _ in part.columns), newlines=True)
        (columns, bad), _ = whole_file(data, layout, types)
    if bad is not None and bad.any():
        raise InputError(
            "INPUT.CHANGELOG",
            f"row {int(np.flatnonzero(bad)[0])} of {path} is not what was written there",
            fix="changelog files must not be edited; restore the file",
        )
    return pa.table([columns[n] for n in schema.names], schema=schema)


def _arrow(name: str) -> pa.DataType:
    found = re.fullmatch(r"decimal\((\d+),(\d+)\)", name)
    return pa.decimal128(int(found.group(1)), int(found.group(2))) if found else _NAMES[name]
