"""Every scenario on the local host: with 1, 2 and 7 shards, each also with a restart after every
epoch.

`pytest tests/test_scenarios.py --update` rewrites what the files expect.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from everview.dataflow import local
from everview.dataflow.compile import Settings, compile_plan, compile_resolved
from everview.dataflow.dataflow import Dataflow
from everview.dataflow.local import LocalHost
from everview.dataflow.stage import StageShard
from everview.delta.changelog import KIND, canonical, retract
from everview.delta.changes import Changes
from everview.state.arena import Arena
from tests import scenario as s
from tests.histories import Change
from tests.oracle import Oracle, compare, rows_of
from tests.oracle import canonical as canonical_value
from tests.scenario import FILES, Outcome, RunEpoch, Scenario


class Handing(LocalHost):
    """Hands its arenas over as files after every epoch, as tasks on a cluster do."""

    def __init__(self, flow: Dataflow, scratch: Path) -> None:
        super().__init__(flow, scratch)
        self.tokens: dict[tuple[int, int], str] = {}

    def epoch(self, changes: Iterable[Changes]) -> local.Epoch:
        out = super().epoch(changes)
        for at, shard in self.shards.items():
            shard.arena.leave(self._place(at) / f"token{self.number}")
        self.tokens |= dict.fromkeys(self.shards, f"token{self.number}")
        self.shards = {}
        return out

    def _place(self, at: tuple[int, int]) -> Path:
        assert self.scratch is not None
        return self.scratch / f"{at[0]}" / f"{at[1]}"

    def _shard(self, stage: int, shard: int) -> tuple[StageShard, bool]:
        at = (stage, shard)
        first = at not in self.stores
        arena, warm = Arena.take(self._place(at), self.tokens.get(at))
        assert warm != first, "an arena that was left is there"
        store = self.stores.setdefault(at, local.Chunks())
        self.shards[at] = StageShard(
            self.dataflow, self.dataflow.stages[stage], shard, arena, store
        )
        return self.shards[at], first


def on_local(
    scenario: Scenario, flow: Dataflow, *, restart: bool, host: LocalHost | None = None
) -> RunEpoch:
    """An epoch on a local host."""
    host = host or LocalHost(flow)

    def run_epoch(number: int, changes: Sequence[Change]) -> Outcome:
        if restart:
            host.restart()
        out = host.epoch(scenario.batches(number))
        delta = canonical(out.changes, flow.key)
        log = retract(delta.to_arrow(), flow.key, number)
        kinds = log.column(KIND).to_pylist()
        rows = rows_of(log.select([c.name for c in flow.columns]))
        rejects = [(r.relation, r.reason, r.start + r.row + 1) for r in out.rejects]
        return Outcome(list(zip(kinds, rows, strict=True)), rejects)

    return run_epoch


@pytest.mark.parametrize("file", FILES, ids=lambda f: f.stem)
def test_scenario(file: Path, update: bool) -> None:
    scenario = s.read(file)
    if update:
        one = compile_plan(scenario.plan, scenario.schema, Settings(shards=1))
        scenario = s.updated(scenario, s.play(scenario, on_local(scenario, one, restart=False)))
        file.write_text(s.text_of(scenario), encoding="utf-8")
    for shards in (1, 2, 7):
        flow = compile_plan(scenario.plan, scenario.schema, Settings(shards=shards))
        for restart in (False, True):
            s.run(scenario, on_local(scenario, flow, restart=restart))


@pytest.mark.parametrize("file", FILES, ids=lambda f: f.stem)
def test_arenas_handed_over_as_files(file: Path, tmp_path: Path) -> None:
    """Every epoch starts from mapped files that another object left."""
    scenario = s.read(file)
    flow = compile_plan(scenario.plan, scenario.schema, Settings(shards=2))
    s.run(scenario, on_local(scenario, flow, restart=False, host=Handing(flow, tmp_path)))


@pytest.mark.parametrize("file", FILES, ids=lambda f: f.stem)
def test_any_placement_gives_the_same(file: Path) -> None:
    """All relations partitioned, all that may be replicated."""
    scenario = s.read(file)
    names = frozenset(r.name for r in scenario.schema.relations)
    for replicated in (frozenset[str](), names):
        flow = compile_resolved(scenario.plan, Settings(shards=3, replicated=replicated))
        s.run(scenario, on_local(scenario, flow, restart=False))


NO_ORACLE = frozenset({"not_null", "view_over_a_view"})  # it knows neither


@pytest.mark.parametrize(
    "file", [f for f in FILES if f.stem not in NO_ORACLE], ids=lambda f: f.stem
)
def test_what_a_scenario_expects_is_what_the_query_says(file: Path) -> None:
    """The golden part sums to the oracle's answer after every epoch, so that it cannot be wrong."""
    scenario = s.read(file)
    sql = scenario.sql.split("CREATE VIEW")[1].split(" AS", 1)[1].strip().rstrip(";")
    oracle = Oracle(scenario.schema, sql)
    types = [c.type for c in compile_plan(scenario.plan, scenario.schema).columns]
    answer: Counter[tuple[object, ...]] = Counter()
    for number, epoch in enumerate(scenario.epochs):
        refused = oracle.epoch(scenario.batches(number))
        for line in epoch.expected:
            if line.startswith("reject"):
                continue
            kind, row = line.split(maxsplit=1)
            values = zip(s.split(row), types, strict=True)
            weight = 1 if kind.startswith("+") else -1
            answer[tuple(canonical_value(s.value(v, t)) for v, t in values)] += weight
        assert compare(+answer, oracle.answer()) is None, f"epoch {number}"
        assert not -answer
        rejected = [tuple(e.split()[2:]) for e in epoch.expected if e.startswith("reject")]
        assert Counter(rejected) == Counter(refused), f"epoch {number}"


def test_a_file_reads_as_it_is_written() -> None:
    assert len(FILES) >= 25
    for file in FILES:
        assert s.text_of(s.read(file)) == file.read_text(encoding="utf-8"), file.name


def test_a_scenario_that_does_not_hold_says_where() -> None:
    scenario = s.read(FILES[0])
    first = replace(scenario.epochs[0], expected=("+I 'something else'",))
    wrong = replace(scenario, epochs=(first, *scenario.epochs[1:]))
    flow = compile_plan(wrong.plan, wrong.schema, Settings(shards=1))
    with pytest.raises(AssertionError, match="epoch 0"):
        s.run(wrong, on_local(wrong, flow, restart=False))


def test_rejects_without_a_place_are_compared_by_reason() -> None:
    scenario = s.read(s.FOLDER / "duplicate_key.test")
    flow = compile_plan(scenario.plan, scenario.schema, Settings(shards=1))
    local = on_local(scenario, flow, restart=False)

    def placeless(number: int, changes: Sequence[Change]) -> Outcome:
        out = local(number, changes)
        return Outcome(out.rows, [(name, why, None) for name, why, _ in out.rejects])

    s.run(scenario, placeless)
