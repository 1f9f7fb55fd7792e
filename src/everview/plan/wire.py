"""Plans as JSON, both ways, with a published schema: `docs/plan.schema.json`.

    {"name": "v", "root": {"node": "filter", "input": {"node": "scan", ...}, "predicate": ...}}

The JSON is the dataclasses of plan/node field by field; `node` and `expr` say which variant it is.
Unknown fields are refused, size and depth are checked before anything is built, and what was read
is checked like any plan. pydantic is loaded by the first call.

Not here: what a legal plan is (plan/check).
"""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any

from everview.errors import EverviewError, PlanError
from everview.plan.check import check, check_scans
from everview.plan.node import Plan
from everview.schema import Schema

if TYPE_CHECKING:
    from pydantic import TypeAdapter

MAX_SIZE = 1024 * 1024
MAX_NESTING = 64
_TAGS = ("scan", "filter", "project", "join", "keyjoin", "group", "ref", "literal", "call")


def to_json(plan: Plan) -> str:
    """The plan as one line of JSON."""
    return _adapter().dump_json(plan).decode("utf-8")


def from_json(text: str) -> Plan:
    """The plan of a JSON text; PlanError with a path if it is none."""
    from pydantic import ValidationError

    _check_size(text)
    try:
        plan = _adapter().validate_json(text)
    except ValidationError as e:
        raise _refused(e) from None
    except EverviewError as e:
        raise PlanError("PLAN.JSON", e.message, fix=e.fix) from None
    except (ValueError, RecursionError) as e:
        raise PlanError("PLAN.JSON", f"the text is no plan: {type(e).__name__}") from None
    check(plan)
    return plan


def read_plan(text: str, schema: Schema) -> Plan:
    """The plan of a JSON text that comes from outside: it must read relations as declared."""
    plan = from_json(text)
    check_scans(plan, schema)
    return plan


def json_schema() -> dict[str, Any]:
    """The JSON Schema of a plan (draft 2020-12)."""
    schema = _adapter().json_schema()
    for definition in schema["$defs"].values():
        for tag in ("node", "expr"):
            if tag in definition["properties"]:  # it has a default only in Python
                definition["properties"][tag].pop("default")
                definition["required"].append(tag)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def published(schema: dict[str, Any]) -> str:
    """The text of `docs/plan.schema.json`."""
    return json.dumps(schema, indent=2, sort_keys=True) + "\n"


@cache
def _adapter() -> TypeAdapter[Plan]:
    """The reader and writer of plans.

    The annotations `Node` and `Expr` of the dataclasses are plain unions. pydantic looks such a
    name up in the class first, so an attribute there tells it by which field to tell them apart
    (without, reading would try every variant, which is exponential in the depth).
    """
    from typing import Annotated

    from pydantic import ConfigDict, Field, TypeAdapter

    from everview import expr, schema
    from everview.plan import node

    tagged_node = Annotated[node.Node, Field(discriminator="node")]
    tagged_expr = Annotated[expr.Expr, Field(discriminator="expr")]
    kinds: tuple[Any, ...] = (
        *(expr.Ref, expr.Literal, expr.Call, schema.Type, schema.Column),
        *(node.Scan, node.Filter, node.Project, node.Join, node.KeyJoin, node.Group, node.Plan),
        *(node.Named, node.Aggregate, node.Copy, node.Edge, node.Assertion),
    )
    for kind in kinds:
        kind.__pydantic_config__ = ConfigDict(extra="forbid", strict=True)
        kind.Node, kind.Expr = tagged_node, tagged_expr
    return TypeAdapter(node.Plan)


def _check_size(text: str) -> None:
    """Size, and how deep objects stand in each other, without building anything."""
    if len(text) > MAX_SIZE:
        raise PlanError("PLAN.TOO_LARGE", f"the text is longer than {MAX_SIZE} characters")
    depth, quoted, escaped = 0, False, False
    for c in text:
        if quoted:
            escaped, quoted = (not escaped and c == "\\"), not (c == '"' and not escaped)
        elif c == '"':
            quoted = True
        elif c in "{[":
            depth += 1
            if depth > 2 * MAX_NESTING + 4:
                raise PlanError("PLAN.TOO_DEEP", f"the plan has more than {MAX_NESTING} levels")
        elif c in "}]":
            depth -= 1


def _refused(error: Any) -> PlanError:
    """The first thing that is wrong, as `$.root.input.columns[0]: ...`."""
    first = error.errors(include_url=False)[0]
    path = "$"
    for part in (p for p in first["loc"] if p not in _TAGS):
        path += f"[{part}]" if isinstance(part, int) else f".{part}"
    return PlanError(
        "PLAN.JSON", f"at {path}: {first['msg']}", fix="see docs/plan.schema.json for the form"
    )
