"""Settings: one TOML file, the environment, flags; the later wins, and each value keeps its origin.

    everview.toml   shards = 16                      lowest
    environment     EVERVIEW_SHARDS=16
    flags           --shards 16, connect(shards=16)  highest

Every setting is a field of `Config` with a line in `DESCRIPTIONS`; the table `[spark]` of the file
is handed to Spark as it is. An unknown name or an impossible value is refused, with its place.

Not here: what a setting does (whoever reads it), options of one relation (WITH (...) in the DDL).
"""

from __future__ import annotations

import difflib
import os
import re
import shutil
import tempfile
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

from everview.errors import ConfigError, Position

FILE = "everview.toml"
PREFIX = "EVERVIEW_"
FILE_VARIABLE = "EVERVIEW_CONFIG"  # names the file; not a setting
POLICIES = Literal["reject", "fail", "upsert", "trust"]
SHARDS_PER_PARTITION = 4
SCRATCH_ROOM = 1 << 30  # bytes that must be free for the shared-memory folder to be chosen

DESCRIPTIONS: Mapping[str, str] = {
    "shards": "parts of the key space; fixed at a view's first run",
    "partitions": "Spark tasks of a stage; fixed at a view's first run",
    "epoch_limit": "changes an epoch takes at most",
    "replicate_rows": "relations of at most so many rows go to every shard",
    "policy": "what a change that contradicts its key means: reject, fail, upsert or trust",
    "checkpoint": "folder of the checkpoints; none: a temporary one, gone at the end",
    "data": "folder of the rows inserted by hand; none: beside the checkpoint",
    "scratch": "folder of the arenas: fast, local, needs no backup",
    "timezone": "session time zone, for TIMESTAMP",
    "memory": "heap of the embedded Spark driver",
}


@dataclass(frozen=True)
class Config:
    """All settings. `load` builds it, and fits partitions and shards to the machine."""

    shards: int = 8
    partitions: int = 2
    epoch_limit: int = 1_000_000
    replicate_rows: int = 100_000
    policy: POLICIES = "reject"
    checkpoint: Path | None = None
    data: Path | None = None
    scratch: Path = field(default_factory=lambda: default_scratch())
    timezone: str = "UTC"
    memory: str = "2g"
    spark: Mapping[str, str] = field(default_factory=dict)
    origins: Mapping[str, str] = field(default_factory=dict, compare=False)

    def __post_init__(self) -> None:
        if self.shards < self.partitions:
            raise ConfigError(
                "CONFIG.VALUE",
                f"{self.shards} shards are too few for {self.partitions} partitions: "
                f"{self.partitions - self.shards} of them would never get a row",
                fix=f"shards = {SHARDS_PER_PARTITION * self.partitions}, or fewer partitions",
            )

    def origin(self, name: str) -> str:
        """Where the value of a setting comes from: the file, a variable, a flag or `default`."""
        return self.origins.get(name, "default")


def load(
    file: str | os.PathLike[str] | None = None,
    environ: Mapping[str, str] | None = None,
    flags: Mapping[str, object] | None = None,
) -> Config:
    """Settings of `file`, then `environ`, then `flags`; a flag of None counts as not given.

    Without `file`: the one EVERVIEW_CONFIG names, else everview.toml of the working folder, if any.
    """
    environ = os.environ if environ is None else environ
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}

    def take(name: str, raw: object, origin: str, position: Position | None = None) -> None:
        values[name] = _value(name, raw, origin, position)
        origins[name] = origin

    path = _file(file, environ)
    if path:
        text = _read(path)
        for name, raw in _parse(path, text).items():
            position = _position(text, name)
            _known(name, f"in {path}", position, also=("spark",))
            take(name, raw, str(path), position)
    for variable in sorted(environ):
        if variable.startswith(PREFIX) and variable != FILE_VARIABLE:
            name = variable.removeprefix(PREFIX).lower()
            _known(name, f"in the environment ({variable})", show=lambda n: PREFIX + n.upper())
            take(name, environ[variable], variable)
    for name, raw in (flags or {}).items():
        if raw is not None:
            _known(name, "among the flags", also=("spark",))
            take(name, raw, "flag")
    return Config(**_placed(values), origins=origins)


def cores() -> int:
    """Processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def default_scratch() -> Path:
    """Shared memory where it is writable and has room, else the system's temporary folder."""
    shared = Path("/dev/shm")
    fits = (
        shared.is_dir()
        and os.access(shared, os.W_OK)
        and shutil.disk_usage(shared).free >= SCRATCH_ROOM
    )
    return (shared if fits else Path(tempfile.gettempdir())) / f"everview-{os.getuid()}"


def _placed(values: dict[str, Any]) -> dict[str, Any]:
    """Fills in shards and partitions so that every partition has several shards."""
    if "partitions" not in values:
        most = values["shards"] // SHARDS_PER_PARTITION if "shards" in values else cores()
        values["partitions"] = max(1, min(cores(), most))
    values.setdefault("shards", max(8, SHARDS_PER_PARTITION * values["partitions"]))
    return values


def _file(file: str | os.PathLike[str] | None, environ: Mapping[str, str]) -> Path | None:
    named = file or environ.get(FILE_VARIABLE)
    if not named:
        return Path(FILE) if Path(FILE).is_file() else None
    if not Path(named).is_file():
        raise ConfigError(
            "CONFIG.FILE",
            f"there is no settings file {os.fspath(named)}",
            fix=f"make it, or leave out {'the flag' if file else FILE_VARIABLE}",
        )
    return Path(named)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError("CONFIG.FILE", f"{path} cannot be read: {error}") from None


def _parse(path: Path, text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        place = re.search(r"\(at line (\d+), column (\d+)\)", str(error))
        raise ConfigError(
            "CONFIG.SYNTAX",
            f"{path} is not TOML: {re.sub(r' *[(]at .*[)]$', '', str(error))}",
            fix="a line reads: name = value, with text in quotes",
            position=Position(text, int(place[1]), int(place[2])) if place else None,
        ) from None


def _position(text: str, name: str) -> Position | None:
    """Where a top-level name stands in the file: as a key, or as the head of a table."""
    found = re.search(rf"^[ \t]*\[?[ \t]*[\"']?({re.escape(name)})\b", text, re.MULTILINE)
    if not found:
        return None
    start = found.start(1)
    line = text.count("\n", 0, start) + 1
    return Position(text, line, start - text.rfind("\n", 0, start), len(name))


def _known(
    name: str,
    where: str,
    position: Position | None = None,
    *,
    also: tuple[str, ...] = (),
    show: Callable[[str], str] = str,
) -> None:
    names = (*DESCRIPTIONS, *also)
    if name in names:
        return
    close = difflib.get_close_matches(name.lower(), names, n=1, cutoff=0.6)
    fix = (
        f"did you mean {show(close[0])}?"
        if close
        else f"settings are {', '.join(show(n) for n in names)}"
    )
    raise ConfigError(
        "CONFIG.UNKNOWN", f"there is no setting {show(name)} ({where})", fix=fix, position=position
    )


def _value(name: str, raw: object, origin: str, position: Position | None) -> object:
    """`raw` (TOML value, or text of a variable or flag) as the type of the setting."""
    try:
        return _READERS[name](raw)
    except ValueError as error:
        raise ConfigError(
            "CONFIG.VALUE",
            f"{name} = {raw!r} ({origin}) is not possible: {error}",
            fix=f"{name} is: {DESCRIPTIONS.get(name, 'a table of Spark settings')}",
            position=position,
        ) from None


def _count(raw: object, least: int = 1) -> int:
    if isinstance(raw, str) and re.fullmatch(r"\d+(_\d+)*", raw.strip()):
        raw = int(raw)
    if not isinstance(raw, int) or isinstance(raw, bool) or raw < least:
        raise ValueError(f"a whole number from {least} is needed")
    return raw


def _size(raw: object) -> int:
    return _count(raw, least=0)


def _text(raw: object) -> str:
    if not isinstance(raw, str) or not raw.strip():
        raise ValueError("a text is needed")
    return raw.strip()


def _folder(raw: object) -> Path:
    return Path(_text(os.fspath(raw) if isinstance(raw, os.PathLike) else raw)).expanduser()


def _policy(raw: object) -> str:
    if raw not in get_args(POLICIES):
        raise ValueError(f"one of {', '.join(get_args(POLICIES))} is needed")
    return str(raw)


def _memory(raw: object) -> str:
    if not re.fullmatch(r"[1-9]\d*[mgt]", _text(raw).lower()):
        raise ValueError("a number with m, g or t is needed, like 2g")
    return _text(raw).lower()


def _timezone(raw: object) -> str:
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    try:
        return ZoneInfo(_text(raw)).key
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueError("a time zone is needed, like UTC or Europe/Berlin") from None


def _spark(raw: object) -> dict[str, str]:
    if not isinstance(raw, Mapping):
        raise ValueError("a table of names and values is needed")
    return {name: _spark_text(value) for name, value in _flat(raw)}


def _flat(table: Mapping[str, object], before: str = "") -> list[tuple[str, object]]:
    """TOML reads `spark.sql.x = 1` as nested tables: joins the names again."""
    found: list[tuple[str, object]] = []
    for name, value in table.items():
        whole = f"{before}{name}"
        found += _flat(value, f"{whole}.") if isinstance(value, Mapping) else [(whole, value)]
    return found


def _spark_text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


_READERS: Mapping[str, Callable[[object], object]] = {
    "shards": _count,
    "partitions": _count,
    "epoch_limit": _count,
    "replicate_rows": _size,
    "policy": _policy,
    "checkpoint": _folder,
    "data": _folder,
    "scratch": _folder,
    "timezone": _timezone,
    "memory": _memory,
    "spark": _spark,
}
