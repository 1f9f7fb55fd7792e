"""What `CREATE TABLE ... WITH (...)` says of where rows come from, checked.

| connector          | options                                                            |
|--------------------|--------------------------------------------------------------------|
| `csv`              | path, change_column, delimiter, header, newlines, zone, tasks      |
| `json`, `parquet`  | path, change_column, zone, tasks                                   |
| `update-sequence`  | path, tag, zone, tasks                                             |
| `hand`             | path, zone, tasks                                                  |

A relation with none of them but zone and tasks takes rows by hand. `check` reads this: no arrays
here.

Not here: the sources (open), what a tag may be (update_sequence).
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass

from everview.errors import ConfigError
from everview.schema import Relation

_EVERY = ("connector", "path", "zone", "tasks")
KNOWN: dict[str, tuple[str, ...]] = {
    "csv": (*_EVERY, "change_column", "delimiter", "header", "newlines"),
    "json": (*_EVERY, "change_column"),
    "parquet": (*_EVERY, "change_column"),
    "update-sequence": (*_EVERY, "tag"),
    "hand": _EVERY,
}


@dataclass(frozen=True)
class Options:
    """How one relation is read."""

    connector: str
    path: str
    zone: str
    tasks: int
    change_column: str | None
    delimiter: str
    header: bool
    newlines: bool


def by_hand(relation: Relation) -> bool:
    """Nothing says where its rows come from."""
    return set(relation.options) <= {"zone", "tasks"}


def read_options(relation: Relation) -> Options:
    """The options of a relation, or a refusal."""
    options = relation.options
    connector = options.get("connector")
    if connector is None:
        raise ConfigError(
            "CONFIG.CONNECTOR",
            f"relation {relation.name} names no connector",
            fix=f"add WITH (connector = '...', path = '...'); connectors: {', '.join(KNOWN)}",
        )
    if connector not in KNOWN:
        raise ConfigError(
            "CONFIG.CONNECTOR",
            f"relation {relation.name}: there is no connector {connector!r}",
            fix=_meant(connector, KNOWN),
        )
    for name in options:
        if name not in KNOWN[connector]:
            raise ConfigError(
                "CONFIG.OPTION",
                f"relation {relation.name}: connector {connector} has no option {name!r}",
                fix=_meant(name, KNOWN[connector]),
            )
    if not options.get("path"):
        raise ConfigError(
            "CONFIG.PATH", f"relation {relation.name} names no path", fix="add path = '...'"
        )
    return Options(
        connector, options["path"], _zone(relation), _whole(relation, "tasks", 4),
        options.get("change_column"), _delimiter(relation), _flag(relation, "header", True),
        _flag(relation, "newlines", False),
    )  # fmt: skip


def check_options(relations: Iterable[Relation]) -> None:
    """Refuse, before anything starts, options that no source could be opened with."""
    for relation in relations:
        if not by_hand(relation):
            read_options(relation)


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
