"""Everview keeps SQL answers current: the exact change of a view, epoch by epoch, on Spark.

    import everview

    db = everview.connect()
    db.execute("CREATE TABLE ...; CREATE VIEW ...")

The public names, nothing else; each is loaded when it is first used, so that the import is
instant and loads neither Spark nor numpy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from everview.config import Config as Config
    from everview.database import Database as Database
    from everview.database import View as View
    from everview.database import connect as connect
    from everview.errors import EverviewError as EverviewError
    from everview.schema import Schema as Schema
    from everview.spark.run import Run as Run

__version__ = "0.1.0"

_HOMES = {
    "Config": "everview.config",
    "Database": "everview.database",
    "EverviewError": "everview.errors",
    "Run": "everview.spark.run",
    "Schema": "everview.schema",
    "View": "everview.database",
}

__all__ = ["Config", "Database", "EverviewError", "Run", "Schema", "View", "connect"]


def __getattr__(name: str) -> Any:
    if name == "connect":
        return import_module("everview.connect")  # the folder, which can be called
    if name not in _HOMES:
        raise AttributeError(f"module 'everview' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
