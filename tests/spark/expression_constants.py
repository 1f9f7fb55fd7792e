"""Constant expressions twice, Spark's text and our Expr: what is refused, what is accepted.

REFUSED names the error code; ACCEPTED holds the odd forms that casts read.
"""

from __future__ import annotations

from everview.expr import Expr, call
from everview.schema import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    decimal,
)
from tests.spark.expression_pairs import cast, dec, lit, num, quoted, txt
from tests.spark.expression_rows import SMALLINT, TINYINT

X, Y38 = lit(2**31 - 1, INT), lit("9" * 38, decimal(38, 0))
REFUSED: list[tuple[str, Expr, str]] = [
    ("x + 1", call("+", X, num(1)), "VALUE.OVERFLOW"),
    ("x * x", call("*", X, X), "VALUE.OVERFLOW"),
    ("-(-x - 1)", call("neg", lit(-(2**31), INT)), "VALUE.OVERFLOW"),
    ("abs(-x - 1)", call("abs", lit(-(2**31), INT)), "VALUE.OVERFLOW"),
    ("bigint(x) * x * x", call("*", lit((2**31 - 1) ** 2, BIGINT), lit(2**31 - 1, BIGINT)),
     "VALUE.OVERFLOW"),
    ("y38 + 1", call("+", Y38, dec("1")), "VALUE.OVERFLOW"),
    ("y38 * 10", call("*", Y38, dec("10")), "VALUE.OVERFLOW"),
    ("y38 / 0.1", call("/", Y38, dec("0.1")), "VALUE.OVERFLOW"),
    ("x / 0", call("/", X, num(0)), "VALUE.DIVIDE_BY_ZERO"),
    ("x % 0", call("%", X, num(0)), "VALUE.DIVIDE_BY_ZERO"),
    ("y38 / 0.0", call("/", Y38, dec("0.0")), "VALUE.DIVIDE_BY_ZERO"),
    ("1.5d / 0d", call("/", lit(1.5, DOUBLE), lit(0.0, DOUBLE)), "VALUE.DIVIDE_BY_ZERO"),
    ("1.5d % -0d", call("%", lit(1.5, DOUBLE), lit(-0.0, DOUBLE)), "VALUE.DIVIDE_BY_ZERO"),
    ("case when x > 0 then x / 0 end", call("case", call(">", X, num(0)), call("/", X, num(0))),
     "VALUE.DIVIDE_BY_ZERO"),
    ("x > 0 and x / 0 > 1", call("and", call(">", X, num(0)),
                                call(">", call("/", X, num(0)), lit(1.0, DOUBLE))),
     "VALUE.DIVIDE_BY_ZERO"),
    ("cast(x as smallint)", cast(X, SMALLINT), "VALUE.CAST"),
    ("cast(y38 as bigint)", cast(Y38, BIGINT), "VALUE.CAST"),
    ("cast(y38 as decimal(38,1))", cast(Y38, decimal(38, 1)), "VALUE.CAST"),
    ("cast(999.95 as decimal(4,1))", cast(dec("999.95"), decimal(4, 1)), "VALUE.CAST"),
    ("cast(double('NaN') as int)", cast(lit("NaN", DOUBLE), INT), "VALUE.CAST"),
    ("cast(2147483648d as int)", cast(lit(2147483648.0, DOUBLE), INT), "VALUE.CAST"),
    ("cast(1e20d as bigint)", cast(lit(1e20, DOUBLE), BIGINT), "VALUE.CAST"),
    ("cast(1e20d as decimal(20,0))", cast(lit(1e20, DOUBLE), decimal(20, 0)), "VALUE.CAST"),
    ("cast(true as decimal(1,1))", cast(lit(True, BOOLEAN), decimal(1, 1)), "VALUE.CAST"),
    ("add_months(date'2024-01-31', -2147483648)",
     call("add_months", lit("2024-01-31", DATE), num(-(2**31))), "VALUE.OVERFLOW"),
    ("cast(double('NaN') as timestamp)", cast(lit("NaN", DOUBLE), TIMESTAMP), "VALUE.CAST"),
    *((f"cast({quoted(s)} as {t})", cast(txt(s), t), "VALUE.CAST") for s, t in [
        ("12.0", INT), ("", INT), ("-", INT), ("1e2", INT), ("300", TINYINT), ("१", INT),
        ("1_0", DOUBLE), ("+nan", DOUBLE), ("", DOUBLE), ("1.5d", decimal(5, 2)),
        ("99999", decimal(5, 2)), ("1e400", decimal(5, 2)),
        ("NaN", decimal(5, 2)), ("2024-02-30", DATE), ("2024-02-03x", DATE), ("024-03-15", DATE),
        ("2024-13-01", DATE), ("", DATE), ("2024-02-03T", TIMESTAMP), ("10:11:12", TIMESTAMP_NTZ),
        ("2024-02-03 24:00:00", TIMESTAMP), ("2024-02-03 01:02:60", TIMESTAMP),
        ("2024-02-03 01:02:03 Nowhere/Town", TIMESTAMP), ("2024-02-03 01:02Z", TIMESTAMP),
        ("2024-02-03 01:02:03+19:00", TIMESTAMP), ("on", BOOLEAN), ("2", BOOLEAN), ("", BOOLEAN),
    ]),
]  # fmt: skip


LONG = "9999999999999999.999999999999999999"
ACCEPTED: list[tuple[str, Expr]] = [
    *((f"cast({quoted(s)} as {t})", cast(txt(s), t)) for s, t in [
        ("1.5f", DOUBLE), ("0x1p3", DOUBLE), (" inf ", DOUBLE), ("-Infinity", DOUBLE),
        (".5", DOUBLE), ("NaN", DOUBLE), ("1e400", DOUBLE), ("4.9e-324", DOUBLE),
        ("5.", decimal(5, 2)),
        ("1e-3", decimal(5, 2)), ("5e-3", decimal(5, 2)), (" 1.005 ", decimal(5, 2)),
        ("1e-400", decimal(5, 2)), ("0e50", decimal(5, 2)), ("-0.005", decimal(5, 2)),
        ("1.1", FLOAT), ("1e39", FLOAT), ("16777217.0000000001", FLOAT),
        ("16777217", FLOAT), ("1e-50", FLOAT), ("3.4028236e38", FLOAT),
        ("9223372036854775807", BIGINT), ("12345-03-15", DATE), ("-0044-03-15", DATE),
        ("2024-02-03 01:02:03+18:00", TIMESTAMP), ("2024-02-03 01:02:03+05:30", TIMESTAMP_NTZ),
        ("12345-03-15 01:02:03", TIMESTAMP), (" \t7\n", INT),
    ]),
    ("cast(double('NaN') as decimal(10,2))", cast(lit("NaN", DOUBLE), decimal(10, 2))),
    ("cast(9223372036854775807d as bigint)", cast(lit(9223372036854775807.0, DOUBLE), BIGINT)),
    ("cast(2147483647.9d as int)", cast(lit(2147483647.9, DOUBLE), INT)),
    ("-9223372036854775807 % -1", call("%", lit(-(2**63) + 1, BIGINT), lit(-1, BIGINT))),
    ("cast(1.1f as decimal(30,25))", cast(lit(1.1, FLOAT), decimal(30, 25))),
    ("cast(cast('12345-03-15' as date) as string)", cast(cast(txt("12345-03-15"), DATE), STRING)),
    ("cast(cast('-0044-03-15 01:02:03' as timestamp) as string)",
     cast(cast(txt("-0044-03-15 01:02:03"), TIMESTAMP), STRING)),
    # A quotient just below a tie, a product of more digits than are kept.
    (f"cast('1{'0' * 31}' as decimal(38,0)) / cast('2{'0' * 36}1' as decimal(38,0))",
     call("/", lit("1" + "0" * 31, decimal(38, 0)), lit("2" + "0" * 36 + "1", decimal(38, 0)))),
    (f"cast('{LONG}' as decimal(38,18)) * cast('{LONG}' as decimal(38,18))",
     call("*", lit(LONG, decimal(38, 18)), lit(LONG, decimal(38, 18)))),
    ("null / 0", call("/", lit(None, DOUBLE), lit(0.0, DOUBLE))),
    ("'a' < 'B'", call("<", txt("a"), txt("B"))),
]  # fmt: skip
