"""Where arenas live, and whose they are.

    scratch/<query id>/owner          the JVM that runs the query: process id and when it started
                      /<stage>/<shard>/<token>/

A folder whose owner is gone is of no use to anybody (its content is in the log) and is removed when
the next query begins. Not here: what is in an arena (state/arena).
"""

from __future__ import annotations

import os
import shutil
import uuid
from functools import cache
from pathlib import Path

import psutil

OWNER = "owner"


def place(scratch: Path, query: str, stage: int, shard: int) -> Path:
    """The folder of a shard's arenas."""
    folder = scratch / query
    if _owner(folder) != _me():
        _claim(folder)
        sweep(scratch)
    return folder / str(stage) / str(shard)


def sweep(scratch: Path) -> None:
    """Remove the folders of queries whose process is gone."""
    for folder in scratch.iterdir():
        owner = _owner(folder)
        if owner and not _alive(owner):  # without an owner: just being made, or not ours
            shutil.rmtree(folder, ignore_errors=True)


def _claim(folder: Path) -> None:
    """Make our JVM the owner."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    part = folder / f".{OWNER}-{uuid.uuid4().hex}"
    part.write_text(_me())
    os.replace(part, folder / OWNER)


def _owner(folder: Path) -> str:
    try:
        return (folder / OWNER).read_text()
    except OSError:
        return ""


@cache
def _me() -> str:
    """The JVM above this Python worker: process id and start."""
    me = psutil.Process()
    java = next((p for p in me.parents() if "java" in p.name()), me)
    return f"{java.pid} {java.create_time()}"


def _alive(owner: str) -> bool:
    pid, _, started = owner.partition(" ")
    try:
        return str(psutil.Process(int(pid)).create_time()) == started
    except (psutil.Error, ValueError):
        return False
