"""Golden refusals: `tests/refusals.txt` holds texts and exactly what is said about each.

A block is a text (lines after `>>> ` and `... `), then the rendered error; the tables of TPC-H are
declared. `pytest tests/test_refusals.py --update` rewrites the errors.
"""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from everview.errors import EverviewError, SqlError
from everview.plan.check import check
from everview.plan.rules import optimize
from everview.schema import Schema
from everview.sql.dialect import MAX_TEXT
from everview.sql.script import read_script, read_view
from everview.sql.subset import REFUSALS, refuse
from everview.workloads import tpch

FILE = Path(__file__).parent / "refusals.txt"


def blocks() -> list[tuple[str, str]]:
    """The texts and what is expected of them."""
    found = []
    for block in re.split(r"\n\n(?=>>> )", FILE.read_text(encoding="utf-8").rstrip("\n")):
        lines = block.split("\n")
        text = [line[4:] for line in lines if line.startswith((">>> ", "... "))]
        rest = [line for line in lines if not line.startswith((">>> ", "... "))]
        found.append(("\n".join(text), "\n".join(rest)))
    return found


def plan_all(text: str) -> None:
    schema = Schema() if text.lower().count("create table") > 5 else tpch.schema()
    for plan in read_script(text, schema).views.values():
        check(optimize(plan))


def answer(text: str) -> str:
    with pytest.raises(EverviewError) as caught:
        plan_all(text)
    return caught.value.render()


def test_golden(update: bool) -> None:
    found = [(text, answer(text)) for text, _ in blocks()]
    if update:
        written = [">>> " + text.replace("\n", "\n... ") + "\n" + said for text, said in found]
        FILE.write_text("\n\n".join(written) + "\n", encoding="utf-8")
    else:
        assert found == blocks()


def test_every_refusal_is_reached() -> None:
    reached = set(re.findall(r"^\[([A-Z_.]+)\]", FILE.read_text(encoding="utf-8"), re.MULTILINE))
    assert set(REFUSALS) | {"SYNTAX", "UNSUPPORTED.JOIN"} <= reached


def test_every_refusal_has_a_place_and_a_fix() -> None:
    for text, said in blocks():
        if "[SCRIPT.EMPTY]" in said or "[UNSUPPORTED.JOIN]" in said:
            continue
        assert re.match(r"\[[A-Z_.]+\] at \d+:\d+ ", said), text
        assert "^" in said.split("\n")[2], text
        if not said.startswith(("[SCHEMA.", "[SYNTAX]")):
            assert "\n  fix: " in said, text


def test_the_caret_stands_under_the_word() -> None:
    error = answer("select n_name,\n\tr_name, missing\nfrom nation, region")
    line, caret = error.split("\n")[1:3]
    assert line[caret.index("^") : caret.rindex("^") + 1] == "missing"


def test_text_too_long_and_too_deep() -> None:
    for text, code in (
        ("select 1 -- " + "x" * MAX_TEXT, "TOO_LARGE"),
        ("select " + "(" * 5000 + "1" + ")" * 5000 + " from nation", "TOO_DEEP"),
        ("select " + "- " * 5000 + "1 as x from nation", "TOO_DEEP"),
        ("select " + "not " * 5000 + "true as x from nation", "TOO_DEEP"),
        ("select " + " + ".join(["n_nationkey"] * 5000) + " as x from nation", "TOO_DEEP"),
        ("select * from " + "(select * from " * 30 + "nation" + ")" * 30, "TOO_DEEP"),
    ):
        with pytest.raises(SqlError) as caught:
            plan_all(text)
        assert caught.value.code == code


def test_views_that_grow_without_bound_are_refused() -> None:
    doubled = "create view v0 as select n_nationkey as x from nation"
    joined = "create view v0 as select n_nationkey as x, n_name as y from nation"
    for i in range(1, 40):
        doubled += f"; create view v{i} as select x * x as x from v{i - 1}"
        joined += (
            f"; create view v{i} as select a.x, b.y from v{i - 1} a join v{i - 1} b on a.x = b.x"
        )
    for text in (doubled, joined):
        with pytest.raises(EverviewError):
            plan_all(text)


def test_read_view_takes_one_select_only() -> None:
    for text in ("", "drop table t", "select n_name from nation; select 1 from nation"):
        with pytest.raises(SqlError):
            read_view("v", text, tpch.schema())


def test_an_unknown_code_is_a_bug_of_ours() -> None:
    with pytest.raises(KeyError):
        refuse("NO.SUCH.CODE")


# ------------------------------------------------------------------------------------ mutated texts

PIECE = re.compile(r"\w+|'[^']*'|\s+|\S")
ODD = [
    "'",
    '"',
    "`",
    "(",
    ")",
    ",",
    ";",
    "--",
    "/*",
    "*/",
    "\\",
    "\0",
    "é",
    "\u202e",
    "::",
    "||",
    ".",
]
ODD += [
    "1e",
    "0x",
    "$$",
    "${",
    "?",
    ":a",
    "@",
    "->",
    "=>",
    "[",
    "]",
    "{",
    "9" * 50,
    "<=>",
    "!",
    "\ud800",
]
VALUES = ["NULL", "l_orderkey", "n_name", "(l_tax + 1)", "DATE '1995-01-01'", "INTERVAL '3' DAY"]
VALUES += ["count(*)", "sum(l_tax)", "-1", "1.5", "1e3", "'%a_'", "CASE WHEN 1 = 1 THEN 2 END"]
OPERATORS = ["+", "-", "*", "/", "%", "<", "=", "<>", ">=", "AND", "OR", "||", "IS", "LIKE", "IN"]


def mutated(rng: random.Random, text: str, words: list[str]) -> str:
    """A few pieces of the text replaced: mostly by pieces of the same kind, so that it parses."""
    pieces = PIECE.findall(text)
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        i = rng.randrange(len(pieces))
        kind = rng.random()
        if kind < 0.1:
            pieces[i] = rng.choice(ODD)
        elif kind < 0.2:
            del pieces[i : i + rng.randint(1, 3)]
        elif kind < 0.3:
            pieces[i:i] = pieces[i : i + rng.randint(1, 9)]
        elif kind < 0.4:
            j = rng.randrange(len(pieces))
            pieces[i], pieces[j] = pieces[j], pieces[i]
        elif pieces[i].strip() and not pieces[i][0].isalnum():
            pieces[i] = rng.choice(OPERATORS)
        else:
            pieces[i] = rng.choice(VALUES if pieces[i][0] in "'0123456789" else words)
        pieces = pieces or ["x"]
    return "".join(pieces)


def outcome(text: str) -> str:
    """What is said about a text; nothing if it can be planned."""
    try:
        plan_all(text)
    except EverviewError as e:
        return e.render()
    return ""


def test_mutated_texts_raise_nothing_but_our_errors() -> None:
    rng = random.Random(20)
    texts = [text for text, _ in blocks() if text.strip()]
    texts += [tpch.query(q) for q in tpch.QUERIES] * 8 + [tpch.schema_sql()] * 5
    words = sorted(set(re.findall(r"[A-Za-z_]\w*", "\n".join(texts))))
    planned = 0
    for _ in range(2_000):
        text = mutated(rng, rng.choice(texts), words)
        said = outcome(text)
        planned += said == ""
        assert not said.startswith("[PLAN."), (text, said)
    assert planned > 40, "too few texts survive: the mutations do not get past the parser"
