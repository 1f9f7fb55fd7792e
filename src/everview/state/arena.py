"""The arena: named flat numpy arrays that grow, in memory-mapped files or in plain memory.

    folder/                     one arena = one folder, renamed as a whole
      rows.lineitem.words       one file per array, its size is its capacity
      header.json               scalars, and the shape and dtype of every array

An arena is a cache of the log (state/log): whoever has none rebuilds it. `Arena.take` renames the
folder of a committed token away (so nobody else can use it), `leave` writes the header and renames
the folder to the new token. A crash in between leaves a folder under no token: it is never read
again and is swept up by the next `take` in that place.

New space is zero, and every array treats zero as "nothing here". Files are allocated in full before
they are mapped, because a sparse file on a full tmpfs kills the process at the first touch.

Not here: what the arrays mean (state/index, state/text, operators), when to rebuild
(dataflow/stage).
"""

from __future__ import annotations

import json
import mmap
import os
import shutil
import uuid
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from everview.delta.vector import Array
from everview.errors import StateError

HEADER = "header.json"
VERSION = 3
_BOOT = Path("/proc/sys/kernel/random/boot_id")


class Arena:
    """Arrays by name, and `scalars`: a JSON dictionary kept with them."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder
        self.scalars: dict[str, Any] = {}
        self._arrays: dict[str, Array] = {}
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)

    def array(self, name: str, dtype: Any, shape: tuple[int, ...] = (), least: int = 16) -> Array:
        """The array of that name with at least `least` rows of `shape`, made if it is not there."""
        existing = self._arrays.get(name)
        if existing is not None and len(existing) >= least:
            return existing
        return self.grow(name, dtype, shape, least)

    def grow(self, name: str, dtype: Any, shape: tuple[int, ...], rows: int) -> Array:
        """The array with at least `rows` rows: content kept, new rows zero. Doubles, at least."""
        old = self._arrays.get(name)
        kept = 0 if old is None else len(old)
        rows = max(rows, 16, kept + kept // 2) if rows > kept else kept
        self._arrays[name] = self._allocate(name, np.dtype(dtype), (rows, *shape), old)
        return self._arrays[name]

    def fresh(self, name: str, dtype: Any, shape: tuple[int, ...], rows: int) -> Array:
        """A new array of exactly `rows` zero rows in place of the old one (content dropped)."""
        self._arrays.pop(name, None)
        if self.folder is not None:
            (self.folder / name).unlink(missing_ok=True)
        self._arrays[name] = self._allocate(name, np.dtype(dtype), (rows, *shape), None)
        return self._arrays[name]

    @property
    def bytes(self) -> int:
        return sum(a.nbytes for a in self._arrays.values())

    def leave(self, folder: Path) -> None:
        """Finish: write the header and rename the folder to its new place."""
        if self.folder is None:
            return
        arrays = {
            n: {"dtype": a.dtype.str, "shape": list(a.shape)} for n, a in self._arrays.items()
        }
        header = {
            "version": VERSION, "boot": _boot(), "token": folder.name, "scalars": self.scalars,
            "arrays": arrays,
        }  # fmt: skip
        (self.folder / HEADER).write_text(json.dumps(header))
        self._arrays = {}
        os.rename(self.folder, folder)
        self.folder = None

    @staticmethod
    def take(place: Path, token: str | None) -> tuple[Arena, bool]:
        """The arena of `token` in `place`, and whether it was there; else a new, empty one.

        Either way it now has a private name. Every other folder in `place` belongs to a token that
        was never committed or is older: they are removed.
        """
        mine = place / f"taken-{uuid.uuid4().hex}"
        found = None
        if token is not None:
            try:
                os.rename(place / token, mine)
                found = Arena._open(mine, token)
            except (OSError, ValueError, KeyError, StateError):
                found = None
        if place.exists():
            for other in place.iterdir():
                if other != mine or found is None:
                    shutil.rmtree(other, ignore_errors=True)
        return (found, True) if found is not None else (Arena(mine), False)

    @staticmethod
    def _open(folder: Path, token: str) -> Arena:
        header = json.loads((folder / HEADER).read_text())
        if header["version"] != VERSION:
            raise StateError("ARENA.VERSION", f"arena version {header['version']} is not {VERSION}")
        if header["boot"] != _boot():  # what was not yet written when the machine went down is lost
            raise StateError("ARENA.BOOT", "the arena is from before the machine was started")
        if header["token"] != token:  # put there by hand: an older copy, another shard's
            raise StateError("ARENA.TOKEN", f"the arena is of token {header['token']}")
        arena = Arena(folder)
        arena.scalars = header["scalars"]
        for name, about in header["arrays"].items():
            shape, dtype = tuple(about["shape"]), np.dtype(about["dtype"])
            if (folder / name).stat().st_size < prod(shape) * dtype.itemsize:
                raise StateError("ARENA.SHORT", f"arena array {name} is cut short")
            arena._arrays[name] = _map(folder / name, dtype, shape)
        (folder / HEADER).unlink()  # the mark that it is in use: a copy of it opens no more
        return arena

    def _allocate(
        self, name: str, dtype: np.dtype[Any], shape: tuple[int, ...], old: Array | None
    ) -> Array:
        if self.folder is None:
            new = np.zeros(shape, dtype)
            if old is not None:
                new[: len(old)] = old
            return new
        path = self.folder / name
        size = max(prod(shape) * dtype.itemsize, 1)
        with path.open("ab") as f:
            try:
                os.posix_fallocate(f.fileno(), 0, size)
            except OSError as e:
                raise StateError(
                    "ARENA.SPACE",
                    f"no room for {size} bytes of index in {self.folder.parent}",
                    fix="give Everview another scratch folder (setting `scratch`), or more room",
                ) from e
        return _map(path, dtype, shape)


def _boot() -> str:
    """The id of this run of the machine."""
    return _BOOT.read_text().strip() if _BOOT.exists() else ""


def _map(path: Path, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Array:
    size = prod(shape) * dtype.itemsize
    if not size:
        return np.zeros(shape, dtype)
    with path.open("r+b") as f:
        view = mmap.mmap(f.fileno(), size)
    return np.frombuffer(view, dtype).reshape(shape)
