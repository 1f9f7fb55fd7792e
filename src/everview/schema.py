"""Types, columns, keys, relations and the schema: frozen, and checked when built.

    Schema ──has── Relation ──has── Column ──has── Type
                     │  └─key: the columns that identify a row (none: the whole row, counted)
                     └──ForeignKey: columns ──▶ key of another relation

Not here: how values of a type are stored (delta/vector), how rows are read (connect).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from everview.errors import SchemaError

TypeName = Literal[
    "BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "DECIMAL", "FLOAT", "DOUBLE",
    "STRING", "BINARY", "DATE", "TIMESTAMP", "TIMESTAMP_NTZ",
]  # fmt: skip
Policy = Literal["reject", "fail", "upsert", "trust"]
Placement = Literal["auto", "replicated", "partitioned"]

INTEGER_BITS: Mapping[str, int] = {"TINYINT": 8, "SMALLINT": 16, "INT": 32, "BIGINT": 64}
MAX_PRECISION = 38

KIND, EPOCH, DELETED = "kind", "epoch", "deleted"
CHANGELOG: Mapping[str, tuple[str, str]] = {"retract": (KIND, EPOCH), "upsert": (DELETED, EPOCH)}
"""The columns that a changelog has before those of its view, by form."""


@dataclass(frozen=True, slots=True)
class Type:
    """A SQL type. DECIMAL has precision and scale; the others have neither."""

    name: TypeName
    precision: int | None = None
    scale: int | None = None

    def __post_init__(self) -> None:
        if self.name == "DECIMAL":
            p, s = self.precision, self.scale
            if p is None or s is None or not (1 <= p <= MAX_PRECISION and 0 <= s <= p):
                raise SchemaError(
                    "TYPE.DECIMAL",
                    f"DECIMAL({p},{s}) is not a decimal type",
                    fix=f"use DECIMAL(p,s) with 1 <= p <= {MAX_PRECISION} and 0 <= s <= p",
                )
        elif self.precision is not None or self.scale is not None:
            raise SchemaError("TYPE.ARGUMENTS", f"{self.name} takes no precision or scale")

    def __str__(self) -> str:
        return f"DECIMAL({self.precision},{self.scale})" if self.is_decimal else self.name

    @property
    def is_integer(self) -> bool:
        return self.name in INTEGER_BITS

    @property
    def is_decimal(self) -> bool:
        return self.name == "DECIMAL"

    @property
    def is_exact(self) -> bool:
        """An integer or a decimal."""
        return self.is_integer or self.is_decimal

    @property
    def is_float(self) -> bool:
        return self.name in ("FLOAT", "DOUBLE")

    @property
    def is_numeric(self) -> bool:
        return self.is_exact or self.is_float

    @property
    def is_text(self) -> bool:
        """Variable length: STRING or BINARY."""
        return self.name in ("STRING", "BINARY")

    @property
    def digits(self) -> int:
        """Decimal digits before the point that any value of this exact type may need."""
        if self.is_decimal:
            assert self.precision is not None
            assert self.scale is not None
            return self.precision - self.scale
        return {"TINYINT": 3, "SMALLINT": 5, "INT": 10, "BIGINT": 20}[self.name]

    @property
    def words(self) -> int:
        """How many 64-bit words a stored value takes."""
        return 2 if self.is_decimal and (self.precision or 0) > 18 else 1

    @property
    def exact_scale(self) -> int:
        """Digits after the point of an exact type (0 for integers)."""
        return self.scale or 0


BOOLEAN, INT, BIGINT = Type("BOOLEAN"), Type("INT"), Type("BIGINT")
FLOAT, DOUBLE, STRING, BINARY = Type("FLOAT"), Type("DOUBLE"), Type("STRING"), Type("BINARY")
DATE, TIMESTAMP, TIMESTAMP_NTZ = Type("DATE"), Type("TIMESTAMP"), Type("TIMESTAMP_NTZ")


def decimal(precision: int, scale: int) -> Type:
    return Type("DECIMAL", precision, scale)


@dataclass(frozen=True, slots=True)
class Column:
    """A named, typed column."""

    name: str
    type: Type
    nullable: bool = True


@dataclass(frozen=True, slots=True)
class ForeignKey:
    """An edge from its many side (the relation that holds it) to its one side."""

    columns: tuple[str, ...]
    relation: str
    references: tuple[str, ...]

    def __post_init__(self) -> None:
        if not self.columns or len(self.columns) != len(self.references):
            raise SchemaError(
                "SCHEMA.FOREIGN_KEY",
                f"foreign key ({', '.join(self.columns)}) must match "
                f"{self.relation} ({', '.join(self.references)}) column by column",
            )


@dataclass(frozen=True)
class Relation:
    """A named input. `key` empty: rows are identified by their whole content, with multiplicity.

    `policy` says what happens to a change that contradicts the key; `rows` is the declared
    size, `placement` a wish; `options` holds the rest of WITH (...), as text.
    """

    name: str
    columns: tuple[Column, ...]
    key: tuple[str, ...] = ()
    foreign_keys: tuple[ForeignKey, ...] = ()
    policy: Policy = "reject"
    rows: int | None = None
    placement: Placement = "auto"
    options: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        names = [c.name for c in self.columns]
        if not names:
            raise SchemaError("SCHEMA.EMPTY", f"relation {self.name} has no columns")
        twice = sorted({n for n in names if names.count(n) > 1})
        if twice:
            raise SchemaError(
                "SCHEMA.DUPLICATE_COLUMN", f"relation {self.name} has column {twice[0]} twice"
            )
        for column in (*self.key, *(c for f in self.foreign_keys for c in f.columns)):
            if column not in names:
                raise SchemaError(
                    "SCHEMA.UNKNOWN_COLUMN",
                    f"a key of relation {self.name} names column {column}, which it does not have",
                    fix=f"its columns are {', '.join(names)}",
                )

    def column(self, name: str) -> Column:
        for c in self.columns:
            if c.name == name:
                return c
        raise SchemaError(
            "SCHEMA.UNKNOWN_COLUMN",
            f"relation {self.name} has no column {name}",
            fix=f"its columns are {', '.join(c.name for c in self.columns)}",
        )


@dataclass(frozen=True)
class Schema:
    """Relations by name. Names are lower case; lookups fold."""

    relations: tuple[Relation, ...] = ()

    def __post_init__(self) -> None:
        names = [r.name for r in self.relations]
        twice = sorted({n for n in names if names.count(n) > 1})
        if twice:
            raise SchemaError("SCHEMA.DUPLICATE_RELATION", f"relation {twice[0]} is declared twice")
        for r in self.relations:
            for f in r.foreign_keys:
                if f.relation not in names:
                    raise SchemaError(
                        "SCHEMA.UNKNOWN_RELATION",
                        f"relation {r.name} references {f.relation}, which is not declared",
                        fix=f"declare {f.relation} before the schema is used",
                    )
                for c in f.references:
                    self.relation(f.relation).column(c)

    def relation(self, name: str) -> Relation:
        for r in self.relations:
            if r.name == name.lower():
                return r
        raise SchemaError(
            "SCHEMA.UNKNOWN_RELATION",
            f"there is no relation {name}",
            fix=f"declared: {', '.join(r.name for r in self.relations) or 'none'}",
        )

    def __contains__(self, name: str) -> bool:
        return any(r.name == name.lower() for r in self.relations)

    def plus(self, relations: Iterable[Relation]) -> Schema:
        """This schema with more relations; nothing is replaced."""
        return Schema((*self.relations, *relations))
