"""TPC-H data, and update sequences over it, written in bounded memory.

    tpchgen-cli ──▶ *.parquet ──▶ timeline: when each row comes and goes ──▶ epochs ──▶ writer
                                  (arrays of integers, no rows)        rows read by range

`generate` makes the eight tables. `update_sequence` turns them into a stream of changes, as one
text file in Cquirrel's form (sign, table tag, `.tbl` row; `*` ends an epoch) or as one folder per
relation of Parquet files, one per epoch, with the change in column `op`.

Not here: when a row comes and goes (workloads/tpch/timeline), queries and declarations, reading.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from everview.errors import ConfigError
from everview.workloads.tpch.timeline import TABLES, Kind, Table, Timeline, revise, timelines

STAMP = "everview-tpch.json"
CHUNK = 200_000  # changes held at a time


@dataclass(frozen=True, slots=True)
class Written:
    """What `update_sequence` wrote: where, how many changes, how many epochs."""

    path: Path
    changes: int
    epochs: int


def generate(folder: Path, scale: float) -> Path:
    """The eight tables at this scale as `folder/<table>.parquet`; kept if already there."""
    stamp = folder / STAMP
    wanted = {"scale": float(scale), "tables": [t.name for t in TABLES]}
    if stamp.exists() and json.loads(stamp.read_text()) == wanted:
        return folder
    folder.mkdir(parents=True, exist_ok=True)
    for file in (stamp, *(folder / f"{t.name}.parquet" for t in TABLES)):
        file.unlink(missing_ok=True)  # tpchgen-cli keeps files it finds, whatever their scale
    command = [_tpchgen(), "parquet", "-s", f"{scale:g}", "--output-dir", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ConfigError(
            "TPCH.GENERATE",
            f"tpchgen-cli failed: {done.stderr.strip()[-500:]}",
            fix="check the scale and that the folder can be written",
        )
    stamp.write_text(json.dumps(wanted))
    return folder


def _tpchgen() -> str:
    beside = Path(sys.executable).with_name("tpchgen-cli")
    found = str(beside) if beside.exists() else shutil.which("tpchgen-cli")
    if not found:
        raise ConfigError(
            "TPCH.GENERATOR", "tpchgen-cli is not installed", fix="pip install tpchgen-cli"
        )
    return found


def update_sequence(
    source: Path,
    out: Path,
    *,
    kind: Kind,
    window: float = 0.5,
    seed: int = 0,
    format: Literal["text", "parquet"] = "text",
    epoch: int | None = None,
) -> Written:
    """Write the changes of one history over the tables in `source`.

    fifo: small tables first in key order, then each order with its lineitems; once `window` of the
    orders are in, each further order is followed by the deletion of the oldest one.
    insert-only: the same without deletions. insert-delete-all: then everything leaves again.
    random: rows come, change, move to other keys, leave and come back at random, so that
    references dangle; every deletion carries the full old image and fits what is there.

    An epoch ends after every `epoch` changes (None: text has no `*` lines, Parquet gets files of
    200,000 changes). The same arguments write the same bytes.
    """
    readers = {t.name: RowReader(source / f"{t.name}.parquet", t) for t in TABLES}
    plan = timelines({n: r.keys for n, r in readers.items()}, kind=kind, window=window, seed=seed)
    total = sum(len(t.at) for t in plan.values())
    size = epoch or (CHUNK if format == "parquet" else max(total, 1))
    (out if format == "parquet" else out.parent).mkdir(parents=True, exist_ok=True)
    if format == "parquet":
        for first in range(0, total, size):
            chunk = _chunk(plan, first, min(first + size, total))
            _write_parquet(out, first // size, _images(readers, chunk, seed))
    else:
        with out.open("wb") as file:
            for first in range(0, total, step := _text_step(size)):
                chunk = _chunk(plan, first, min(first + step, total))
                _write_text(file, _images(readers, chunk, seed), first, epoch)
    return Written(out, total, -(-total // size))


def _text_step(size: int) -> int:
    """Changes per chunk: whole small epochs, or pieces of a large one."""
    return max(1, CHUNK // size) * size if size <= CHUNK else CHUNK


def _chunk(plan: dict[str, Timeline], first: int, end: int) -> dict[str, Timeline]:
    """The changes at positions [first, end), by relation; relations without any are left out."""
    pieces = {}
    for name, line in plan.items():
        a, b = np.searchsorted(line.at, (first, end))
        if b > a:
            pieces[name] = Timeline(line.at[a:b], line.row[a:b], line.op[a:b], line.image[a:b])
    return pieces


Images = Iterator[tuple[Table, Timeline, pa.Table]]


def _images(readers: dict[str, RowReader], chunk: dict[str, Timeline], seed: int) -> Images:
    """For each relation of the chunk: its changes and their row images, in order."""
    sizes = {n: len(r) for n, r in readers.items()}
    orders = readers["orders"].keys["o_orderkey"]
    for table in TABLES:
        if line := chunk.get(table.name):
            rows = readers[table.name].take(line.row)
            yield table, line, revise(table, rows, line, sizes, orders, seed)


def _write_parquet(out: Path, number: int, images: Images) -> None:
    for table, line, rows in images:
        folder = out / table.name
        folder.mkdir(exist_ok=True)
        signed = rows.add_column(0, "op", _signs(line.op))
        pq.write_table(signed, folder / f"{number:08d}.parquet", compression="zstd")


def _write_text(file: IO[bytes], images: Images, first: int, epoch: int | None) -> None:
    """Append lines in order of position; `*` after every `epoch` changes counted from 0."""
    parts, positions = [], []
    for table, line, rows in images:
        parts.append(_lines(table, line.op, rows))
        positions.append(line.at)
    lines = pa.concat_arrays(parts).take(pa.array(np.argsort(np.concatenate(positions))))
    n = len(lines)
    offsets = np.frombuffer(lines.buffers()[1], np.int32)[lines.offset : lines.offset + n + 1]
    text = memoryview(lines.buffers()[2])
    last = 0
    ends = [] if epoch is None else range(epoch - first % epoch, n + 1, epoch)
    for end in ends:
        file.write(text[offsets[last] : offsets[end]])
        file.write(b"*\n")
        last = end
    file.write(text[offsets[last] : offsets[n]])


def _signs(op: Any) -> pa.Array:
    return pa.array(["-", "+"]).take(pa.array((op > 0).astype(np.int64)))


def _lines(table: Table, op: Any, rows: pa.Table) -> pa.Array:
    """`+LI1|155190|...|` with a line end: sign, tag, and the row as dbgen writes it."""
    texts = [_text(n, rows.column(n).combine_chunks()) for n in rows.column_names]
    heads = pc.binary_join_element_wise(_signs(op), pa.scalar(table.tag), texts[0], "")
    return pc.binary_join_element_wise(heads, *texts[1:], pa.scalar("\n"), "|")


def _text(name: str, values: pa.Array) -> pa.Array:
    if name == "l_quantity":  # dbgen writes whole numbers here
        values = values.cast(pa.int64())
    return values.cast(pa.string())


class RowReader:
    """Rows of a Parquet file by position, keeping the row groups that the last call used."""

    def __init__(self, path: Path, table: Table) -> None:
        if not path.exists():
            raise ConfigError(
                "TPCH.SOURCE", f"{path} is missing", fix="generate the tables first: everview gen"
            )
        self._file = pq.ParquetFile(path)
        meta = self._file.metadata
        sizes = [meta.row_group(i).num_rows for i in range(meta.num_row_groups)]
        self._starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        self._kept: dict[int, pa.Table] = {}
        keys = self._file.read(columns=list(table.key))
        self.keys = {c: keys.column(c).to_numpy() for c in table.key}

    def __len__(self) -> int:
        return int(self._starts[-1])

    def take(self, rows: Any) -> pa.Table:
        """The rows at these positions, in this order."""
        groups = np.unique(np.searchsorted(self._starts, rows, side="right") - 1)
        base = np.zeros(len(self._starts), np.int64)  # row group -> its place among those read
        kept, n = {}, 0
        for g in groups.tolist():
            base[g] = n - self._starts[g]
            there = self._kept.get(g)
            kept[g] = _plain(self._file.read_row_group(g)) if there is None else there
            n += kept[g].num_rows
        self._kept = kept
        local = rows + base[np.searchsorted(self._starts, rows, side="right") - 1]
        return pa.concat_tables(kept.values()).take(pa.array(local)).combine_chunks()


def _plain(table: pa.Table) -> pa.Table:
    """String views as strings, and no metadata of the generator."""
    fields = []
    for f in table.schema:
        text = f.type in (pa.string_view(), pa.large_string())
        fields.append(pa.field(f.name, pa.string() if text else f.type))
    return table.cast(pa.schema(fields))
