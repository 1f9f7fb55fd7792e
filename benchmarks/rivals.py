"""Other systems over the same kind of change stream, measured in the same run: see peers/.

    Flink SQL   the JVM side of a wheel from PyPI, unpacked; its source and sink compiled once
    Pathway     in a virtual environment of its own
    DuckDB, Spark's own stream joins   with the packages of this checkout

Set up on first use below `data/peers`. VARIANTS are those that were best when all were tried; a
rival's figure is the best of them whose answer is right, one run each. Not here: what is timed and
how fair it is (peers/README.md), Everview (end_to_end).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

from workload import tables

from everview.spark.java import java_home

PEERS = Path(__file__).parent / "peers"
FLINK, PATHWAY = "apache-flink-libraries==2.3.0", "pathway==0.33.0"
VARIANTS = {
    "q1": [("binary", "asis")],
    "q3": [("plain", "asis")],
    "q5": [("plain", "asis")],
    "q7": [("plain", "hand")],
    "q10": [("plain", "asis"), ("plain", "hand")],
}
SMALL = 0.1  # the largest scale at which Pathway and Spark's joins end in minutes
BATCHES = 20


def measure(data: Path, query: str, scale: float) -> dict[str, Any]:
    """The best run of every rival that is fit for the scale."""
    home = data / "peers"
    home.mkdir(exist_ok=True)
    changes = _changes(data, home, scale)
    found = [_flink(home, changes, query, *v, scale) for v in VARIANTS[query]]
    found.append(_run(home, [sys.executable, "run_duckdb.py", changes, query]))
    if scale <= SMALL:
        pathway = [_pathway(home), "run_pathway.py", changes, query]
        subprocess.run([*pathway, "--prepare"], cwd=PEERS, check=True)
        found.append(_run(home, pathway))
        found.append(
            _run(home, [sys.executable, "run_spark.py", changes, query, "--store", "rocksdb"])
        )
    best: dict[str, Any] = {}
    for f in found:
        known = best.get(f["peer"])
        if f["answer"] == "match" and (not known or f["updates_per_s"] > known["updates_per_s"]):
            best[f["peer"]] = f
    wrong = [f"{f['peer']}: {f['answer']}" for f in found if f["answer"] != "match"]
    answer = "; ".join(wrong) or "match"
    return {"query": query, "scale": scale, "answer": answer, "rivals": best, "runs": found}


def show(figures: dict[str, Any]) -> None:
    for name, f in figures["rivals"].items():
        print(
            f"  {name:<16} {f['updates_per_s']:>9,} updates/s   peak {f['peak_rss_mib']:,} MiB   "
            f"{f['variant']}"
        )
    print(f"  answers: {figures['answer']}")


def _changes(data: Path, home: Path, scale: float) -> str:
    """The peers' form of the change stream, made once."""
    folder = home / f"changes-{scale:g}"
    if not (folder / "meta.json").exists():
        made = [sys.executable, "gen.py", str(tables(data, scale)), str(folder)]
        subprocess.run(
            [*made, "--batches", str(BATCHES)], cwd=PEERS, check=True, stdout=subprocess.DEVNULL
        )
    return str(folder)


def _flink(
    home: Path, changes: str, query: str, variant: str, order: str, scale: float
) -> dict[str, Any]:
    lib = home / "flink" / "pyflink" / "lib"
    if not lib.exists():
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "-d", str(home)]
        subprocess.run([*pip, FLINK], check=True)
        with zipfile.ZipFile(next(home.glob("apache_flink_libraries-*.whl"))) as wheel:
            wheel.extractall(home / "flink")
    path = f"{java_home()}/bin:{os.environ['PATH']}"
    env = {"FLINK_LIB": str(lib), "FLINK_BUILD": str(home / "flink-build"), "PATH": path}
    # Small scales end while the JVM still warms up: there the best of three runs in it counts.
    reps, heap = ("1", "10g") if scale > SMALL else ("3", "6g")
    words = ["--variant", variant, "--order", order, "--reps", reps, "--xmx", heap]
    return _run(home, [sys.executable, "run_flink.py", changes, query, *words], env)


def _pathway(home: Path) -> str:
    folder = home / "pathway"
    python = folder / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        pip = [str(python), "-m", "pip", "install", "--quiet"]
        subprocess.run([*pip, PATHWAY], check=True)
    return str(python)


def _run(home: Path, command: list[str], env: dict[str, str] | None = None) -> dict[str, Any]:
    """One command of peers/, measured: its best repetition."""
    out = home / "measured.jsonl"
    out.unlink(missing_ok=True)
    measured = [sys.executable, "measure.py", str(out), "--", *command]
    subprocess.run(
        measured, cwd=PEERS, env={**os.environ, **(env or {})}, stdout=subprocess.DEVNULL
    )
    runs = [json.loads(line) for line in out.read_text().splitlines()]
    whole = [r for r in runs if "updates_per_s" in r]
    if not whole:
        return {"peer": command[1], "answer": "failed", "updates_per_s": 0, **runs[0]}
    return max(whole, key=lambda r: r["updates_per_s"])
