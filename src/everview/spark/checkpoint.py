"""What a checkpoint remembers of its query beside Spark's own files, and reading some of those.

    everview.json   id          names the query wherever it writes
                    shards, partitions    of its first run; Spark keeps to them too
                    state       digest of the dataflow: what its state means
                    sources     where each relation was read from

State says nothing by itself: under another query, placement or source it would be read wrongly and
the answer be wrong without a word. So a checkpoint goes on with what it began with, or not at all.

Not here: the state (spark/stage refuses a foreign one too), the query (database).
"""

from __future__ import annotations

import json
import os
import uuid
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from everview.connect.durable import place_once
from everview.errors import StateError

RECORD = "everview.json"
_FIX = "go on with what the checkpoint began with, or name another one"


@dataclass(frozen=True, slots=True)
class Record:
    """The content of everview.json."""

    shards: int
    partitions: int
    state: str
    sources: dict[str, str]
    id: str = field(default_factory=lambda: uuid.uuid4().hex)

    def check(self, now: Record, folder: Path) -> None:
        """Refuse to go on in `folder` with what is another query now."""
        if self.state != now.state:
            raise another_query(str(folder))
        for name in sorted(self.sources.keys() | now.sources.keys()):
            was, is_now = self.sources.get(name), now.sources.get(name)
            if was != is_now:
                raise StateError(
                    "CHECKPOINT.SOURCE",
                    f"relation {name} was read from {was} in {folder}, and now from {is_now}",
                    fix=_FIX,
                )


def another_query(place: str) -> StateError:
    """The refusal of state that means something else."""
    return StateError(
        "CHECKPOINT.QUERY",
        f"the state in {place} is of another query, or of other keys, policies or placements of "
        "its relations, or of another number of shards or partitions",
        fix=_FIX,
    )


def recorded(folder: Path) -> Record | None:
    """What the checkpoint remembers; None before its first run."""
    try:
        text = (folder / RECORD).read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    try:
        return Record(**json.loads(text))
    except (ValueError, TypeError):
        raise StateError(
            "CHECKPOINT.RECORD",
            f"{folder / RECORD} is not what was written there",
            fix="restore the file, or name another checkpoint",
        ) from None


def remember(folder: Path, now: Record) -> Record:
    """The record of the checkpoint: that of its first run, checked, or this one, written."""
    before = recorded(folder)
    if before is None:
        folder.mkdir(parents=True, exist_ok=True)
        hidden = folder / f".{RECORD}-{uuid.uuid4().hex}"
        hidden.write_text(json.dumps(asdict(now), indent=1), encoding="utf-8")
        if place_once(str(hidden), str(folder / RECORD)):
            return now
        os.unlink(hidden)  # somebody else was first
        before = recorded(folder)
        assert before is not None
    before.check(replace(now, id=before.id), folder)
    return before


def committed(folder: Path) -> int | None:
    """The last committed epoch of a checkpoint, None if there is none."""
    commits = folder / "commits"
    numbers = (
        [int(f.name) for f in commits.iterdir() if f.name.isdigit()] if commits.is_dir() else []
    )
    return max(numbers, default=None)


def end_offset(folder: Path, epoch: int) -> dict[str, Any]:
    """Where the first source of a query stood at the end of an epoch, from its offset log: a
    version, a line of settings, then a line for each source."""
    lines = (folder / "offsets" / str(epoch)).read_text(encoding="utf-8").splitlines()
    offset: dict[str, Any] = json.loads(lines[2])
    return offset
