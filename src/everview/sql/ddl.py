"""CREATE TABLE -> Relation.

    CREATE TABLE orders (
      o_orderkey BIGINT PRIMARY KEY,
      o_custkey  BIGINT REFERENCES customer
    ) WITH (policy = 'upsert', rows = 1500000, placement = 'partitioned', path = 'in/orders')

`policy`, `rows` and `placement` become fields of the relation; other options are kept as text.
A reference may name a table declared later: `Pending` is resolved at the end of the script.

Not here: views (sql/select), what options mean (connect).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar, get_args

from sqlglot import exp

from everview.errors import Position, SchemaError, SqlError
from everview.schema import Column, ForeignKey, Placement, Policy, Relation, Schema
from everview.sql.datatype import read_type
from everview.sql.dialect import Source
from everview.sql.scope import fold
from everview.sql.subset import refuse, similar

_KINDS = frozenset({"ExternalProperty", "Property", "SchemaCommentProperty"})


@dataclass(frozen=True, slots=True)
class Reference:
    """A foreign key whose relation may not be known yet; no `references`: that relation's key."""

    columns: tuple[str, ...]
    relation: str
    references: tuple[str, ...]
    position: Position


@dataclass(frozen=True, slots=True)
class Pending:
    """A declared table, its foreign keys still to be resolved."""

    relation: Relation
    references: tuple[Reference, ...]
    position: Position


def read_table(tree: exp.Create, source: Source, default: Policy = "reject") -> Pending:
    """The table a CREATE TABLE declares."""
    at = source.position(tree.this)
    for part in ("expression", "clone", "indexes", "replace", "unique"):
        if tree.args.get(part):
            what = {"expression": "AS SELECT", "replace": "OR REPLACE"}.get(part, part.upper())
            raise _invalid(at, f"CREATE TABLE with {what} is not supported")
    if not isinstance(tree.this, exp.Schema):
        raise _invalid(at, "CREATE TABLE needs a list of columns")
    name = table_name(tree.this.this, source)
    parts = _Parts(source, [], [], [])
    for item in tree.this.expressions:
        parts.read(item)
    options = _options(tree, source)
    policy = _choice(options, "policy", get_args(Policy), default, at)
    placement = _choice(options, "placement", get_args(Placement), "auto", at)
    rows = _rows(options, at)
    key = tuple(parts.key)
    columns = tuple(replace(c, nullable=c.nullable and c.name not in key) for c in parts.columns)
    relation = _placed(
        at,
        lambda: Relation(
            name,
            columns,
            key,
            policy=policy,  # type: ignore[arg-type]
            rows=rows,
            placement=placement,  # type: ignore[arg-type]
            options=options,
        ),
    )
    return Pending(relation, tuple(parts.references), at)


def table_name(node: exp.Expr, source: Source) -> str:
    """The name of a table or view; tables fold to lower case even when quoted."""
    if not isinstance(node, exp.Table) or not isinstance(node.this, exp.Identifier):
        raise refuse("UNSUPPORTED.SYNTAX", source.position(node), "this name")
    if node.args.get("db") or node.args.get("catalog"):
        what = ".".join(part.name for part in node.parts)
        raise refuse("UNSUPPORTED.QUALIFIED_TABLE", source.position(node), what)
    return fold(node.this, source).lower()


def resolve(tables: Iterable[Pending], schema: Schema) -> Schema:
    """The schema with the tables, every reference checked; forward references are fine."""
    tables = list(tables)
    keys = {r.name: r for r in (*schema.relations, *(t.relation for t in tables))}
    done = []
    for table in tables:
        foreign = tuple(_foreign_key(r, table.relation, keys) for r in table.references)
        done.append(
            _placed(
                table.position,
                lambda t=table, f=foreign: replace(t.relation, foreign_keys=f),  # type: ignore[misc]
            )
        )
    return _placed(tables[0].position, lambda: schema.plus(done)) if tables else schema


def _foreign_key(
    reference: Reference, holder: Relation, known: Mapping[str, Relation]
) -> ForeignKey:
    one = known.get(reference.relation)
    if one is None:
        fix = similar(reference.relation, known, "tables")
        raise refuse("UNKNOWN.TABLE", reference.position, reference.relation, fix)
    references = reference.references or one.key
    if not references:
        raise _invalid(reference.position, f"{one.name} has no primary key to reference")
    if len(references) != len(reference.columns):
        raise _invalid(
            reference.position,
            f"({', '.join(reference.columns)}) cannot reference {one.name} "
            f"({', '.join(references)})",
            "name as many columns on both sides",
        )
    for column, wanted in zip(reference.columns, references, strict=True):
        many = next((c for c in holder.columns if c.name == column), None)
        target = next((c for c in one.columns if c.name == wanted), None)
        if many is None or target is None:
            table, name = (holder, column) if many is None else (one, wanted)
            fix = similar(name, (c.name for c in table.columns), "columns")
            raise refuse("UNKNOWN.COLUMN", reference.position, f"{table.name}.{name}", fix)
    return ForeignKey(reference.columns, one.name, references)


@dataclass(slots=True)
class _Parts:
    """What the items between the parentheses declare."""

    source: Source
    columns: list[Column]
    key: list[str]
    references: list[Reference]

    def read(self, item: exp.Expr) -> None:
        if isinstance(item, exp.Constraint):
            for inner in item.expressions:
                self.read(inner)
        elif isinstance(item, exp.ColumnDef):
            self._column(item)
        elif isinstance(item, exp.PrimaryKey):
            self._primary([self._name(e) for e in item.expressions], item)
        elif isinstance(item, exp.ForeignKey):
            reference = item.args.get("reference")
            if item.args.get("delete") or item.args.get("update") or reference is None:
                raise _invalid(self._at(item), "this FOREIGN KEY is not supported")
            self._reference([self._name(e) for e in item.expressions], reference)
        else:
            raise _invalid(self._at(item), f"{_words(item)} is not supported in CREATE TABLE")

    def _column(self, item: exp.ColumnDef) -> None:
        name, nullable = fold(item.this, self.source), True
        if item.args.get("kind") is None:
            raise _invalid(self._at(item), f"column {name} has no type", "write it after the name")
        type = read_type(item.args["kind"], self.source)
        for constraint in item.args.get("constraints") or []:
            kind = constraint.args.get("kind")
            if isinstance(kind, exp.NotNullColumnConstraint):
                nullable = bool(kind.args.get("allow_null"))
            elif isinstance(kind, exp.PrimaryKeyColumnConstraint):
                self._primary([name], item)
            elif isinstance(kind, exp.Reference):
                self._reference([name], kind)
            elif not isinstance(kind, exp.CommentColumnConstraint):
                what = _words(kind) if kind is not None else "this"
                raise _invalid(self._at(item), f"{what} is not supported on column {name}")
        self.columns.append(Column(name, type, nullable))

    def _primary(self, names: list[str], item: exp.Expr) -> None:
        if self.key:
            raise _invalid(self._at(item), "a table has one PRIMARY KEY", "name all its columns")
        if len(set(names)) != len(names):
            raise _invalid(self._at(item), "a PRIMARY KEY names each column once")
        self.key.extend(names)

    def _reference(self, columns: list[str], node: exp.Expr) -> None:
        at, target = self._at(node), node.this
        for option in node.args.get("options") or []:
            if str(option).upper() not in ("NOT ENFORCED", "RELY", "NORELY"):
                raise _invalid(at, f"{str(option)[:40].upper()} is not supported")
        listed: tuple[str, ...] = ()
        if isinstance(target, exp.Schema):
            listed = tuple(self._name(e) for e in target.expressions)
            target = target.this
        relation = table_name(target, self.source)
        self.references.append(Reference(tuple(columns), relation, listed, at))

    def _name(self, node: exp.Expr) -> str:
        if isinstance(node, exp.Ordered):
            node = node.this
        if isinstance(node, exp.Column):
            node = node.this
        if not isinstance(node, exp.Identifier):
            raise _invalid(self._at(node), "a key is a list of column names")
        return fold(node, self.source)

    def _at(self, node: exp.Expr) -> Position:
        return self.source.position(node)


def _words(node: exp.Expr) -> str:
    """`CheckColumnConstraint` -> CHECK."""
    return type(node).__name__.replace("ColumnConstraint", "").upper()


def _options(tree: exp.Create, source: Source) -> dict[str, str]:
    """The options of WITH (...), as text; `policy`, `rows` and `placement` are taken out later."""
    found: dict[str, str] = {}
    properties = tree.args.get("properties")
    for item in properties.expressions if properties is not None else []:
        if type(item).__name__ not in _KINDS:
            what = type(item).__name__.removesuffix("Property").upper()
            raise _option(source.position(item), f"{what} is not supported in CREATE TABLE")
        if not isinstance(item, exp.Property) or type(item) is not exp.Property:
            continue
        name = item.this.name if not isinstance(item.this, exp.Dot) else item.this.sql()
        name = name.lower()
        if name in found:
            raise _option(source.position(item), f"option {name[:60]} is given twice")
        found[name] = _option_text(item.args["value"], source)
    return found


def _option_text(value: exp.Expr, source: Source) -> str:
    sign = ""
    if isinstance(value, exp.Neg):
        sign, value = "-", value.this
    if isinstance(value, exp.Boolean):
        return "true" if value.this else "false"
    if isinstance(value, exp.Literal | exp.Var | exp.Identifier):
        return sign + value.name
    if isinstance(value, exp.Column) and not value.table:
        return value.name
    raise _option(source.position(value), "an option's value is text, a number or a word")


def _choice(
    options: dict[str, str], name: str, allowed: tuple[str, ...], default: str, at: Position
) -> str:
    value = options.pop(name, default).lower()
    if value not in allowed:
        raise _option(at, f"{name} is {value[:60]!r}", f"use one of {', '.join(allowed)}")
    return value


def _rows(options: dict[str, str], at: Position) -> int | None:
    text = options.pop("rows", None)
    if text is None:
        return None
    digits = text.replace("_", "")
    if not (digits.isascii() and digits.isdecimal() and len(digits) <= 18):
        raise _option(at, f"rows is {text[:60]!r}", "write the number of rows, like rows = 25")
    return int(digits)


def _option(at: Position, what: str, fix: str = "leave it out") -> SqlError:
    return refuse("TABLE.OPTION", at, what, fix)


def _invalid(at: Position, what: str, fix: str = "leave it out") -> SqlError:
    return refuse("TABLE.DEFINITION", at, what, fix)


_T = TypeVar("_T")


def _placed(at: Position, make: Callable[[], _T]) -> _T:
    """What `make` gives; its SchemaError gets a place."""
    try:
        return make()
    except SchemaError as e:
        raise SqlError(e.code, e.message, fix=e.fix, position=at) from None
