"""EXPLAIN: how a view is kept current, as text.

    view, key, form          what leaves
    join graph               who references whom, and by which columns
    stages and routes        what sees one shard, and how rows get there
    state                    what is kept per relation, and whether it is bounded

Loads neither numpy nor Spark. Not here: pictures (plan/picture), the plan's nodes (plan/explain).
"""

from __future__ import annotations

from everview.config import Config
from everview.dataflow.compile import Settings, compile_plan
from everview.dataflow.dataflow import Dataflow, Feed, Stage
from everview.plan import node
from everview.plan.explain import render, text
from everview.plan.node import KeyJoin, Node, Plan
from everview.plan.step import Keep
from everview.schema import Column, Schema

_ROW_BYTES = 36  # marks, id, free list, and its entry's row, head and count
_LINK_BYTES = 12


def explain(plan: Plan, schema: Schema, config: Config) -> str:
    """The text for an optimized plan."""
    settings = Settings(config.shards, config.replicate_rows, zone=config.timezone)
    flow = compile_plan(plan, schema, settings)
    lines = [f"view {flow.view}({', '.join(f'{c.name} {c.type}' for c in flow.columns)})"]
    key = ", ".join(flow.key)
    lines.append(f"  key: {key}" if key else "  key: none (rows count; no upsert form)")
    by = key or "all columns"
    lines.append(
        f"  changes: {'net as they leave' if flow.settled else f'one more route, by {by}'}"
    )
    lines += ["", "plan", *_indented(render(plan.root))]
    for join in _joins(plan.root):
        lines += ["", "join graph", *_indented(graph(join))]
    lines += ["", f"stages ({len(flow.stages)}), {flow.shards} shards"]
    for stage in flow.stages:
        lines += [f"  {line}" for line in _stage(stage, flow)]
    lines += ["", "state", *(f"  {line}" for line in _state(flow))]
    return "\n".join(lines)


def graph(join: KeyJoin) -> str:
    """The tree of copies, root first, with its assertions."""

    def below(copy: str, indent: str) -> list[str]:
        out = []
        for e in join.below(copy):
            out.append(f"{indent}{', '.join(_short(c) for c in e.columns)} -> {e.one}")
            out += below(e.one, indent + "   ")
        return out

    root = join.copies[0].name
    lines = [f"{root} (root)", *below(root, "   ")]
    lines += [f"assert at {a.copy}: {text(a.predicate)}" for a in join.assertions]
    return "\n".join(lines)


def _short(name: str) -> str:
    return name.split(".", 1)[-1]


def _indented(text: str) -> list[str]:
    return [f"  {line}" for line in text.splitlines()]


def _joins(n: Node) -> list[KeyJoin]:
    found = [n] if isinstance(n, KeyJoin) else []
    return found + [j for i in node.inputs(n) for j in _joins(i)]


def _stage(stage: Stage, flow: Dataflow) -> list[str]:
    lines = [f"stage {stage.number}"]
    lines += [f"  <- {_feed(f)}" for f in stage.feeds]
    if stage.keeps and not stage.edges and stage.group is None:
        lines.append("  gate: knows the rows that are there, to apply the policy")
    if stage.edges:
        lines.append("  join " + ", ".join(f"{e.many} -> {e.one}" for e in stage.edges))
    lines += [f"  assert {text(a.predicate)}" for a in stage.assertions]
    lines += [f"  {_step(s)}" for s in stage.before]
    if stage.group is not None:
        keys = ", ".join(k.name for k in stage.group.keys) or "nothing (one row)"
        lines.append(f"  group by {keys}")
    lines += [f"  {_step(s)}" for s in stage.after]
    to = [s.number for s in flow.stages for f in s.feeds if f.stage == stage.number]
    lines.append(f"  -> {', '.join(f'stage {n}' for n in to) or 'changes of the view'}")
    return lines


def _step(step: object) -> str:
    if isinstance(step, Keep):
        return f"keep {text(step.predicate)}"
    return "make " + ", ".join(c.name for c in step.columns)  # type: ignore[attr-defined]


def _feed(f: Feed) -> str:
    source = f"relation {f.relation}" if f.relation else f"stage {f.stage}"
    name = f" as {f.name}" if f.relation and f.name != f.relation else ""
    parts = [f"{source}{name}, {f.route}"]
    if f.partial is not None:
        parts.append("as partials of each group")
    if f.relation:
        parts.append(f"policy {f.policy}")
    if f.filter is not None:
        kept = "their key" if f.identity else "they are"
        how = f"failing rows travel as {kept}" if f.filtered else "before the route"
        parts.append(f"filter {text(f.filter)} ({how})")
    return "; ".join(parts)


def _state(flow: Dataflow) -> list[str]:
    lines = []
    for s in flow.stages:
        edges: dict[str, int] = {}
        for e in s.edges:
            edges[e.many] = edges.get(e.many, 0) + 1
        for f in s.feeds if s.keeps else ():
            size = _ROW_BYTES + _LINK_BYTES * edges.get(f.name, 0) + 8 * _words(f.columns)
            size += 8 * _words(tuple(c for c in f.columns if c.name in f.key)) + 8
            where = "every shard" if f.route.kind == "every" else "one shard"
            lines.append(
                f"stage {s.number}: each row of {f.name} in {where}, about {size} bytes of index; "
                f"as many as {_many(f)}"
            )
        if s.group is not None:
            size = 8 * (s.group.width + _words(s.group.columns)) + 40
            keyed = "each group" if s.group.keys else "one group, always there"
            many = "; as many as there are groups" if s.group.keys else ""
            lines.append(f"stage {s.number}: {keyed}, about {size} bytes{many}")
    return lines or ["none: rows pass through"]


def _many(f: Feed) -> str:
    if f.stage is not None:
        return f"stage {f.stage} gives"
    passing = f.filter is not None and not f.filtered
    return f"{f.relation} has" + (" that pass the filter" if passing else "")


def _words(columns: tuple[Column, ...]) -> int:
    return sum(c.type.words for c in columns)
