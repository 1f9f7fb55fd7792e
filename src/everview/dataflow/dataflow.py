"""A dataflow: the stages and routes a plan compiles to. Pure data.

    source ──pack──▶ Feed ─┐                      a feed's route: by hash of columns, or to every
    shard
                           ├─▶ Stage 0: join of its feeds ─ steps ─ group ─ steps
    source ──pack──▶ Feed ─┘        │
                                    └─ route ─▶ Feed of stage 1 ─▶ ... ─▶ the view's changes

A stage sees one shard. Its feeds are copies of a KeyJoin (the first one the root), or a single feed
that only passes through or is grouped. What is stored: the rows of its feeds if `keeps`, else its
groups. A stage whose result is grouped elsewhere ships partials (`Feed.partial`).

Not here: how a plan becomes this (dataflow/compile), running it (dataflow/stage, hosts).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from everview.expr import Expr
from everview.plan.node import Assertion, Edge, Named
from everview.plan.step import GroupSpec, Step
from everview.schema import Column, Policy

Kind = Literal["hash", "every", "one"]


@dataclass(frozen=True, slots=True)
class Route:
    """To which shards a row goes: by the hash of columns, to every shard, or all to the first."""

    kind: Kind
    columns: tuple[str, ...] = ()

    def __str__(self) -> str:
        return {"hash": f"by {', '.join(self.columns)}", "every": "to every shard"}.get(
            self.kind, "to one shard"
        )


@dataclass(frozen=True, slots=True)
class Feed:
    """What reaches one copy of a stage.

    From a source: `relation` names it, `filter` and `make` (over `alias.column` names) are applied
    before it is routed; `scan` and `identity` are its columns and key there. From an earlier
    stage: `stage` names that. `partial`: rows are grouped before they are routed and arrive as
    partials of that group.
    """

    name: str
    columns: tuple[Column, ...]
    key: tuple[str, ...]
    policy: Policy
    route: Route
    relation: str | None = None
    alias: str = ""
    scan: tuple[Column, ...] = ()
    identity: tuple[str, ...] = ()
    filter: Expr | None = None
    make: tuple[Named, ...] = ()
    stage: int | None = None
    partial: GroupSpec | None = None
    reports: bool = True

    @property
    def filtered(self) -> bool:
        """Rows that fail the filter travel too, marked: only the key says what they undo."""
        return self.filter is not None and self.policy != "trust"


@dataclass(frozen=True, slots=True)
class Stage:
    """Operators that see one shard."""

    number: int
    feeds: tuple[Feed, ...]
    keeps: bool
    edges: tuple[Edge, ...] = ()
    assertions: tuple[Assertion, ...] = ()
    joined: tuple[str, ...] = ()
    before: tuple[Step, ...] = ()
    group: GroupSpec | None = None
    after: tuple[Step, ...] = ()
    columns: tuple[Column, ...] = ()
    key: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Dataflow:
    """The stages of a view, in order; the last one's output is the view's changes.

    `key`: the columns that identify a row of the view (empty: none). `settled`: an epoch's changes
    of one key (without key: of equal rows) always leave the same shard; otherwise one more route,
    by `identity`, brings them together before they are shown. `zone`: the session's time zone.
    """

    view: str
    stages: tuple[Stage, ...]
    columns: tuple[Column, ...]
    key: tuple[str, ...]
    settled: bool
    shards: int
    zone: str = "UTC"

    @property
    def identity(self) -> tuple[str, ...]:
        """The columns by which changes belong together: the key, else all."""
        return self.key or tuple(c.name for c in self.columns)

    def relations(self) -> dict[str, tuple[str, ...]]:
        """The relations that are read, and the columns wanted of each, in first-use order."""
        wanted: dict[str, dict[str, None]] = {}
        for s in self.stages:
            for f in s.feeds:
                if f.relation is not None:
                    names = wanted.setdefault(f.relation, {})
                    names.update(dict.fromkeys(c.name for c in f.scan))
        return {r: tuple(n) for r, n in wanted.items()}
