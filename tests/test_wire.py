"""Plans as JSON: round trips, the published schema, and what is refused with a path."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from everview.errors import PlanError
from everview.plan import wire
from everview.plan.node import Plan
from everview.plan.rules import trace
from everview.sql.script import read_script
from everview.workloads import tpch
from tests.test_plans import FILES, MARKER

PUBLISHED = Path(__file__).parent.parent / "docs" / "plan.schema.json"


def plans() -> list[Plan]:
    """Every golden plan at every step that has one."""
    found = []
    for file in FILES:
        text = file.read_text(encoding="utf-8").partition(MARKER)[0]
        for plan in read_script(text, tpch.schema()).views.values():
            found.append(plan)
            if "refused" not in file.stem and file.stem != "nothing_passes":
                found += [changed for _, changed in trace(plan)]
    return found


def example() -> dict[str, Any]:
    sql = """
        select n_name, sum(s_acctbal * 1.5) as x from supplier, nation
        where s_nationkey = n_nationkey and n_name like 'A%' group by n_name
    """
    *_, (_, plan) = trace(read_script(sql, tpch.schema()).views["answer"])
    document: dict[str, Any] = json.loads(wire.to_json(plan))
    return document


def test_round_trip() -> None:
    for plan in plans():
        text = wire.to_json(plan)
        assert wire.from_json(text) == plan
        assert wire.to_json(wire.from_json(text)) == text


def test_published_schema(update: bool) -> None:
    text = wire.published(wire.json_schema())
    if update:
        PUBLISHED.write_text(text, encoding="utf-8")
    assert PUBLISHED.read_text(encoding="utf-8") == text


def test_schema_names_every_variant_and_forbids_the_rest() -> None:
    schema = wire.json_schema()
    for name in ("Scan", "Filter", "Project", "Join", "KeyJoin", "Group", "Ref", "Literal", "Call"):
        definition = schema["$defs"][name]
        assert definition["additionalProperties"] is False
        assert {"node", "expr"} & set(definition["required"])


def changed(path: list[Any], value: Any) -> str:
    """The example with one part replaced (or removed: `...`)."""
    document: Any = example()
    part = document
    for step in path[:-1]:
        part = part[step]
    if value is ...:
        del part[path[-1]]
    else:
        part[path[-1]] = value
    return json.dumps(document)


JOIN = ["root", "input"]
COPY = [*JOIN, "copies", 0]
SUM = ["root", "aggregates", 0]
ONE = {"expr": "literal", "value": 1, "type": {"name": "INT"}}
LENGTH_OF_A_NUMBER = {"expr": "call", "op": "length", "args": [ONE], "type": {"name": "INT"}}
NUMBER_AS_DATE = {"expr": "call", "op": "cast", "args": [ONE], "type": {"name": "DATE"}}


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        (["name"], 3, r"at \$\.name: Input should be a valid string"),
        (["extra"], 3, r"at \$\.extra: Unexpected"),
        (["root"], None, r"at \$\.root: "),
        (["root", "node"], "grup", r"at \$\.root: Input tag 'grup'"),
        (["root", "node"], ..., r"at \$\.root: Unable to extract tag"),
        ([*JOIN, "copies"], [], r"PLAN\.KEYJOIN"),
        ([*COPY, "key"], ["nothing"], r"at root\.input\.copies\[0\]: .* no key column nothing"),
        ([*COPY, "input", "alias"], 1, r"at \$\.root\.input\.copies\[0\]\.input"),
        ([*JOIN, "edges"], [], r"no edge reaches nation"),
        ([*JOIN, "edges", 0, "many"], "nation", r"nation is not reached before"),
        ([*JOIN, "edges", 0, "columns"], [], r"0 columns cannot hold a key of 1"),
        ([*SUM, "function"], "median", r"Input should be 'sum', 'count' or 'avg'"),
        ([*SUM, "column", "type", "precision"], 9, r"must be a column x of type DECIMAL"),
        ([*SUM, "column", "type", "precision"], 99, r"DECIMAL\(99,\d+\) is not a decimal type"),
        ([*SUM, "argument", "op"], "fetch_url", r"there is no function 'fetch_url'"),
        ([*SUM, "argument", "args", 1, "value"], "1,5", r"'1,5' is not a DECIMAL\(2,1\)"),
        ([*SUM, "argument", "args", 1, "value"], 1.5, r"'1\.5' is not a DECIMAL\(2,1\)"),
        ([*SUM, "argument", "args", 0, "name"], "nation.x", r"no input column nation\.x"),
        (
            ["root", "keys", 0, "value", "type", "name"],
            "DATE",
            r"nation\.n_name is STRING, not DATE",
        ),
        (["root", "keys", 0, "name"], "x", r"two output columns are named x"),
        (
            [*SUM, "argument"],
            LENGTH_OF_A_NUMBER,
            r"length takes BINARY or STRING, not INT",
        ),
        ([*SUM, "argument"], NUMBER_AS_DATE, r"INT cannot become DATE"),
    ],
)
def test_refused(path: list[Any], value: Any, said: str) -> None:
    with pytest.raises(PlanError, match=said):
        wire.from_json(changed(path, value))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        "[]",
        "{",
        '{"name": "\\ud800", "root": {}}',
        '{"name": NaN}',
        '{"name": 1e999}',
        "\0",
        "[" * 1000,
        '{"root":' * 1000,
        " " * (wire.MAX_SIZE + 1),
    ],
)
def test_no_plan_at_all(text: str) -> None:
    with pytest.raises(PlanError):
        wire.from_json(text)


def test_too_deep() -> None:
    scan: dict[str, Any] = example()["root"]["input"]["copies"][0]["input"]
    for _ in range(70):
        true = {"expr": "literal", "value": True, "type": {"name": "BOOLEAN"}}
        scan = {"node": "filter", "input": scan, "predicate": true}
    with pytest.raises(PlanError, match=r"PLAN\.TOO_DEEP"):
        wire.from_json(json.dumps({"name": "v", "root": scan}))
