"""Rows by hand: a change folder that programs append to, one Parquet file per call.

    append(folder, orders, INSERT, [{"o_orderkey": 1, "o_custkey": 7}])   ──▶  000000000001.parquet

A file holds the relation's columns and `_change_type` (insert, update, delete). It is written
under a hidden name, flushed to the disk and then linked to the next free number, which fails if
another writer was first: so several writers may append at once, a reader never sees half a file,
and numbers follow time.

Values are checked against the declared types before anything is written. Taken as they are: int,
Decimal and numeric text for exact numbers (a float only if the type is FLOAT or DOUBLE), date and
ISO text, datetime (for TIMESTAMP with a zone, or else in the session's; for TIMESTAMP_NTZ without
one), bool, str, bytes, None.

Not here: reading the rows (folder reads them as any change folder).
"""

from __future__ import annotations

import datetime as dt
import math
import os
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from numbers import Integral
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from everview.connect.durable import place_once, sync
from everview.connect.folder import ChangeFolder
from everview.delta.changes import DELETE, INSERT, UPDATE
from everview.delta.evaluate.zones import to_utc
from everview.delta.vector import arrow_type
from everview.errors import InputError
from everview.schema import INTEGER_BITS, Column, Relation, Type

CHANGE_COLUMN = "_change_type"
FLOAT_MAX = 3.4028235677973366e38  # from here on a FLOAT is infinite: halfway to 2^128
Row = Mapping[str, Any] | Sequence[Any]
_EPOCH, _MICROSECOND = dt.datetime(1970, 1, 1), dt.timedelta(microseconds=1)
_WORDS = {INSERT: "insert", UPDATE: "update", DELETE: "delete"}
_DIGITS = 12
_LAST = ".last"


def HandFolder(path: str, relation: Relation, *, zone: str = "UTC", tasks: int = 4) -> ChangeFolder:
    """The source that reads what `append` wrote to the folder `path`."""
    return ChangeFolder(path, relation, "parquet", CHANGE_COLUMN, zone=zone, tasks=tasks)


def append(folder: str, relation: Relation, op: int, rows: Iterable[Row]) -> str | None:
    """Write the rows as one file; its name, or None if there are no rows.

    `op` is INSERT, UPDATE (by key: the whole new row) or DELETE. A row is a dict by column name or
    a sequence in column order. Columns left out are NULL; a deletion from a keyed relation needs
    the key columns only.
    """
    if op not in _WORDS:
        raise InputError("INPUT.OP", f"{op} is no op", fix="use INSERT, UPDATE or DELETE")
    if op == UPDATE and not relation.key:
        raise InputError(
            "INPUT.NO_KEY",
            f"relation {relation.name} has no primary key, so a row cannot be updated by key",
            fix="delete the old row and insert the new one",
        )
    rows = list(rows)
    if not rows:
        return None
    table = to_table(relation, op, rows)
    os.makedirs(folder, exist_ok=True)
    return _publish(folder, lambda path: pq.write_table(table, path, compression="zstd"))


def to_table(relation: Relation, op: int, rows: Sequence[Row]) -> pa.Table:
    """The rows as a table of the relation's columns and the change column, every value checked."""
    dicts = [_by_name(relation, row, i) for i, row in enumerate(rows)]
    arrays = {}
    for column in relation.columns:
        required = column.name in relation.key or (
            not column.nullable and not (op == DELETE and relation.key)
        )
        values = []
        for i, row in enumerate(dicts):
            value = row.get(column.name)
            if value is None and required:
                raise InputError(
                    "INPUT.NOT_NULL",
                    f"row {i}: column {column.name} of {relation.name} must not be NULL",
                    fix=f"give it a value of type {column.type}",
                )
            values.append(None if value is None else _checked(value, column, i))
        if column.type.name == "TIMESTAMP":
            values = [_in_utc(v, relation.options.get("zone", "UTC")) for v in values]
        arrays[column.name] = pa.array(values, arrow_type(column.type))
    arrays[CHANGE_COLUMN] = pa.array([_WORDS[op]] * len(rows), pa.string())
    return pa.table(arrays)


def _by_name(relation: Relation, row: Row, i: int) -> Mapping[str, Any]:
    names = [c.name for c in relation.columns]
    if isinstance(row, Mapping):
        given = {}
        for said, value in row.items():
            name = said if said in names else _folded(str(said), names)
            if name is None or name in given:
                raise InputError(
                    "INPUT.UNKNOWN_COLUMN",
                    f"row {i}: relation {relation.name} has no column {said}"
                    + (", or has it twice" if name in given else ""),
                    fix=f"its columns are {', '.join(names)}",
                )
            given[name] = value
        return given
    if isinstance(row, (str, bytes)) or len(row) != len(names):
        raise InputError(
            "INPUT.ROW_LENGTH",
            f"row {i}: {row!r:.80} is not a row of {len(names)} values",
            fix=f"the columns of {relation.name} are {', '.join(names)}",
        )
    return dict(zip(names, row, strict=True))


def _folded(said: str, names: list[str]) -> str | None:
    alike = [n for n in names if n.lower() == said.lower()]
    return alike[0] if len(alike) == 1 else None


# ------------------------------------------------------------------------------------------ values


def _checked(value: Any, column: Column, i: int) -> Any:
    """The value as Arrow takes it for this column; InputError if it is not one of its type."""
    try:
        made = _VALUES[_kind(column.type)](value, column.type)
    except (ValueError, InvalidOperation, OverflowError):
        made = None
    if made is None:
        raise InputError(
            "INPUT.VALUE",
            f"row {i}: column {column.name} cannot hold {value!r:.80} "
            f"({type(value).__name__}): it is {column.type}",
            fix=_ADVICE.get(_kind(column.type), f"give a value of type {column.type}"),
        )
    return made


def _kind(t: Type) -> str:
    if t.is_integer:
        return "integer"
    return "float" if t.is_float else t.name


def _number(value: Any) -> Decimal | None:
    if isinstance(value, bool) or not isinstance(value, (Integral, str, Decimal)):
        return None
    number = Decimal(int(value)) if isinstance(value, Integral) else Decimal(value)
    return number if number.is_finite() else None


def _integer(value: Any, t: Type) -> int | None:
    number = _number(value)
    if number is None:
        return None
    bound = 1 << (INTEGER_BITS[t.name] - 1)
    if not -bound <= number < bound:
        return None
    return int(number) if number == int(number) else None


def _decimal(value: Any, t: Type) -> Decimal | None:
    number = _number(value)
    if number is None:
        return None
    sign, digits, exponent = number.as_tuple()
    assert isinstance(exponent, int)
    unscaled, shift = int("".join(map(str, digits))), exponent + t.exact_scale
    if unscaled and abs(shift) > 100:
        return None
    if shift < 0:
        unscaled, rest = divmod(unscaled, 10 ** min(-shift, 200))
        if rest:
            return None
    elif unscaled:
        unscaled *= 10**shift
    if unscaled >= 10 ** (t.precision or 0):
        return None
    return Decimal((sign, tuple(map(int, str(unscaled))), -t.exact_scale))


def _float(value: Any, t: Type) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    number = float(value)
    if t.name == "FLOAT" and abs(number) >= FLOAT_MAX and math.isfinite(number):
        return None
    return number if isinstance(value, float) or int(number) == value else None


def _date(value: Any, _: Type) -> dt.date | None:
    if isinstance(value, str):
        return dt.date.fromisoformat(value)
    return value if isinstance(value, dt.date) and not isinstance(value, dt.datetime) else None


def _instant(value: Any, _: Type) -> dt.datetime | None:
    moment = dt.datetime.fromisoformat(value) if isinstance(value, str) else value
    return moment if isinstance(moment, dt.datetime) else None


def _in_utc(moment: dt.datetime | None, zone: str) -> dt.datetime | None:
    """The moment in UTC; without a zone of its own, it is what the clocks of `zone` show."""
    if moment is None or moment.tzinfo is not None:
        return moment and moment.astimezone(dt.UTC)
    shown = (moment - _EPOCH) // _MICROSECOND
    return (_EPOCH + int(to_utc(np.array([shown]), zone)[0]) * _MICROSECOND).replace(tzinfo=dt.UTC)


def _local(value: Any, _: Type) -> dt.datetime | None:
    moment = dt.datetime.fromisoformat(value) if isinstance(value, str) else value
    return moment if isinstance(moment, dt.datetime) and moment.tzinfo is None else None


def _string(value: Any, _: Type) -> str | None:
    if not isinstance(value, str):
        return None
    value.encode("utf-8")  # a lone surrogate is no text
    return value


_VALUES: Mapping[str, Callable[[Any, Type], Any]] = {
    "integer": _integer,
    "DECIMAL": _decimal,
    "float": _float,
    "DATE": _date,
    "TIMESTAMP": _instant,
    "TIMESTAMP_NTZ": _local,
    "STRING": _string,
    "BOOLEAN": lambda value, _: value if isinstance(value, bool) else None,
    "BINARY": lambda value, _: bytes(value) if isinstance(value, (bytes, bytearray)) else None,
}
_ADVICE = {
    "DECIMAL": "give an int, a Decimal or a text that fits; a float is not exact",
    "DATE": "give a date or a text like '2024-01-31'",
    "TIMESTAMP": "give a datetime or a text like '2024-01-31 10:00:00+00:00'",
    "TIMESTAMP_NTZ": "give a datetime without a zone",
}


# ------------------------------------------------------------------------------------------- files


def _publish(folder: str, write: Callable[[str], None]) -> str:
    """Write a file under a hidden name, then give it the next free number."""
    hidden = os.path.join(folder, f".{uuid.uuid4().hex}.tmp")
    try:
        write(hidden)
        sync(hidden)
        number = _highest(folder) + 1
        while not place_once(hidden, os.path.join(folder, f"{number:0{_DIGITS}d}.parquet")):
            number += 1
        _remember(folder, number)
    finally:
        if os.path.exists(hidden):
            os.unlink(hidden)
    return f"{number:0{_DIGITS}d}.parquet"


def _highest(folder: str) -> int:
    """The highest number ever given: a file that was read may be removed, its number is used."""
    with os.scandir(folder) as entries:
        stems = (e.name.removesuffix(".parquet") for e in entries)
        there = max((int(s) for s in stems if len(s) == _DIGITS and s.isdecimal()), default=0)
    try:
        with open(os.path.join(folder, _LAST), encoding="ascii") as file:
            return max(there, int(file.read() or 0))
    except FileNotFoundError:
        return there


def _remember(folder: str, number: int) -> None:
    hidden = os.path.join(folder, f".{uuid.uuid4().hex}.tmp")
    with open(hidden, "w", encoding="ascii") as file:
        file.write(str(max(number, _highest(folder))))
    os.replace(hidden, os.path.join(folder, _LAST))
