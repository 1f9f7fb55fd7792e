"""Files of lines: counting them, cutting at their ends, reading blocks of whole ones.

A line ends with a line feed, and a carriage return before it belongs to that end. Nothing maps a
file into memory: a file cut short by its writer would then kill the process.

Not here: what a line means (delimited, json_lines, update_sequence).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

from everview.connect.files import Reached, missing, shorter
from everview.errors import InputError

Bytes = npt.NDArray[np.uint8]
Places = npt.NDArray[np.int64]

NEWLINE, RETURN, STAR = 10, 13, 42
MARK = b"\xef\xbb\xbf"  # a byte order mark, which some programs put before everything
SCAN = 4 << 20
COMPRESSED = (".gz", ".bz2", ".zst", ".xz", ".lz4", ".snappy", ".zip")
BLOCK = 8 << 20


@dataclass(frozen=True, slots=True)
class Lines:
    """Whole lines in one buffer. Line i is `buffer[starts[i]:ends[i]]`, without its line end.

    `stops[i]` is the place after the line feed; `packed` says that the lines fill the buffer.
    """

    buffer: Bytes
    starts: Places
    ends: Places
    stops: Places
    packed: bool = True

    def __len__(self) -> int:
        return len(self.starts)

    def take(self, which: Places) -> Lines:
        return Lines(
            self.buffer, self.starts[which], self.ends[which], self.stops[which], packed=False
        )

    def raw(self, i: int) -> bytes:
        return self.buffer[self.starts[i] : self.ends[i]].tobytes()


def split_lines(buffer: Bytes) -> Lines:
    """The lines of a buffer that ends with a line feed."""
    feeds = np.flatnonzero(buffer == NEWLINE).astype(np.int64, copy=False)
    stops = feeds + 1
    starts = np.zeros_like(stops)
    starts[1:] = stops[:-1]
    returns = (feeds > starts) & (buffer[feeds - 1] == RETURN)
    return Lines(buffer, starts, feeds - returns, stops)


def blocks(path: str, start: int, end: int, size: int = BLOCK) -> Iterator[Lines]:
    """The lines from byte `start` to byte `end` (both at line ends), some megabytes at a time.

    The last line of a file may lack its line feed; it is given one.
    """
    with _open(path) as file:
        file.seek(start)
        rest: list[bytes] = []  # of a line longer than what is read at a time
        left = end - start
        while left:
            data = file.read(min(size, left))
            if not data:
                raise shorter(path, f"{end} bytes")
            left -= len(data)
            if start == 0 and not rest and data.startswith(MARK) and left + len(data) == end:
                data = data[len(MARK) :]
            cut = data.rfind(b"\n") + 1
            if not left and cut < len(data):
                data, cut = data + b"\n", len(data) + 1
            if not cut:
                rest.append(data)
                continue
            whole = b"".join([*rest, data[:cut]]) if rest else data[:cut]
            rest = [data[cut:]] if cut < len(data) else []
            yield split_lines(np.frombuffer(bytearray(whole), np.uint8))


def reach(path: str, at: int, limit: int | None, *, complete: bool, marks: bool = False) -> Reached:
    """From byte `at` on: the end of at most `limit` lines, or of the first `*` line if `marks`.

    `complete`: the file will not grow, so a last line without line feed counts and the file is
    finished at its end.
    """
    if path.endswith(COMPRESSED):
        raise InputError(
            "INPUT.COMPRESSED",
            f"the file {path} is compressed, as far as its name says",
            fix="decompress it, or take Parquet, which compresses inside",
        )
    rows, pos, size = 0, at, os.stat(path).st_size
    if size < at:
        raise shorter(path, f"{at} bytes")
    with _open(path) as file:
        file.seek(at)
        rest: list[bytes] = []
        seen = at  # how far the file has been read
        while seen < size and (limit is None or rows < limit):
            data = file.read(min(SCAN, size - seen))
            if not data:
                raise shorter(path, f"{size} bytes")
            seen += len(data)
            whole = data.rfind(b"\n") + 1
            if seen >= size and complete:
                whole = len(data)
            elif not whole:
                rest.append(data)
                continue
            whole += sum(map(len, rest))
            data = b"".join([*rest, data])
            taken, length, mark = _take(
                data[:whole], None if limit is None else limit - rows, marks
            )
            rows, pos = rows + taken, pos + length
            if mark:
                return Reached(pos, rows, complete and pos == size, closes=True)
            if length < whole:
                break
            rest = [data[whole:]]
    return Reached(pos, rows, complete and pos == size)


def _take(data: bytes, limit: int | None, marks: bool) -> tuple[int, int, bool]:
    """Of whole lines: how many are taken, their bytes, and whether a mark line ended it."""
    block = np.frombuffer(data, np.uint8)
    mark = _first_mark(data, block) if marks else -1
    upto = len(data) if mark < 0 else mark
    rows = int(np.count_nonzero(block[:upto] == NEWLINE))
    if mark < 0 and data[-1:] != b"\n":
        rows += 1
    if limit is not None and rows > limit:
        feeds = np.flatnonzero(block[:upto] == NEWLINE)
        return limit, int(feeds[limit - 1]) + 1, False
    if mark < 0:
        return rows, len(data), False
    after = data.find(b"\n", mark)
    return rows, len(data) if after < 0 else after + 1, True


def _first_mark(data: bytes, block: Bytes) -> int:
    """Where the first line that is a single `*` starts; -1 if there is none."""
    stars = np.flatnonzero(block == STAR)
    if not len(stars):
        return -1
    first = (stars == 0) | (block[stars - 1] == NEWLINE)
    for at in stars[first].tolist():
        if data[at + 1 : at + 3] in (b"", b"\r", b"\r\n") or data[at + 1 : at + 2] == b"\n":
            return int(at)
    return -1


def cut(path: str, start: int, end: int, pieces: int, smallest: int = 1 << 20) -> list[int]:
    """Line ends that divide [start, end) into at most `pieces` parts of about equal size."""
    count = max(1, min(pieces, (end - start) // max(smallest, 1)))
    places = [start]
    if count > 1:
        with _open(path) as file:
            for k in range(1, count):
                place = _line_end(file, start + (end - start) * k // count, end)
                if places[-1] < place < end:
                    places.append(place)
    return [*places, end]


def _line_end(file: BinaryIO, at: int, end: int) -> int:
    """The place after the first line feed at or after byte `at`; `end` if there is none."""
    file.seek(at)
    while at < end:
        data = file.read(min(1 << 16, end - at))
        feed = data.find(b"\n")
        if feed >= 0:
            return at + feed + 1
        if not data:
            break
        at += len(data)
    return end


def first_line(path: str) -> tuple[bytes, int]:
    """The first line of a file without its end (and without a byte order mark), and its length."""
    with _open(path) as file:
        line = file.readline()
    return line.removeprefix(MARK).rstrip(b"\r\n"), len(line)


def _open(path: str) -> BinaryIO:
    try:
        return open(path, "rb")
    except FileNotFoundError:
        raise missing(path) from None
