"""Parquet files by row numbers: only the wanted columns, exactly converted.

Ranges are row numbers, so an epoch may end inside a row group; the ranges of one epoch are cut at
row groups where that suits.

Not here: which files (files), what the rows mean (folder, accept).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from everview.connect.files import missing
from everview.errors import InputError

BATCH = 200_000
ROW_BYTES = 64  # about what a row is worth beside the bytes of text formats


def count_rows(path: str) -> int:
    """The rows of a file, from its footer."""
    with _opened(path) as file:
        return int(file.metadata.num_rows)


def column_names(path: str) -> list[str]:
    with _opened(path) as file:
        return list(file.schema_arrow.names)


def cut_rows(path: str, start: int, end: int, pieces: int, smallest: int = 100_000) -> list[int]:
    """Row numbers that divide [start, end), at row group ends where there are enough of them."""
    count = max(1, min(pieces, (end - start) // smallest))
    if count == 1:
        return [start, end]
    with _opened(path) as file:
        groups, at = [], 0
        for g in range(file.metadata.num_row_groups):
            at += file.metadata.row_group(g).num_rows
            groups.append(at)
    places = [start]
    for k in range(1, count):
        ideal = start + (end - start) * k // count
        nearest = min(groups, key=lambda g: (abs(g - ideal), g), default=ideal)
        place = nearest if abs(nearest - ideal) * 2 * count <= end - start else ideal
        if places[-1] < place < end:
            places.append(place)
    return [*places, end]


def read_rows(
    path: str, start: int, end: int, names: list[str], size: int = BATCH
) -> Iterator[tuple[int, pa.RecordBatch | None, dict[str, str]]]:
    """Batches of rows [start, end): first row number, columns, and wanted name -> name in the file.

    A name is looked up as it is written, then without regard to case; a name the file does not
    have is not in the answer; if it has none of them, the batch is None and stands for `size` rows
    (fewer at the end).
    """
    with _opened(path) as file:
        found = find_names(names, file.schema_arrow.names, path)
        if not found:
            yield from ((at, None, {}) for at in range(start, end, size))
            return
        at, first = 0, 0
        groups: list[int] = []
        for g in range(file.metadata.num_row_groups):
            rows = file.metadata.row_group(g).num_rows
            if at < end and at + rows > start and rows:
                if not groups:
                    first = at
                groups.append(g)
            at += rows
        if not groups:
            return
        at = first
        batches = file.iter_batches(
            batch_size=size, row_groups=groups, columns=list(found.values()), use_threads=False
        )
        for batch in batches:
            low, high = max(start, at), min(end, at + batch.num_rows)
            if low < high:
                yield low, batch.slice(low - at, high - low), found
            at += batch.num_rows
            if at >= end:
                return


def find_names(names: list[str], there: list[str], path: str) -> dict[str, str]:
    """Wanted name -> the file's own spelling, for those it has."""
    found = {}
    for name in names:
        same = [n for n in there if n == name] or [n for n in there if n.lower() == name.lower()]
        if len(same) > 1:
            raise InputError(
                "INPUT.COLUMN_TWICE",
                f"the file {path} has the column {name} more than once: {', '.join(same)}",
                fix="rename or remove one of them",
            )
        if same:
            found[name] = same[0]
    return found


def _opened(path: str) -> Any:
    try:
        return pq.ParquetFile(path)
    except FileNotFoundError:
        raise missing(path) from None
    except (pa.ArrowInvalid, OSError) as e:
        raise InputError(
            "INPUT.NOT_PARQUET",
            f"the file {path} is not a whole Parquet file: {e}",
            fix="write files under a name that starts with . or _ and rename them when complete",
        ) from e
