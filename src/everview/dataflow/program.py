"""A program: what is shipped to wherever stages run. Text and numbers only; receivers compile it.

Loads no arrays, so that a process which only passes it on starts at once.

Not here: compiling (dataflow/compile), shipping (hosts).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from everview.dataflow.compile import Settings, compile_resolved
from everview.dataflow.dataflow import Dataflow
from everview.plan.wire import from_json


@dataclass(frozen=True, slots=True)
class Program:
    """An optimized plan as JSON, and the settings it is compiled with."""

    plan: str
    settings: Settings


@lru_cache(maxsize=64)
def dataflow_of(program: Program) -> Dataflow:
    """The program's dataflow; compiled once per process."""
    return compile_resolved(from_json(program.plan), program.settings)
