"""The laws: what must hold of every schema, query and history.

    Case ──engine──▶ Run: per epoch the net changes and rejects
      └──oracle──▶ Truth: per epoch the answer and rejects          a law compares runs, or run and
      truth

| law     | says                                                                            |
|---------|---------------------------------------------------------------------------------|
| scratch | after every epoch the summed changes are the oracle's answer; same rejects, types |
| split   | other cuts into epochs end in the same answer                                   |
| order   | changes of different keys may come in any order within an epoch                 |
| undo    | a history and its negation leave an empty answer and no state                   |
| shards  | 1, 2 and 7 shards, any relations replicated: the same changes; settled is so    |
| restart | forgetting the arenas after every epoch: the same output, bit for bit           |
| wire    | the plan as JSON and back runs the same                                         |
| quiet   | changes without effect give no output                                           |
| cost    | work counted is bounded by changes in, rows turned live or waiting, changes out |

Not here: random cases (tests/histories), many of them (run_laws), kernels and their twins.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from random import Random

from everview.dataflow.compile import Settings, compile_resolved
from everview.dataflow.dataflow import Dataflow
from everview.dataflow.local import Epoch, LocalHost
from everview.dataflow.pack import Packed
from everview.delta.changes import DELETE, INSERT
from everview.delta.frame import batch_of, decode
from everview.plan.node import Plan
from everview.plan.rules import optimize
from everview.plan.wire import from_json, to_json
from everview.sql.script import read_script
from tests.histories import Case, Change, batches, cut
from tests.naive import ChangelogError, NaiveView
from tests.oracle import Oracle, PolicyError, Row, compare, rows_of

Refused = Counter[tuple[str, str]]  # (relation, reason)
Net = list[tuple[Row, int]]  # an epoch's net changes, sorted


class Broken(AssertionError):
    """A law that does not hold."""

    def __init__(self, law: str, what: str) -> None:
        super().__init__(f"{law}: {what}")
        self.law = law


class Watched(LocalHost):
    """Sees that what belongs together leaves one shard, where the dataflow says that it does: this
    host adds up the shards, so nothing else here would miss it."""

    def _epoch(self, number: int, blobs: list[Packed]) -> Epoch:
        left: dict[str, int] = {}
        for p in blobs if self.dataflow.settled else ():
            header, parts = decode(p.blob)
            if "changes" in header:
                for row in rows_of(batch_of(parts[0]).select(list(self.dataflow.identity))):
                    if left.setdefault(repr(row), p.shard) != p.shard:
                        raise Broken("settled", f"epoch {number}: {row} leaves two shards")
        return super()._epoch(number, blobs)


@dataclass
class Work:
    """Counted work of one epoch."""

    changes: int
    touched: int
    probes: int
    turned: int
    out: int


@dataclass
class Run:
    """What the engine gave for a list of epochs."""

    host: LocalHost
    view: NaiveView = field(default_factory=NaiveView)
    nets: list[Net] = field(default_factory=list)
    bits: list[bytes] = field(default_factory=list)
    refused: list[Refused] = field(default_factory=list)
    work: list[Work] = field(default_factory=list)

    def epoch(self, changes: Sequence[Change], case: Case) -> None:
        number = f"{self.host.number:06d}"
        for shard in self.host.shards.values():  # those that stay idle keep their last counts
            shard.counts = replace(shard.counts, changes=0, touched=0, probes=0, turned=0)
        out = self.host.epoch(batches(case.schema, changes, number))
        self.nets.append(self.view.add(out.changes))
        self.bits.append(out.changes.to_arrow().serialize().to_pybytes())
        self.refused.append(Counter((r.relation, r.reason) for r in out.rejects))
        c = self.host.counts()
        self.work.append(
            Work(len(changes), c.touched, c.probes, c.turned, sum(abs(n) for _, n in self.nets[-1]))
        )


@dataclass
class Truth:
    """What the oracle says: answers and rejects per epoch, and every change that took effect."""

    oracle: Oracle
    answers: list[Counter[Row]] = field(default_factory=list)
    refused: list[Refused] = field(default_factory=list)
    effects: list[Change] = field(default_factory=list)


@dataclass
class Checked:
    """A case under test, with the first run all laws compare with."""

    case: Case
    plan: Plan
    settings: Settings
    run: Run
    truth: Truth
    rng: Random


def truth(case: Case) -> Truth:
    t = Truth(Oracle(case.schema, case.sql))
    for epoch in case.batches():
        t.refused.append(Counter(t.oracle.epoch(epoch)))
        t.effects += [(n, w, row) for n, w, row in t.oracle.effects]
        t.answers.append(t.oracle.answer())
    return t


def planned(case: Case) -> Plan:
    script = read_script(case.script())
    return optimize(script.views["v"])


def run(
    case: Case, flow: Dataflow, epochs: Sequence[Sequence[Change]], *, restart: bool = False
) -> Run:
    r = Run(Watched(flow))
    for epoch in epochs:
        r.epoch(epoch, case)
        if restart:
            r.host.restart()
    return r


def placed(rng: Random, case: Case, shards: int) -> Settings:
    """Some relations replicated, as small ones are."""
    chosen = [n for n in case.used if rng.random() < 0.4]
    return Settings(shards=shards, replicated=frozenset(chosen))


def examine(case: Case, laws: Sequence[str]) -> Checked:
    """Run a case and hold it to `scratch` and to these laws; raises Broken."""
    rng = Random(case.seed or 0)
    t = truth(case)
    plan = planned(case)
    settings = placed(rng, case, rng.choice((1, 2, 3)))
    flow = compile_resolved(plan, settings)
    c = Checked(case, plan, settings, Run(Watched(flow)), t, rng)
    scratch(c)
    for law in LAWS:
        if law in laws and law != "scratch":
            LAWS[law](c)
    return c


# ----------------------------------------------------------------------------------- the laws


def scratch(c: Checked) -> None:
    expected = [t for _, t in c.truth.oracle.query.columns]
    typed = [k.type for k in c.run.host.dataflow.columns]
    if typed != expected:
        raise Broken("types", f"{[str(t) for t in typed]}, Spark: {[str(t) for t in expected]}")
    for i, epoch in enumerate(c.case.epochs):
        try:
            c.run.epoch(epoch, c.case)
        except ChangelogError as e:
            raise Broken("scratch", f"epoch {i}: {e}") from e
        wrong = compare(c.run.view.rows, c.truth.answers[i])
        if wrong:
            raise Broken("scratch", f"epoch {i}: {wrong}")
        if c.run.refused[i] != c.truth.refused[i]:
            raise Broken(
                "rejects", f"epoch {i}: {dict(c.run.refused[i])}, not {dict(c.truth.refused[i])}"
            )


def _same(law: str, a: Run, b: Run) -> None:
    for i, (x, y) in enumerate(zip(a.nets, b.nets, strict=True)):
        if x != y:
            raise Broken(law, f"epoch {i}: {_difference(x, y)}")
        if a.refused[i] != b.refused[i]:
            raise Broken(law, f"epoch {i}: rejects {a.refused[i]}, not {b.refused[i]}")


def _difference(x: Net, y: Net) -> str:
    before, now = [r for r in x if r not in y], [r for r in y if r not in x]
    return f"only before: {before[:5]}, only now: {now[:5]}"


def _again(c: Checked, settings: Settings | None = None, plan: Plan | None = None) -> Dataflow:
    return compile_resolved(plan or c.plan, settings or c.settings)


def split(c: Checked) -> None:
    changes = [x for e in c.case.epochs for x in e]
    count = c.rng.choice((1, 2, 5, 11, len(changes) + 1))
    other = run(c.case, _again(c), cut(c.rng, changes, count))
    if other.view.rows != c.run.view.rows:
        raise Broken("split", str(compare(other.view.rows, c.run.view.rows)))


def order(c: Checked) -> None:
    epochs = [_shuffled(c, e) for e in c.case.epochs]
    _same("order", c.run, run(c.case, _again(c), epochs))


def _shuffled(c: Checked, epoch: Sequence[Change]) -> list[Change]:
    """A random merge of the changes per key, each key's own in their order."""
    queues: dict[tuple[str, Row], list[Change]] = {}
    for change in epoch:
        name, _, row = change
        relation = c.case.schema.relation(name)
        names = [k.name for k in relation.columns]
        key = tuple(row[names.index(k)] for k in relation.key) if relation.key else row
        queues.setdefault((name, tuple(map(repr, key))), []).append(change)
    left = [list(reversed(q)) for q in queues.values()]
    out = []
    while left:
        q = c.rng.choice(left)
        out.append(q.pop())
        if not q:
            left.remove(q)
    return out


def undo(c: Checked) -> None:
    negation = [(n, -w, row) for n, w, row in reversed(c.truth.effects)]
    for epoch in cut(c.rng, negation, c.rng.choice((1, 2, 4))):
        c.run.epoch(epoch, c.case)
        c.truth.oracle.epoch(batches(c.case.schema, epoch, ""))
    wrong = compare(c.run.view.rows, c.truth.oracle.answer())
    if wrong:
        raise Broken("undo", wrong)
    n = c.run.host.counts()
    left = {"live": n.live, "waiting": n.waiting, "groups": n.groups, "entries": n.entries,
            "texts": n.texts, "log rows": n.log_rows}  # fmt: skip
    if "no grouping" in c.case.features:
        left.pop("log rows")  # the one row of an ungrouped aggregate stays
    if any(left.values()):
        raise Broken("undo", f"state left: {left}")


def shards(c: Checked) -> None:
    for n in (1, 2, 7):
        settings = placed(c.rng, c.case, n)
        _same(f"shards {n}", c.run, run(c.case, _again(c, settings), c.case.epochs))


def restart(c: Checked) -> None:
    other = run(c.case, _again(c), c.case.epochs, restart=True)
    _same("restart", c.run, other)
    for i, (a, b) in enumerate(zip(c.run.bits, other.bits, strict=False)):
        if a != b:
            raise Broken("restart", f"epoch {i}: the same changes in another order or form")


def wire(c: Checked) -> None:
    text = to_json(c.plan)
    plan = from_json(text)
    if plan != c.plan or to_json(plan) != text:
        raise Broken("wire", "the plan read back is another one")
    _same("wire", c.run, run(c.case, _again(c, plan=plan), c.case.epochs))


def quiet(c: Checked) -> None:
    """Nothing, rows replaced by themselves, rows that come and go, and what is refused."""
    still: list[Change] = []
    for name in c.case.used:
        base = c.truth.oracle.tables[name]
        content = base.content()
        for row in c.rng.sample(content, min(3, len(content))):
            still += [(name, DELETE, row), (name, INSERT, row)]
            if base.relation.key and base.relation.policy == "reject":
                still.append((name, INSERT, row))  # refused
        for row in [r for n, _, r in c.truth.effects if n == name][:8]:
            if row not in content and not _key_there(c, name, row):
                still += [(name, INSERT, row), (name, DELETE, row)]
                break
    for epoch in ((), still, ()):
        c.run.epoch(epoch, c.case)
        if c.run.nets[-1]:
            raise Broken("quiet", f"{epoch} gave {c.run.nets[-1][:5]}")


def _key_there(c: Checked, name: str, row: Row) -> bool:
    base = c.truth.oracle.tables[name]
    names = [k.name for k in base.relation.columns]
    return tuple(row[names.index(k)] for k in base.relation.key) in base.rows


def cost(c: Checked) -> None:
    """Each row that changes or turns is met once per edge and copy, in each stage and shard."""
    flow = c.run.host.dataflow
    copies = sum(len(s.feeds) for s in flow.stages)
    edges = sum(len(s.edges) for s in flow.stages)
    for i, w in enumerate(c.run.work):
        reach = flow.shards * copies * (edges + 1)
        met = reach * (w.changes + w.out) + (edges + 1) * w.turned
        if w.probes > 2 * met or w.touched > 2 * met:
            raise Broken("cost", f"epoch {i}: {w}, bound {2 * met}")


# In this order where a case is held to several: `quiet` and `undo` go on with its run.
LAWS: dict[str, Callable[[Checked], None]] = {
    "scratch": scratch, "split": split, "order": order, "shards": shards, "restart": restart,
    "wire": wire, "cost": cost, "quiet": quiet, "undo": undo,
}  # fmt: skip


# ------------------------------------------------------------------------------------- failures


def verdict(case: Case, laws: Sequence[str]) -> Broken | None:
    """Why the case breaks a law, or None. Anything the engine raises breaks `runs`."""
    try:
        examine(case, laws)
    except Broken as e:
        return e
    except PolicyError:
        raise
    except Exception as e:
        return Broken("runs", f"{type(e).__name__}: {e}")
    return None


def shrunk(case: Case, laws: Sequence[str], broken: str, tries: int = 400) -> Case:
    """A smaller case that breaks the same law: changes are left out while it still does."""
    size = max(1, sum(map(len, case.epochs)) // 2)
    while size and tries > 0:
        smaller = None
        for e, epoch in enumerate(case.epochs):
            for first in range(0, len(epoch), size):
                tries -= 1
                epochs = list(case.epochs)
                epochs[e] = epoch[:first] + epoch[first + size :]
                trial = replace(case, epochs=tuple(x for x in epochs if x) or ((),))
                if tries > 0 and _breaks(trial, laws, broken):
                    smaller = trial
                    break
            if smaller:
                break
        if smaller:
            case = smaller
        else:
            size //= 2
    return case


def _breaks(case: Case, laws: Sequence[str], broken: str) -> bool:
    try:
        found = verdict(case, laws)
    except PolicyError:
        return False
    return found is not None and found.law == broken


def check_text(script: str, sql: str, epochs: Sequence[Sequence[Change]], inner: str = "") -> None:
    """A case given as text, as `Case.reproduction` prints it, held to every law."""
    schema = read_script(script).schema
    changed = {name for epoch in epochs for name, *_ in epoch}
    used = tuple(r.name for r in schema.relations if r.name in changed)
    fixed = tuple(tuple(e) for e in epochs)
    examine(Case(schema, sql, fixed, used, inner=inner), tuple(LAWS))
