"""Expressions twice: Spark's text and our Expr, in groups that run as one Spark job each.

REFUSED: what Spark refuses, with our error code. ACCEPTED: constants, the odd forms of casts.
"""

from __future__ import annotations

from decimal import Decimal

from everview.expr import Call, Expr, Literal, Ref, Value, call
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
from tests.spark.expression_rows import COLUMNS, SMALLINT, TINYINT

C = {name: Ref(name, t) for name, t in COLUMNS.items()}


def lit(value: Value, t: Type) -> Literal:
    return Literal(value, t)


def num(n: int) -> Literal:
    return Literal(n, INT)


def txt(s: str) -> Literal:
    return Literal(s, STRING)


def dec(s: str) -> Literal:
    """A decimal literal, typed as Spark types it."""
    number = Decimal(s)
    _, digits, exponent = number.as_tuple()
    scale = -int(exponent)
    return Literal(s, decimal(max(len(digits), scale), scale))


def cast(a: Expr, t: Type) -> Call:
    return call("cast", a, type=t)


def quoted(s: str) -> str:
    return "'" + s.replace("\\", "\\\\").replace("'", "\\'") + "'"


def pairs_of_numbers() -> list[tuple[str, Expr]]:
    out: list[tuple[str, Expr]] = []
    ints = [("i", "j"), ("big", "big"), ("t", "t"), ("xi", "xi"), ("xb", "xb")]
    decimals = [("d", "e"), ("e", "w"), ("w", "z"), ("d", "y"), ("z", "z"), ("e", "e"),
                ("y", "w"), ("y", "y"), ("tiny", "tiny"), ("tiny", "d"), ("z", "tiny"),
                ("tiny", "z")]  # fmt: skip
    for a, b in [*ints[:3], *decimals, ("g", "h"), ("f", "f"), ("h", "h")]:
        for op in "+-*" if (a, b) not in (("y", "y"),) else "+-":
            if op == "*" and (a, b) == ("y", "w"):
                continue
            if (a, b) != ("t", "t") or op != "*":
                out.append((f"{a} {op} {b}", call(op, C[a], C[b])))
    for a, b in [*decimals, ("g", "h"), ("h", "g")]:
        for op in "/%":
            if (a, b, op) == ("z", "tiny", "%"):  # Java's "Division impossible" there
                continue
            # quotients of extremes overflow
            if op == "/" and ((a, b) in (("y", "w"), ("y", "y"), ("d", "y")) or "tiny" in (a, b)):
                continue
            t = C[b].type  # of its own type: compared with plain 0, Spark would round `tiny`
            sql = f"{a} {op} nullif({b}, cast(0 as {t}))"
            zero = lit(0.0, DOUBLE) if b in "gh" else lit("0", t)
            out.append((sql, call(op, C[a], call("nullif", C[b], zero))))
    out += [(f"{a} % j", call("%", C[a], C["j"])) for a in ("i", "xi")]
    out += [("i / j", call("/", cast(C["i"], DOUBLE), cast(C["j"], DOUBLE))),
            ("xb / big", call("/", C["xb"], call("nullif", C["big"], lit(0, BIGINT)))),
            ("d / j", call("/", C["d"], cast(C["j"], decimal(10, 0)))),
            ("e * (1 - d)", call("*", C["e"], call("-", dec("1"), C["d"]))),
            ("e * (1 - d) * (1 + d)",
             call("*", call("*", C["e"], call("-", dec("1"), C["d"])),
                  call("+", dec("1"), C["d"]))),
            ("-i", call("neg", C["i"])), ("-e", call("neg", C["e"])), ("-h", call("neg", C["h"])),
            ("-z", call("neg", C["z"])), ("abs(i)", call("abs", C["i"])),
            ("abs(z)", call("abs", C["z"])), ("abs(h)", call("abs", C["h"])),
            ("i + e", call("+", cast(C["i"], decimal(10, 0)), C["e"])),
            ("xb - d", call("-", cast(C["xb"], decimal(20, 0)), C["d"])),
            ("e * 0.07", call("*", C["e"], dec("0.07"))),
            ("100.00 * e / nullif(w, 0)",
             call("/", call("*", dec("100.00"), C["e"]),
                  call("nullif", C["w"], lit("0", decimal(1, 0)))))]  # fmt: skip
    return out


def pairs_of_comparisons() -> list[tuple[str, Expr]]:
    same = [("i", "j"), ("xi", "i"), ("xb", "big"), ("d", "e"), ("w", "e"), ("g", "h"), ("f", "f"),
            ("h", "h"), ("s", "u"), ("dt", "du"), ("ts", "tu"), ("p", "q"), ("b", "b"), ("z", "w"),
            ("i", "e"), ("f", "g"), ("s", "s"), ("dt", "tn"), ("dt", "ts")]  # fmt: skip
    out: list[tuple[str, Expr]] = []
    for a, b in same:
        out += [(f"{a} {op} {b}", call(op, C[a], C[b])) for op in ("=", "<>", "<", "<=", ">", ">=")]
        out.append((f"not ({a} <=> {b})", call("is_distinct", C[a], C[b])))
    literals: list[tuple[str, str, Expr]] = [
        ("i", "7", num(7)), ("e", "0.05", dec("0.05")), ("h", "double('NaN')", lit("NaN", DOUBLE)),
        ("s", "'b'", txt("b")), ("s", "'😀'", txt("😀")), ("h", "0d", lit(0.0, DOUBLE)),
        ("dt", "date'1995-03-15'", lit("1995-03-15", DATE)), ("p", "true", lit(True, BOOLEAN)),
        ("ts", "timestamp'2024-03-10 02:30:00'", lit("2024-03-10 02:30:00", TIMESTAMP)),
        ("tn", "timestamp_ntz'2024-03-10 02:30:00'", lit("2024-03-10 02:30:00", TIMESTAMP_NTZ)),
        ("z", "0.000000000000000001", dec("0.000000000000000001")),
    ]  # fmt: skip
    for a, sql, value in literals:
        for op in ("=", "<>", "<", "<=", ">", ">="):
            out.append((f"{a} {op} {sql}", call(op, C[a], value)))
            out.append((f"{sql} {op} {a}", call(op, value, C[a])))
    return out


def pairs_of_logic() -> list[tuple[str, Expr]]:
    p, q, i, j, s, u, e, dt = (C[n] for n in ("p", "q", "i", "j", "s", "u", "e", "dt"))
    zero = num(0)
    even = call("=", call("%", i, num(2)), zero)
    guarded = call("/", e, cast(call("%", i, num(2)), decimal(10, 0)))
    return [
        ("p and q", call("and", p, q)), ("p or q", call("or", p, q)), ("not p", call("not", p)),
        ("p and q and i > 0", call("and", p, q, call(">", i, zero))),
        ("p or q or i > 0", call("or", p, q, call(">", i, zero))),
        ("p and null", call("and", p, lit(None, BOOLEAN))),
        ("p or null", call("or", p, lit(None, BOOLEAN))),
        ("not (p and not q or p)", call("not", call("or", call("and", p, call("not", q)), p))),
        ("s is null", call("is_null", s)), ("e is not null", call("not", call("is_null", e))),
        ("i in (1, 2, 7, null)", call("in", i, num(1), num(2), num(7), lit(None, INT))),
        ("j in (1, 2, 7)", call("in", j, num(1), num(2), num(7))),
        ("j not in (1, null)", call("not", call("in", j, num(1), lit(None, INT)))),
        ("j in (1,2,3,4,5,6,7,8,9)", call("in", j, *map(num, range(1, 10)))),
        ("s in ('a', 'ab', 'héllo')", call("in", s, txt("a"), txt("ab"), txt("héllo"))),
        ("s in (u, 'a')", call("in", s, u, txt("a"))), ("i in (j, t)", call("in", i, j, C["t"])),
        ("h in (double('NaN'), 0)", call("in", C["h"], lit("NaN", DOUBLE), lit(0.0, DOUBLE))),
        ("e in (1.00, 2.5)", call("in", e, dec("1.00"), dec("2.5"))),
        ("dt in (date'2024-02-29', date'1970-01-01')",
         call("in", dt, lit("2024-02-29", DATE), lit("1970-01-01", DATE))),
        ("case when p then i when q then j else 0 end", call("case", p, i, q, j, zero)),
        ("case when p then s when q then u end", call("case", p, s, q, u)),
        ("case when p then s when q then 'x' else u end", call("case", p, s, q, txt("x"), u)),
        ("case when p then e else 0 end",
         call("case", p, cast(e, decimal(15, 2)), lit("0", decimal(15, 2)))),
        ("case when p then 1 else 0 end", call("case", p, num(1), zero)),
        ("case when p then dt end", call("case", p, dt)),
        ("case when i % 2 = 0 then 0 else e / (i % 2) end",
         call("case", even, lit("0", guarded.type), guarded)),
        ("i % 2 <> 0 and e / (i % 2) > 1",
         call("and", call("not", even), call(">", guarded, dec("1")))),
        ("i % 2 = 0 or e / (i % 2) > 1", call("or", even, call(">", guarded, dec("1")))),
        ("coalesce(case when i % 2 = 0 then 1.0 end, e / (i % 2))",
         call("coalesce", cast(call("case", even, dec("1.0")), guarded.type), guarded)),
        ("case when s like 'a%' then cast(length(s) as string) else 'z' end",
         call("case", call("like", s, txt("a%")), cast(call("length", s), STRING), txt("z"))),
        ("nullif(num, 'x') = num and cast(num as int) > 3",
         call("and", call("=", call("nullif", C["num"], txt("x")), C["num"]),
              call(">", cast(C["num"], INT), num(3)))),
        ("coalesce(i, j, 0)", call("coalesce", i, j, zero)),
        ("coalesce(s, u)", call("coalesce", s, u)),
        ("coalesce(s, 'none')", call("coalesce", s, txt("none"))),
        ("coalesce(h, g)", call("coalesce", C["h"], C["g"])),
        ("nullif(i, j)", call("nullif", i, j)),
        ("nullif(s, u)", call("nullif", s, u)), ("nullif(s, 'a')", call("nullif", s, txt("a"))),
        ("nullif(h, double('NaN'))", call("nullif", C["h"], lit("NaN", DOUBLE))),
        ("nullif(cast(null as int), i)", call("nullif", lit(None, INT), i)),
    ]  # fmt: skip


def pairs_of_texts() -> list[tuple[str, Expr]]:
    s, u, b, i, j = (C[n] for n in ("s", "u", "b", "i", "j"))
    out: list[tuple[str, Expr]] = []
    patterns = ["a%", "%b", "%a%", "a", "", "%", "_", "__", "_%", "%_%b%", "a\\%b", "a\\_b",
                "a\\\\b", "PROMO%", "%special%requests%", "h_llo", "z_q", "é%", "%😀%",
                "_😃", "%%a%%", "a.b", "(", "[a]%", "e_"]  # fmt: skip
    out += [(f"s like {quoted(p)}", call("like", s, txt(p))) for p in patterns]
    out += [
        ("s not like '%x%'", call("not", call("like", s, txt("%x%")))),
        ("s like 'a/%b' escape '/'", call("like", s, txt("a/%b"), txt("/"))),
        ("s like 'a\\\\b' escape '/'", call("like", s, txt("a\\b"), txt("/"))),
        ("s like null", call("like", s, lit(None, STRING))),
    ]
    starts = [(1, 2), (0, 2), (2, 100), (-2, 1), (-2, 5), (-9, 3), (-100, 99), (3, 0), (2, -1),
              (2147483647, 2147483647), (-2147483648, 2147483647)]  # fmt: skip
    for at, n in starts:
        out.append((f"substring(s, {at}, {n})", call("substring", s, num(at), num(n))))
        out.append((f"substring(b, {at}, {n})", call("substring", b, num(at), num(n))))
    out += [(f"substring(s, {at})", call("substring", s, num(at))) for at in (1, 0, 3, -2, -9)]
    for f in ("upper", "lower", "trim", "ltrim", "rtrim", "length"):
        out.append((f"{f}(s)", call(f, s)))
    return [
        *out,
        ("substring(s, j, t)", call("substring", s, j, cast(C["t"], INT))),
        ("substring('héllo', j, t)", call("substring", txt("héllo"), j, cast(C["t"], INT))),
        ("length(b)", call("length", b)), ("concat(s, u)", call("concat", s, u)),
        ("s || '-' || u", call("concat", s, txt("-"), u)), ("concat(s)", call("concat", s)),
        ("concat('<', s, '>')", call("concat", txt("<"), s, txt(">"))),
        ("concat(s, null)", call("concat", s, lit(None, STRING))),
        ("concat(s, i)", call("concat", s, cast(i, STRING))),
        ("upper(concat(lower(s), u)) = upper(s || u)",
         call("=", call("upper", call("concat", call("lower", s), u)),
              call("upper", call("concat", s, u)))),
        ("trim(s) = ''", call("=", call("trim", s), txt(""))),
    ]  # fmt: skip


def pairs_of_dates() -> list[tuple[str, Expr]]:
    out: list[tuple[str, Expr]] = []
    fields = ("year", "quarter", "month", "day", "dayofweek", "dayofyear")
    for f in fields:
        for c in ("dt", "ts", "tn"):
            out.append((f"{f}({c})", call(f, C[c])))
    for f in ("hour", "minute", "second"):
        out += [(f"{f}({c})", call(f, C[c])) for c in ("ts", "tn")]
    dt, du, i, j = (C[n] for n in ("dt", "du", "i", "j"))
    soon = call("case", call("<", dt, lit("9000-01-01", DATE)), dt)
    soon_sql = "case when dt < date'9000-01-01' then dt end"
    for n in (0, 1, -1, 11, 12, 13, -25, 1200, -120):
        out.append((f"add_months({soon_sql}, {n})", call("add_months", soon, num(n))))
    return [
        *out,
        (f"add_months({soon_sql}, j)", call("add_months", soon, j)),
        (f"date_add({soon_sql}, i)", call("add_days", soon, i)),
        ("dt + interval 3 month", call("add_months", dt, num(3))),
        ("dt - interval 90 day", call("add_days", dt, num(-90))),
        ("datediff(dt, du)", call("date_diff", dt, du)),
        ("datediff(dt, date'1995-01-01')", call("date_diff", dt, lit("1995-01-01", DATE))),
        ("ts + interval 1.5 second", call("add_micros", C["ts"], lit(1_500_000, BIGINT))),
        ("tn - interval 1 hour", call("add_micros", C["tn"], lit(-3_600_000_000, BIGINT))),
        ("date'2024-01-31' + interval 1 month",
         call("add_months", lit("2024-01-31", DATE), num(1))),
    ]  # fmt: skip


def pairs_of_casts() -> list[tuple[str, Expr]]:
    plan: list[tuple[str, Type]] = [
        ("t", INT), ("t", BIGINT), ("i", BIGINT), ("i", SMALLINT), ("i", decimal(10, 2)),
        ("i", decimal(5, 0)), ("xi", DOUBLE), ("xi", FLOAT), ("xb", DOUBLE), ("xb", FLOAT),
        ("xb", decimal(20, 0)), ("xb", decimal(30, 5)), ("i", BOOLEAN), ("i", TIMESTAMP),
        ("big", TIMESTAMP), ("d", decimal(12, 4)), ("d", decimal(9, 1)), ("e", decimal(14, 0)),
        ("w", decimal(20, 1)), ("z", decimal(38, 6)), ("z", decimal(30, 0)), ("z", decimal(20, 10)),
        ("tiny", decimal(10, 5)), ("tiny", decimal(38, 37)), ("d", INT), ("e", BIGINT),
        ("w", BIGINT), ("d", DOUBLE), ("z", DOUBLE), ("y", DOUBLE), ("tiny", DOUBLE), ("z", FLOAT),
        ("d", FLOAT), ("y", FLOAT), ("d", BOOLEAN), ("w", TIMESTAMP), ("g", INT), ("g", BIGINT),
        ("g", decimal(20, 6)), ("g", decimal(12, 1)), ("g", decimal(20, 0)), ("g", FLOAT),
        ("h", FLOAT), ("f", DOUBLE), ("h", BOOLEAN), ("g", TIMESTAMP), ("f", decimal(20, 3)),
        ("p", INT), ("p", TINYINT), ("p", DOUBLE), ("p", decimal(3, 1)), ("dt", TIMESTAMP),
        ("dt", TIMESTAMP_NTZ), ("ts", DATE), ("tn", DATE), ("ts", TIMESTAMP_NTZ),
        ("tn", TIMESTAMP), ("ts", BIGINT), ("ts", DOUBLE), ("ts", decimal(20, 6)),
        ("ts", decimal(20, 2)), ("num", INT), ("num", TINYINT), ("num", BIGINT), ("num", DOUBLE),
        ("num", FLOAT), ("num", decimal(5, 2)), ("num", decimal(38, 18)), ("day", DATE),
        ("stamp", TIMESTAMP), ("stamp", TIMESTAMP_NTZ), ("word", BOOLEAN), ("s", BINARY),
    ]  # fmt: skip
    out: list[tuple[str, Expr]] = [(f"cast({c} as {t})", cast(C[c], t)) for c, t in plan]
    tried = [("xi", SMALLINT), ("i", TINYINT), ("xb", INT), ("z", decimal(5, 2)), ("y", BIGINT),
             ("w", decimal(4, 1)), ("h", INT), ("h", BIGINT), ("g", TINYINT), ("h", decimal(9, 2)),
             ("s", INT), ("s", decimal(5, 2)), ("s", DOUBLE), ("s", BOOLEAN), ("s", DATE),
             ("s", TIMESTAMP), ("num", TINYINT), ("day", TIMESTAMP), ("i", BIGINT), ("p", INT),
             ("ts", INT), ("h", TIMESTAMP)]  # fmt: skip
    out += [(f"try_cast({c} as {t})", call("try_cast", C[c], type=t)) for c, t in tried]
    out.append(("try_cast('x' as int) + i", call("+", lit(None, INT), C["i"])))
    strings = ["t", "i", "xi", "xb", "d", "e", "w", "z", "y", "tiny", "f", "g", "h", "s", "p",
               "dt", "ts", "tn"]  # fmt: skip
    out += [(f"cast({c} as string)", cast(C[c], STRING)) for c in strings]
    return out


GROUPS = {
    "numbers": pairs_of_numbers,
    "comparisons": pairs_of_comparisons,
    "logic": pairs_of_logic,
    "texts": pairs_of_texts,
    "dates": pairs_of_dates,
    "casts": pairs_of_casts,
}
