"""Streaming DataFrames as sources, in each dialect of changes; `changes()` into Spark's own sinks.

region   Parquet stream, `_change_type`     shop   Parquet stream, I/U/D, ordered by a column
product  JSON stream, +/-                   sale   Parquet stream, rows only arrive
rate     CSV folder that we read ourselves
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal as D
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from pyarrow.csv import write_csv
from pyspark.sql import DataFrame, SparkSession

from everview.connect.fold import EPOCH
from everview.database import Database
from everview.delta.changes import DELETE, INSERT, UPDATE
from everview.errors import InputError
from everview.schema import Schema
from tests.histories import Change
from tests.oracle import Row, compare, table_of
from tests.spark.fed import Watched, summed

pytestmark = pytest.mark.spark

TABLES = """
CREATE TABLE region (rk INT PRIMARY KEY, name STRING){small};
CREATE TABLE shop (sk INT PRIMARY KEY, rk INT REFERENCES region, size BIGINT);
CREATE TABLE product (pk STRING PRIMARY KEY, label STRING, price DECIMAL(9,2)){small};
CREATE TABLE rate (rk INT PRIMARY KEY REFERENCES region, factor DECIMAL(5,3))
  WITH (connector = 'csv', path = 'rate', change_column = 'op', placement = 'replicated');
CREATE TABLE sale (sk INT REFERENCES shop, pk STRING REFERENCES product, qty INT);
"""
TURNOVER = """
SELECT r.name, p.label, sum(s.qty * p.price * t.factor) AS turnover, count(*) AS n
FROM sale s, shop h, region r, product p, rate t
WHERE s.sk = h.sk AND h.rk = r.rk AND s.pk = p.pk AND h.rk = t.rk
GROUP BY r.name, p.label
"""
PLACES = "SELECT h.sk, h.size, r.rk, r.name FROM shop h JOIN region r ON h.rk = r.rk"
FIELDS = {
    "region": "rk INT, name STRING, _change_type STRING",
    "shop": "sk INT, rk INT, size BIGINT, op STRING, seq INT",
    "product": "pk STRING, label STRING, price DECIMAL(9,2), sign STRING",
    "sale": "sk INT, pk STRING, qty INT",
}
COLUMN = {"region": "_change_type", "shop": "op", "product": "sign", "rate": "op"}
IUD = {INSERT: "I", UPDATE: "U", DELETE: "D"}
SIGNS = {INSERT: "+", DELETE: "-"}
COMES = {INSERT: "insert", DELETE: "delete"}
IMAGES = {INSERT: "update_postimage", DELETE: "update_preimage"}


@dataclass
class Sources:
    """Folders of changes, and what the oracle must be told of them."""

    spark: SparkSession
    folder: Path
    schema: Schema
    told: list[Change] = field(default_factory=list)

    def attach(self, db: Database) -> None:
        for name in FIELDS:
            order = "seq" if name == "shop" else None
            db.attach(name, self._stream(name), change=COLUMN.get(name), order_by=order)

    def _stream(self, name: str) -> DataFrame:
        (self.folder / name).mkdir(exist_ok=True)
        form = "json" if name == "product" else "parquet"
        reader = self.spark.readStream.schema(FIELDS[name]).format(form)
        return reader.load(str(self.folder / name))

    def put(
        self, name: str, words: dict[int, str], *changes: tuple[int, Row], back: bool = False
    ) -> None:
        """One file of changes; `back`: two files, of which the first holds the later changes."""
        relation = self.schema.relation(name)
        table = table_of(relation, [row for _, row in changes])
        if name in COLUMN:
            table = table.append_column(COLUMN[name], pa.array([words[op] for op, _ in changes]))
        if name == "shop":
            table = table.append_column("seq", pa.array(range(len(changes)), pa.int32()))
        if back:
            self._place(name, table.slice(len(changes) // 2))
            table = table.slice(0, len(changes) // 2)
        self._place(name, table)
        self.told += [(name, op, row) for op, row in changes]

    def _place(self, name: str, table: pa.Table) -> None:
        folder = self.folder / name
        folder.mkdir(exist_ok=True)
        hidden = folder / ".writing"
        if name == "product":
            lines = (json.dumps(row, default=float) for row in table.to_pylist())
            hidden.write_text("\n".join(lines))
        elif name == "rate":
            write_csv(table, hidden)
        else:
            pq.write_table(table, hidden)
        hidden.rename(folder / f"{len(list(folder.iterdir())):06d}")


def first_round(s: Sources) -> None:
    s.put("region", COMES, (1, (1, "north")), (1, (2, "south")), (1, (3, None)))
    s.put("product", SIGNS, (1, ("a", "apple", D("1.10"))), (1, ("b", "bean", D("0.35"))))
    s.put("rate", IUD, (1, (1, D("1.000"))), (1, (2, D("0.125"))))
    shops = [(INSERT, (k, k % 3 + 1, 10 * k)) for k in range(8)]
    again = [(UPDATE, (0, 2, 1)), (UPDATE, (0, 1, 2)), (DELETE, (1, 2, 10)), (INSERT, (1, 1, 11))]
    s.put("shop", IUD, *shops, *again, back=True)
    s.put("sale", {}, *((1, (k % 9, "abc"[k % 3], k)) for k in range(30)), (1, (None, "a", 7)))


def second_round(s: Sources) -> None:
    s.put("region", IMAGES, (-1, (1, "north")), (1, (1, "north-west")))
    s.put("region", COMES, (-1, (2, "south")))
    s.put("product", SIGNS, (1, ("c", "apple", D("9.99"))), (-1, ("b", "bean", D("0.35"))))
    s.put("rate", IUD, (UPDATE, (1, D("1.500"))), (INSERT, (3, D("2.000"))))
    s.put("shop", IUD, (UPDATE, (2, 1, 3)), (UPDATE, (2, 3, 4)), (DELETE, (5, 3, 50)),
          (UPDATE, (4, 1, 40)), (INSERT, (8, 3, 80)), (DELETE, (8, 3, 80)))  # fmt: skip
    s.put("sale", {}, *((1, (k % 9, "abc"[k % 3], -k)) for k in range(20)))


def test_dataframes_in_each_dialect_into_sinks_of_spark(
    spark: SparkSession, database: Callable[..., Database], tmp_path: Path
) -> None:
    db, moving = database(), database()
    db.execute(TABLES.format(small=" WITH (placement = 'replicated')"))
    moving.execute(TABLES.format(small=""))  # shops go where their region is: they move
    sources = Sources(spark, tmp_path, db.schema)
    turnover, places = Watched(db.schema, TURNOVER), Watched(db.schema, PLACES)
    for each in (db, moving):
        sources.attach(each)
    retract = db.view("turnover", TURNOVER).changes()
    upsert = moving.view("places", PLACES).changes("upsert")
    assert retract.isStreaming
    assert upsert.columns == ["deleted", "epoch", "sk", "size", "rk", "name"]
    first_round(sources)  # all there before the queries are: one epoch
    queries = [
        retract.writeStream.format("parquet").option("path", str(tmp_path / "out"))
        .option("checkpointLocation", str(tmp_path / "first")).start(),
        upsert.writeStream.format("memory").queryName("places_changes").outputMode("append")
        .option("checkpointLocation", str(tmp_path / "second")).start(),
    ]  # fmt: skip
    try:
        for more in (None, second_round):
            if more is not None:
                more(sources)
            turnover.tell(sources.told)
            places.tell(sources.told)
            sources.told.clear()
            for query in queries:
                query.processAllAvailable()
            changes = by_epoch(spark.read.parquet(str(tmp_path / "out")))
            assert compare(summed(changes), turnover.answer) is None
            changes = by_epoch(spark.table("places_changes"))
            for _, table in changes:  # of a key's two rows only the new one goes on
                keys = table.column("sk").to_pylist()
                assert len(keys) == len(set(keys))
            assert compare(summed(changes, ["sk"]), places.answer) is None
    finally:
        for query in queries:
            query.stop()


def by_epoch(changes: DataFrame) -> list[tuple[int, pa.Table]]:
    """What a sink of Spark holds, epoch by epoch."""
    table = changes.toArrow()
    epochs = sorted(set(table.column(EPOCH).to_pylist()))
    return [(n, table.filter(pc.equal(table.column(EPOCH), n))) for n in epochs]


def test_a_frame_that_cannot_be_a_source_is_refused(
    spark: SparkSession, database: Callable[..., Database], tmp_path: Path
) -> None:
    db = database()
    db.execute(TABLES.format(small=""))
    with pytest.raises(InputError) as refused:
        db.attach("region", spark.range(3))
    assert refused.value.code == "INPUT.NOT_STREAMING"
    stream = spark.readStream.schema("rk INT").parquet(str(tmp_path))
    db.attach("region", stream)
    with pytest.raises(InputError) as refused:
        db.view("names", "SELECT rk, name FROM region").changes()
    assert refused.value.code == "INPUT.COLUMN"
    with pytest.raises(InputError) as refused:
        db.table("region")
    assert refused.value.code == "INPUT.NOT_BY_HAND"
