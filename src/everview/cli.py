"""The command line: glue between arguments and the façade, one function a command.

    check explain plan      SQL text only: neither Spark nor numpy is loaded, they answer at once
    run verify demo         embedded Spark
    gen doctor              data to try things with; is this machine fit?

Results go to stdout, progress and errors to stderr. Exit code 0: done; 1: done, and the answer is
no (differences found, machine not fit); 2: refused, with the error's code and fix; 3: a defect;
130: interrupted before the end.

Not here: anything that decides. Everything heavy is imported inside the command that needs it.
"""

from __future__ import annotations

import functools
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, ParamSpec

import typer

from everview.errors import EverviewError, InputError, SqlError

if TYPE_CHECKING:
    from everview.config import Config
    from everview.database import Database
    from everview.plan.node import Plan
    from everview.schema import Schema

NO, REFUSED, DEFECT, INTERRUPTED = 1, 2, 3, 130

app = typer.Typer(
    name="everview",
    help="SQL views kept current on Spark.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
gen = typer.Typer(no_args_is_help=True, help="Make data: TPC-H tables, update sequences.")
app.add_typer(gen, name="gen")


Kind = Literal["fifo", "insert-only", "random", "insert-delete-all"]
Format = Literal["text", "json", "dot", "mermaid"]


@dataclass(frozen=True, slots=True)
class Before:
    """The options that stand before the command."""

    debug: bool
    config: Path | None


Script = Annotated[str, typer.Argument(metavar="FILE.sql", help="The script; - reads stdin.")]
Views = Annotated[list[str] | None, typer.Option("--view", help="Only this view; repeatable.")]
Plans = Annotated[
    list[Path] | None,
    typer.Option("--plan", metavar="FILE.json", help="A view given as a plan; repeatable."),
]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="A setting, over file and environment."),
]
P = ParamSpec("P")


def main() -> None:
    """The console script. `--debug` may stand anywhere."""
    words = sys.argv[1:]
    if "--debug" in words:
        words = ["--debug", *(w for w in words if w != "--debug")]
    app(args=words)


def command(group: typer.Typer) -> Callable[[Callable[P, None]], Callable[P, None]]:
    """Registers a command; what it raises becomes text and an exit code."""

    def register(function: Callable[P, None]) -> Callable[P, None]:
        @functools.wraps(function)
        def guarded(*args: P.args, **kwargs: P.kwargs) -> None:
            with _told():
                function(*args, **kwargs)

        group.command()(guarded)
        return guarded

    return register


@app.callback(invoke_without_command=True)
def before(
    ctx: typer.Context,
    debug: Annotated[bool, typer.Option(help="Show tracebacks.")] = False,
    config: Annotated[
        Path | None, typer.Option(help="Settings file (default: everview.toml here).")
    ] = None,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    global _before
    _before = Before(debug, config)
    if version:
        from everview import __version__

        typer.echo(f"everview {__version__}")
    elif ctx.invoked_subcommand is not None:
        return
    raise typer.Exit()


_before = Before(debug=False, config=None)


# ------------------------------------------------------------------------------ SQL text only


@command(app)
def check(file: Script, plan: Plans = None) -> None:
    """Read, bind and plan a script; say what is wrong, or what it declares."""
    schema, plans = _planned(file, _config(None), plan)
    typer.echo(
        f"ok: {_count(len(schema.relations), 'relation')}, {_count(len(plans), 'view')}"
        + "".join(f"\n  {one.name}" for one in plans)
    )


@command(app)
def explain(
    file: Script,
    view: Views = None,
    format: Annotated[Format, typer.Option(help="What to print.")] = "text",
    plan: Plans = None,
    set: Set = None,
) -> None:
    """Show how views are kept current: join graph, stages, routes, placement, state."""
    config = _config(set)
    schema, plans = _planned(file, config, plan)
    typer.echo("\n\n".join(_explained(p, schema, config, format) for p in _named(plans, view)))


@command(app)
def plan(
    file: Annotated[
        str | None, typer.Argument(metavar="FILE.sql", help="The script; - reads stdin.")
    ] = None,
    view: Views = None,
    schema: Annotated[bool, typer.Option(help="The JSON Schema of plans instead.")] = False,
) -> None:
    """Print plans as JSON, one document a view."""
    from everview.plan import wire

    if schema:
        typer.echo(json.dumps(wire.json_schema(), indent=2))
        return
    if file is None:
        raise InputError("CLI.ARGUMENT", "plan needs a script", fix="everview plan FILE.sql")
    _, plans = _planned(file, _config(None), None)
    for one in _named(plans, view):
        typer.echo(wire.to_json(one))


# ----------------------------------------------------------------------------- embedded Spark


@command(app)
def run(
    file: Script,
    view: Views = None,
    sink: Annotated[
        str, typer.Option(help="console, memory, or parquet:DIR, json:DIR, csv:DIR.")
    ] = "console",
    once: Annotated[bool, typer.Option(help="All available data, then end.")] = False,
    checkpoint: Annotated[
        Path | None, typer.Option(help="Folder to go on from, and to remember in.")
    ] = None,
    plan: Plans = None,
    set: Set = None,
) -> None:
    """Keep the views of a script current, with a line of progress a second."""
    from everview.watch import drain, watch

    with _database(file, view, plan, set, checkpoint) as (db, names):
        runs = db.start(names, sink)
        try:
            drawn = sink == "console" and sys.stdout.isatty()  # with the progress in the drawing
            told = [] if drawn else runs
            whole = drain(runs, told) if once else watch(runs, told)
        finally:
            for one in runs:
                one.stop()
    if not whole:
        raise typer.Exit(INTERRUPTED)


@command(app)
def verify(file: Script, view: Views = None, plan: Plans = None, set: Set = None) -> None:
    """Run all available data, compare every answer with the batch answer; 1 if they differ."""
    from everview.watch import drain

    with _database(file, view, plan, set, None) as (db, names):
        chosen = [db.view(name) for name in names]
        runs = [one.start("memory") for one in chosen]
        if not drain(runs, runs):
            raise typer.Exit(INTERRUPTED)
        results = [one.verify() for one in chosen]
        for one in runs:
            one.stop()
    for result in results:
        typer.echo(str(result))
    if not all(results):
        raise typer.Exit(NO)


@command(app)
def demo() -> None:
    """A small TPC-H stream, two queries kept current before your eyes, verified at the end."""
    from everview.workloads import demo as show

    raise typer.Exit(show.main() or 0)


# --------------------------------------------------------------------------- data, the machine


@command(gen)
def tpch(
    folder: Annotated[Path, typer.Argument(help="Where the tables go.")],
    scale: Annotated[float, typer.Option(help="Scale factor; 1 is about 1 GB.")] = 0.01,
) -> None:
    """TPC-H tables, from tpchgen-cli."""
    from everview.workloads.tpch.generate import generate

    generate(folder, scale)
    typer.echo(f"TPC-H tables, scale {scale:g}: {folder}")


@command(gen)
def updates(
    folder: Annotated[Path, typer.Argument(help="TPC-H tables made by `gen tpch`.")],
    out: Annotated[Path, typer.Argument(help="The update sequence: a file, or a folder.")],
    kind: Annotated[Kind, typer.Option(help="The order of inserts and deletes.")] = "fifo",
    window: Annotated[
        float, typer.Option(help="Part of the rows alive at a time (fifo).", min=0, max=1)
    ] = 0.5,
    seed: Annotated[int, typer.Option(help="Of everything random.")] = 1,
    format: Annotated[
        Literal["text", "parquet"], typer.Option(help="Cquirrel text or Parquet.")
    ] = "text",
    epoch: Annotated[
        int | None, typer.Option(help="Changes of an epoch: a * line, or a file, each.", min=1)
    ] = None,
) -> None:
    """Inserts and deletes of TPC-H rows as one sequence."""
    from everview.workloads.tpch.generate import update_sequence

    written = update_sequence(
        folder,
        out,
        kind=kind,
        window=window,
        seed=seed,
        format=format,
        epoch=epoch,
    )
    typer.echo(
        f"{_count(written.changes, 'change')} in {_count(written.epochs, 'epoch')} "
        f"({kind}, {format}): {written.path}"
    )


@command(app)
def doctor(set: Set = None) -> None:
    """Check Java, packages, memory, folders and ports; say how to mend what is wrong."""
    from everview import doctor as checks

    if not checks.report(_config(set)):
        raise typer.Exit(NO)


# ------------------------------------------------------------------------------------- wiring


@contextmanager
def _told() -> Iterator[None]:
    """Errors as text on stderr and an exit code; as they are with --debug."""
    try:
        yield
    except (typer.Exit, typer.Abort, BrokenPipeError):
        raise
    except EverviewError as error:
        if _before.debug:
            raise
        typer.echo(error.render(), err=True)
        raise typer.Exit(REFUSED) from None
    except OSError as error:
        if _before.debug:
            raise
        typer.echo(f"[CLI.FILE] {error.filename or 'a file'}: {error.strerror or error}", err=True)
        raise typer.Exit(REFUSED) from None
    except Exception as error:
        if _before.debug:
            raise
        typer.echo(f"[DEFECT] {type(error).__name__}: {error}", err=True)
        typer.echo("  fix: this is a defect of everview; --debug shows where", err=True)
        raise typer.Exit(DEFECT) from None


def _config(settings: list[str] | None, **flags: object) -> Config:
    from everview.config import load
    from everview.errors import ConfigError

    given: dict[str, object] = {}
    for setting in settings or ():
        name, equals, value = setting.partition("=")
        if not equals:
            raise ConfigError("CONFIG.SYNTAX", f"--set {setting}: no value", fix="--set NAME=VALUE")
        given[name.strip()] = value.strip()
    given.update({name: value for name, value in flags.items() if value is not None})
    return load(_before.config, flags=given)


def _text(file: str) -> str:
    if file == "-":
        return sys.stdin.read()
    try:
        return Path(file).read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise InputError("CLI.FILE", f"there is no file {file}", fix="check the path") from None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError("CLI.FILE", f"{file} cannot be read: {error}") from None


def _planned(
    file: str, config: Config, given: list[Path] | None
) -> tuple[Schema, tuple[Plan, ...]]:
    text = _text(file)
    from everview.plan.check import check_shown
    from everview.plan.rules import optimize

    schema, plans = _declared(text, config, given)
    for one in plans.values():
        check_shown(one)
    return schema, tuple(optimize(one) for one in plans.values())


def _declared(
    text: str, config: Config, given: list[Path] | None
) -> tuple[Schema, dict[str, Plan]]:
    """What a script declares, and the plans given: one takes the place of a view of its name."""
    from everview.connect.options import check_options
    from everview.plan.wire import read_plan
    from everview.sql.script import read_script

    script = read_script(text, policy=config.policy)
    check_options(script.schema.relations)
    plans = [
        read_plan(one, script.schema) for p in given or () for one in _documents(_text(str(p)))
    ]
    return script.schema, {**script.views, **{p.name: p for p in plans}}


def _documents(text: str) -> list[str]:
    """The plans in a text: one, or one a line as `everview plan` prints them."""
    lines = [line for line in text.splitlines() if line.strip()]
    each = all(line.startswith("{") and line.endswith("}") for line in lines)
    return lines if each and len(lines) > 1 else [text]


def _named(plans: tuple[Plan, ...], views: list[str] | None) -> tuple[Plan, ...]:
    chosen = _chosen(tuple(p.name for p in plans), views)
    return tuple(p for p in plans if p.name in chosen)


def _chosen(names: tuple[str, ...], views: list[str] | None) -> tuple[str, ...]:
    """The views asked for, or all; refused if there is none of that name."""
    for view in views or ():
        if view.lower() not in names:
            raise SqlError(
                "CLI.VIEW",
                f"the script declares no view {view}",
                fix=f"declared: {', '.join(names) or 'none'}",
            )
    if not names:
        raise SqlError("CLI.VIEW", "the script declares no view", fix="add CREATE VIEW ... AS ...")
    return tuple(n for n in names if not views or n in {v.lower() for v in views})


def _explained(plan: Plan, schema: Schema, config: Config, format: Format) -> str:
    if format == "json":
        from everview.plan.wire import to_json

        return to_json(plan)
    if format == "text":
        from everview.dataflow.explain import explain as in_words

        return in_words(plan, schema, config)
    from everview.plan import picture

    return picture.dot(plan) if format == "dot" else picture.mermaid(plan)


@contextmanager
def _database(
    file: str, views: list[str] | None, plans: list[Path] | None, settings: list[str] | None,
    checkpoint: Path | None,
) -> Iterator[tuple[Database, tuple[str, ...]]]:  # fmt: skip
    """A database with the script executed, and the names of the views asked for. The text is
    planned first: what is refused is refused before Spark starts. Paths in a script are relative
    to its file."""
    config = _config(settings, checkpoint=checkpoint)
    text = _text(file)
    declared = _declared(text, config, plans)[1]
    names = _chosen(tuple(declared), views)
    import everview

    typer.echo("starting Spark", err=True)
    with everview.connect(config) as db:
        if file != "-":
            db.base = Path(file).resolve().parent
        db.execute(text)
        db.plans |= declared
        yield db, names


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
