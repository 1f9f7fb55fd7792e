"""What a source hands over: parsed changes of one relation, and the rows that could not be parsed.

A source reads a *segment* (a file, a partition) in ranges. `Changes` is one Arrow batch of it:

    segment "00000007 orders-7.csv", start 81920 ── rows 0, 1, 2, ...     position of a row
      op     +1  -1  +1  +2 ...                       = (segment, start, row): sorts as the source
      batch  the relation's columns, in `arrow_type` of their declared types

| op | means                                                                         |
|----|-------------------------------------------------------------------------------|
| +1 | the row appears (INSERT, or the new image of an update)                        |
| -1 | the row disappears (DELETE, or the old image of an update); key columns suffice |
| +2 | UPDATE by key: this is the new image, the old one is whatever is there         |

Not here: reading and parsing (connect), routing (dataflow/pack), key policies (operators/join).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

INSERT, DELETE, UPDATE = 1, -1, 2

Reason = Literal[
    "PARSE",              # the row could not be read as the relation's columns
    "UNKNOWN_RELATION",   # a mixed source names a relation the view does not know
    "UNKNOWN_CHANGE",     # the change column holds something else than it may
    "NULL_KEY",           # NULL in a primary key column
    "DUPLICATE_KEY",      # insert of a key that is there
    "MISSING_ROW",        # delete or update of a key (or row) that is not there
    "NOT_NULL",           # NULL in a column declared NOT NULL
    "NO_OLD_IMAGE",       # an UPDATE by key where the policy `trust` needs both images
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Reject:
    """A refused row: where it stood, why, and what it said (cut to 200 characters)."""

    relation: str
    segment: str
    start: int
    row: int
    reason: Reason
    raw: str


@dataclass(slots=True)
class Changes:
    """One batch of changes of one relation; `op` is int8, `len(op) == batch.num_rows`.

    `rows[i]` is the row number of change i within the range (rejected rows leave gaps);
    None means 0, 1, 2, ...  `order`, if given, decides what came first within an epoch instead of
    the position.
    """

    relation: str
    batch: pa.RecordBatch
    op: npt.NDArray[np.int8]
    segment: str = ""
    start: int = 0
    rows: npt.NDArray[np.int64] | None = None
    rejects: list[Reject] = field(default_factory=list)
    order: pa.Array | None = None
