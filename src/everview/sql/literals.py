"""What is written out in the text: numbers, intervals and LIKE patterns.

    0.05 -> DECIMAL(2,2)    3 -> INT    3000000000 -> BIGINT    1e3 -> DOUBLE
    INTERVAL '3' MONTH -> (3, MONTH)

Not here: DATE '...' and TIMESTAMP '...' (casts of text, sql/coerce), arithmetic (sql/functions).
"""

from __future__ import annotations

import math
import re

from sqlglot import exp

from everview.errors import Position
from everview.expr import Literal
from everview.plan.constant import convert
from everview.schema import BIGINT, DOUBLE, INT, STRING
from everview.sql.coerce import literal_decimal
from everview.sql.dialect import Source
from everview.sql.subset import refuse

MICROS = {"HOUR": 3_600_000_000, "MINUTE": 60_000_000, "SECOND": 1_000_000}
DAYS = {"DAY": 1, "WEEK": 7}
MONTHS = {"MONTH": 1, "YEAR": 12}
_NUMBER = re.compile(r"([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
_COUNT = re.compile(r"[+-]?[0-9]{1,9}")


def number(text: str, at: Position) -> Literal:
    """A number as Spark types it: INT, BIGINT, the DECIMAL of its digits, or DOUBLE."""
    if not _NUMBER.fullmatch(text):
        raise refuse("TYPE.LITERAL", at, f"{text[:60]} is not a number", "write digits")
    if "e" in text.lower():
        value = float(text)
        if math.isinf(value):
            fix = "write a smaller number"
            raise refuse("TYPE.LITERAL", at, f"{text[:60]} is too big for DOUBLE", fix)
        return Literal(value, DOUBLE)
    type = literal_decimal(text)
    if type is None:
        raise refuse("TYPE.LITERAL", at, f"{text[:60]} has more than 38 digits", "use fewer")
    if "." not in text and (whole := int(text)) < 2**63:
        return Literal(whole, INT if whole < 2**31 else BIGINT)
    exact = convert(Literal(text, STRING), type)
    assert exact is not None
    return exact


def interval(node: exp.Interval, source: Source) -> tuple[int, str]:
    """How many of which unit."""
    unit, value, sign = node.args.get("unit"), node.this, 1
    name = unit.name.upper().removesuffix("S") if isinstance(unit, exp.Var) else ""
    while isinstance(value, exp.Neg | exp.Paren):
        sign, value = (-sign if isinstance(value, exp.Neg) else sign), value.this
    text = value.name.strip() if isinstance(value, exp.Literal) else ""
    if name not in (*MICROS, *DAYS, *MONTHS) or not _COUNT.fullmatch(text):
        raise refuse(
            "UNSUPPORTED.INTERVAL",
            source.position(node, "INTERVAL"),
            "this INTERVAL is not supported",
            "write INTERVAL 'n' DAY (or WEEK, MONTH, YEAR, HOUR, MINUTE, SECOND)",
        )
    return sign * int(text), name


def check_pattern(pattern: str, escape: str, at: Position) -> None:
    """As Spark: after the escape character comes %, _ or the character itself."""
    i = 0
    while i < len(pattern):
        if pattern[i] == escape:
            if pattern[i + 1 : i + 2] not in ("%", "_", escape):
                raise refuse(
                    "TYPE.LITERAL",
                    at,
                    f"the pattern {pattern[:60]!r} escapes something else than %, _ or {escape}",
                    f"write {escape}{escape} for {escape} itself",
                )
            i += 1
        i += 1
