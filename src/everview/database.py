"""Database and View: the façade. Declare, feed, look.

    db = connect()                                   embedded Spark, or Database(spark)
    db.execute("CREATE TABLE ...; CREATE VIEW ...")
    db.table("orders").insert([...])                 rows by hand
    db.attach("clicks", frame, change="op")          any streaming DataFrame
    run = db.view("revenue").start("console")        or view.changes(): a streaming DataFrame

Not here: the life of a change (spark, dataflow), SQL (sql), the batch answer (verify).
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from everview.config import Config, load
from everview.connect import hand
from everview.connect.contract import RangeSource
from everview.connect.fold import Row
from everview.connect.open import open_sources
from everview.connect.options import by_hand
from everview.dataflow.compile import Settings
from everview.dataflow.explain import explain
from everview.dataflow.program import Program, dataflow_of
from everview.delta.changes import DELETE, INSERT, UPDATE
from everview.errors import ConfigError, InputError, SqlError
from everview.plan.check import check_shown
from everview.plan.node import Plan
from everview.plan.rules import optimize
from everview.plan.wire import read_plan, to_json
from everview.schema import Relation, Schema
from everview.spark import host, session
from everview.spark.checkpoint import Record, committed, recorded, remember
from everview.spark.hosted import Hosted, state_mark
from everview.spark.rows import Stream
from everview.spark.run import Run
from everview.spark.sinks import MemorySink, apart, open_sink
from everview.spark.snapshot import kept_rejects, snapshot
from everview.spark.unpack import Form, unpacked
from everview.sql.script import read_script, read_view
from everview.verify import Verdict, verify

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def connect(config: Config | None = None, **settings: Any) -> Database:
    """A database on embedded Spark. Settings: see everview.config; flags win over file and
    environment."""
    config = config or load(flags=settings)
    return Database(session.embedded(config), config)


class Database:
    """Relations, their sources, and views over them."""

    def __init__(self, spark: SparkSession, config: Config | None = None) -> None:
        self.config = session.in_zone(spark, config or load())
        self.spark = session.prepared(spark, self.config)
        self.schema = Schema()
        self.plans: dict[str, Plan] = {}
        self.streams: dict[str, Stream] = {}
        self.runs: list[Run] = []
        self.base = Path.cwd()
        self._home: Path | None = None

    # ------------------------------------------------------------------ declaring and feeding

    def execute(self, text: str) -> None:
        """Run a script of CREATE TABLE and CREATE VIEW statements."""
        script = read_script(text, self.schema, self.plans, policy=self.config.policy)
        self.schema = script.schema
        self.plans |= script.views

    def table(self, name: str) -> Table:
        """A declared relation, to change rows of by hand."""
        return Table(self, self.schema.relation(name))

    def attach(
        self, name: str, frame: DataFrame, *, change: str | None = None, order_by: str | None = None
    ) -> None:
        """Make a streaming DataFrame the source of a declared relation.

        `change`: the column that says what each row does (+/-, I/U/D, `_change_type`); None: rows
        only arrive. `order_by`: a column that increases with every change, needed if one key can
        change twice within an epoch in different partitions.
        """
        if not frame.isStreaming:
            raise InputError(
                "INPUT.NOT_STREAMING", f"the DataFrame for {name} is not a stream",
                fix="read it with spark.readStream",
            )  # fmt: skip
        relation = self.schema.relation(name)
        self.streams[relation.name] = Stream(relation, frame, change, order_by)

    # ------------------------------------------------------------------ views

    def view(self, name: str, sql: str | None = None, *, plan: str | None = None) -> View:
        """A view by name; with `sql`, or a `plan` as JSON (see plan/wire), declared now."""
        if plan is not None:
            self.plans[name.lower()] = replace(read_plan(plan, self.schema), name=name.lower())
        elif sql is not None:
            self.plans[name.lower()] = read_view(name.lower(), sql, self.schema, self.plans)
        if name.lower() not in self.plans:
            raise SqlError(
                "VIEW.UNKNOWN", f"there is no view {name}",
                fix=f"declared: {', '.join(self.plans) or 'none'}",
            )  # fmt: skip
        return View(self, optimize(self.plans[name.lower()]))

    def start(self, views: Sequence[str] | None = None, sink: str = "memory") -> list[Run]:
        """Start several views (all, if none are named). A sink that is a folder gets one folder in
        it for each."""
        names = tuple(views if views is not None else self.plans)
        return [self.view(v).start(sink if len(names) == 1 else apart(sink, v)) for v in names]

    def stop(self) -> None:
        """Stop every run that this database started."""
        for run in self.runs:
            run.stop()
        self.runs = []

    def __enter__(self) -> Database:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    # ------------------------------------------------------------------ places and sources

    @property
    def home(self) -> Path:
        """Where rows by hand and unnamed checkpoints are kept."""
        if self._home is None:
            self._home = Path(tempfile.mkdtemp(prefix="everview-"))
        return self._home

    def placed(self, relation: Relation) -> Relation:
        """A relation without a connector takes rows by hand, in a folder of its own. Timestamps in
        files are of the session's time zone unless the relation names another."""
        options = {"zone": self.config.timezone, **relation.options}
        if by_hand(relation):
            folder = self.config.data or (self.config.checkpoint or self.home) / "hand"
            options |= {"connector": "hand", "path": str(folder / relation.name)}
        return replace(relation, options=options)

    def read_from(self, name: str) -> str:
        """Where a relation is read from, in words that stay the same while the place does."""
        if name in self.streams:
            return "an attached stream"
        options = self.schema.relation(name).options
        if not by_hand(self.schema.relation(name)):
            said = {n: v for n, v in sorted(options.items()) if n not in ("connector", "tasks")}
            return " ".join([options.get("connector", ""), *(f"{n}={v}" for n, v in said.items())])
        if self.config.data is None and self.config.checkpoint is not None:
            return "rows by hand beside the checkpoint"
        return f"rows by hand in {self.placed(self.schema.relation(name)).options['path']}"

    def ranges(self, relations: Iterable[str]) -> RangeSource | None:
        """The files of those relations that no stream feeds, as one source.

        An update sequence is told of all the declared relations in it, or lines of those that the
        view does not read would be refused as unknown.
        """
        named = [self.placed(self.schema.relation(r)) for r in relations if r not in self.streams]
        paths = {r.options.get("path") for r in named if _mixed(r)}
        there = {r.name for r in named} | set(self.streams)
        named += [
            r for r in self.schema.relations
            if _mixed(r) and r.name not in there and r.options.get("path") in paths
        ]  # fmt: skip
        return open_sources(named, self.base) if named else None


def _mixed(relation: Relation) -> bool:
    """Its file may hold other relations too."""
    return relation.options.get("connector") == "update-sequence"


class Table:
    """Rows of one relation, changed by hand; they wait in its change folder until a view runs."""

    def __init__(self, db: Database, relation: Relation) -> None:
        self.relation = db.placed(relation)
        if self.relation.options.get("connector") != "hand" or relation.name in db.streams:
            raise InputError(
                "INPUT.NOT_BY_HAND", f"relation {relation.name} is read from elsewhere",
                fix="declare it without a connector to change its rows by hand",
            )  # fmt: skip
        self.folder = str(db.base / self.relation.options["path"])

    def insert(self, rows: Iterable[Mapping[str, Any] | Sequence[Any]]) -> None:
        hand.append(self.folder, self.relation, INSERT, rows)

    def update(self, rows: Iterable[Mapping[str, Any] | Sequence[Any]]) -> None:
        """New images of rows that are there, by key."""
        hand.append(self.folder, self.relation, UPDATE, rows)

    def delete(self, rows: Iterable[Mapping[str, Any] | Sequence[Any]]) -> None:
        """Rows that go; of a relation with a key, the key columns suffice."""
        hand.append(self.folder, self.relation, DELETE, rows)


class View:
    """A query kept current."""

    def __init__(self, db: Database, plan: Plan) -> None:
        self.db, self.plan = db, plan

    def explain(self) -> str:
        """Join graph, stages, routes, placement, key policy and state, as text."""
        return explain(self.plan, self.db.schema, self.db.config)

    def start(
        self, sink: str = "memory", *, form: Form = "retract", checkpoint: str | Path | None = None
    ) -> Run:
        """Keep the view current: one streaming query into a sink (see spark/sinks)."""
        self._check(form)
        given = self._folder(checkpoint)
        folder = given or Path(tempfile.mkdtemp(dir=self.db.home))
        on = self._hosted(folder)
        record = remember(folder, self._record(on))
        out = open_sink(on, sink, form, record.id)
        if isinstance(out, MemorySink):
            out.start_from(snapshot(self.db.spark, on, folder), committed(folder))
        blobs, source = self._blobs(on)
        run = Run(self.plan, on, blobs, out, folder, source, temporary=given is None)
        self.db.runs.append(run)
        return run

    def changes(self, form: Form = "retract") -> DataFrame:
        """The view's changes as a streaming DataFrame, for any Spark sink."""
        self._check(form)
        on = self._hosted(None)
        return unpacked(self._blobs(on)[0], on, form)

    def snapshot(self) -> Counter[Row]:
        """The current answer, with multiplicities: of its run into memory or the console, else
        from the state of its checkpoint's last committed epoch."""
        for run in self._runs():
            if isinstance(run.sink, MemorySink):
                return run.sink.held()[1]
            if not (run.stopped and run.temporary):
                return snapshot(self.db.spark, run.on, run.checkpoint)
        folder = self._folder(None)
        if folder is None:
            raise self._no_run("view.start('memory')")
        return snapshot(self.db.spark, self._hosted(folder), folder)

    def _runs(self) -> list[Run]:
        """The runs of this very query, the last first."""
        return [r for r in reversed(self.db.runs) if r.plan == self.plan]

    def _folder(self, given: str | Path | None) -> Path | None:
        """The checkpoint: as given, else below the configured folder; None: a temporary one."""
        if given is None and self.db.config.checkpoint is not None:
            return self.db.config.checkpoint / self.plan.name
        return Path(given) if given is not None else None

    def rejects(self) -> list[dict[str, Any]]:
        """The last rows that were refused: relation, place, reason, raw row. Of the runs of this
        database, else as the state of the checkpoint remembers them."""
        runs = self._runs()
        folder = self._folder(None)
        if folder is not None and not runs:
            return kept_rejects(self.db.spark, folder)
        return [reject for run in runs for reject in run.rejects]

    def verify(self) -> Verdict:
        """Recompute the view by DuckDB over all changes up to the last epoch of its run into
        memory or the console, and compare. Before the first epoch there is nothing yet."""
        run, sink = self._in_memory()
        db, columns = self.db, dataflow_of(run.on.program).relations()
        if attached := [r for r in columns if r in db.streams]:
            raise InputError(
                "VERIFY.STREAM", f"{attached[0]} is an attached stream: it cannot be read again",
                fix="write its rows to files and declare the relation with a connector",
            )  # fmt: skip
        source = db.ranges(columns)
        assert source is not None
        epoch, answer = sink.held()
        end = run.end(epoch)
        if epoch is None or end is None:
            return Verdict(self.plan.name, 0, 0)
        return verify(
            self.plan, db.schema, source, end, answer,
            columns=columns, views=db.plans, zone=db.config.timezone,
        )  # fmt: skip

    def _in_memory(self) -> tuple[Run, MemorySink]:
        for run in self._runs():
            if isinstance(run.sink, MemorySink):
                return run, run.sink
        raise self._no_run("view.start('memory')")

    def _no_run(self, fix: str) -> InputError:
        return InputError(
            "VIEW.NOT_RUNNING", f"view {self.plan.name} has no run whose answer is in memory",
            fix=f"start it first: {fix}",
        )  # fmt: skip

    def _check(self, form: Form) -> None:
        check_shown(self.plan, form)
        flow = dataflow_of(self._program(self.db.config.shards))
        if form == "upsert" and not flow.key:
            raise ConfigError(
                "FORM.NO_KEY", f"view {flow.view} has no key, so it has no upsert form",
                fix="select the key of its root relation, or group it; or take the retract form",
            )  # fmt: skip

    def _program(self, shards: int) -> Program:
        config = self.db.config
        settings = Settings(shards, config.replicate_rows, zone=config.timezone)
        return Program(to_json(self.plan), settings.resolved(self.db.schema))

    def _hosted(self, checkpoint: Path | None) -> Hosted:
        """The view's program; shards and partitions are those of the checkpoint's first run."""
        config = self.db.config
        kept = recorded(checkpoint) if checkpoint is not None else None
        shards, partitions = (kept or config).shards, (kept or config).partitions
        self.db.spark.conf.set("spark.sql.shuffle.partitions", str(partitions))
        on = host.hosted(self._program(shards), str(config.scratch), partitions)
        if kept is not None and checkpoint is not None:
            kept.check(self._record(on), checkpoint)
        return on

    def _record(self, on: Hosted) -> Record:
        relations = dataflow_of(on.program).relations()
        sources = {r: self.db.read_from(r) for r in relations}
        return Record(len(on.keys), self.db.config.partitions, state_mark(on), sources)

    def _blobs(self, on: Hosted) -> tuple[DataFrame, RangeSource | None]:
        """The output blobs of the view, and the files that are read for it."""
        wanted = dataflow_of(on.program).relations()
        streams = [self.db.streams[r] for r in wanted if r in self.db.streams]
        ranges = self.db.ranges(wanted)
        limit = self.db.config.epoch_limit
        return host.output_blobs(self.db.spark, on, ranges, streams, limit), ranges
