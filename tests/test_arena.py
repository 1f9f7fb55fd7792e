"""The arena: arrays that grow, folders that are taken and left. Its traps are in test_traps."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from random import Random

import numpy as np
import pytest

from everview.errors import StateError
from everview.kernels import index as kernel
from everview.state.arena import HEADER, Arena
from everview.state.index import KeyIndex


@pytest.fixture(params=["memory", "files"])
def arena(request: pytest.FixtureRequest, tmp_path: Path) -> Arena:
    return Arena() if request.param == "memory" else Arena(tmp_path / "arena")


def test_an_array_is_made_once_and_grows(arena: Arena) -> None:
    a = arena.array("a", np.int64, (3,), 5)
    assert a.shape == (16, 3)
    assert not a.any()
    a[:] = 7
    assert arena.array("a", np.int64, (3,), 16) is a
    b = arena.array("a", np.int64, (3,), 17)
    assert b.shape == (24, 3)  # half as much again, at least
    assert (b[:16] == 7).all()
    assert not b[16:].any()
    assert arena.array("a", np.int64, (3,), 1000).shape == (1000, 3)
    assert arena.bytes == 1000 * 3 * 8


def test_grow_never_shrinks(arena: Arena) -> None:
    arena.array("a", np.int32, (), 100)[:] = 1
    assert len(arena.grow("a", np.int32, (), 10)) == 100


def test_fresh_drops_the_content(arena: Arena) -> None:
    arena.array("a", np.int32, (), 100)[:] = 1
    fresh = arena.fresh("a", np.int32, (), 20)
    assert fresh.shape == (20,)
    assert not fresh.any()
    assert arena.array("a", np.int32, (), 20) is fresh


def test_arrays_without_width(arena: Arena) -> None:
    a = arena.array("a", np.int64, (0,), 5)
    assert a.shape == (16, 0)
    assert arena.grow("a", np.int64, (0,), 100).shape == (100, 0)


def test_left_and_taken(tmp_path: Path) -> None:
    first, warm = Arena.take(tmp_path, None)
    assert not warm
    first.array("a", np.int64, (2,), 4)[3] = (5, 6)
    first.array("empty", np.int64, (0,), 4)
    first.scalars["log"] = {"next": 3}
    first.leave(tmp_path / "t1")
    assert [p.name for p in tmp_path.iterdir()] == ["t1"]

    second, warm = Arena.take(tmp_path, "t1")
    assert warm
    assert second.array("a", np.int64, (2,), 4)[3].tolist() == [5, 6]
    assert second.array("empty", np.int64, (0,), 4).shape == (16, 0)
    assert second.scalars == {"log": {"next": 3}}
    assert not (tmp_path / "t1").exists()
    grown = second.array("a", np.int64, (2,), 5000)
    assert grown[3].tolist() == [5, 6]
    second.leave(tmp_path / "t2")
    third, warm = Arena.take(tmp_path, "t2")
    assert warm
    assert third.array("a", np.int64, (2,), 4).shape == (5000, 2)


def test_taken_once_only(tmp_path: Path) -> None:
    a, _ = Arena.take(tmp_path, None)
    a.array("a", np.int64)[0] = 1
    a.leave(tmp_path / "t")
    b, warm = Arena.take(tmp_path, "t")
    c, other = Arena.take(tmp_path, "t")
    assert (warm, other) == (True, False)
    assert b.folder != c.folder


def test_an_arena_in_use_does_not_open(tmp_path: Path) -> None:
    a, _ = Arena.take(tmp_path, None)
    a.leave(tmp_path / "t")
    b, _ = Arena.take(tmp_path, "t")
    assert b.folder is not None
    assert not (b.folder / HEADER).exists()
    os.rename(b.folder, tmp_path / "t")  # as if a crashed worker had left it so
    _, warm = Arena.take(tmp_path, "t")
    assert not warm


def test_what_else_lies_there_is_swept(tmp_path: Path) -> None:
    for name in ("t1", "t2", "taken-by-a-crashed-worker"):
        a = Arena(tmp_path / f"making-{name}")
        a.array("a", np.int64)
        a.leave(tmp_path / name)
    taken, warm = Arena.take(tmp_path, "t2")
    assert warm
    assert taken.folder is not None
    assert [p.name for p in tmp_path.iterdir()] == [taken.folder.name]


def test_no_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Space is reserved before it is mapped: a full disk is an error here, not a SIGBUS later."""

    def full(*_: int) -> None:
        raise OSError(errno.ENOSPC, "no space left on device")

    a = Arena(tmp_path / "a")
    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(StateError, match=r"ARENA\.SPACE") as e:
        a.array("a", np.int64, (), 1000)
    assert "scratch" in e.value.fix


def test_reserved_in_full(tmp_path: Path) -> None:
    a = Arena(tmp_path / "a")
    a.array("a", np.int64, (), 10_000)
    about = (tmp_path / "a" / "a").stat()
    assert about.st_size == 80_000
    assert about.st_blocks * 512 >= 80_000  # not sparse


# ---------------------------------------------------------------------------- a growing index in it


@pytest.mark.parametrize("words", [0, 1, 3])
def test_key_index_grows(arena: Arena, words: int) -> None:
    """As a dict, over many growths of table and entries."""
    rng, index = Random(words), KeyIndex(arena, "x", words)
    twin: dict[tuple[int, ...], int] = {}
    for _ in range(30):
        keys = [
            tuple(rng.randrange(-400, 400) for _ in range(words)) for _ in range(rng.randrange(90))
        ]
        found = index.entries(np.array(keys, np.int64).reshape(len(keys), words)).tolist()
        for k, e in zip(keys, found, strict=True):
            assert twin.setdefault(k, e) == e
        assert len(set(twin.values())) == len(twin) == index.used
        gone = rng.sample(sorted(twin), min(len(twin), rng.randrange(30)))
        kernel.drop_unused(index.ix, np.array([twin.pop(k) for k in gone], np.int32))
        assert index.used == len(twin)
        named = [*twin, *gone]
        at = index.find(np.array(named, np.int64).reshape(len(named), words))
        assert at.tolist() == [twin.get(k, 0) for k in named]
    assert len(index.ix.table) * 2 >= 3 * index.used


def test_key_index_does_not_grow_with_history(arena: Arena) -> None:
    index = KeyIndex(arena, "x", 1)
    sizes = []
    for n in range(200):
        entries = index.entries(np.arange(40 * n, 40 * n + 40).reshape(40, 1))
        kernel.drop_unused(index.ix, entries)
        sizes.append(arena.bytes)
    assert sizes[-1] == sizes[1]
