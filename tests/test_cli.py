"""The command line: what each command calls, prints and returns; what it must not load."""

from __future__ import annotations

import json
import os
import re
import resource
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
from typer.testing import CliRunner

import everview
from everview import cli, doctor
from everview.config import Config

SCRIPT = """
CREATE TABLE customer (c_custkey BIGINT PRIMARY KEY, c_mktsegment STRING);
CREATE TABLE orders (
    o_orderkey BIGINT PRIMARY KEY, o_custkey BIGINT REFERENCES customer, o_orderdate DATE
);
CREATE VIEW busy AS
SELECT c_mktsegment, count(*) AS n
FROM orders, customer
WHERE o_custkey = c_custkey AND o_orderdate < DATE '1995-03-15'
GROUP BY c_mktsegment;
CREATE VIEW early AS SELECT o_orderkey FROM orders WHERE o_orderdate < DATE '1992-02-01';
"""
HEAVY = ("duckdb", "numba", "numpy", "pandas", "psutil", "py4j", "pyarrow", "pyspark")
COMMANDS = ("check", "demo", "doctor", "explain", "gen", "plan", "run", "verify")


@pytest.fixture(autouse=True)
def settings(monkeypatch, tmp_path):
    for name in [n for n in os.environ if n.startswith("EVERVIEW_")]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def script(tmp_path):
    file = tmp_path / "views.sql"
    file.write_text(SCRIPT)
    return str(file)


def call(*words: str, code: int = 0, text: str | None = None) -> tuple[str, str]:
    """What the command printed to stdout and to stderr."""
    result = CliRunner().invoke(cli.app, [str(w) for w in words], input=text)
    assert result.exit_code == code, (result.output, result.exception)
    return result.stdout, result.stderr


# ---------------------------------------------------------------------------- a façade to call


@dataclass
class FakeRun:
    events: list
    left: int = 2

    def progress(self):
        return "epoch 7"

    def process_available(self):
        self.events.append("process_available")

    def ended(self):
        self.left -= 1
        return self.left <= 0

    def unread(self):
        return ["the end of changes.txt"]

    def stop(self):
        self.events.append("stop")


@dataclass(frozen=True)
class FakeResult:
    equal: bool

    def __bool__(self):
        return self.equal

    def __str__(self):
        return "equal" if self.equal else "2 rows differ"


@dataclass
class FakeDatabase:
    equal: bool = True
    config: Config | None = None
    events: list = field(default_factory=list)
    plans: dict = field(default_factory=dict)

    @contextmanager
    def connect(self, config):
        self.config = config
        yield self
        self.events.append("close")

    def execute(self, text):
        assert text == SCRIPT

    def start(self, names, sink):
        self.events.append((*names, sink))
        return [FakeRun(self.events) for _ in names]

    def view(self, name):
        return FakeView(self, name)


@dataclass
class FakeView:
    db: FakeDatabase
    name: str

    def start(self, sink):
        return self.db.start([self.name], sink)[0]

    def verify(self):
        return FakeResult(self.db.equal)


@pytest.fixture
def database(monkeypatch):
    fake = FakeDatabase()
    import_module("everview.connect")  # or its first import would take the fake's place
    monkeypatch.setitem(vars(everview), "connect", fake.connect)
    return fake


def test_run_once_drains_every_view_and_stops(script, database):
    out, err = call("run", script, "--once", "--sink", "parquet:out")
    assert database.events == [
        ("busy", "early", "parquet:out"),
        "process_available", "process_available", "stop", "stop", "close",
    ]  # fmt: skip
    assert out == ""
    assert "epoch 7" in err


def test_run_tells_progress_until_the_runs_end(script, database):
    _, err = call("run", script, "--view", "EARLY", "--checkpoint", "here", "--set", "shards=12")
    assert database.events == [("early", "console"), "stop", "close"]
    assert err.count("epoch 7") == 1
    assert (database.config.checkpoint, database.config.shards) == (Path("here"), 12)
    assert database.config.origin("shards") == "flag"


def test_run_stops_what_it_started_when_it_fails(script, database, monkeypatch):
    def fail(self):
        raise everview.EverviewError("X.Y", "no")

    monkeypatch.setattr(FakeRun, "process_available", fail)
    _, err = call("run", script, "--once", code=2)
    assert database.events.count("stop") == 2
    assert "[X.Y] no" in err


@pytest.mark.parametrize("equal", [True, False])
def test_verify_compares_and_tells_by_its_exit_code(script, database, equal):
    database.equal = equal
    out, _ = call("verify", script, "--view", "busy", code=0 if equal else 1)
    assert out == f"{FakeResult(equal)}\n"
    assert database.events == [("busy", "memory"), "process_available", "stop", "close"]


def test_demo_and_gen_call_the_workloads(tmp_path, monkeypatch):
    calls: list[object] = []
    tpch = ModuleType("everview.workloads.tpch.generate")
    vars(tpch)["generate"] = lambda folder, scale: calls.append((folder, scale))

    def update_sequence(folder, out, **how):
        calls.append((folder, out, how))
        return SimpleNamespace(path=out, changes=20, epochs=1)

    vars(tpch)["update_sequence"] = update_sequence
    demo = ModuleType("everview.workloads.demo")
    vars(demo)["main"] = lambda: calls.append("demo")
    monkeypatch.setitem(sys.modules, "everview.workloads.tpch.generate", tpch)
    monkeypatch.setitem(sys.modules, "everview.workloads.demo", demo)
    monkeypatch.setattr("everview.workloads.demo", demo, raising=False)
    call("demo")
    call("gen", "tpch", tmp_path, "--scale", "0.5")
    out, _ = call("gen", "updates", tmp_path, "o.txt", "--kind", "insert-only", "--epoch", "9")
    assert out == "20 changes in 1 epoch (insert-only, text): o.txt\n"
    how = {"kind": "insert-only", "window": 0.5, "seed": 1, "format": "text", "epoch": 9}
    assert calls == ["demo", (tmp_path, 0.5), (tmp_path, Path("o.txt"), how)]


# ------------------------------------------------------------------------------- SQL text only


def test_check_says_what_the_script_declares(script):
    assert call("check", script)[0] == "ok: 2 relations, 2 views\n  busy\n  early\n"
    assert call("check", "-", text=SCRIPT)[0].startswith("ok: 2 relations")


def test_check_shows_the_place_and_the_fix(tmp_path):
    file = tmp_path / "bad.sql"
    file.write_text(SCRIPT.replace("c_custkey AND", "c_custke AND"))
    out, err = call("check", file, code=2)
    assert out == ""
    assert re.match(r"\[[A-Z_.]+\] at 9:\d+ ", err)
    assert "c_custke AND" in err
    assert "^" in err
    assert "Traceback" not in err


@pytest.mark.parametrize("command", ["check", "explain", "run"])
@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("path = 'in'", "names no connector"),
        ("connector = 'parket', path = 'in'", "did you mean 'parquet'"),
        ("connector = 'csv', pth = 'in'", "did you mean 'path'"),
    ],
)
def test_options_of_sources_are_refused_before_anything_starts(tmp_path, command, said, told):
    file = tmp_path / "views.sql"
    file.write_text(f"CREATE TABLE t (k INT) WITH ({said}); CREATE VIEW v AS SELECT k FROM t;")
    _, told_of = call(command, file, code=cli.REFUSED)
    assert "[CONFIG." in told_of
    assert told in told_of
    assert "starting Spark" not in told_of


def test_explain_in_every_format(script):
    assert "orders" in call("explain", script)[0]
    document = json.loads(call("explain", script, "--view", "busy", "--format", "json")[0])
    assert document["name"] == "busy"
    assert call("explain", script, "--format", "dot")[0].count("digraph") == 2
    assert call("explain", script, "--format", "mermaid")[0].startswith("flowchart BT\n")


def test_plan_prints_documents_and_their_schema(script):
    assert json.loads(call("plan", script, "--view", "early")[0])["name"] == "early"
    assert "$defs" in json.loads(call("plan", "--schema")[0])
    assert "everview plan FILE.sql" in call("plan", code=2)[1]


def test_a_plan_given_is_a_view_like_any_other(script, database, tmp_path):
    printed, _ = call("plan", script, "--view", "early")
    (tmp_path / "early.json").write_text(printed)
    (tmp_path / "later.json").write_text(printed.replace('"name":"early"', '"name":"later"', 1))
    given = ("--plan", str(tmp_path / "early.json"), "--plan", str(tmp_path / "later.json"))
    out, _ = call("check", script, *given)
    assert out.splitlines() == ["ok: 2 relations, 3 views", "  busy", "  early", "  later"]
    out, _ = call("explain", script, "--view", "later", *given)
    assert out.startswith("view later(o_orderkey BIGINT)")
    call("run", script, "--once", "--sink", "memory", "--view", "later", *given)
    assert database.events[0] == ("later", "memory")
    assert list(database.plans) == ["busy", "early", "later"]


def test_a_plan_that_does_not_fit_the_tables_is_refused(script, tmp_path):
    printed, _ = call("plan", script, "--view", "early")
    for wrong, said in (
        (("o_orderdate", "o_day"), "orders has no column o_day DATE"),
        (('"relation":"orders"', '"relation":"sales"'), "there is no relation sales"),
        (('"policy":"reject"', '"policy":"trust"'), "(o_orderkey) and the policy reject"),
    ):
        file = tmp_path / "wrong.json"
        file.write_text(printed.replace(*wrong))
        _, err = call("check", script, "--plan", str(file), code=cli.REFUSED)
        assert err.startswith("[PLAN.RELATION] at root")
        assert said in err


def test_an_unknown_view_is_refused_by_name(script):
    _, err = call("explain", script, "--view", "bussy", code=2)
    assert "[CLI.VIEW] the script declares no view bussy" in err
    assert "declared: busy, early" in err


def test_a_missing_file_is_refused(tmp_path):
    assert "[CLI.FILE] there is no file" in call("check", tmp_path / "none.sql", code=2)[1]
    assert "[CLI.FILE]" in call("check", tmp_path, code=2)[1]


def test_settings_are_refused_before_anything_starts(script, database):
    assert "did you mean shards?" in call("run", script, "--set", "shard=3", code=2)[1]
    assert "[CONFIG.SYNTAX]" in call("run", script, "--set", "shards", code=2)[1]
    assert database.config is None


# ---------------------------------------------------------------------------------- the frame


def test_help_lists_the_commands_and_version_prints_it():
    out, _ = call("--help")
    assert all(name in out for name in COMMANDS)
    assert call("--version")[0] == f"everview {everview.__version__}\n"


def test_a_defect_shows_no_traceback_unless_asked(monkeypatch):
    def fail(config):
        raise ZeroDivisionError("oh")

    monkeypatch.setattr(doctor, "report", fail)
    _, err = call("doctor", code=3)
    assert err.startswith("[DEFECT] ZeroDivisionError: oh\n")
    shown = CliRunner().invoke(cli.app, ["--debug", "doctor"])
    assert isinstance(shown.exception, ZeroDivisionError)


def test_debug_may_stand_anywhere(monkeypatch):
    seen = []
    monkeypatch.setattr(cli, "app", lambda args: seen.append(args))
    monkeypatch.setattr(sys, "argv", ["everview", "check", "x.sql", "--debug"])
    cli.main()
    assert seen == [["--debug", "check", "x.sql"]]


def test_public_names_are_listed_and_others_refused():
    assert set(everview.__all__) <= set(dir(everview))
    assert everview.Config is Config
    assert all(callable(getattr(everview, name)) for name in everview.__all__)
    with pytest.raises(AttributeError, match="no attribute 'conect'"):
        _ = everview.conect


@pytest.mark.parametrize(
    "before",
    ["", "everview.Database", "import everview.connect.open", "from everview.connect import hand"],
)
def test_connect_is_a_function_whatever_was_loaded_before(before):
    code = (
        f"import everview\n{before}\n"
        "from everview import database\n"
        "database.connect = lambda *words, **settings: (words, settings)\n"
        "assert everview.connect(shards=3) == ((None,), {'shards': 3})\n"
        "from everview import connect\n"
        "assert connect('config') == (('config',), {})\n"
        "import everview.connect.contract\n"
        "assert everview.connect.contract.Range\n"
    )
    loads(code)


def loads(code: str, *words: str) -> tuple[set[str], float]:
    """Which heavy packages a fresh Python loads for `code`, and the processor seconds it takes."""
    told = "\nimport sys; print(*sorted({m.partition('.')[0] for m in sys.modules}))"
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, "-c", code + told, *words],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(everview.__file__).parents[1])},
        check=False,
    )
    now = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.returncode == 0, done.stderr
    seconds = now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime
    return set(done.stdout.splitlines()[-1].split()) & {*HEAVY, "sqlglot", "pydantic"}, seconds


def test_the_import_loads_nothing_heavy():
    assert loads("import everview; everview.Config; everview.Schema")[0] == set()
    assert loads("import everview.cli")[0] == set()


@pytest.mark.parametrize("words", [["check"], ["explain"], ["explain", "--format", "mermaid"]])
def test_check_and_explain_load_neither_spark_nor_arrays(script, words):
    code = (
        "from everview import cli\n"
        "import sys\n"
        "try: cli.app(args=sys.argv[1:])\n"
        "except SystemExit as end: assert not end.code, end.code\n"
    )
    loaded, seconds = loads(code, *words, script)
    assert loaded.isdisjoint(HEAVY)
    assert seconds < 2
