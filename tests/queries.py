"""Random queries over a schema, as SQL text that Spark and DuckDB read alike.

    root copy ──foreign keys──▶ copies (a tree, or a DAG where one copy is reached twice)
       └─▶ FROM in any order, commas or JOIN ... ON ─▶ WHERE ─▶ select list, grouped or not

Not here: expressions (tests/terms), rows (tests/histories), answers (tests/oracle).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

from everview.schema import BIGINT, INT, ForeignKey, Relation, Schema, decimal
from tests.terms import Condition, Term, Writer


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
    text = _From(rng, w, g, names, schema.relations)
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
    all: tuple[Relation, ...]

    def write(self) -> str:
        rng, w = self.rng, self.w
        bare = {c.name for c in self.g.copies if self._bare(c)}
        sources = {c.name: self._source(c) for c in self.g.copies}
        w.columns = [
            Term(self.column(c, k.name, bare), k.type, frozenset([c.name]), _payload(k.name))
            for c in self.g.copies
            for k in c.relation.columns
        ]
        conditions = self._equalities(bare)
        if rng.random() < 0.15:
            conditions += self._grouped_side(sources, bare)
        single = len(self.g.copies) == 1
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

    def _grouped_side(self, sources: dict[str, str], bare: set[str]) -> list[Condition]:
        """One more side: a relation grouped by a column that some column of another side equals."""
        rng, many = self.rng, self.rng.choice(self.g.copies)
        others = [c.relation for c in self.g.copies] + [r for r in self.all if rng.random() < 0.3]
        pairs = [
            (x, relation, y)
            for x in many.relation.columns
            for relation in others
            for y in relation.columns
            if x.type == y.type and not x.type.is_float
        ]
        if not pairs:  # nothing but doubles
            return []
        x, relation, y = rng.choice(pairs)
        side = Copy(f"?{len(self.g.copies)}", relation)
        alias = self.names[side.name] = f"gs{len(self.g.copies)}"
        self.g.copies.append(side)
        self.w.features.add("grouped sub-select as a side")
        select = f"SELECT {y.name} AS gk, COUNT(*) AS gn FROM {relation.name} GROUP BY {y.name}"
        sources[side.name] = f"({select}) {alias}"
        own = frozenset([side.name])
        self.w.columns += [
            Term(f"{alias}.gk", y.type, own, _payload(y.name)),
            Term(f"{alias}.gn", BIGINT, own, small=True),
        ]
        mine = self.column(many, x.name, bare)
        return [Condition(f"{mine} = {alias}.gk", frozenset([many.name, side.name]))]

    def _equalities(self, bare: set[str]) -> list[Condition]:
        out: list[Condition] = []
        reached: dict[str, list[str]] = {}  # copy -> the columns that already equal its key
        for many, fk, one in self.g.links:
            mine = [self.column(many, c, bare) for c in fk.columns]
            theirs = [self.column(one, c, bare) for c in fk.references]
            if one.name in reached and self.rng.random() < 0.4:
                self.w.features.add("equality of two branches")
                theirs = reached[one.name]
                copies = frozenset([many.name, *self._owners(theirs)])
            else:
                reached.setdefault(one.name, mine)
                copies = frozenset([many.name, one.name])
            for a, b in zip(mine, theirs, strict=True):
                sides = (a, b) if self.rng.random() < 0.5 else (b, a)
                out.append(Condition(f"{sides[0]} = {sides[1]}", copies))
        return out

    def _owners(self, columns: list[str]) -> list[str]:
        found: list[str] = []
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
