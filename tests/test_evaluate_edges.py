"""evaluate where it is delicate: rows that must not be computed, errors, long numbers, zones."""

from __future__ import annotations

from decimal import Decimal as D

import numpy as np
import pyarrow as pa
import pytest

from everview.delta.evaluate import evaluate
from everview.delta.vector import Vector
from everview.errors import ConfigError, EverviewError, PlanError, ValueOverflow
from everview.expr import Call, Expr, Ref, call, may_fail
from everview.schema import (
    BIGINT,
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
from tests.evaluate_columns import (
    COLUMNS,
    NAN,
    ROWS,
    F,
    N,
    T,
    b,
    cast,
    d,
    dt,
    i,
    j,
    lit,
    name,
    num,
    one,
    p,
    s,
    tn,
    txt,
    value,
)

# ---------------------------------------------------------------- what fails, and where it does not

big = lit("9" * 38, decimal(38, 0))
FAILING: list[tuple[Expr, str]] = [
    (call("+", lit(2**31 - 1, INT), num(1)), "VALUE.OVERFLOW"),
    (call("+", lit(2**63 - 1, BIGINT), lit(1, BIGINT)), "VALUE.OVERFLOW"),
    (call("-", lit(-(2**63), BIGINT), lit(1, BIGINT)), "VALUE.OVERFLOW"),
    (call("*", lit(2**32, BIGINT), lit(2**31, BIGINT)), "VALUE.OVERFLOW"),
    (call("neg", lit(-(2**63), BIGINT)), "VALUE.OVERFLOW"),
    (call("abs", lit(-128, Type("TINYINT"))), "VALUE.OVERFLOW"),
    (call("+", big, lit("1", decimal(1, 0))), "VALUE.OVERFLOW"),
    (call("*", big, lit("10", decimal(2, 0))), "VALUE.OVERFLOW"),
    (call("/", big, lit("0.1", decimal(1, 1))), "VALUE.OVERFLOW"),
    (call("/", num(1), num(0)), "VALUE.DIVIDE_BY_ZERO"),
    (call("/", lit(1.0, DOUBLE), lit(-0.0, DOUBLE)), "VALUE.DIVIDE_BY_ZERO"),
    (call("/", big, lit("0.00", decimal(3, 2))), "VALUE.DIVIDE_BY_ZERO"),
    (call("%", num(1), num(0)), "VALUE.DIVIDE_BY_ZERO"),
    (call("%", big, lit("0.00", decimal(3, 2))), "VALUE.DIVIDE_BY_ZERO"),
    (call("add_days", lit("9999-12-31", DATE), num(2**31 - 1)), "VALUE.OVERFLOW"),
    (call("add_months", lit("2024-01-31", DATE), num(2**31 - 1)), "VALUE.OVERFLOW"),
    (call("add_micros", lit("2024-01-31 00:00:00", TIMESTAMP), lit(2**63 - 1, BIGINT)),
     "VALUE.OVERFLOW"),
    (cast(num(300), Type("TINYINT")), "VALUE.CAST"),
    (cast(txt("12.0"), INT), "VALUE.CAST"),
    (cast(txt("2024-02-30"), DATE), "VALUE.CAST"),
    (cast(lit(NAN, DOUBLE), BIGINT), "VALUE.CAST"),
    (cast(lit("99.95", decimal(4, 2)), decimal(3, 1)), "VALUE.CAST"),
]  # fmt: skip


@pytest.mark.parametrize(("expr", "code"), FAILING, ids=name)
def test_failing(expr: Call, code: str) -> None:
    assert may_fail(expr)
    with pytest.raises(ValueOverflow) as error:
        evaluate(expr, {}, 1)
    assert error.value.code == code
    columns = {"p": COLUMNS["p"]}
    never = call("is_null", call("is_null", p))
    for guarded in (
        call("case", never, expr, lit(None, expr.type)),
        call("case", call("not", never), lit(None, expr.type), expr),
        call("and", never, call("is_null", expr)),
        call("or", never, call("not", never), call("is_null", expr)),
    ):
        evaluate(guarded, columns, ROWS)


def test_only_needed_rows_are_computed() -> None:
    zero = num(0)
    ratio = call("/", num(12), j)  # j is 0 in the last row, NULL in the fifth
    expected = [6.0, 6.0, 4.0, 12.0, None, -6.0, 12.0, 12.0, None]
    assert value(call("case", call("<>", j, zero), ratio)) == expected
    assert value(call("coalesce", call("case", call("=", j, zero), lit(-1.0, DOUBLE)), ratio)) == [
        *expected[:-1],
        -1.0,
    ]
    over_five = call(">", ratio, lit(5.0, DOUBLE))
    assert value(call("and", call("<>", j, zero), over_five)) == [T, T, F, T, N, F, T, T, F]
    assert value(call("or", call("=", j, zero), over_five)) == [T, T, F, T, N, F, T, T, T]
    assert value(call("in", num(6), num(6), cast(ratio, INT))) == [T] * 9
    assert value(call("+", call("nullif", j, zero), cast(ratio, INT)))[-1] is None
    with pytest.raises(ValueOverflow, match=r"\(12 / j\) divides by zero"):
        value(call("case", call("is_null", p), ratio))
    with pytest.raises(ValueOverflow, match="divides by zero"):
        value(call("and", over_five, call("<>", j, zero)))


def test_null_over_zero_is_null() -> None:
    assert one(call("/", lit(None, DOUBLE), lit(0.0, DOUBLE))) is None
    assert one(call("%", lit(None, INT), num(0))) is None


def test_nested_guards_look_at_few_rows() -> None:
    inner = call("case", call(">", j, num(1)), call("/", num(1), call("-", j, num(1))))
    outer = call("case", call("is_null", call("not", p)), lit(0.0, DOUBLE), inner)
    assert value(outer) == [1.0, 1.0, 0.5, None, None, None, 0.0, 0.0, 0.0]


def test_what_stands_under_null_cannot_fail() -> None:
    x = Vector(INT, np.array([2**31 - 1, 0]), np.array([False, True]))
    bad = Vector(STRING, np.array([0, 1]), np.array([False, True]), pa.array(["no number", "7"]))
    columns = {"x": x, "bad": bad}
    assert evaluate(call("+", Ref("x", INT), num(1)), columns, 2).to_arrow().to_pylist() == [
        None,
        1,
    ]
    assert evaluate(cast(Ref("bad", STRING), INT), columns, 2).to_arrow().to_pylist() == [None, 7]
    ratio = call("/", num(1), Ref("x", INT))
    hidden = {"x": Vector(INT, np.array([0, 2]), np.array([False, True]))}
    assert evaluate(ratio, hidden, 2).to_arrow().to_pylist() == [None, 0.5]


def test_messages_name_the_operation_and_the_value() -> None:
    with pytest.raises(ValueOverflow) as error:
        value(call("*", i, num(2)))
    assert "(i * 2) leaves the range of INT: 4294967294" in str(error.value)
    with pytest.raises(ValueOverflow) as error:
        value(cast(s, INT))
    assert "cast(s as INT): 'a' of STRING is not a value of INT" in str(error.value)
    with pytest.raises(ValueOverflow) as error:
        value(cast(d, Type("TINYINT")))
    assert "'9999999.99' of DECIMAL(9,2)" in str(error.value)


@pytest.mark.parametrize("pattern", ["a\\", "\\a", "ab\\c%"])
def test_a_like_pattern_with_a_stray_escape_is_refused(pattern: str) -> None:
    with pytest.raises(PlanError, match="escape character"):
        value(call("like", s, txt(pattern)))


def test_casts_that_make_no_sense_are_refused() -> None:
    for source, target in ((dt, INT), (p, DATE), (tn, BIGINT), (b, INT), (p, TIMESTAMP), (i, DATE)):
        with pytest.raises(PlanError):
            value(cast(source, target))


# ---------------------------------------------------------------- long numbers and texts of numbers


def test_division_is_rounded_as_spark_does() -> None:
    tie = call("/", lit("1", decimal(38, 0)), lit("20000000", decimal(38, 0)))
    assert tie.type == decimal(38, 6)
    assert one(tie) == D("0.000000")
    assert one(call("/", lit("1", decimal(38, 0)), lit("2000000", decimal(38, 0)))) == D("0.000001")
    # 10^31 / (2 * 10^37 + 1) is below the tie 0.0000005 by less than 10^-39: rounding to 39 digits
    # first would give the tie, and then round up.
    divisor = lit("2" + "0" * 36 + "1", decimal(38, 0))
    assert one(call("/", lit("1" + "0" * 31, decimal(38, 0)), divisor)) == D("0.000000")


def test_comparison_of_wide_and_narrow_is_exact() -> None:
    wide = lit("0." + "0" * 37 + "1", decimal(38, 38))
    assert one(call("<", lit("0", decimal(38, 0)), wide)) is True
    assert one(call("=", big, lit("9" * 38, decimal(38, 0)))) is True
    assert one(call(">", big, lit(2**63 - 1, BIGINT))) is True
    assert one(call("in", num(1), lit("1.00", decimal(3, 2)))) is True


@pytest.mark.parametrize(
    ("number", "shown"),
    [(1e7, "1.0E7"), (9999999.0, "9999999.0"), (0.001, "0.001"), (0.00099, "9.9E-4"),
     (5e-324, "4.9E-324"), (1.7976931348623157e308, "1.7976931348623157E308"),
     (123456.789, "123456.789"), (100.0, "100.0"), (2e-44, "2.0E-44"), (-1234567.5, "-1234567.5")],
)  # fmt: skip
def test_doubles_as_text(number: float, shown: str) -> None:
    assert one(cast(lit(number, DOUBLE), STRING)) == shown


@pytest.mark.parametrize(
    ("number", "shown"),
    [(0.1, "0.1"), (3.4028235e38, "3.4028235E38"), (1e-45, "1.4E-45"), (16777216.0, "1.6777216E7")],
)
def test_floats_as_text(number: float, shown: str) -> None:
    assert one(cast(lit(number, FLOAT), STRING)) == shown


def test_texts_as_floats_are_rounded_once() -> None:
    assert one(cast(txt("16777217.0000000001"), FLOAT)) == 16777218.0
    assert one(cast(txt("16777217"), FLOAT)) == 16777216.0
    assert one(cast(lit("16777217.0000000001", decimal(38, 10)), FLOAT)) == 16777218.0


# ---------------------------------------------------------------- zones


def local(text: str, zone: str) -> str:
    """What a zone's clocks show at an instant."""
    stamp = lit(text + "Z", TIMESTAMP)
    return str(one(cast(stamp, STRING), zone))


@pytest.mark.parametrize(
    ("instant", "zone", "clock"),
    [("2024-03-10 06:59:59", "America/New_York", "2024-03-10 01:59:59"),
     ("2024-03-10 07:00:00", "America/New_York", "2024-03-10 03:00:00"),
     ("2024-11-03 06:00:00", "America/New_York", "2024-11-03 01:00:00"),
     ("2500-07-01 12:00:00", "America/New_York", "2500-07-01 08:00:00"),
     ("9999-12-31 12:00:00", "America/New_York", "9999-12-31 07:00:00"),
     ("1883-11-18 16:59:59", "America/New_York", "1883-11-18 12:03:57"),
     ("0001-01-01 12:00:00", "America/New_York", "0001-01-01 07:03:58"),
     ("1970-01-01 00:00:00.000001", "Asia/Kolkata", "1970-01-01 05:30:00.000001"),
     ("1970-01-01 00:00:00", "-03:30", "1969-12-31 20:30:00"),
     ("2024-01-01 00:00:00", "UTC", "2024-01-01 00:00:00")],
)  # fmt: skip
def test_clock_of_a_zone(instant: str, zone: str, clock: str) -> None:
    assert local(instant, zone) == clock


@pytest.mark.parametrize(
    ("clock", "zone", "instant"),
    [("2024-03-10 02:30:00", "America/New_York", "2024-03-10 07:30:00"),   # never was
     ("2024-11-03 01:30:00", "America/New_York", "2024-11-03 05:30:00"),   # was twice
     ("2450-07-01 12:00:00", "America/New_York", "2450-07-01 16:00:00"),
     ("1700-01-01 00:00:00", "America/New_York", "1700-01-01 04:56:02")],
)  # fmt: skip
def test_instant_of_a_clock(clock: str, zone: str, instant: str) -> None:
    text = cast(cast(lit(clock, TIMESTAMP_NTZ), TIMESTAMP), BIGINT)
    assert one(text, zone) == one(cast(lit(instant + "Z", TIMESTAMP), BIGINT))


def test_a_day_without_midnight_starts_when_clocks_do() -> None:
    """Toronto skipped 23:30 to 00:30 in 1919: 31 March began at 00:30, which is 04:30 UTC."""
    start = cast(cast(lit("1919-03-31", DATE), TIMESTAMP), BIGINT)
    assert one(start, "America/Toronto") == one(
        cast(lit("1919-03-31 04:30:00Z", TIMESTAMP), BIGINT)
    )


def test_fields_follow_the_session_zone() -> None:
    stamp = lit("2024-01-01 02:30:00Z", TIMESTAMP)
    fields = ("year", "month", "day", "hour", "minute", "dayofyear")
    got = [one(call(f, stamp), "America/New_York") for f in fields]
    assert got == [2023, 12, 31, 21, 30, 365]


def test_an_unknown_zone_is_refused() -> None:
    with pytest.raises(ConfigError, match="Nowhere"):
        one(call("hour", lit("2024-01-01 00:00:00Z", TIMESTAMP)), "Nowhere/Town")


def test_an_unknown_function_is_refused() -> None:
    with pytest.raises(EverviewError, match="no function 'sqrt'"):
        evaluate(Call("sqrt", (num(1),), DOUBLE), {}, 1)
