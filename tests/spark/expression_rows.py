"""The rows that expressions are compared on: edge cases of every type first, then random ones."""

from __future__ import annotations

import math
import random
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa

from everview.delta.vector import arrow_type
from everview.schema import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    Type,
    decimal,
)

TINYINT, SMALLINT = Type("TINYINT"), Type("SMALLINT")
COLUMNS = {
    "t": TINYINT, "i": INT, "j": INT, "big": BIGINT, "xi": INT, "xb": BIGINT,
    "d": decimal(9, 2), "e": decimal(15, 2), "w": decimal(20, 4), "z": decimal(38, 18),
    "y": decimal(38, 0), "tiny": decimal(38, 38), "f": FLOAT, "g": DOUBLE, "h": DOUBLE,
    "s": STRING, "u": STRING, "b": BINARY, "p": BOOLEAN, "q": BOOLEAN,
    "dt": DATE, "du": DATE, "ts": TIMESTAMP, "tu": TIMESTAMP, "tn": TIMESTAMP_NTZ,
    "num": STRING, "day": STRING, "stamp": STRING, "word": STRING,
}  # fmt: skip

_TEXTS = ["", "a", "A", "b", "ab", "a%b", "a_b", "a\\b", "PROMO BRUSHED TIN", "promo", "  x  ",
          "\tx ", "héllo", "HÉLLO", "straße", "日本語テキスト", "😀😃", "z\nq", "ΑΣ", "İ",
          "special requests", "Customer  Complaints", "\U0010ffff", "\uffff",
          "e\u0301"]  # fmt: skip
_DOUBLES = [0.0, -0.0, 1.0, -1.5, 0.001, 0.00099, 1e7, 9999999.0, 123456789.125, 1e10, -2.5e-5,
            math.nan, math.inf, -math.inf, 5e-324, 1.7976931348623157e308, 0.5, 2.5,
            1e15]  # fmt: skip
_DAYS = [date(1970, 1, 1), date(1969, 12, 31), date(2024, 2, 29), date(2023, 12, 31),
         date(2000, 2, 29), date(1900, 2, 28), date(1600, 2, 29), date(1, 1, 1),
         date(9999, 12, 31), date(1582, 10, 15), date(1582, 10, 4), date(1992, 1, 31),
         date(1883, 11, 18), date(2024, 3, 10), date(2024, 11, 3)]  # fmt: skip
_TIMES = [datetime(1970, 1, 1), datetime(1969, 12, 31, 23, 59, 59, 999999),
          datetime(2024, 2, 29, 12, 30, 15, 500000), datetime(2024, 3, 10, 2, 30),
          datetime(2024, 3, 10, 7, 0), datetime(2024, 11, 3, 1, 30), datetime(2024, 11, 3, 5, 30),
          datetime(2024, 11, 3, 6, 30), datetime(1883, 11, 18, 12, 3, 57),
          datetime(1883, 11, 18, 17, 0, 1), datetime(1700, 6, 1, 1, 2, 3, 4), datetime(2, 1, 1),
          datetime(9998, 12, 31, 23, 59, 59, 999999), datetime(2450, 7, 4, 12),
          datetime(2101, 3, 13, 6, 59, 59), datetime(1945, 8, 14, 23, 0)]  # fmt: skip
_NUMBERS = ["0", "1", " +12 ", "-7", "007", "127", "-128", "99"]
_DAY_TEXTS = ["2024-02-29", " 1995-3-5 ", "1970", "1969-12", "0001-01-01", "2024-02-03 x",
              "2024-02-03Tnonsense", "+2024-01-01", "9999-12-31"]  # fmt: skip
_STAMPS = ["2024-02-29 12:30:15.5", "2024-2-9 1:2", "2024-03-10 02:30:00", "1970", "1969-12",
           "2024-02-03", "2024-02-03 7", "2024-02-03T01:02:03.123456789", "2024-02-03 01:02:03.",
           "2024-02-03 01:02:03Z", "2024-02-03 01:02:03 UTC", "2024-02-03 01:02:03+05:30",
           "2024-02-03 01:02:03-5", "2024-02-03 01:02:03+0530", "2024-11-03 01:30:00",
           "2024-02-03 01:02:03 Asia/Tokyo", "2024-02-03 01:02:03Europe/Paris",
           "2024-02-03 01:02:03 GMT+3", "1700-01-01 00:00:00", "2024-02-03 1:2:3 +1:3"]  # fmt: skip
_WORDS = ["t", "TRUE", " yes ", "Y", "1", "f", "False", "no", "N", "0"]


def rows(n: int = 400, seed: int = 7) -> pa.Table:
    """Edge cases first, then random rows; about one value in eight is NULL."""
    r = random.Random(seed)

    def scaled(digits: int, scale: int) -> Decimal:
        top = 10 ** r.randint(0, digits)
        return Decimal(r.randint(-top + 1, top - 1) if top > 1 else 0).scaleb(-scale)

    def value(name: str, k: int) -> Any:
        lists: dict[str, list[Any]] = {
            "s": _TEXTS, "u": _TEXTS, "h": _DOUBLES, "dt": _DAYS, "du": _DAYS, "ts": _TIMES,
            "tu": _TIMES, "tn": _TIMES, "num": _NUMBERS, "day": _DAY_TEXTS, "stamp": _STAMPS,
            "word": _WORDS,
        }  # fmt: skip
        limits = {"xi": 2**31, "xb": 2**63}
        if k > 3 and r.random() < 0.12:
            return None
        if name in limits:
            edge = limits[name]
            return r.choice([-edge, edge - 1, 0, -1, 1, r.randrange(-edge, edge)])
        if name in ("s", "u") and r.random() < 0.3:
            return "".join(r.choice("aAbB%_ é😀\\") for _ in range(r.randint(0, 8)))
        if name in ("dt", "du") and r.random() < 0.6:
            return date(1900, 1, 1) + timedelta(days=r.randrange(80_000))
        if name in ("ts", "tu", "tn") and r.random() < 0.6:
            return datetime(1900, 1, 1) + timedelta(
                seconds=r.randrange(6 * 10**9), microseconds=r.randrange(10**6)
            )
        if name in lists:
            return lists[name][k % len(lists[name])] if k < 40 else r.choice(lists[name])
        t = COLUMNS[name]
        if t.is_decimal:
            digits = {"w": 14, "z": 26, "y": 19}.get(name, t.precision or 0)
            return scaled(digits, t.scale or 0)
        return {
            "t": lambda: r.randint(-11, 11), "i": lambda: r.randint(-20000, 20000),
            "j": lambda: r.choice([-3, -1, 1, 2, 7, 40]), "big": lambda: r.randint(-10**9, 10**9),
            "f": lambda: r.choice([0.0, -0.0, 1.5, math.nan, math.inf, 0.25, -7.0, 8388609.0]),
            "g": lambda: r.randint(-10**6, 10**6) / 64, "p": lambda: r.random() < 0.5,
            "q": lambda: r.random() < 0.5, "b": lambda: r.randbytes(r.randint(0, 5)),
        }[name]()  # fmt: skip

    table: dict[str, pa.Array] = {"id": pa.array(range(n))}
    for name, t in COLUMNS.items():
        values = [value(name, k) for k in range(n)]
        if t == TIMESTAMP:
            values = [v and v.replace(tzinfo=UTC) for v in values]
        table[name] = pa.array(values, arrow_type(t))
    return pa.table(table)
