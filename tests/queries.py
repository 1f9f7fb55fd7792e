"""Random queries over a schema, as SQL text that Spark and DuckDB read alike.

    root copy ──foreign keys──▶ copies (a tree, or a DAG where one copy is reached twice)
       └─▶ FROM in any order, commas or JOIN ... ON ─▶ WHERE ─▶ select list, grouped or not

Only what both engines define and give the same exact value for: no decimal `/` under an
aggregate or in a predicate, no overflow, no division by zero.

Not here: rows (tests/histories), answers (tests/oracle).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from random import Random

from everview.schema import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    INT,
    STRING,
    ForeignKey,
    Relation,
    Schema,
    Type,
    decimal,
)  # fmt: skip


@dataclass(frozen=True)
class Query:
    """`inner`: its sub-select in parentheses, which may as well be a view of its own."""

    sql: str
    used: tuple[str, ...]
    features: frozenset[str]
    inner: str = ""


@dataclass(frozen=True)
class Copy:
    """A logical copy of a relation. `name`: its alias, or the relation's own name."""

    name: str
    relation: Relation


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
            term = self.number() or self.text() or self.calendar() or term
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
        x = self._summand()
        if x is None:
            return "COUNT(*)"
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


# ------------------------------------------------------------------------------- the join graph


@dataclass
class Graph:
    """Copies and the equalities between them."""

    copies: list[Copy]
    links: list[tuple[Copy, ForeignKey, Copy]] = field(default_factory=list)
    below: dict[str, set[str]] = field(default_factory=dict)  # copy -> every copy under it

    def reaches(self, a: Copy, b: Copy) -> bool:
        return a.name == b.name or any(
            self.reaches(one, b) for many, _, one in self.links if many.name == a.name
        )

    def depth(self, copy: Copy) -> int:
        return max((1 + self.depth(one) for many, _, one in self.links if many == copy), default=0)


def graph(rng: Random, schema: Schema, features: set[str]) -> Graph:
    """From a root along foreign keys; a relation may come twice, a copy may be reached twice."""
    roots = [
        r
        for i, r in enumerate(schema.relations)
        for _ in range((i + 1) * (1 + 3 * len(r.foreign_keys)))
    ]
    limit = rng.choice((1, 2, 3, 3, 4, 5, 6))
    g = Graph([Copy("?0", rng.choice(roots))])
    todo = [g.copies[0]]
    while todo:
        many = todo.pop(rng.randrange(len(todo)))
        for fk in many.relation.foreign_keys:
            if rng.random() > 0.85:
                continue
            met = [c for c in g.copies if c.relation.name == fk.relation and not g.reaches(c, many)]
            if met and rng.random() < 0.35:
                features.add("dag")
                g.links.append((many, fk, rng.choice(met)))
            elif len(g.copies) < limit:
                one = Copy(f"?{len(g.copies)}", schema.relation(fk.relation))
                g.copies.append(one)
                g.links.append((many, fk, one))
                todo.append(one)
    return g


def named(rng: Random, g: Graph, features: set[str]) -> dict[str, str]:
    """The names the copies get: aliases where a relation comes twice, else perhaps."""
    count = [c.relation.name for c in g.copies]
    names: dict[str, str] = {}
    for i, c in enumerate(g.copies):
        if count.count(c.relation.name) > 1:
            features.add("relation several times")
            names[c.name] = f"{c.relation.name}{i}"
        else:
            names[c.name] = rng.choice((c.relation.name, f"t{i}"))
    return names


def query(rng: Random, schema: Schema) -> Query:
    """A random query and the relations it reads."""
    w = Writer(rng)
    g = graph(rng, schema, w.features)
    names = named(rng, g, w.features)
    text = _From(rng, w, g, names)
    body = text.write()
    root = g.copies[0]
    w.features |= {f"joins {len(g.copies) - 1}", f"depth {g.depth(root)}"}
    if any(many.relation.name == one.relation.name for many, _, one in g.links):
        w.features.add("self reference")
    if any(many.relation.column(c).nullable for many, fk, _ in g.links for c in fk.columns):
        w.features.add("nullable reference")
    sql = _select(rng, w, body)
    used = tuple(dict.fromkeys(c.relation.name for c in g.copies))
    inner = w.inner if rng.random() < 0.3 else ""
    if inner:
        w.features.add("view over view")
    return Query(sql, used, frozenset(w.features), inner)


@dataclass
class _From:
    """Writes FROM and WHERE for a join graph, and sets the columns the writer may read."""

    rng: Random
    w: Writer
    g: Graph
    names: dict[str, str]

    def write(self) -> str:
        rng, w = self.rng, self.w
        single = len(self.g.copies) == 1
        bare = {c.name for c in self.g.copies if self._bare(c)}
        sources = {c.name: self._source(c) for c in self.g.copies}
        w.columns = [
            Term(self.column(c, k.name, bare), k.type, frozenset([c.name]), _payload(k.name))
            for c in self.g.copies
            for k in c.relation.columns
        ]
        conditions = self._equalities(bare)
        few = (0, 0, 0, 1) if len(self.g.copies) > 3 else (0, 0, 1, 1, 2)
        for _ in range(rng.choice(few)):
            conditions.append(w.predicate())
        if not single and rng.random() < 0.5:
            return self._joined(sources, conditions)
        order = list(self.g.copies)
        rng.shuffle(order)
        rng.shuffle(conditions)
        w.features.add("comma" if not single else "one relation")
        return " FROM " + ", ".join(sources[c.name] for c in order) + _where(conditions)

    def _bare(self, c: Copy) -> bool:
        """Column names alone will do where the relation comes once."""
        once = [x.relation.name for x in self.g.copies].count(c.relation.name) == 1
        return once and self.rng.random() < 0.4

    def column(self, c: Copy, name: str, bare: set[str]) -> str:
        return name if c.name in bare else f"{self.names[c.name]}.{name}"

    def _source(self, c: Copy) -> str:
        """The relation, or a sub-select of it."""
        rng, alias = self.rng, self.names[c.name]
        if rng.random() < 0.08:
            self.w.features.add("sub-select as a side")
            inner = Writer(rng, features=self.w.features)
            inner.columns = [
                Term(k.name, k.type, frozenset(), _payload(k.name)) for k in c.relation.columns
            ]
            where = f" WHERE {inner.predicate(1).sql}" if rng.random() < 0.7 else ""
            columns = ", ".join(k.name for k in c.relation.columns)
            return f"(SELECT {columns} FROM {c.relation.name}{where}) {alias}"
        if alias == c.relation.name:
            return alias
        return f"{c.relation.name} {rng.choice(('', 'AS '))}{alias}"

    def _equalities(self, bare: set[str]) -> list[Condition]:
        out: list[Condition] = []
        reached: dict[str, list[str]] = {}  # copy -> the columns that already equal its key
        for many, fk, one in self.g.links:
            mine = [self.column(many, c, bare) for c in fk.columns]
            theirs = [self.column(one, c, bare) for c in fk.references]
            if one.name in reached and self.rng.random() < 0.4:
                self.w.features.add("equality of two branches")
                theirs, other = reached[one.name], None
                copies = frozenset([many.name, *self._owners(theirs)])
            else:
                reached.setdefault(one.name, mine)
                copies = frozenset([many.name, one.name])
            for a, b in zip(mine, theirs, strict=True):
                sides = (a, b) if self.rng.random() < 0.5 else (b, a)
                out.append(Condition(f"{sides[0]} = {sides[1]}", copies))
        return out

    def _owners(self, columns: list[str]) -> list[str]:
        found = []
        for text in columns:
            for term in self.w.columns:
                if term.sql == text:
                    found += term.copies
        return found

    def _joined(self, sources: dict[str, str], conditions: list[Condition]) -> str:
        """JOIN ... ON in an order where each copy is linked to one before it."""
        rng = self.rng
        self.w.features.add("join on")
        order = [rng.choice(self.g.copies).name]
        rest = {c.name for c in self.g.copies} - set(order)
        text, left = f" FROM {sources[order[0]]}", list(conditions)
        while rest:
            new = [c.copies - set(order) for c in left if len(c.copies) > 1]
            linked = sorted(next(iter(n)) for n in new if len(n) == 1)
            if not linked:  # an equality of two branches only: a comma ends the chain
                return self._rest(text, sources, rest, left)
            name = rng.choice(linked)
            order.append(name)
            rest.discard(name)
            ready = [c for c in left if c.copies <= set(order) and name in c.copies]
            kept = [c for c in ready if len(c.copies) < 2 and rng.random() < 0.6]
            ready = [c for c in ready if c not in kept]
            left = [c for c in left if c not in ready]
            rng.shuffle(ready)
            join = rng.choice(("JOIN", "INNER JOIN"))
            text += f" {join} {sources[name]} ON " + " AND ".join(c.sql for c in ready)
        return text + _where(left)

    def _rest(
        self, text: str, sources: dict[str, str], rest: set[str], left: list[Condition]
    ) -> str:
        names = sorted(rest)
        return text + "".join(f" CROSS JOIN {sources[n]}" for n in names) + _where(left)


def _payload(column: str) -> bool:
    """Not a key or a reference: those take extreme values."""
    return column.split("_")[1].startswith("v")


def _where(conditions: list[Condition]) -> str:
    return " WHERE " + " AND ".join(c.sql for c in conditions) if conditions else ""


# ------------------------------------------------------------------------------ the select list


def _select(rng: Random, w: Writer, body: str) -> str:
    roll = rng.random()
    if roll < 0.3:
        w.features.add("no aggregate")
        items = [w.term(2) for _ in range(rng.choice((1, 2, 3, 4)))]
        return "SELECT " + ", ".join(f"{t.sql} AS x{i}" for i, t in enumerate(items)) + body
    if roll < 0.5:
        body = _nested(rng, w, body)
    if rng.random() < 0.25:
        w.features.add("no grouping")
        return "SELECT " + _aggregates(w) + body
    w.features.add("grouped")
    return _grouped(rng, w, body)


def _nested(rng: Random, w: Writer, body: str) -> str:
    """The join as a sub-select, perhaps grouped; what is above reads its columns only."""
    if rng.random() < 0.3:
        w.features.add("grouped sub-select")
        items, by = _inner_groups(rng, w)
    else:
        w.features.add("sub-select in FROM")
        items, by = [w.term(1) for _ in range(rng.choice((2, 3, 4)))], ""
    inner = "SELECT " + ", ".join(f"{t.sql} AS y{i}" for i, t in enumerate(items)) + body + by
    w.inner = f"({inner})"
    prefix = rng.choice(("", "s."))
    w.columns = [
        Term(f"{prefix}y{i}", t.type, frozenset(["s"]), t.small) for i, t in enumerate(items)
    ]
    where = f" WHERE {w.predicate(1).sql}" if rng.random() < 0.3 else ""
    return f" FROM {w.inner} {rng.choice(('', 'AS '))}s{where}"


def _inner_groups(rng: Random, w: Writer) -> tuple[list[Term], str]:
    """Group keys and sums that are exact everywhere."""
    keys = [w.term(1) for _ in range(rng.choice((1, 1, 2)))]
    out = [*keys, Term("COUNT(*)", BIGINT, frozenset(), small=True)]
    sums = [c for c in w.columns if c.small and (c.type == INT or c.type.is_decimal)]
    if sums:
        x = rng.choice(sums)
        t = (
            BIGINT
            if x.type == INT
            else decimal(min((x.type.precision or 0) + 10, 38), x.type.exact_scale)
        )
        out.append(Term(f"SUM({x.sql})", t, frozenset(), small=x.type == INT))
    return out, " GROUP BY " + ", ".join(dict.fromkeys(k.sql for k in keys))


def _aggregates(w: Writer) -> str:
    count = w.rng.choice((1, 1, 2, 3))
    return ", ".join(f"{w.aggregate()} AS a{i}" for i in range(count))


def _grouped(rng: Random, w: Writer, body: str) -> str:
    keys = [w.term(1) for _ in range(rng.choice((1, 1, 2, 3)))]
    keys = list({k.sql: k for k in keys}.values())
    if any(k.sql not in {c.sql for c in w.columns} for k in keys):
        w.features.add("group by expression")
    shown = [f"{k.sql} AS g{i}" for i, k in enumerate(keys)]
    by = [k.sql for k in keys]
    roll = rng.random()
    if roll < 0.15:
        w.features.add("group by alias")
        by = [f"g{i}" for i in range(len(keys))]
    if rng.random() < 0.12 and len(shown) > 1:
        w.features.add("group key not selected")
        shown.pop()
        by = [k.sql for k in keys]
    items = [*shown, _aggregates(w)]
    if rng.random() < 0.15:
        items.reverse()
    rng.shuffle(by)
    return "SELECT " + ", ".join(items) + body + " GROUP BY " + ", ".join(by)
