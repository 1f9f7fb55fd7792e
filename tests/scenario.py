"""Scenarios: small stories in text files (`tests/scenarios/*.test`) that show what a view does.

    -- What the story shows, in a sentence.
    CREATE TABLE nation (id INT PRIMARY KEY, name STRING);
    CREATE VIEW v AS SELECT id, name FROM nation;

    epoch
      -- a comment
      + nation 1, 'FRANCE'         + insert    - delete    = update by key
      + nation 1, 'AGAIN'
    gives
      +I 1, 'FRANCE'               the changelog in retract form: kind and columns, sorted
      reject 2 nation DUPLICATE_KEY      which change of the epoch, of which relation, and why

The view is the last one declared. Values are SQL literals: NULL, 1, 1.50, 'it''s', 2024-01-31,
TRUE, X'00FF', NaN, Infinity. A row may be cut short, as a delete by key: the rest is NULL. An epoch
without output gives `nothing`.

Any host can run a scenario: `run(scenario, run_epoch)` feeds it epoch by epoch and compares.

Not here: hosts, and the files as tests (test_scenarios, spark/test_scenarios_spark).
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from everview.delta.changes import DELETE, INSERT, UPDATE, Changes
from everview.plan import node
from everview.plan.node import Plan
from everview.plan.rules import optimize
from everview.schema import Schema, Type
from everview.sql.script import read_script
from tests.histories import Change, batches
from tests.oracle import Row

FOLDER = Path(__file__).parent / "scenarios"
FILES = tuple(sorted(FOLDER.glob("*.test")))

_OPS = {"+": INSERT, "-": DELETE, "=": UPDATE}
_NOTHING = "nothing"
_VALUE = re.compile(r"\s*(X?'(?:[^']|'')*'|[^,]*?)\s*(,|$)")


@dataclass(frozen=True)
class Epoch:
    """What goes in, and the text of what comes out. `text`: the lines of the file, as written."""

    text: tuple[str, ...]
    changes: tuple[Change, ...]
    expected: tuple[str, ...]


@dataclass(frozen=True)
class Scenario:
    """A story: declarations, the optimized plan of the last view, and epochs."""

    name: str
    sql: str
    schema: Schema
    plan: Plan
    epochs: tuple[Epoch, ...]

    def batches(self, number: int) -> list[Changes]:
        """The changes of an epoch as a host takes them."""
        return batches(self.schema, self.epochs[number].changes, f"{number:06d}")


@dataclass
class Outcome:
    """What a host gave for an epoch, in any order. A reject whose place the host cannot tell
    in terms of the epoch's changes has number None: then places are not compared."""

    rows: list[tuple[str, Row]] = field(default_factory=list)  # kind, columns
    rejects: list[tuple[str, str, int | None]] = field(default_factory=list)


RunEpoch = Callable[[int, Sequence[Change]], Outcome]


def run(scenario: Scenario, run_epoch: RunEpoch) -> list[tuple[str, ...]]:
    """Feed every epoch to a host; raises AssertionError at the first that gives something else.

    Returns what each epoch gave, in the form of the file.
    """
    given = play(scenario, run_epoch)
    for number, (epoch, found) in enumerate(zip(scenario.epochs, given, strict=True)):
        expected = epoch.expected
        if any(line.startswith("reject ? ") for line in found):
            expected = tuple(sorted(re.sub(r"^reject \d+", "reject ?", e) for e in expected))
            found = tuple(sorted(found))
        if found != expected:
            lines = "\n".join(difflib.ndiff(expected, found))
            raise AssertionError(f"{scenario.name}, epoch {number} (- expected, + found):\n{lines}")
    return given


def play(scenario: Scenario, run_epoch: RunEpoch) -> list[tuple[str, ...]]:
    """What each epoch gives, whatever was expected."""
    key = scenario_key(scenario)
    return [
        rendered(run_epoch(number, epoch.changes), key)
        for number, epoch in enumerate(scenario.epochs)
    ]


def rendered(outcome: Outcome, key: tuple[int, ...]) -> tuple[str, ...]:
    """The lines of an outcome: rows by key (the columns at those places, or all), then rejects."""
    ordered = sorted(outcome.rows, key=lambda r: (_sortable(r[1], key), r[0].startswith("+")))
    lines = [f"{kind} {', '.join(map(written, row))}" for kind, row in ordered]
    rejects = sorted(outcome.rejects, key=lambda r: (r[2] or 0, r))
    lines += [f"reject {'?' if n is None else n} {name} {why}" for name, why, n in rejects]
    return tuple(lines)


def scenario_key(scenario: Scenario) -> tuple[int, ...]:
    """The places of the view's key among its columns; empty: it has none."""
    names = [c.name for c in node.columns(scenario.plan.root)]
    return tuple(names.index(k) for k in node.key(scenario.plan.root))


def _sortable(row: Row, key: tuple[int, ...]) -> list[Any]:
    values = [row[i] for i in key] if key else row
    return [(v is not None, v != v, v if v == v and v is not None else 0) for v in values]


# ------------------------------------------------------------------------------------- reading


def read(path: Path) -> Scenario:
    """The scenario of a file."""
    return parse(path.stem, path.read_text(encoding="utf-8"))


def parse(name: str, text: str) -> Scenario:
    blocks: list[tuple[list[str], list[str]]] = []
    head: list[str] = []
    into = head
    for line in text.splitlines():
        if line.strip() == "epoch":
            blocks.append(([], []))
            into = blocks[-1][0]
        elif line.strip() == "gives":
            into = blocks[-1][1]
        else:
            into.append(line)
    sql = "\n".join(head)
    script = read_script(sql)
    plan = optimize(list(script.views.values())[-1])
    epochs = tuple(_epoch(script.schema, given, out) for given, out in blocks)
    return Scenario(name, sql, script.schema, plan, epochs)


def _epoch(schema: Schema, given: Iterable[str], out: Iterable[str]) -> Epoch:
    text = tuple(line.strip() for line in given if line.strip())
    changes = tuple(_change(schema, line) for line in text if not line.startswith("--"))
    expected = tuple(e for line in out if (e := line.strip()) and e != _NOTHING)
    return Epoch(text, changes, expected)


def _change(schema: Schema, line: str) -> Change:
    sign, name, *rest = line.split(maxsplit=2)
    columns = schema.relation(name).columns
    values = split(rest[0]) if rest else []
    if sign not in _OPS or len(values) > len(columns):
        raise ValueError(f"not a change of {name}: {line}")
    row = [value(v, c.type) for v, c in zip(values, columns, strict=False)]
    return name, _OPS[sign], tuple(row + [None] * (len(columns) - len(row)))


def split(text: str) -> list[str]:
    """A list of literals at its commas, those inside quotes apart."""
    found, at = [], 0
    while at < len(text):
        match = _VALUE.match(text, at)
        if match is None:
            raise ValueError(f"not a list of values: {text}")
        found.append(match[1])
        at = match.end()
    return found


def value(text: str, t: Type) -> Any:
    """A literal as a value of the type."""
    if text == "NULL":
        return None
    if t.is_text:
        quoted = text[text.index("'") + 1 : -1]
        return bytes.fromhex(quoted) if t.name == "BINARY" else quoted.replace("''", "'")
    if t.name == "BOOLEAN":
        return {"TRUE": True, "FALSE": False}[text]
    if t.is_float:
        return float(text)
    if t.is_decimal:
        return Decimal(text)
    if t.name == "DATE":
        return date.fromisoformat(text)
    if t.name.startswith("TIMESTAMP"):
        return datetime.fromisoformat(text).replace(tzinfo=UTC if t.name == "TIMESTAMP" else None)
    return int(text)


# ------------------------------------------------------------------------------------- writing


def written(v: Any) -> str:
    """A value as a literal."""
    if v is None:
        return "NULL"
    if isinstance(v, bool):
        return str(v).upper()
    if isinstance(v, str):
        return "'" + v.replace("'", "''") + "'"
    if isinstance(v, bytes):
        return f"X'{v.hex().upper()}'"
    if isinstance(v, float):
        if not math.isfinite(v):
            return "NaN" if v != v else "Infinity" if v > 0 else "-Infinity"
        return repr(v)
    if isinstance(v, Decimal):
        return f"{v:f}"
    if isinstance(v, datetime):
        return v.replace(tzinfo=None).isoformat(" ")
    return v.isoformat() if isinstance(v, date) else str(v)


def text_of(scenario: Scenario) -> str:
    """The scenario as a file."""
    parts = [scenario.sql.rstrip()]
    for epoch in scenario.epochs:
        given = "".join(f"\n  {line}" for line in epoch.text)
        out = "".join(f"\n  {line}" for line in epoch.expected or (_NOTHING,))
        parts.append(f"epoch{given}\ngives{out}")
    return "\n\n".join(parts) + "\n"


def updated(scenario: Scenario, given: Sequence[tuple[str, ...]]) -> Scenario:
    """The scenario with what epochs gave as what is expected."""
    epochs = zip(scenario.epochs, given, strict=True)
    return replace(scenario, epochs=tuple(replace(e, expected=g) for e, g in epochs))
