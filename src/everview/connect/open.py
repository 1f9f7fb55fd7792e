"""From `CREATE TABLE ... WITH (connector = ..., path = ...)` to a source.

| connector          | options                                                            |
|--------------------|--------------------------------------------------------------------|
| `csv`              | path, change_column, delimiter, header, newlines, zone, tasks      |
| `json`, `parquet`  | path, change_column, zone, tasks                                   |
| `update-sequence`  | path, tag, zone, tasks                                             |
| `hand`             | path, zone, tasks                                                  |

Not here: the sources themselves, sequences of several relations in one file (`together`: see
`open_sources`).
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable
from pathlib import Path

from everview.connect.folder import ChangeFolder
from everview.connect.hand import HandFolder
from everview.connect.together import Counting, Together
from everview.connect.update_sequence import UpdateSequence
from everview.errors import ConfigError
from everview.schema import Relation

_EVERY = ("connector", "path", "zone", "tasks")
OPTIONS: dict[str, tuple[str, ...]] = {
    "csv": (*_EVERY, "change_column", "delimiter", "header", "newlines"),
    "json": (*_EVERY, "change_column"),
    "parquet": (*_EVERY, "change_column"),
    "update-sequence": (*_EVERY, "tag"),
    "hand": _EVERY,
}


def open_source(relation: Relation, base: Path) -> Counting:
    """The source of one relation; paths are relative to `base`."""
    options = dict(relation.options)
    connector = options.get("connector")
    if connector is None:
        raise ConfigError(
            "CONFIG.CONNECTOR",
            f"relation {relation.name} names no connector",
            fix=f"add WITH (connector = '...', path = '...'); connectors: {', '.join(OPTIONS)}",
        )
    if connector not in OPTIONS:
        raise ConfigError(
            "CONFIG.CONNECTOR",
            f"relation {relation.name}: there is no connector {connector!r}",
            fix=_meant(connector, OPTIONS),
        )
    for name in options:
        if name not in OPTIONS[connector]:
            raise ConfigError(
                "CONFIG.OPTION",
                f"relation {relation.name}: connector {connector} has no option {name!r}",
                fix=_meant(name, OPTIONS[connector]),
            )
    if not options.get("path"):
        raise ConfigError(
            "CONFIG.PATH", f"relation {relation.name} names no path", fix="add path = '...'"
        )
    path = os.path.join(base, options["path"])
    zone, tasks = _zone(relation), _whole(relation, "tasks", 4)
    if connector == "hand":
        return HandFolder(path, relation, zone=zone, tasks=tasks)
    if connector == "update-sequence":
        return UpdateSequence(path, (relation,), tasks=tasks, zone=zone)
    change = options.get("change_column")
    if connector != "csv":
        form = "json" if connector == "json" else "parquet"
        return ChangeFolder(path, relation, form, change, zone=zone, tasks=tasks)  # type: ignore[arg-type]
    return ChangeFolder(
        path, relation, "csv", change, _delimiter(relation), _flag(relation, "header", True),
        _flag(relation, "newlines", False), zone, tasks,
    )  # fmt: skip


def open_sources(relations: Iterable[Relation], base: Path) -> Together:
    """The sources of several relations as one; update sequences of one path are read once."""
    sources: list[Counting] = []
    mixed: dict[str, int] = {}
    for relation in relations:
        source = open_source(relation, base)
        if isinstance(source, UpdateSequence) and source.path in mixed:
            at = mixed[source.path]
            first = sources[at]
            assert isinstance(first, UpdateSequence)
            assert isinstance(first.relations, tuple)
            sources[at] = UpdateSequence(
                first.path, (*first.relations, relation), tasks=first.tasks, zone=first.zone
            )
            continue
        if isinstance(source, UpdateSequence):
            mixed[source.path] = len(sources)
        sources.append(source)
    return Together(tuple(sources))


def _meant(given: str, known: Iterable[str]) -> str:
    names = list(known)
    close = difflib.get_close_matches(given, names, 1)
    hint = f"did you mean {close[0]!r}? " if close else ""
    return f"{hint}there are: {', '.join(names)}"


def _flag(relation: Relation, name: str, default: bool) -> bool:
    said = relation.options.get(name, str(default)).strip().lower()
    if said not in ("true", "false"):
        raise _wrong(relation, name, "true or false")
    return said == "true"


def _whole(relation: Relation, name: str, default: int) -> int:
    said = relation.options.get(name, str(default)).strip()
    if not (said.isascii() and said.isdecimal() and int(said)):
        raise _wrong(relation, name, "a whole number from 1")
    return int(said)


def _delimiter(relation: Relation) -> str:
    said = relation.options.get("delimiter", ",")
    said = "\t" if said in ("\\t", "tab") else said
    if len(said) != 1 or not said.isascii() or said in '"\r\n':
        raise _wrong(relation, "delimiter", "one ASCII character, or \\t")
    return said


def _zone(relation: Relation) -> str:
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    said = relation.options.get("zone", "UTC")
    try:
        ZoneInfo(said)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise _wrong(relation, "zone", "a time zone such as Europe/Berlin") from None
    return said


def _wrong(relation: Relation, name: str, expected: str) -> ConfigError:
    return ConfigError(
        "CONFIG.OPTION_VALUE",
        f"relation {relation.name}: option {name} = {relation.options[name]!r} makes no sense",
        fix=f"give {expected}",
    )
