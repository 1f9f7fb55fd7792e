"""A database whose relations are fed epoch by epoch, and a view beside its oracle.

    Fed.feed(changes) ──one file──▶ one epoch of exactly these changes, whatever the relations

Real sources do not promise that what is written at the same time is read in one epoch; here it is.
The connectors have tests of their own.

Not here: histories (tests/histories), the oracle (tests/oracle).
"""

from __future__ import annotations

import os
import pickle
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

import pyarrow as pa

from everview.connect.contract import Offset, Range, RangeSource
from everview.connect.fold import fold
from everview.database import Database
from everview.delta.changes import Changes
from everview.delta.delta import Delta
from everview.schema import Schema
from everview.spark.run import Run
from everview.spark.sinks import MemorySink
from tests.histories import Change, batches, cut, history
from tests.naive import NaiveView
from tests.oracle import Oracle, Row, canonical, compare
from tests.tpch.on_spark import delta_of


@dataclass(frozen=True)
class Epochs:
    """Files 000000, 000001, ... in a folder, each with the changes of one epoch."""

    folder: str
    schema: Schema

    def initial(self) -> Offset:
        return {"epoch": 0}

    def advance(self, start: Offset, limit: int | None) -> Offset:
        number = start["epoch"]
        return {"epoch": number + 1} if os.path.exists(self._path(number)) else start

    def ranges(self, start: Offset, end: Offset) -> list[Range]:
        numbers = range(start["epoch"], end["epoch"])
        return [Range("", self._path(n), 0, 0, f"{n:06d}") for n in numbers]

    def unread(self, end: Offset) -> list[str]:
        return []

    def read(self, piece: Range, columns: Mapping[str, tuple[str, ...]]) -> Iterator[Changes]:
        changes = pickle.loads(Path(piece.path).read_bytes())
        for batch in batches(self.schema, changes, piece.segment):
            if batch.relation in columns:
                yield batch

    def _path(self, number: int) -> str:
        return os.path.join(self.folder, f"{number:06d}")


class Fed(Database):
    """All relations without a stream are read from `epochs`."""

    def feed(self, *epochs: Sequence[Change]) -> None:
        """Each argument becomes one epoch."""
        folder = self._epochs()
        for changes in epochs:
            hidden = folder / ".writing"
            hidden.write_bytes(pickle.dumps(list(changes)))
            hidden.rename(folder / f"{len(list(folder.glob('0*'))):06d}")

    def ranges(self, relations: Iterable[str]) -> RangeSource | None:
        return Epochs(str(self._epochs()), self.schema)

    def _epochs(self) -> Path:
        folder = self.base / "epochs"
        folder.mkdir(exist_ok=True)
        return folder


class Watched:
    """What a view's answer must be, after every epoch that was told."""

    def __init__(self, schema: Schema, sql: str) -> None:
        self.oracle = Oracle(schema, sql)
        self.expected: list[Counter[Row]] = []
        self.refused: Counter[tuple[str, str]] = Counter()
        self._schema = schema

    def tell(self, *epochs: Sequence[Change]) -> None:
        for changes in epochs:
            self.refused.update(self.oracle.epoch(batches(self._schema, changes, "")))
            self.expected.append(self.oracle.answer())

    @property
    def answer(self) -> Counter[Row]:
        return self.expected[-1]

    def check(self, run: Run, first: int = 0) -> None:
        """The run's answer after each of its epochs, `first` and later, and what was refused."""
        assert isinstance(run.sink, MemorySink)
        assert [n for n, _ in run.sink.changes] == list(range(first, len(self.expected)))
        deltas = [(n, delta_of(t, run.sink.flow.columns)) for n, t in run.sink.changes]
        view = self.follow(deltas, first)
        assert view.rows == values(run.sink.answer)
        if not first:
            assert Counter((r["relation"], r["reason"]) for r in run.rejects) == self.refused

    def follow(self, changes: Iterable[tuple[int, Delta]], first: int = 0) -> NaiveView:
        """Adds up changes, epoch by epoch, each time comparing with what must be."""
        view = NaiveView(Counter(self.expected[first - 1]) if first else Counter())
        for epoch, delta in changes:
            view.add(delta)
            wrong = compare(view.rows, self.expected[epoch])
            assert wrong is None, f"epoch {epoch}: {wrong}"
        return view


def values(answer: Counter[Row]) -> Counter[Row]:
    """An answer in the form in which the oracle gives its own."""
    return Counter({tuple(map(canonical, row)): n for row, n in answer.items()})


def summed(changelog: Iterable[tuple[int, pa.Table]], key: Sequence[str] = ()) -> Counter[Row]:
    """The answer of a whole changelog."""
    return values(fold(changelog, key))


# ------------------------------------------------------------------------------------- a small shop

SHOP = """
CREATE TABLE customer (ck BIGINT PRIMARY KEY, seg STRING NOT NULL){customer};
CREATE TABLE orders (ok BIGINT PRIMARY KEY, ck BIGINT REFERENCES customer, d DATE){orders};
CREATE TABLE item (
  ok BIGINT NOT NULL REFERENCES orders, ln INT, price DECIMAL(15,2), weight DOUBLE,
  PRIMARY KEY (ok, ln)){item};
"""
SALES = """
SELECT o.ok, o.d, c.seg, sum(i.price) AS total, count(*) AS n, avg(i.price) AS mean,
  sum(i.weight) AS weight
FROM item i, orders o, customer c
WHERE i.ok = o.ok AND o.ck = c.ck AND c.seg <> 'a'
GROUP BY o.ok, o.d, c.seg
"""
ITEMS = """
SELECT i.ok, i.ln, i.price, o.d, c.seg
FROM item i JOIN orders o ON i.ok = o.ok JOIN customer c ON o.ck = c.ck
WHERE o.d > DATE '1970-01-01'
"""


def shop(**options: str) -> str:
    """The shop's tables; `options`: by relation, the inside of its WITH."""
    given = {n: f" WITH ({options[n]})" if options.get(n) else "" for n in RELATIONS}
    return SHOP.format(**given)


RELATIONS = ("customer", "orders", "item")


def shop_history(schema: Schema, seed: int, epochs: int = 4, size: int = 120) -> list[list[Change]]:
    """Random changes of the shop: wrong ones, key updates and dangling references among them."""
    rng = Random(seed)
    used = tuple(reversed(RELATIONS))
    changes = history(rng, schema, used, size).out
    return [list(e) for e in cut(rng, changes, epochs)]
