"""The embedded Spark session, and the settings every query of ours runs with.

`QUERY` settings must be in force in whatever session starts a query; `EMBEDDED` ones shape a
session of our own: two or more local threads (four tries per task, so that a killed worker does no
harm), bound to loopback, quiet, its log in a file.

Not here: which Java (spark/java), building queries (spark/host).
"""

from __future__ import annotations

import os
import socket
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from pyspark import SparkConf, SparkContext
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from everview.config import Config
from everview.delta.evaluate.zones import known
from everview.errors import ConfigError
from everview.spark.java import FIX, java_home

_STATE = "spark.sql.streaming.stateStore"
QUERY = {
    f"{_STATE}.providerClass":
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
    f"{_STATE}.checkpointFormatVersion": "2",
    f"{_STATE}.rocksdb.changelogCheckpointing.enabled": "true",
    f"{_STATE}.rocksdb.boundedMemoryUsage": "true",
    f"{_STATE}.rocksdb.maxMemoryUsageMB": "500",
    # Our chunks are lz4 and checksummed already, and large: RocksDB should just keep them.
    f"{_STATE}.rocksdb.compression": "none",
    "spark.sql.streaming.minBatchesToRetain": "3",
    "spark.sql.streaming.checkpoint.fileChecksum.enabled": "false",
    "spark.sql.streaming.noDataMicroBatches.enabled": "false",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "200000",
    "spark.sql.execution.pyspark.udf.faulthandler.enabled": "true",
    "spark.sql.execution.pyspark.udf.idleTimeoutSeconds": "120",  # a worker that hangs says where
    "spark.sql.streaming.stopTimeout": "30s",
}  # fmt: skip


_CHECKPOINT_FILES = (
    "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
)
# The JVM moves blobs and keeps books; its optimizing compiler and its parallel collector took more
# of two cores than they gave back (figures: ARCHITECTURE, decisions 24 to 26).
LIGHT_JVM = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"
if sys.platform == "linux":  # Hadoop runs `chmod` for every file it makes: start it the short way
    LIGHT_JVM += " -Djdk.lang.Process.launchMechanism=VFORK"


def embedded(config: Config, name: str = "everview") -> SparkSession:
    """The embedded session: started on first use, or the one that runs in this process."""
    running = SparkSession.getActiveSession()
    if running is not None:
        return prepared(running, config)
    home = java_home()
    if home is None:
        raise ConfigError("JAVA.MISSING", "Spark needs a Java and there is none", fix=FIX)
    os.environ["JAVA_HOME"] = str(home)
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    threads = max(2, config.partitions)
    settings = {
        "spark.app.name": name,
        "spark.master": f"local[{threads},4]",
        "spark.driver.memory": config.memory,
        "spark.driver.extraJavaOptions": LIGHT_JVM,
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.local.dir": tempfile.mkdtemp(prefix="everview-spark-"),
        "spark.sql.streaming.checkpointFileManagerClass": _CHECKPOINT_FILES,
        "spark.sql.warehouse.dir": tempfile.mkdtemp(prefix="everview-warehouse-"),
        "spark.sql.session.timeZone": config.timezone,
        "spark.python.daemon.module": "everview.spark.daemon",
        # Over loopback TCP every task waits 40 ms for a delayed acknowledgement.
        "spark.python.unix.domain.socket.enabled": str(hasattr(socket, "AF_UNIX")).lower(),
        "spark.python.worker.faulthandler.enabled": "true",
        "spark.sql.shuffle.partitions": str(config.partitions),
        "spark.log.level": "ERROR",
        **QUERY,
        **config.spark,
    }
    conf = SparkConf(loadDefaults=False).setAll(list(settings.items()))
    log = Path(tempfile.gettempdir()) / f"everview-spark-{os.getpid()}.log"
    with log.open("ab") as sink:
        gateway = launch_gateway(conf, popen_kwargs={"stderr": sink, "stdout": sink})  # type: ignore[no-untyped-call]
    context = SparkContext(conf=conf, gateway=gateway)
    return SparkSession(context)


def in_zone(spark: SparkSession, config: Config) -> Config:
    """The settings with the session's time zone, where they do not say one themselves."""
    zone = spark.conf.get("spark.sql.session.timeZone")
    if config.origin("timezone") != "default" or zone is None or not known(zone):
        return config
    return replace(config, timezone=zone)


def prepared(spark: SparkSession, config: Config) -> SparkSession:
    """A session given from outside, with the settings our queries need."""
    for key, value in QUERY.items():
        spark.conf.set(key, value)
    spark.conf.set("spark.sql.shuffle.partitions", str(config.partitions))
    return spark
