"""What a figure was measured on, and where results are kept.

    results/<date>-<part>.json    one file per day and part; a later run of the part replaces it

Not here: measuring (kernel, end_to_end, arena), showing (report).
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import psutil

RESULTS = Path(__file__).parent / "results"
PACKAGES = ("everview", "pyspark", "pyarrow", "numpy", "numba", "pandas", "duckdb", "tpchgen-cli")


def machine() -> dict[str, Any]:
    """Cores, memory, processor and how busy the machine was."""
    return {
        "cores": len(os.sched_getaffinity(0)),
        "memory_gib": round(psutil.virtual_memory().total / 2**30, 1),
        "cpu": _cpu(),
        "system": f"{platform.system()} {platform.release()}",
        "load_before": [round(x, 2) for x in os.getloadavg()],
    }


def versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except ImportError:
            continue
    return found


def java_version() -> str:
    """The first line that `java -version` prints, or nothing."""
    home = os.environ.get("JAVA_HOME")
    java = f"{home}/bin/java" if home else "java"
    try:
        said = subprocess.run([java, "-version"], capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return said.stderr.partition("\n")[0]


def keep(part: str, about: dict[str, Any], figures: Any) -> Path:
    """Write the figures of a part, with date, machine and versions."""
    now = datetime.now(UTC)
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{now:%Y-%m-%d}-{part}.json"
    result = {
        "part": part,
        "at": f"{now:%Y-%m-%dT%H:%M:%SZ}",
        "machine": about,
        "versions": {**versions(), "java": java_version()},
        "figures": figures,
    }
    path.write_text(json.dumps(result, indent=1) + "\n")
    return path


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()
