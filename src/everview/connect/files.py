"""Folders of files that grow: which files there are, and how far each has been consumed.

    offset = {"done": names read to their end,     numbered names as runs, see `Names`
              "open": {name: position},            begun, not at the end
              "ends": {name: end}}                 finished by this very epoch: where they ended

Files are consumed in the order of their names, never of their times. A file that turns up late,
with a name that sorts before files already read, is still read: in the next epoch, before whatever
else that epoch reads. So nothing is lost, and nothing is read twice: a name once in `done` stays
there, even when the file is removed and written again. Numbered names (`orders-000017.csv`) cost
one entry per unbroken run of numbers; other names cost their own text in every offset, so prefer
numbered ones where there are many thousands of files.

Names that start with `.` or `_`, or end in `.tmp` or `.crc`, are being written and not looked at.

Not here: what stands in a file (folder, update_sequence), sharing a limit (together).
"""

from __future__ import annotations

import glob
import os
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from everview.connect.contract import Offset
from everview.errors import InputError

MOST_FILES = 1000  # of a source in an epoch
_LAST_NUMBER = re.compile(r"([0-9]{1,18})(?=[^0-9]*\Z)")
_Run = tuple[str, str, int]  # before the number, after it, its digits


class Names:
    """A set of file names in which consecutive numbers are one run: exact, and small as JSON."""

    def __init__(self) -> None:
        self._runs: dict[_Run, list[list[int]]] = {}
        self._single: set[str] = set()

    @staticmethod
    def from_json(entries: list[Any]) -> Names:
        names = Names()
        for entry in entries:
            if isinstance(entry, str):
                names.add(entry)
            else:
                before, after, digits, first, last = entry
                names._insert((before, after, digits), first, last)
        return names

    def to_json(self) -> list[Any]:
        entries: list[Any] = sorted(self._single)
        for (before, after, digits), spans in sorted(self._runs.items()):
            for first, last in spans:
                if first == last:
                    entries.append(f"{before}{first:0{digits}d}{after}")
                else:
                    entries.append([before, after, digits, first, last])
        return entries

    def add(self, name: str) -> None:
        run, number = _split(name)
        if run is None:
            self._single.add(name)
        else:
            self._insert(run, number, number)

    def __contains__(self, name: str) -> bool:
        run, number = _split(name)
        if run is None:
            return name in self._single
        spans = self._runs.get(run, [])
        at = bisect_right(spans, number, key=lambda s: s[0]) - 1
        return at >= 0 and number <= spans[at][1]

    def minus(self, other: Names) -> Iterator[str]:
        """The names that are here and not in `other`, in no order."""
        yield from self._single - other._single
        for run, spans in self._runs.items():
            before, after, digits = run
            for first, last in spans:
                for low, high in _without(first, last, other._runs.get(run, [])):
                    for number in range(low, high + 1):
                        yield f"{before}{number:0{digits}d}{after}"

    def _insert(self, run: _Run, first: int, last: int) -> None:
        spans = self._runs.setdefault(run, [])
        at = bisect_right(spans, first, key=lambda s: s[0])
        spans.insert(at, [first, last])
        if at + 1 < len(spans) and spans[at + 1][0] <= last + 1:
            spans[at][1] = max(last, spans.pop(at + 1)[1])
        if at and spans[at - 1][1] + 1 >= first:
            spans[at - 1][1] = max(spans[at - 1][1], spans.pop(at)[1])


def _split(name: str) -> tuple[_Run | None, int]:
    found = _LAST_NUMBER.search(name)
    if found is None:
        return None, 0
    digits = found.group()
    return (name[: found.start()], name[found.end() :], len(digits)), int(digits)


def _without(first: int, last: int, spans: list[list[int]]) -> Iterator[tuple[int, int]]:
    """The parts of first..last that none of the sorted `spans` covers."""
    for low, high in spans:
        if high < first:
            continue
        if low > last:
            break
        if low > first:
            yield first, low - 1
        first = high + 1
    if first <= last:
        yield first, last


@dataclass(frozen=True, slots=True)
class File:
    """A file that may be read: its name within the source, and where it is."""

    name: str
    path: str


def listing(path: str) -> list[File]:
    """The files of a folder (not of its sub-folders), of a glob, or the one file, by name.

    A folder or file that is not there yet has no files: a stream may be started before its data.
    """
    if os.path.isfile(path):
        return [File(os.path.basename(path), path)]
    if glob.has_magic(path) and not os.path.isdir(path):
        root = _fixed_part(path)
        found = [p for p in glob.glob(path, recursive=True) if os.path.isfile(p)]
        files = [File(os.path.relpath(p, root).replace(os.sep, "/"), p) for p in found]
    else:
        try:
            with os.scandir(path) as entries:
                files = [File(e.name, e.path) for e in entries if e.is_file()]
        except FileNotFoundError:
            return []
    return sorted((f for f in files if _ready(f.name)), key=lambda f: f.name)


def _ready(name: str) -> bool:
    return not any(
        part.startswith((".", "_")) or part.endswith((".tmp", ".crc")) for part in name.split("/")
    )


def _fixed_part(pattern: str) -> str:
    """The folder of a glob that comes before its first wildcard."""
    parts = pattern.split(os.sep)
    magic = next(i for i, p in enumerate(parts) if glob.has_magic(p))
    return os.sep.join(parts[:magic]) or (os.sep if pattern.startswith(os.sep) else ".")


def empty_offset() -> Offset:
    return {"done": [], "open": {}, "ends": {}}


@dataclass(frozen=True, slots=True)
class Reached:
    """How far one epoch goes in one file."""

    end: int
    rows: int
    finished: bool
    closes: bool = False  # the epoch ends here, by a mark in the file


@dataclass(frozen=True, slots=True)
class Step:
    """How far one epoch goes: `rows` says how many it takes, `more` that it may take more."""

    offset: Offset
    rows: int
    more: bool


# Of a file's path: from this position, at most so many rows (None: all), is it the newest file?
Measure = Callable[[str, int, int | None, bool], Reached]


def walk(
    path: str, start: Offset, limit: int | None, measure: Measure, *, whole: bool = False
) -> Step:
    """Go through what has not been consumed, in name order, until `limit` rows, a mark or so many
    files (however few rows each holds, it costs time to open).

    `whole`: a file that is begun has more to come, so it must be there still.
    """
    done = Names.from_json(start["done"])
    files = listing(path)
    opened: dict[str, int] = dict(start["open"])
    if whole and opened.keys() - {f.name for f in files}:
        raise missing(place(path, min(opened.keys() - {f.name for f in files})))
    ends: dict[str, int] = {}
    rows, more, looked = 0, False, 0
    for file in files:
        if file.name in done:
            continue
        looked += 1
        at = opened.get(file.name, 0)
        left = None if limit is None else max(limit, 1) - rows
        try:
            reached = measure(file.path, at, left, file is files[-1])
        except (FileNotFoundError, InputError) as e:
            if isinstance(e, InputError) and e.code != "INPUT.FILE_GONE":
                raise
            continue  # removed since it was listed: nothing more of it is admitted
        rows += reached.rows
        if reached.finished:
            done.add(file.name)
            opened.pop(file.name, None)
            ends[file.name] = reached.end
        elif reached.end != at:
            opened[file.name] = reached.end
        more = not reached.closes and limit is not None and rows >= limit
        if more or reached.closes or (limit is not None and looked >= MOST_FILES):
            break
    if not ends and opened == start["open"]:
        return Step(start, 0, more=False)
    return Step({"done": done.to_json(), "open": opened, "ends": ends}, rows, more)


def between(
    path: str, start: Offset, end: Offset, size: Callable[[str], int]
) -> list[tuple[File, int, int]]:
    """The parts of files from `start` to `end`, by name; `size` gives the end of a whole file.

    This looks at the names in the offsets and never at what else has come into the folder.
    """
    finished = set(Names.from_json(end["done"]).minus(Names.from_json(start["done"])))
    begun = {n for n, at in end["open"].items() if at != start["open"].get(n, 0)}
    parts = []
    for name in sorted(finished | begun):
        file = File(name, place(path, name))
        low = start["open"].get(name, 0)
        high = end["open"][name] if name in begun else end["ends"].get(name)
        if high is None:
            high = size(file.path)
        if high > low:
            parts.append((file, low, high))
    return parts


def place(path: str, name: str) -> str:
    """Where the file `name` of the source `path` is."""
    if os.path.isfile(path) and os.path.basename(path) == name:
        return path
    if glob.has_magic(path) and not os.path.isdir(path):
        return os.path.join(_fixed_part(path), name)
    if os.path.isdir(path):
        return os.path.join(path, name)
    return path  # one file that is gone; reading it says so


def missing(path: str) -> InputError:
    return InputError(
        "INPUT.FILE_GONE",
        f"the file {path} was admitted to an epoch and is not there any more",
        fix="keep input files until the epoch that reads them is committed; put it back",
    )


def shorter(path: str, admitted: str) -> InputError:
    return InputError(
        "INPUT.FILE_SHORTER",
        f"the file {path} has become shorter than the {admitted} already admitted",
        fix="input files may grow or be replaced by new ones, but never be cut or rewritten",
    )
