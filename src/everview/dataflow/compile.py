"""Plan -> Dataflow: which stages, which routes, who is partitioned by what and who is replicated.

    compile_plan(plan, schema, settings)
        │  walks the plan once, bottom up; every node becomes a Flow:
        ├─ Source   a Scan with filters and projections above it, not routed yet
        └─ Built    a stage that still accepts steps at its end

A KeyJoin's small copies (with everything below them) are replicated. Each edge between the copies
that remain needs a stage of its own, partitioned by that edge: leaves first, so that the stage
nearest to the leaves ships joined rows as one relation to the next. A relation whose policy must
see every change of a key at one place passes a gate stage first, unless its route already
guarantees that. A Group joins the stage below if that stage's route is part of its key; otherwise
partials travel to a stage routed by the group's key.

Not here: rules on plans (plan/rules), running stages (dataflow/stage).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from everview.dataflow.dataflow import Dataflow, Feed, Route, Stage
from everview.errors import PlanError
from everview.expr import Expr, Ref, conjunction, conjuncts, may_fail, refs, rename
from everview.plan import node
from everview.plan.node import Assertion, Edge, Named, Node, Plan
from everview.plan.step import GroupSpec, Keep, Make, Step
from everview.schema import Column, Schema


@dataclass(frozen=True, slots=True)
class Settings:
    """What placement depends on besides the plan. `replicated`: relations sent to every shard."""

    shards: int = 8
    replicate_rows: int = 100_000
    replicated: frozenset[str] = frozenset()
    zone: str = "UTC"

    def resolved(self, schema: Schema) -> Settings:
        """These settings with `replicated` decided from declared sizes and placements."""
        small = {
            r.name for r in schema.relations
            if r.placement == "replicated"
            or (r.placement == "auto" and r.rows is not None and r.rows <= self.replicate_rows)
        }  # fmt: skip
        return replace(self, replicated=frozenset(small))


def compile_plan(plan: Plan, schema: Schema, settings: Settings = Settings()) -> Dataflow:
    """The dataflow of an optimized plan."""
    return compile_resolved(plan, settings.resolved(schema))


def compile_resolved(plan: Plan, settings: Settings) -> Dataflow:
    """The dataflow of an optimized plan, with `settings.replicated` as given."""
    c = _Compiler(settings)
    built = c.stage_of(c.flow(plan.root))
    last = built.finish()
    c.stages[last.number] = last
    columns, key = node.columns(plan.root), node.key(plan.root)
    stages = tuple(replace(s, joined=_needed(s, c.stages)) for s in c.stages)
    settled = built.settled(key or tuple(c.name for c in columns))
    return Dataflow(plan.name, stages, columns, key, settled, settings.shards, settings.zone)


@dataclass(slots=True)
class _Source:
    """A scan and what is applied to its rows before they are routed."""

    scan: node.Scan
    predicates: list[Expr] = field(default_factory=list)
    make: tuple[Named, ...] = ()

    @property
    def columns(self) -> tuple[Column, ...]:
        below = node.columns(self.scan)
        return node.columns(node.Project(self.scan, self.make)) if self.make else below

    @property
    def key(self) -> tuple[str, ...]:
        plain = node.key(self.scan)
        if not self.make:
            return plain
        return node.key(node.Project(self.scan, self.make))

    @property
    def nameless(self) -> bool:
        """Its projection drops the key, by which its policy must be applied."""
        return bool(self.scan.key) and self.scan.policy != "trust" and not self.key


@dataclass(slots=True)
class _Built:
    """A stage under construction; steps may still be added at its end."""

    stage: Stage
    columns: tuple[Column, ...]
    key: tuple[str, ...]
    routed: tuple[str, ...] | None  # the columns of the row its shard follows from; None: none
    equal: dict[str, str] = field(default_factory=dict)  # joined columns -> one of their equals

    def finish(self) -> Stage:
        return replace(self.stage, columns=self.columns, key=self.key)

    def settled(self, key: tuple[str, ...]) -> bool:
        """Rows that agree on these columns leave the same shard."""
        return self.routed is not None and self.same(self.routed) <= self.same(key)

    def same(self, names: Iterable[str]) -> set[str]:
        return {self.equal.get(n, n) for n in names}

    def renamed(self, kept: dict[str, str]) -> tuple[str, ...] | None:
        """The routed columns under their names in `kept`; None if one is not kept."""
        by_equal = {self.equal.get(old, old): new for old, new in kept.items()}
        found = [by_equal.get(self.equal.get(r, r)) for r in self.routed or ()]
        return None if None in found or self.routed is None else tuple(f for f in found if f)

    def step(self, step: Step, columns: tuple[Column, ...], key: tuple[str, ...]) -> None:
        s = self.stage
        if s.group is None:
            self.stage = replace(s, before=(*s.before, step))
        else:
            self.stage = replace(s, after=(*s.after, step))
        if isinstance(step, Make) and self.routed is not None:
            kept = {n.value.name: n.name for n in step.columns if isinstance(n.value, Ref)}
            self.routed = self.renamed(kept)
            self.equal = {}
        self.columns, self.key = columns, key


_Flow = _Source | _Built


class _Compiler:
    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.stages: list[Stage] = []
        self.seen: set[str] = set()

    def new(self, stage: Stage) -> Stage:
        stage = replace(stage, number=len(self.stages))
        self.stages.append(stage)
        return stage

    # ------------------------------------------------------------------ nodes

    def flow(self, n: Node) -> _Flow:
        if isinstance(n, node.Scan):
            return _Source(n)
        if isinstance(n, node.KeyJoin):
            return self.keyjoin(n)
        if isinstance(n, node.Group):
            return self.group(n)
        if isinstance(n, node.Join):
            raise PlanError(
                "PLAN.JOIN", "a Join must become a KeyJoin before it is compiled",
                fix="run the plan through plan.rules.optimize",
            )  # fmt: skip
        below = self.flow(n.input)
        if isinstance(below, _Source):
            if below.scan.policy == "trust":
                return self.on_source(n, below)
            n, below = self.safely(n, below)
            if isinstance(below, _Source):
                return below
        if isinstance(n, node.Filter):
            below.step(Keep(n.predicate), below.columns, below.key)
        else:
            columns = node.columns(n)
            kept = {c.value.name: c.name for c in n.columns if isinstance(c.value, Ref)}
            whole = bool(below.key) and all(k in kept for k in below.key)
            key = tuple(kept[k] for k in below.key) if whole else ()
            below.step(Make(n.columns), columns, key)
        return below

    def safely(
        self, n: node.Filter | node.Project, below: _Source
    ) -> tuple[node.Filter | node.Project, _Flow]:
        """What some row could make fail is computed behind a gate: a row that the policy refuses
        must not end the query. Returns what is left to do, and above what."""
        if isinstance(n, node.Project):
            if any(may_fail(c.value) for c in n.columns):
                return n, self.gate(below)
            return n, self.on_source(n, below)
        tests = conjuncts(n.predicate)
        risky = tuple(t for t in tests if may_fail(t))
        safe = tuple(t for t in tests if t not in risky)
        if safe:
            below = self.on_source(node.Filter(n.input, conjunction(safe)), below)
        if not risky:
            return n, below
        return node.Filter(n.input, conjunction(risky)), self.gate(below)

    def on_source(self, n: node.Filter | node.Project, below: _Source) -> _Source:
        made = {m.name: m.value for m in below.make}
        if isinstance(n, node.Filter):
            predicate = rename(n.predicate, made) if made else n.predicate
            return _Source(below.scan, [*below.predicates, predicate], below.make)
        columns = tuple(
            Named(c.name, rename(c.value, made) if made else c.value) for c in n.columns
        )
        return _Source(below.scan, below.predicates, columns)

    def stage_of(self, flow: _Flow) -> _Built:
        """A stage whose output is the flow."""
        if isinstance(flow, _Built):
            return flow
        return self.gate(flow)

    # ------------------------------------------------------------------ feeds

    def feed(self, name: str, flow: _Flow, key: tuple[str, ...], route: Route) -> Feed:
        """A feed of a stage that keeps rows. Puts a gate stage in between where the policy needs
        one: its changes must meet by key, and this route would scatter them."""
        if isinstance(flow, _Source) and self.scattered(flow, route):
            flow = self.gate(flow)
        if isinstance(flow, _Built):
            self.stages[flow.stage.number] = flow.finish()
            return Feed(
                name, flow.columns, key, "trust", route, stage=flow.stage.number, alias=name
            )
        return self.source_feed(name, flow, key, route)

    def scattered(self, source: _Source, route: Route) -> bool:
        if source.nameless:
            return True
        if source.scan.policy == "trust" or route.kind != "hash":
            return False
        return bool(source.key) and not set(route.columns) <= set(source.key)

    def source_feed(
        self, name: str, source: _Source, key: tuple[str, ...], route: Route,
        partial: GroupSpec | None = None,
    ) -> Feed:  # fmt: skip
        scan = source.scan
        columns, make = source.columns, source.make
        if not scan.key and scan.policy != "trust" and (make or source.predicates):
            # Without a key the whole row is the identity, so the whole row travels.
            below = node.columns(scan)
            make = make or tuple(Named(c.name, Ref(c.name, c.type)) for c in below)
            extra = tuple(Named(f"{name}#{c.name}", Ref(c.name, c.type)) for c in below)
            make = (*make, *extra)
            columns = node.columns(node.Project(scan, make))
        reports = scan.relation not in self.seen
        self.seen.add(scan.relation)
        predicate = conjunction(tuple(source.predicates)) if source.predicates else None
        filtered = predicate is not None and scan.policy != "trust"
        if filtered:  # rows that fail hold only their key
            columns = tuple(
                c if c.name in key or "#" in c.name else replace(c, nullable=True) for c in columns
            )
        if partial is not None:
            columns = partial.partial_columns()
        return Feed(
            name, columns, key, scan.policy, route, relation=scan.relation, alias=scan.alias,
            scan=scan.columns, identity=scan.key, filter=predicate, make=make, partial=partial,
            reports=reports,
        )  # fmt: skip

    def gate(self, source: _Source) -> _Built:
        """A stage of one source alone: it applies the policy and lets changes through."""
        if source.nameless:  # the key must get there: what drops it is made above
            built = self.gate(_Source(source.scan, source.predicates))
            built.step(Make(source.make), source.columns, ())
            return built
        keeps = source.scan.policy != "trust"
        identity = source.key or tuple(c.name for c in source.columns)
        route = Route("hash", identity) if identity else Route("one")
        feed = self.source_feed(source.scan.alias, source, source.key if keeps else (), route)
        joined = tuple(c.name for c in source.columns)
        stage = self.new(Stage(0, (feed,), keeps, joined=joined))
        return _Built(stage, source.columns, source.key, route.columns)

    # ------------------------------------------------------------------ joins

    def keyjoin(self, n: node.KeyJoin) -> _Built:
        flows: dict[str, _Flow] = {c.name: self.flow(c.input) for c in n.copies}
        keys = {c.name: c.key for c in n.copies}
        small = self.small(n, flows)
        root = n.copies[0].name
        pending = list(n.assertions)
        members: dict[str, set[str]] = {c.name: {c.name} for c in n.copies}
        done: set[Edge] = set()

        def subtree(copy: str) -> list[Edge]:
            """The unresolved edges to small copies below a copy, and below those."""
            found = []
            for e in n.below(copy):
                if e not in done and e.one in small:
                    found += [e, *subtree(e.one)]
            return found

        def resolve(many: str, big: Edge | None) -> _Built:
            """One stage: `many` with its small subtree and, over `big`, one partitioned copy."""
            edges = subtree(many) + ([big, *subtree(big.one)] if big else [])
            route = Route("hash", big.columns) if big else self.own_route(flows[many], keys[many])
            feeds = [self.feed(many, flows[many], keys[many], route)]
            for e in edges:
                to = Route("hash", keys[e.one]) if e is big else Route("every")
                feeds.append(self.feed(e.one, flows[e.one], keys[e.one], to))
                members[many] |= members[e.one]
            done.update(edges)
            known = {c.name for f in feeds for c in f.columns}
            here = [a for a in pending if self.asserted(a, members[many], known)]
            for a in here:
                pending.remove(a)
            inside = {f.name for f in feeds}
            asserted = tuple(
                Assertion(a.copy if a.copy in inside else many, a.predicate) for a in here
            )
            columns = tuple(c for f in feeds for c in f.columns if "#" not in c.name)
            names = tuple(c.name for c in columns)
            stage = Stage(0, tuple(feeds), True, tuple(edges), asserted, names)
            equal: dict[str, str] = {}
            for e in edges:
                equal |= dict(zip(keys[e.one], (equal.get(c, c) for c in e.columns), strict=True))
            return _Built(self.new(stage), columns, keys[many], route.columns, equal)

        def build(copy: str) -> None:
            big = [e for e in n.below(copy) if e.one not in small]
            for e in big:
                build(e.one)
            big.sort(key=lambda e: set(e.columns) <= set(keys[copy]))
            for e in big:
                flows[copy] = resolve(copy, e)
            if not big and copy == root:
                flows[copy] = resolve(copy, None)

        build(root)
        if pending:
            raise PlanError("PLAN.ASSERTION", f"assertion at {pending[0].copy} sees no stage")
        top = flows[root]
        assert isinstance(top, _Built)
        return top

    def small(self, n: node.KeyJoin, flows: dict[str, _Flow]) -> set[str]:
        """Copies to replicate: small themselves, and all below them too; never the root."""
        small: set[str] = set()
        for c in reversed(_root_first(n)):
            flow = flows[c]
            fits = isinstance(flow, _Source) and flow.scan.relation in self.settings.replicated
            if fits and c != n.copies[0].name and all(e.one in small for e in n.below(c)):
                small.add(c)
        return small

    def own_route(self, flow: _Flow, key: tuple[str, ...]) -> Route:
        """The route of a copy that no edge partitions: by its key, else by its columns."""
        columns = key or tuple(c.name for c in flow.columns if "#" not in c.name)
        return Route("hash", columns)

    def asserted(self, a: Assertion, members: set[str], known: set[str]) -> bool:
        return a.copy in members and all(r.name in known for r in refs(a.predicate))

    # ------------------------------------------------------------------ groups

    def group(self, n: node.Group) -> _Built:
        below = self.flow(n.input)
        all_columns = node.columns(n)
        spec = GroupSpec(n.keys, n.aggregates, all_columns[: len(n.keys)])
        if isinstance(below, _Source) and below.scan.policy != "trust":
            below = self.gate(below)
        names = {k.value.name: k.name for k in n.keys if isinstance(k.value, Ref)}
        if isinstance(below, _Built) and below.stage.group is None and below.routed:
            routed = below.renamed(names)
        else:
            routed = None
        if isinstance(below, _Built) and routed is not None:
            below.stage = replace(below.stage, group=spec)
            return _Built(below.stage, all_columns, tuple(k.name for k in n.keys), routed)
        keys = tuple(k.name for k in n.keys)
        route = Route("hash", keys) if keys else Route("one")
        if isinstance(below, _Source):
            feed = self.source_feed(below.scan.alias, below, (), route, partial=spec)
        else:
            self.stages[below.stage.number] = below.finish()
            number = below.stage.number
            feed = Feed(
                "partials", spec.partial_columns(), (), "trust", route, stage=number, partial=spec
            )
        stage = self.new(Stage(0, (feed,), False, group=spec))
        return _Built(stage, all_columns, keys, keys if keys else ())


def _root_first(n: node.KeyJoin) -> list[str]:
    order = [n.copies[0].name]
    for name in order:
        order.extend(e.one for e in n.below(name))
    return order


def _needed(stage: Stage, stages: list[Stage]) -> tuple[str, ...]:
    """The joined columns that anything after the join reads."""
    read: set[str] = set()
    for step in stage.before:
        if isinstance(step, Make):
            return _only(stage, read | {r.name for c in step.columns for r in refs(c.value)})
        read |= {r.name for r in refs(step.predicate)}
    specs = [f.partial for s in stages for f in s.feeds if f.stage == stage.number and f.partial]
    specs += [stage.group] if stage.group else []
    if not specs:
        return stage.joined
    for spec in specs:
        values = [k.value for k in spec.keys]
        values += [a.argument for a in spec.aggregates if a.argument is not None]
        read |= {r.name for v in values for r in refs(v)}
    return _only(stage, read)


def _only(stage: Stage, names: set[str]) -> tuple[str, ...]:
    return tuple(n for n in stage.joined if n in names)


def replicated(stages: Iterable[Stage]) -> set[str]:
    """The relations that a dataflow sends to every shard."""
    return {f.relation for s in stages for f in s.feeds if f.route.kind == "every" and f.relation}
