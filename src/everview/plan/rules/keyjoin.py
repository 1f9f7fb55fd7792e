"""A join becomes a tree of copies along their keys, or is refused by name.

    Join(lineitem, orders, customer) on l_orderkey = o_orderkey and o_custkey = c_custkey
    ->  KeyJoin  lineitem ──l_orderkey──▶ orders ──o_custkey──▶ customer

1. Equalities put columns into classes: all columns of a class are equal in every joined row.
2. Input `many` reaches input `one` if for every column of one's key its class holds a column of
   many (or a constant). The root is the first input from which all others are reached.
3. Edges are chosen breadth first, those written as equalities before those that follow.
4. What the edges do not imply becomes assertions, each at the lowest copy that sees its columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from heapq import heappop, heappush

from everview.errors import PlanError
from everview.expr import Call, Expr, Literal, Ref, call, conjuncts
from everview.plan.constant import TRUE
from everview.plan.names import alias_of, unique
from everview.plan.node import (
    Assertion,
    Copy,
    Edge,
    Filter,
    Join,
    KeyJoin,
    Named,
    Node,
    Project,
    columns,
    key,
)  # fmt: skip
from everview.plan.walk import bottom_up, names
from everview.schema import BIGINT, INT, Type

MAX_COPIES = 64
INTEGERS = (Type("SMALLINT"), INT, BIGINT)
Owner = dict[str, int]


def keyjoin(node: Node) -> Node:
    """Join(a, b, c) on a.b = b.id AND b.c = c.id AND p  ->  KeyJoin(a -> b -> c, assert p)."""
    return bottom_up(node, lambda n: _keyjoin(n) if isinstance(n, Join) else n)


@dataclass(slots=True)
class _Input:
    """One input of the join: its node, what it is called, its columns and its key."""

    name: str
    node: Node
    columns: frozenset[str]
    key: tuple[Ref, ...]
    added: dict[str, Expr] = field(default_factory=dict)

    def with_added(self) -> Node:
        if not self.added:
            return self.node
        kept = tuple(Named(c.name, Ref(c.name, c.type)) for c in columns(self.node))
        return Project(self.node, (*kept, *(Named(n, v) for n, v in self.added.items())))


@dataclass(slots=True)
class _Classes:
    """Which expressions are equal in every joined row (union-find), and equal to what constant."""

    above: dict[Expr, Expr] = field(default_factory=dict)

    def top(self, e: Expr) -> Expr:
        while (up := self.above.setdefault(e, e)) != e:
            e = up
        return e

    def unite(self, a: Expr, b: Expr) -> bool:
        """False if they were equal already."""
        a, b = self.top(a), self.top(b)
        self.above[b] = a
        return a != b

    def members(self) -> dict[Expr, list[Expr]]:
        """For each expression, all that are equal to it (one list per class)."""
        lists: dict[Expr, list[Expr]] = {}
        for e in tuple(self.above):
            lists.setdefault(self.top(e), []).append(e)
        return {e: lists[self.top(e)] for e in tuple(self.above)}


@dataclass(frozen=True, slots=True)
class _Found:
    """How `many` holds the key of `one`: an expression over many for each key column."""

    many: int
    one: int
    values: tuple[Expr, ...]
    written: bool


def _keyjoin(join: Join) -> Node:
    inputs = [_input(n) for n in join.inputs]
    if len(inputs) > MAX_COPIES:
        message = f"a join of {len(inputs)} inputs, the limit is {MAX_COPIES}"
        raise PlanError("UNSUPPORTED.JOIN", message, fix="join some of them in a view of their own")
    owner = {name: i for i, given in enumerate(inputs) for name in given.columns}
    tests = [t for t in conjuncts(join.on) if t != TRUE]
    equalities = [t for t in tests if _links(t, owner)]
    classes = _Classes()
    for test in equalities:
        classes.unite(*_arguments(test))
    _constants(inputs, classes)
    found = _found(inputs, classes, frozenset(frozenset(_arguments(t)) for t in equalities), owner)
    return _assemble(inputs, _tree(inputs, found, tests), tests, equalities)


def _input(node: Node) -> _Input:
    types = {c.name: c.type for c in columns(node)}
    name = alias_of(next(iter(types)))
    return _Input(name, node, frozenset(types), tuple(Ref(k, types[k]) for k in key(node)))


def _arguments(test: Expr) -> tuple[Expr, Expr]:
    assert isinstance(test, Call)
    return test.args[0], test.args[1]


def _owners(expr: Expr, owner: Owner) -> frozenset[int]:
    """The inputs whose columns the expression reads."""
    return frozenset(owner[name] for name in names(expr))


def _links(test: Expr, owner: Owner) -> bool:
    """An equality between an expression over one input and one over another?"""
    if not isinstance(test, Call) or test.op != "=" or test.args[0].type.is_float:
        return False
    a, b = (_owners(e, owner) for e in test.args)
    return len(a) == len(b) == 1 and a != b


def _constants(inputs: list[_Input], classes: _Classes) -> None:
    """A filter `column = literal` of an input makes the literal one of the column's class."""
    for given in inputs:
        tests = conjuncts(given.node.predicate) if isinstance(given.node, Filter) else ()
        for test in tests:
            if isinstance(test, Call) and test.op == "=" and not test.args[0].type.is_float:
                a, b = test.args
                if isinstance(a, Literal) != isinstance(b, Literal):
                    classes.unite(a, b)


# ------------------------------------------------------------------------------ edges and the tree


@dataclass(frozen=True, slots=True)
class _Held:
    """What stands for a key column in one input: a value, and does the text compare them?"""

    value: Expr
    written: bool
    rank: tuple[bool, bool, bool]


def _found(
    inputs: list[_Input], classes: _Classes, written: frozenset[object], owner: Owner
) -> list[_Found]:
    """Every way from one input to the key of another."""
    members = classes.members()
    found = []
    for one, given in enumerate(inputs):
        held = [_holders(k, members, written, owner) for k in given.key]
        for many in range(len(inputs)):
            best = [h.get(many, h.get(None)) for h in held]
            ways = tuple(b for b in best if b is not None)
            if many != one and held and len(ways) == len(held):
                values = tuple(w.value for w in ways)
                found.append(_Found(many, one, values, all(w.written for w in ways)))
    return found


def _holders(
    k: Ref, members: dict[Expr, list[Expr]], written: frozenset[object], owner: Owner
) -> dict[int | None, _Held]:
    """By input (None: a constant, which any input can hold): the best that equals the key column.

    A narrow integer key may stand in the text as a wider one: `cast(k as BIGINT)`.
    """
    best: dict[int | None, _Held] = {}
    forms: list[Expr] = [k]
    if k.type.is_integer:
        forms += [Call("cast", (k,), t) for t in INTEGERS]
    for form in forms:
        for other in members.get(form, ()):
            owners = _owners(other, owner)
            if len(owners) > 1 or other == form:
                continue
            direct = frozenset((form, other)) in written
            rank = (not direct, form != k, not isinstance(other, Ref))
            where = next(iter(owners), None)
            if where not in best or rank < best[where].rank:
                best[where] = _Held(_narrowed(other, k.type), direct, rank)
    return best


def _narrowed(value: Expr, type: Type) -> Expr:
    """An integer as a narrower one; NULL where it does not fit, since then no key equals it."""
    if value.type == type:
        return value
    return call("try_cast", value, type=type)


@dataclass(frozen=True, slots=True)
class _Tree:
    """The copies in the order they are reached, root first, and the edges between them."""

    order: tuple[int, ...]
    edges: tuple[_Found, ...]


def _tree(inputs: list[_Input], found: list[_Found], tests: list[Expr]) -> _Tree:
    """The tree that reaches every input and follows the text most; ties: the first in FROM."""
    trees = [_grown(root, found) for root in range(len(inputs))]
    whole = [t for t in trees if len(t.order) == len(inputs)]
    if not whole:
        raise _refused(inputs, max(trees, key=lambda t: len(t.order)), tests)
    return max(whole, key=lambda t: sum(e.written for e in t.edges))


def _grown(root: int, found: list[_Found]) -> _Tree:
    """Breadth first from the root, edges the text says before others."""
    outgoing: dict[int, list[tuple[int, _Found]]] = {}
    for number, f in enumerate(found):
        outgoing.setdefault(f.many, []).append((number, f))
    depth = {root: 0}
    edges: list[_Found] = []
    ready: list[tuple[bool, int, int, _Found]] = []
    reached = root
    while True:
        for number, f in outgoing.get(reached, ()):
            if f.one not in depth:
                heappush(ready, (not f.written, depth[reached], number, f))
        while ready and ready[0][3].one in depth:
            heappop(ready)
        if not ready:
            return _Tree(tuple(depth), tuple(edges))
        edge = heappop(ready)[3]
        reached = edge.one
        depth[reached] = depth[edge.many] + 1
        edges.append(edge)


def _refused(inputs: list[_Input], best: _Tree, tests: list[Expr]) -> PlanError:
    """The refusal of a join that has no root, with the keys that would be needed."""
    reached = [inputs[i].name for i in best.order]
    missing = [inputs[i] for i in range(len(inputs)) if i not in best.order]
    needed = [
        f"{m.name} by its key ({', '.join(_short(k.name) for k in m.key)})"
        if m.key
        else f"{m.name}, which has no key"
        for m in missing
    ]
    message = (
        f"the join of {', '.join(i.name for i in inputs)} is not along keys: "
        f"from {', '.join(reached)} there is no way to {'; '.join(needed)}"
    )
    other = [note for m in missing for k in m.key for note in _other_type(k, tests)]
    if other:
        fix = "declare both sides with one exact type, or cast the side that is not the key"
        return PlanError("UNSUPPORTED.JOIN", f"{message}: {other[0]}", fix=fix)
    return PlanError(
        "UNSUPPORTED.JOIN",
        message,
        fix="one input must reach all others by equalities with their whole PRIMARY KEY; join on "
        "the key, declare it, or group the input by the joined columns in a sub-select",
    )


def _other_type(k: Ref, tests: list[Expr]) -> Iterator[str]:
    """Why an equality with a key column, though it is there, does not lead to the key."""
    for test in tests:
        sides = test.args if isinstance(test, Call) and test.op == "=" else ()
        if any(isinstance(s, Call) and s.op == "cast" and s.args[0] == k for s in sides):
            yield f"{_short(k.name)} is {k.type} and is compared as {sides[0].type}"
        elif k in sides and k.type.is_float:
            yield f"{_short(k.name)} is {k.type}, which is not exact"


def _short(name: str) -> str:
    return name.partition(".")[2] or name


# -------------------------------------------------------------------------------- the finished node


def _assemble(
    inputs: list[_Input],
    tree: _Tree,
    tests: list[Expr],
    equalities: list[Expr],
) -> KeyJoin:
    implied = _Classes()
    _constants(inputs, implied)
    edges = []
    for e in tree.edges:
        one, many = inputs[e.one], inputs[e.many]
        for value, k in zip(e.values, one.key, strict=True):
            _imply(value, k, implied)
        held = tuple(_column(many, v, one.name) for v in e.values)
        edges.append(Edge(many.name, held, one.name))
    left = [t for t in tests if t not in equalities or implied.unite(*_arguments(t))]
    copies = tuple(
        Copy(inputs[i].name, inputs[i].with_added(), tuple(k.name for k in inputs[i].key))
        for i in tree.order
    )
    above = {inputs[e.one].name: inputs[e.many].name for e in tree.edges}
    return KeyJoin(copies, tuple(edges), tuple(_assertions(left, inputs, above)))


def _imply(value: Expr, k: Ref, implied: _Classes) -> None:
    """What a followed edge makes equal; behind a narrowed value stands the wider one."""
    if isinstance(value, Call) and value.op == "try_cast":
        inner = value.args[0]
        implied.unite(inner, call("cast", k, type=inner.type))
    else:
        implied.unite(value, k)


def _column(many: _Input, value: Expr, one: str) -> str:
    """The column of `many` that holds the value, added to it if it is computed."""
    if isinstance(value, Ref):
        return value.name
    for name, known in many.added.items():
        if known == value:
            return name
    name = unique(f"{many.name}.{one}_key", {*many.columns, *many.added})
    many.added[name] = value
    return name


def _assertions(
    tests: Iterable[Expr], inputs: list[_Input], above: dict[str, str]
) -> Iterable[Assertion]:
    for test in tests:
        read = names(test)
        copies = [i.name for i in inputs if read & i.columns]
        yield Assertion(_lowest(copies, above), test)


def _lowest(copies: list[str], above: dict[str, str]) -> str:
    """The lowest copy that has all of these at or below it."""
    paths = [_path(c, above) for c in copies]
    shared = [c for c in paths[0] if all(c in p for p in paths[1:])]
    return shared[0]


def _path(copy: str, above: dict[str, str]) -> list[str]:
    """The copy and those above it, up to the root."""
    path = [copy]
    while path[-1] in above:
        path.append(above[path[-1]])
    return path
