"""Golden explanations: `tests/explain/*.sql` hold a script and, after a marker, what EXPLAIN says.

`pytest tests/test_explain.py --update` rewrites the part after the marker. A script without tables
reads those of TPC-H.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from everview.config import Config
from everview.dataflow.explain import explain
from everview.plan.rules import optimize
from everview.schema import Schema
from everview.sql.script import read_script
from everview.workloads import tpch

MARKER = "\n-- explain ---------------------------------------------------------------------\n"
FILES = sorted((Path(__file__).parent / "explain").glob("*.sql"))
CONFIG = Config()


def explained(text: str, schema: Schema | None = None) -> dict[str, str]:
    """What EXPLAIN says of each view of a script."""
    given = tpch.schema() if schema is None and "CREATE TABLE" not in text else schema or Schema()
    script = read_script(text, given)
    return {n: explain(optimize(p), script.schema, CONFIG) for n, p in script.views.items()}


@pytest.mark.parametrize("file", FILES, ids=lambda f: f.stem)
def test_explanations(file: Path, update: bool) -> None:
    script, _, expected = file.read_text(encoding="utf-8").partition(MARKER)
    said = "\n\n".join(explained(script).values()) + "\n"
    if update:
        file.write_text(f"{script}{MARKER}{said}", encoding="utf-8")
    else:
        assert said == expected


def section(said: str, name: str) -> list[str]:
    """The lines below a heading."""
    parts = {p.splitlines()[0].partition(" (")[0]: p.splitlines()[1:] for p in said.split("\n\n")}
    return parts[name]


@pytest.mark.parametrize("name", tpch.QUERIES)
def test_every_relation_of_a_query_is_placed_and_its_state_named(name: str) -> None:
    sql = tpch.query(name)
    (said,) = explained(f"CREATE VIEW {name} AS {sql}").values()
    stages, state = "\n".join(section(said, "stages")), "\n".join(section(said, "state"))
    for relation in tpch.schema().relations:
        if f" {relation.name}" in sql or f"\n{relation.name}" in sql:
            assert f"<- relation {relation.name}" in stages
    assert "policy reject" in stages
    assert "bytes" in state


def test_trusted_sources_need_no_gate_and_fewer_stages() -> None:
    text = f"CREATE VIEW q3 AS {tpch.query('q3')}"
    relations = (replace(r, policy="trust") for r in tpch.schema().relations)
    trusted = explained(text, Schema(tuple(relations)))["q3"]
    careful = explained(text)["q3"]
    assert "gate" in careful
    assert "gate" not in trusted
    assert trusted.count("  stage ") < careful.count("  stage ")
