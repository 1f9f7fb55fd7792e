"""Update sequences: one text file of changes of many relations, as Cquirrel writes them.

    +LI1|155190|7706|1|17|21168.23|0.04|0.02|N|O|1996-03-13|...|egular courts|
    -OR7|39136|O|252004.18|1996-01-10|2-HIGH|Clerk#000000470|0|lyd|
    *

Each line is a sign, a tag of two upper-case letters and the row as dbgen writes it, with a
delimiter after every field. A relation's tag is the first two letters of its name; PS for
partsupp; RE and RI both for region; the option `tag` says otherwise. A line that is a single `*`
ends an epoch.

A path is one file, or a folder or glob of files that are read in the order of their names. The
newest file may still grow: its last line waits for its line end. A file is finished once a later
one exists, and then a last line without line end counts. All relations are read in one scan.

An empty field is the empty text for STRING and NULL for every other type. Lines that cannot be
read are refused and the rest goes on; blank lines and lines of relations that are not wanted are
passed over.

Not here: writing sequences (workloads), one relation per file (folder).
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from everview.connect import lines as text
from everview.connect.accept import accept, cut_raw
from everview.connect.contract import Offset, Range
from everview.connect.delimited import Layout, parse
from everview.connect.files import Names, Reached, Step, between, empty_offset, listing, walk
from everview.connect.lines import Lines, Places
from everview.delta.changes import Changes, Reject
from everview.errors import InputError
from everview.schema import Relation

_USUAL = {"partsupp": ("PS",), "region": ("RE", "RI")}
_PLUS, _MINUS, _PIPE = 43, 45, 124
_OTHER, _UNKNOWN = -1, -2  # no line of a change; a tag that no relation has


@dataclass(frozen=True)
class UpdateSequence:
    """Sequence files at `path`, holding changes of `relations` (by tag, or with default tags)."""

    path: str
    relations: tuple[Relation, ...] | Mapping[str, Relation]
    tasks: int = 4
    smallest: int = 1 << 20  # bytes of a range that is worth a task
    zone: str = "UTC"

    def __post_init__(self) -> None:
        self.tags()  # refuses tags that are not clear

    def tags(self) -> dict[str, Relation]:
        """The relation of every tag."""
        if isinstance(self.relations, Mapping):
            pairs = [(tag, r) for tag, r in self.relations.items()]
            return {_checked(tag, r): r for tag, r in pairs}
        return default_tags(self.relations)

    def initial(self) -> Offset:
        return empty_offset()

    def take(self, start: Offset, limit: int | None) -> Step:
        """As `advance`, with the number of lines taken."""
        return walk(self.path, start, limit, _measure)

    def advance(self, start: Offset, limit: int | None) -> Offset:
        return self.take(start, limit).offset

    def ranges(self, start: Offset, end: Offset) -> list[Range]:
        parts = between(self.path, start, end, os.path.getsize)
        total = sum(high - low for _, low, high in parts)
        pieces = []
        for file, low, high in parts:
            share = max(1, round(self.tasks * (high - low) / total))
            places = text.cut(file.path, low, high, share, self.smallest)
            for a, b in pairwise(places):
                pieces.append(Range("", file.path, a, b, file.name, b - a))
        return pieces

    def unread(self, end: Offset) -> list[str]:
        """The newest file may grow: what stands behind its last line end may be half a line."""
        newest = [f for f in listing(self.path)[-1:] if f.name not in Names.from_json(end["done"])]
        left = [(f.path, os.path.getsize(f.path) - end["open"].get(f.name, 0)) for f in newest]
        return [
            f"the last {size} bytes of {path} are not read: they do not end with a line feed"
            for path, size in left
            if size > 0
        ]

    def read(self, piece: Range, columns: Mapping[str, tuple[str, ...]]) -> Iterator[Changes]:
        tags = self.tags()
        relations = list({r.name: r for r in tags.values()}.values())
        table = np.full(1 << 16, _UNKNOWN, np.int16)
        for tag, relation in tags.items():
            table[_code(tag)] = relations.index(relation)
        row = 0
        for block in text.blocks(piece.path, piece.start, piece.end):
            yield from self._block(block, piece, row, relations, table, columns)
            row += len(block)

    def _block(
        self,
        block: Lines,
        piece: Range,
        row: int,
        relations: list[Relation],
        table: npt.NDArray[np.int16],
        columns: Mapping[str, tuple[str, ...]],
    ) -> Iterator[Changes]:
        which, sign, tag = _classify(block, table)
        rejects = _rejects(block, which, piece, row)
        for k, relation in enumerate(relations):
            wanted = columns.get(relation.name)
            if wanted is None:
                continue
            places = np.flatnonzero(which == k)
            if not len(places):
                continue
            changes = self._relation(block, places, piece, row, relation, wanted, sign, tag)
            changes.rejects += rejects
            rejects = []
            yield changes
        if rejects:  # nothing of a wanted relation in this block to send them with
            name = next(iter(columns), "")
            relation = next((r for r in relations if r.name == name), relations[0])
            none = np.zeros(0, np.int64)
            wanted = columns.get(name, ())
            changes = self._relation(block, none, piece, row, relation, wanted, sign, tag)
            changes.rejects += rejects
            yield changes

    def _relation(
        self,
        block: Lines,
        places: Places,
        piece: Range,
        row: int,
        relation: Relation,
        wanted: tuple[str, ...],
        sign: npt.NDArray[np.uint8],
        tag: npt.NDArray[np.uint16],
    ) -> Changes:
        """The changes of one relation among the lines of a block."""
        mine = block if len(places) == len(block) else block.take(places)
        # The tag's second letter becomes a delimiter: sign and tag are then a field to pass over.
        block.buffer[mine.starts + 2] = _PIPE
        layout = Layout(
            names=("#change", *(c.name for c in relation.columns)),
            delimiter="|", quoting=False, closed=True, empty_text=True, zone=self.zone,
        )  # fmt: skip
        types = {n: relation.column(n).type for n in wanted}
        arrays, bad = parse(mine, layout, types)
        op = np.where(sign[places] == _PLUS, 1, -1).astype(np.int8)

        def raw(i: int) -> bytes:
            line = mine.raw(i)
            return line[:2] + bytes([int(tag[places[i]]) & 255]) + line[3:]

        return accept(
            relation, arrays, op, segment=piece.segment, start=piece.start,
            rows=places + row, raw=raw, parse=bad,
        )  # fmt: skip


def _measure(path: str, at: int, limit: int | None, newest: bool) -> Reached:
    return text.reach(path, at, limit, complete=not newest, marks=True)


def _classify(
    block: Lines, table: npt.NDArray[np.int16]
) -> tuple[npt.NDArray[np.int16], npt.NDArray[np.uint8], npt.NDArray[np.uint16]]:
    """Per line: the relation's number (or none, or an unknown one), the sign, the tag's code."""
    length = block.ends - block.starts
    last = len(block.buffer) - 1
    sign = block.buffer[block.starts]
    high = block.buffer[np.minimum(block.starts + 1, last)].astype(np.uint16)
    low = block.buffer[np.minimum(block.starts + 2, last)]
    tag: npt.NDArray[np.uint16] = (high << np.uint16(8)) | low
    which: npt.NDArray[np.int16] = table[tag]
    which[(length < 3) | ((sign != _PLUS) & (sign != _MINUS))] = _OTHER
    return which, sign, tag


def _rejects(block: Lines, which: npt.NDArray[np.int16], piece: Range, row: int) -> list[Reject]:
    """Lines that are no change of a known relation, but for blank lines and marks."""
    rejects = []
    for i in np.flatnonzero(which < 0).tolist():
        raw = block.raw(i)
        if raw in (b"", b"*"):
            continue
        known = which[i] == _UNKNOWN and raw[1:3].isalpha() and raw[1:3].isupper()
        rejects.append(
            Reject(
                "", piece.segment, piece.start, row + i,
                "UNKNOWN_RELATION" if known else "PARSE", cut_raw(raw),
            )
        )  # fmt: skip
    return rejects


# -------------------------------------------------------------------------------------------- tags


def default_tags(relations: tuple[Relation, ...]) -> dict[str, Relation]:
    """Tag -> relation: the option `tag` first, then the defaults; InputError where two collide."""
    tags: dict[str, Relation] = {}
    for relation in relations:
        said = relation.options.get("tag")
        wanted = tuple(t.strip() for t in said.split(",")) if said else _default(relation)
        for tag in wanted:
            if tag in tags:
                raise InputError(
                    "INPUT.TAG",
                    f"relations {tags[tag].name} and {relation.name} both have the tag {tag}",
                    fix=f"give one of them another: WITH (tag = '{_free(relation, tags)}')",
                )
            tags[_checked(tag, relation)] = relation
    return tags


def _default(relation: Relation) -> tuple[str, ...]:
    return _USUAL.get(relation.name, (relation.name[:2].upper(),))


def _free(relation: Relation, tags: dict[str, Relation]) -> str:
    letters = [c for c in relation.name.upper() if "A" <= c <= "Z"]
    pairs = (letters[0] + c for c in letters[1:])
    return next((p for p in pairs if p not in tags), "XX")


def _checked(tag: str, relation: Relation) -> str:
    if len(tag) == 2 and tag.isascii() and tag.isalpha() and tag.isupper():
        return tag
    raise InputError(
        "INPUT.TAG",
        f"{tag!r} is no tag for relation {relation.name}: a tag is two upper-case letters",
        fix="set one: WITH (tag = 'XY')",
    )


def _code(tag: str) -> int:
    return (ord(tag[0]) << 8) | ord(tag[1])
