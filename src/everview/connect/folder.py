"""Change folders: CSV, JSON-lines or Parquet files of changes of one relation.

    orders/00001.csv      o_orderkey,o_custkey,...,change        read in the order of the names,
           00002.csv      7,12,...,+                             as new files come (see `files`)

The change column says what a row does (`accept.CHANGES`: `+ -`, `I U D`, insert / update / delete,
c u d r, Spark's `_change_type`, +1 / -1); without one every row is an insertion. A file must appear
whole: write it under a name that starts with `.` or `_`, then rename it. Only update sequences may
grow.

CSV: a header line gives the order of the columns (`header` False: the relation's own order, then
the change column). Fields may be quoted; an empty field is NULL and `""` the empty text. A line is
a row, so big files are read in pieces; with `newlines` quoted fields may hold line ends, and a file
is then one piece and one admission. JSON: see `json_lines`. Parquet: see `parquet_rows`.

Columns that a file does not have are NULL.

Not here: rows by hand (hand), mixed files (update_sequence).
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from everview.connect import lines as text
from everview.connect.accept import Ops, accept, ops_of
from everview.connect.contract import Offset, Range
from everview.connect.convert import Mask, either, from_arrow
from everview.connect.delimited import Layout, field_pattern, parse, split_record, whole_file
from everview.connect.files import Reached, Step, between, empty_offset, missing, shorter, walk
from everview.connect.json_lines import parse_json
from everview.connect.lines import Lines
from everview.connect.parquet_rows import (
    BATCH,
    ROW_BYTES,
    column_names,
    count_rows,
    cut_rows,
    find_names,
    read_rows,
)
from everview.delta.changes import INSERT, Changes
from everview.delta.vector import arrow_type
from everview.errors import InputError
from everview.schema import STRING, Relation, Type

Format = Literal["csv", "json", "parquet"]
_CHANGE = "#change"


@dataclass(frozen=True)
class ChangeFolder:
    """Files of changes of `relation` at `path`: a folder, a glob or one file."""

    path: str
    relation: Relation
    format: Format
    change_column: str | None = None
    delimiter: str = ","
    header: bool = True
    newlines: bool = False
    zone: str = "UTC"
    tasks: int = 4
    smallest: int = 1 << 20  # bytes of a range that is worth a task

    def __post_init__(self) -> None:
        names = [c.name.lower() for c in self.relation.columns]
        if self.change_column is not None and self.change_column.lower() in names:
            raise InputError(
                "INPUT.CHANGE_COLUMN",
                f"{self.change_column} is both the change column and a column of "
                f"{self.relation.name}",
                fix="leave it out of the relation, or name another change column",
            )

    def initial(self) -> Offset:
        return empty_offset()

    def take(self, start: Offset, limit: int | None) -> Step:
        """As `advance`, with the number of rows taken."""
        return walk(self.path, start, limit, self._measure, whole=True)

    def advance(self, start: Offset, limit: int | None) -> Offset:
        return self.take(start, limit).offset

    def ranges(self, start: Offset, end: Offset) -> list[Range]:
        parts = between(self.path, start, end, self._size)
        total = sum(high - low for _, low, high in parts)
        pieces = []
        for file, low, high in parts:
            share = max(1, round(self.tasks * (high - low) / total))
            places = self._cut(file.path, low, high, share)
            for a, b in pairwise(places):
                size = (b - a) * (ROW_BYTES if self.format == "parquet" else 1)
                pieces.append(Range(self.relation.name, file.path, a, b, file.name, size))
        return pieces

    def unread(self, end: Offset) -> list[str]:  # noqa: ARG002
        """Files appear whole, so nothing is left."""
        return []

    def read(self, piece: Range, columns: Mapping[str, tuple[str, ...]]) -> Iterator[Changes]:
        wanted = columns.get(self.relation.name)
        if wanted is None:
            return
        types = {n: self.relation.column(n).type for n in wanted}
        if self.format == "parquet":
            yield from self._read_parquet(piece, types)
        elif self.format == "json":
            yield from self._read_json(piece, types)
        elif self.newlines:
            yield self._read_csv_file(piece, types)
        else:
            yield from self._read_csv(piece, types)

    # ------------------------------------------------------------------------------- what there is

    def _measure(self, path: str, at: int, limit: int | None, _newest: bool) -> Reached:
        if self.format == "parquet":
            rows = count_rows(path)
            if rows < at:
                raise shorter(path, f"{at} rows")
            end = rows if limit is None else min(rows, at + limit)
            return Reached(end, end - at, end == rows)
        if at == 0 and self.format == "csv" and self.header:
            at = text.first_line(path)[1]
        if self.format == "csv" and self.newlines:
            limit = None
        return text.reach(path, at, limit, complete=True)

    def _size(self, path: str) -> int:
        if self.format == "parquet":
            return count_rows(path)
        try:
            return os.path.getsize(path)
        except FileNotFoundError:
            raise missing(path) from None

    def _cut(self, path: str, low: int, high: int, pieces: int) -> list[int]:
        if self.format == "parquet":
            return cut_rows(path, low, high, pieces, max(1, self.smallest // 16))
        return [low, high] if self.newlines else text.cut(path, low, high, pieces, self.smallest)

    # ------------------------------------------------------------------------------------- reading

    def _read_parquet(self, piece: Range, types: dict[str, Type]) -> Iterator[Changes]:
        self._recognized(piece.path, column_names(piece.path))
        names = list(types)
        if self.change_column is not None:
            names.append(self.change_column)
        for at, batch, found in read_rows(piece.path, piece.start, piece.end, names):
            count = min(piece.end - at, BATCH) if batch is None else batch.num_rows
            columns: dict[str, pa.Array] = {}
            bad: Mask | None = None
            for name in types:
                if batch is not None and name in found:
                    column = self.relation.column(name)
                    columns[name], more = from_arrow(
                        batch.column(found[name]), column, zone=self.zone
                    )
                    bad = either(bad, more)
            change = None
            if batch is not None and self.change_column in found:
                change = batch.column(found[self.change_column])
            rows = np.arange(at - piece.start, at - piece.start + count, dtype=np.int64)

            def raw(i: int, batch: pa.RecordBatch | None = batch) -> str:
                row = {} if batch is None else batch.slice(i, 1).to_pylist()[0]
                return json.dumps(row, default=str, ensure_ascii=False)

            yield self._changes(piece, types, columns, change, bad, rows, raw)

    def _read_json(self, piece: Range, types: dict[str, Type]) -> Iterator[Changes]:
        row = 0
        for block in text.blocks(piece.path, piece.start, piece.end):
            mine, rows = _filled(block, row)
            row += len(block)
            columns, change, bad = parse_json(
                mine, types, change=self.change_column, zone=self.zone
            )
            yield self._changes(piece, types, columns, change, bad, rows, mine.raw)

    def _read_csv(self, piece: Range, types: dict[str, Type]) -> Iterator[Changes]:
        layout, found = self._layout(piece.path, types)
        skip = 1 if self.header and piece.start == 0 else 0
        row = 0
        for block in text.blocks(piece.path, piece.start, piece.end):
            mine, rows = _filled(block, row, skip)
            row, skip = row + len(block), 0
            columns, bad = parse(mine, layout, found)
            change = columns.pop(_CHANGE, None)
            yield self._changes(piece, types, columns, change, bad, rows, mine.raw)

    def _read_csv_file(self, piece: Range, types: dict[str, Type]) -> Changes:
        layout, found = self._layout(piece.path, types)
        with open(piece.path, "rb") as file:
            data = file.read(piece.end).removeprefix(text.MARK)
        if self.header:
            data = data[data.find(b"\n") + 1 or len(data) :]
        (columns, bad), records = whole_file(data, layout, found)
        change = columns.pop(_CHANGE, None)
        rows = np.arange(len(records), dtype=np.int64) + (1 if self.header else 0)
        return self._changes(piece, types, columns, change, bad, rows, lambda i: records[i])

    def _layout(self, path: str, types: dict[str, Type]) -> tuple[Layout, dict[str, Type]]:
        """How the fields of this file stand, and the types of those that are to be read.

        The change column is read as a text of its own, under a name no column has.
        """
        if self.header:
            line = text.first_line(path)[0]
            fields = split_record(line, field_pattern(self.delimiter)) or []
            there = [(f or b"").decode("utf-8", "replace").strip() for f in fields]
            if b"\r" in line:
                raise InputError(
                    "INPUT.LINE_ENDS",
                    f"the lines of the file {path} end with a carriage return alone",
                    fix="write it with line feeds at the ends of lines",
                )
            self._recognized(path, there)
        else:
            there = [c.name for c in self.relation.columns]
            if self.change_column is not None and self.change_column not in there:
                there.append(self.change_column)
        found = find_names(list(types), there, path)
        names = [f"#{i}" for i in range(len(there))]
        read: dict[str, Type] = {}
        for name, spelled in found.items():
            names[there.index(spelled)] = name
            read[name] = types[name]
        if self.change_column is not None:
            for spelled in find_names([self.change_column], there, path).values():
                names[there.index(spelled)] = _CHANGE
                read[_CHANGE] = STRING
        layout = Layout(
            tuple(names) or ("#0",), self.delimiter, newlines=self.newlines, zone=self.zone
        )
        return layout, read

    def _recognized(self, path: str, there: list[str]) -> None:
        """Columns that a file does not have are NULL, but it must be a file of this relation."""
        if there and not find_names([c.name for c in self.relation.columns], there, path):
            raise InputError(
                "INPUT.COLUMN",
                f"the file {path} has no column of {self.relation.name}: {', '.join(there)[:200]}",
                fix="check its header and delimiter, or what relation the folder is of",
            )

    def _changes(
        self,
        piece: Range,
        types: dict[str, Type],
        columns: dict[str, pa.Array],
        change: pa.Array | None,
        bad: Mask | None,
        rows: npt.NDArray[np.int64],
        raw: Callable[[int], bytes | str],
    ) -> Changes:
        """The rows with what they do; columns that the file does not have are NULL."""
        whole = {
            n: columns[n] if n in columns else pa.nulls(len(rows), arrow_type(t))
            for n, t in types.items()
        }
        op: Ops
        unknown: Mask | None = None
        if self.change_column is None:
            op = np.full(len(rows), INSERT, np.int8)
        elif change is None:
            op, unknown = np.zeros(len(rows), np.int8), np.ones(len(rows), np.bool_)
        else:
            op, unknown = ops_of(change, self.relation)
        return accept(
            self.relation, whole, op, segment=piece.segment, start=piece.start, rows=rows,
            raw=raw, parse=bad, unknown=unknown,
        )  # fmt: skip


def _filled(block: Lines, row: int, skip: int = 0) -> tuple[Lines, npt.NDArray[np.int64]]:
    """The lines that are not blank (nor the header), and their row numbers."""
    filled = block.ends > block.starts
    filled[:skip] = False
    if filled.all():
        return block, np.arange(row, row + len(block), dtype=np.int64)
    places = np.flatnonzero(filled)
    return block.take(places), places + row
