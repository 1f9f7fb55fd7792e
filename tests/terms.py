"""Random scalar expressions, predicates and aggregates over given columns, as SQL text.

Only what Spark and DuckDB both define and give the same exact value for: no decimal `/` under an
aggregate or in a predicate, no overflow, no division by zero.

Not here: joins and select lists (tests/queries).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from random import Random

from everview.schema import BIGINT, BOOLEAN, DATE, DOUBLE, INT, STRING, Type, decimal


@dataclass(frozen=True)
class Term:
    """A scalar expression, its Spark type, and the copies it reads.

    `small`: its values are those of payload columns, so that one more operation stays in range.
    """

    sql: str
    type: Type
    copies: frozenset[str]
    small: bool = False


@dataclass
class Condition:
    sql: str
    copies: frozenset[str]


Columns = list[Term]


@dataclass
class Writer:
    """Writes one query. `columns`: what expressions may read at this point."""

    rng: Random
    columns: Columns = field(default_factory=list)
    features: set[str] = field(default_factory=set)
    inner: str = ""  # the sub-select of a nested query

    def chance(self, p: float) -> bool:
        return self.rng.random() < p

    # ------------------------------------------------------------------------ scalar expressions

    def of(self, *names: str) -> Columns:
        return [c for c in self.columns if c.type.name in names]

    def numbers(self) -> Columns:
        return [c for c in self.columns if c.small and _counts(c.type)]

    def term(self, depth: int = 1) -> Term:
        """Any expression: a column, or something made of columns."""
        if depth and self.chance(0.35):
            made = self.rng.choice((self.number, self.text, self.choice, self.calendar))(depth - 1)
            if made:
                return made
        return self.rng.choice(self.columns)

    def number(self, depth: int = 0) -> Term | None:
        """Arithmetic that cannot overflow."""
        if not (numbers := self.numbers()):
            return None
        a, roll = self.rng.choice(numbers), self.rng.random()
        if roll < 0.25:
            return self._two(a, self.rng.choice("+-"), self.rng.choice(numbers))
        if roll < 0.45:
            return self._two(a, "*", self.rng.choice(numbers))
        if roll < 0.55 and a.type.is_decimal:
            self.features.add("1 - decimal")
            return Term(f"(1 - {a.sql})", _plus_one(a.type), a.copies)
        if roll < 0.65 and a.type.name in ("INT", "BIGINT"):
            self.features.add("remainder")
            return Term(f"{a.sql} % {self.rng.choice((2, 3, 7))}", a.type, a.copies)
        if roll < 0.72:
            return Term(f"abs({a.sql})", a.type, a.copies)
        if roll < 0.79:
            return Term(f"-{a.sql}", a.type, a.copies)
        if roll < 0.86 and a.type.name == "INT":
            self.features.add("cast")
            to = self.rng.choice((BIGINT, DOUBLE, decimal(14, 2)))
            return Term(f"CAST({a.sql} AS {to})", to, a.copies)
        if roll < 0.93 and not a.type.is_decimal:
            self.features.add("integer or double division")
            return Term(f"{a.sql} / {self.rng.choice((2, 4, 10))}", DOUBLE, a.copies)
        return Term(f"{a.sql} + {self.rng.choice((1, 10, 100))}", _plus_one(a.type), a.copies)

    def _two(self, a: Term, op: str, b: Term) -> Term:
        t = _combined(op, a.type, b.type)
        if t.is_decimal:
            self.features.add("decimal arithmetic")
        return Term(f"({a.sql} {op} {b.sql})", t, a.copies | b.copies)

    def text(self, depth: int = 0) -> Term | None:
        if not (texts := self.of("STRING")):
            return None
        a, roll = self.rng.choice(texts), self.rng.random()
        self.features.add("text function")
        if roll < 0.35:
            return Term(f"substring({a.sql}, 1, {self.rng.choice((1, 2))})", STRING, a.copies)
        if roll < 0.5:
            return Term(f"{self.rng.choice(('upper', 'lower'))}({a.sql})", STRING, a.copies)
        if roll < 0.65:
            return Term(f"length({a.sql})", INT, a.copies)
        if roll < 0.8:
            b = self.rng.choice(texts)
            return Term(f"({a.sql} || {b.sql})", STRING, a.copies | b.copies)
        return Term(f"trim({a.sql})", STRING, a.copies)

    def choice(self, depth: int = 0) -> Term | None:
        """CASE, COALESCE, NULLIF."""
        a, roll = self.rng.choice(self.columns), self.rng.random()
        if roll < 0.35:
            self.features.add("coalesce")
            return Term(f"COALESCE({a.sql}, {self.literal(a.type)})", a.type, a.copies, a.small)
        if roll < 0.45:
            self.features.add("nullif")
            return Term(f"NULLIF({a.sql}, {self.literal(a.type)})", a.type, a.copies, a.small)
        self.features.add("case")
        when = self.predicate(0)
        other = self.rng.choice(["NULL", self.literal(a.type)])
        sql = f"CASE WHEN {when.sql} THEN {a.sql} ELSE {other} END"
        return Term(sql, a.type, a.copies | when.copies, a.small)

    def calendar(self, depth: int = 0) -> Term | None:
        if not (dates := self.of("DATE")):
            return None
        a = self.rng.choice(dates)
        self.features.add("date part")
        form = self.rng.choice(
            ("EXTRACT(YEAR FROM {})", "year({})", "month({})", "EXTRACT(DAY FROM {})")
        )
        return Term(form.format(a.sql), INT, a.copies)

    def literal(self, t: Type) -> str:
        """A constant of this type, near the values columns take."""
        rng = self.rng
        if t.is_decimal:
            scale = min(t.exact_scale, 2)
            value = Decimal(rng.choice((-150, 0, 5, 100, 12345))).scaleb(-scale)
            return f"CAST({value:f} AS {t})" if rng.random() < 0.5 else f"{value:f}"
        choices: dict[str, Callable[[], str]] = {
            "BOOLEAN": lambda: rng.choice(("TRUE", "FALSE")),
            "SMALLINT": lambda: f"CAST({rng.choice((0, 1, 2))} AS SMALLINT)",
            "INT": lambda: str(rng.choice((-1, 0, 2, 5, 50))),
            "BIGINT": lambda: f"CAST({rng.choice((-1, 0, 2, 5, 10**12))} AS BIGINT)",
            "DOUBLE": lambda: f"CAST({rng.choice(('0.1', '1.5', '0', '-3'))} AS DOUBLE)",
            "STRING": lambda: "'" + rng.choice(("", "a", "ab", "b", "é", "it''s")) + "'",
            "DATE": lambda: f"DATE '{rng.choice(_DATES)}'",
        }
        return choices[t.name]()

    # -------------------------------------------------------------------------------- predicates

    def predicate(self, depth: int = 2) -> Condition:
        """A boolean over the columns."""
        if depth and self.chance(0.4):
            a, b = self.predicate(depth - 1), self.predicate(depth - 1)
            op = self.rng.choice(("AND", "OR", "OR"))
            self.features.add(op.lower())
            if len(a.copies | b.copies) > 1 and op == "OR":
                self.features.add("or across relations")
            return Condition(f"({a.sql} {op} {b.sql})", a.copies | b.copies)
        if depth and self.chance(0.12):
            self.features.add("not")
            a = self.predicate(depth - 1)
            return Condition(f"NOT ({a.sql})", a.copies)
        return self._simple(depth)

    def _simple(self, depth: int) -> Condition:
        rng = self.rng
        term = self.rng.choice(self.columns)
        if depth and self.chance(0.3):
            made = self.number() or self.text() or self.calendar()
            term = made or term
        a, roll = term, rng.random()
        no = "NOT " if rng.random() < 0.25 else ""
        if roll < 0.1:
            self.features.add("is null")
            return Condition(f"{a.sql} IS {no}NULL", a.copies)
        if roll < 0.22:
            self.features.add("between")
            low, high = self.literal(a.type), self.literal(a.type)
            return Condition(f"{a.sql} {no}BETWEEN {low} AND {high}", a.copies)
        if roll < 0.34:
            self.features.add("in")
            items = [self.literal(a.type) for _ in range(rng.choice((1, 2, 3)))]
            if rng.random() < 0.1:
                items.append("NULL")
            return Condition(f"{a.sql} {no}IN ({', '.join(items)})", a.copies)
        if a.type == BOOLEAN and roll < 0.7:
            return Condition(f"{no}{a.sql}", a.copies)
        if a.type == STRING and roll < 0.6:
            self.features.add("like")
            pattern = rng.choice(("a%", "%b", "%b%", "_", "_b%", "%", "", "é%"))
            return Condition(f"{a.sql} {no}LIKE '{pattern}'", a.copies)
        op = rng.choice(("=", "<>", "<", "<=", ">", ">="))
        other = [c for c in self.columns if c.type == a.type and c.sql != a.sql]
        if other and rng.random() < 0.35:
            b = rng.choice(other)
            if len(a.copies | b.copies) > 1:
                self.features.add("comparison across relations")
            return Condition(f"{a.sql} {op} {b.sql}", a.copies | b.copies)
        if a.type == DATE and rng.random() < 0.3:
            self.features.add("interval")
            step = rng.choice(("'1' MONTH", "'1' YEAR", "'30' DAY"))
            return Condition(
                f"{a.sql} {op} DATE '{rng.choice(_DATES)}' + INTERVAL {step}", a.copies
            )
        return Condition(f"{a.sql} {op} {self.literal(a.type)}", a.copies)

    # -------------------------------------------------------------------------------- select list

    def aggregate(self) -> str:
        rng, roll = self.rng, self.rng.random()
        if roll < 0.2:
            self.features.add("count(*)")
            return "COUNT(*)"
        if roll < 0.32:
            self.features.add("count(x)")
            return f"COUNT({self.term(1).sql})"
        if roll < 0.4:
            self.features.add("sum of case")
            when = self.predicate(1)
            x = rng.choice(self.numbers() or [Term("1", INT, frozenset())])
            zero = "CAST(0 AS DOUBLE)" if x.type.is_float else "0"
            return f"SUM(CASE WHEN {when.sql} THEN {x.sql} ELSE {zero} END)"
        if (summand := self._summand()) is None:
            return "COUNT(*)"
        x = summand
        kind = "decimal" if x.type.is_decimal else "double" if x.type.is_float else "integer"
        if roll < 0.68:
            self.features.add(f"sum of {kind}")
            return f"SUM({x.sql})"
        if roll < 0.9:
            self.features.add(f"avg of {kind}")
            return f"AVG({x.sql})"
        if x.type.is_decimal and x.type.digits <= 13:
            self.features.add("quotient of sums")
            return f"100.00 * SUM({x.sql}) / NULLIF(COUNT({x.sql}), 0)"
        self.features.add("arithmetic over aggregates")
        return f"SUM({x.sql}) + COUNT(*)"

    def _summand(self) -> Term | None:
        numbers = [c for c in self.columns if c.type.is_numeric and (c.small or c.type != BIGINT)]
        if self.chance(0.35):
            made = self.number()
            if made and made.type.is_numeric:
                return made
        return self.rng.choice(numbers) if numbers else None


_DATES = ("1969-12-31", "1970-01-01", "1995-03-15", "1996-02-29", "2020-06-15", "2021-01-01")


def _counts(t: Type) -> bool:
    """Arithmetic on this type stays in range for the values payload columns take."""
    return t in (INT, DOUBLE) or (t.is_decimal and (t.precision or 0) <= 15)


def _plus_one(t: Type) -> Type:
    return decimal((t.precision or 0) + 4, t.exact_scale) if t.is_decimal else t


def _combined(op: str, a: Type, b: Type) -> Type:
    """Roughly the result type: enough to go on choosing."""
    if a.is_float or b.is_float:
        return DOUBLE
    if a.is_integer and b.is_integer:
        return BIGINT if BIGINT in (a, b) else INT
    scale = a.exact_scale + b.exact_scale if op == "*" else max(a.exact_scale, b.exact_scale)
    return decimal(32 if op == "*" else 20, scale)
