"""Is this machine fit? One check a line: what was found, and how to mend what is wrong.

Each check is a function of the settings that returns a `Finding`; `CHECKS` lists them in the order
they are shown. A check never raises and never starts Spark.

Not here: repairs, the state of running views (status).
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Literal

from everview.config import DESCRIPTIONS, Config
from everview.spark.java import FIX as JAVA_FIX
from everview.spark.java import find_java

GIB = 1 << 30
LEAST_MEMORY = 2 * GIB
LEAST_DISK = 2 * GIB
LEAST_SCRATCH = GIB

State = Literal["ok", "warn", "bad"]


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check found. `fix` is shown unless the state is ok."""

    name: str
    state: State
    found: str
    fix: str = ""


def python(_: Config) -> Finding:
    """Python 3.11 or newer."""
    version = ".".join(str(n) for n in sys.version_info[:3])
    state: State = "ok" if sys.version_info >= (3, 11) else "bad"
    return Finding("Python", state, f"{version} at {sys.executable}", "use Python 3.11 or newer")


def java(_: Config) -> Finding:
    """A Java that Spark can start."""
    found = find_java()
    if found is None:
        return Finding("Java", "bad", "none of version 17 or newer", JAVA_FIX)
    wrapped = ", without its missing vector module" if found.wrapped else ""
    return Finding("Java", "ok", f"{found.version} from {found.origin}{wrapped} ({found.home})")


def packages(_: Config) -> Finding:
    """Every package everview needs, in a version it was made for."""
    try:
        declared = metadata.requires("everview") or []
    except metadata.PackageNotFoundError:
        return Finding("Packages", "warn", "everview itself is not installed", "pip install -e .")
    needed = [line for line in declared if "extra ==" not in line]
    wrong = [w for line in needed for w in _wrong(line)]
    if wrong:
        return Finding("Packages", "bad", "; ".join(wrong), "pip install --upgrade everview")
    return Finding("Packages", "ok", f"all {len(needed)} requirements are met")


def spark_home(_: Config) -> Finding:
    """SPARK_HOME, if set, is the Spark of the pyspark package."""
    home = os.environ.get("SPARK_HOME")
    if not home:
        return Finding("Spark", "ok", f"pyspark {_installed('pyspark') or 'is missing'}")
    fix = "unset SPARK_HOME: another Spark with this pyspark fails in odd ways"
    return Finding("Spark", "warn", f"SPARK_HOME is {home}", fix)


def memory(config: Config) -> Finding:
    """Room for the driver's heap, Python workers and RocksDB beside it."""
    import psutil

    free = psutil.virtual_memory().available
    need = max(LEAST_MEMORY, 2 * _bytes(config.memory))
    state: State = "ok" if free >= need else "warn"
    fix = f"free some, or lower memory (now {config.memory})"
    return Finding("Memory", state, f"{_size(free)} free, {_size(need)} wanted", fix)


def scratch(config: Config) -> Finding:
    """The folder of the arenas: writable, with room."""
    fix = "give /dev/shm more room (Docker: --shm-size=4g), or set scratch to a fast local folder"
    return _room("Scratch", config.scratch, LEAST_SCRATCH, fix)


def checkpoint(config: Config) -> Finding:
    """The folder of checkpoints (the temporary folder if none is set)."""
    folder = config.checkpoint or Path(tempfile.gettempdir())
    return _room("Checkpoint", folder, LEAST_DISK, "free some, or set checkpoint to another folder")


def temporary(_: Config) -> Finding:
    """The system's temporary folder, which Spark spills to."""
    return _room("Temporary", Path(tempfile.gettempdir()), LEAST_DISK, "free some, or set TMPDIR")


def loopback(_: Config) -> Finding:
    """A port on 127.0.0.1: Spark's driver and Python workers talk over it."""
    try:
        with socket.socket() as server, socket.socket() as client:
            server.bind(("127.0.0.1", 0))
            server.listen(1)
            client.settimeout(5)
            client.connect(server.getsockname())
    except OSError as error:
        return Finding("Loopback", "bad", f"127.0.0.1: {error}", "allow connections on 127.0.0.1")
    return Finding("Loopback", "ok", "127.0.0.1 takes connections")


CHECKS: tuple[Callable[[Config], Finding], ...] = (
    python,
    java,
    packages,
    spark_home,
    memory,
    scratch,
    checkpoint,
    temporary,
    loopback,
)


def examine(config: Config) -> tuple[Finding, ...]:
    """All findings, in order."""
    return tuple(check(config) for check in CHECKS)


def report(config: Config) -> bool:
    """Prints findings and settings; whether everview can run here."""
    from rich.console import Console
    from rich.table import Table

    findings = examine(config)
    table = Table("check", "", "found", box=None, pad_edge=False)
    style = {"ok": "green", "warn": "yellow", "bad": "red"}
    for f in findings:
        mend = f"\nfix: {f.fix}" if f.state != "ok" and f.fix else ""
        table.add_row(f.name, f"[{style[f.state]}]{f.state}[/]", _plain(f.found + mend))
    settings = Table("setting", "value", "from", box=None, pad_edge=False)
    for name in DESCRIPTIONS:
        value = getattr(config, name)
        shown = "-" if value is None else str(value)
        settings.add_row(name, _plain(shown), _plain(config.origin(name)))
    console = Console(highlight=False)
    console.print(table)
    console.print()
    console.print(settings)
    fit = all(f.state != "bad" for f in findings)
    console.print(f"\n{'fit' if fit else 'not fit: see the lines marked bad'}")
    return fit


def _room(name: str, folder: Path, need: int, fix: str) -> Finding:
    """Whether a file can be made in `folder` (or, if it does not exist, where it would be)."""
    there = folder
    while not there.exists() and there != there.parent:
        there = there.parent
    try:
        with tempfile.TemporaryFile(dir=there):
            free = shutil.disk_usage(there).free
    except OSError as error:
        return Finding(name, "bad", f"{folder} is not writable: {error.strerror}", fix)
    return Finding(name, "ok" if free >= need else "warn", f"{folder}, {_size(free)} free", fix)


def _wrong(requirement: str) -> list[str]:
    """What is wrong with a requirement like `pandas<3,>=2.2`: missing, or outside the range."""
    wanted = requirement.partition(";")[0].strip()
    name = re.split(r"[^A-Za-z0-9._-]", wanted, maxsplit=1)[0]
    bounds = wanted.removeprefix(name).strip(" ()")
    have = _installed(name)
    if have is None:
        return [f"{name} is missing"]
    fits = all(
        _fits(_numbers(have), operator, _numbers(bound))
        for operator, bound in re.findall(r"(>=|<)\s*([0-9][0-9.]*)", bounds)
    )
    return [] if fits else [f"{name} {have} is not {bounds}"]


def _fits(have: tuple[int, ...], operator: str, bound: tuple[int, ...]) -> bool:
    return have >= bound if operator == ">=" else have < bound


def _installed(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(n) for n in re.findall(r"\d+", version)[:3])


def _bytes(memory: str) -> int:
    return int(memory[:-1]) << {"m": 20, "g": 30, "t": 40}[memory[-1]]


def _size(count: int) -> str:
    return f"{count / GIB:.1f} GiB"


def _plain(text: str) -> str:
    """Text that rich shows as it is."""
    return text.replace("[", r"\[")
