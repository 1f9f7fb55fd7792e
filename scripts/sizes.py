"""The size table: lines of each folder of src/everview, and no file too long to hold in the head.

A file over `MOST` lines fails unless it is in `ALLOWED`, with the reason; an entry that is no
longer needed fails too, so the list cannot rot. Not here: any other measure of code.
"""

from __future__ import annotations

import sys
from pathlib import Path

MOST = 450
ALLOWED: dict[str, str] = {}  # path below src/everview -> why it may be longer


def lines(root: Path) -> dict[str, int]:
    """Line count of every Python file below `root`, by path."""
    return {
        file.relative_to(root).as_posix(): len(file.read_text(encoding="utf-8").splitlines())
        for file in sorted(root.rglob("*.py"))
    }


def table(counts: dict[str, int]) -> str:
    """Files, lines and longest file of each folder, and of all."""
    folders: dict[str, dict[str, int]] = {}
    for path, count in counts.items():
        folder = path.rpartition("/")[0].partition("/")[0] or "(top)"
        folders.setdefault(folder, {})[path] = count
    rows = [f"{'folder':<12} {'files':>5} {'lines':>6}  longest"]
    for folder, files in sorted(folders.items()):
        longest = max(files, key=lambda path: files[path])
        row = f"{folder:<12} {len(files):>5} {sum(files.values()):>6}  {longest}: {files[longest]}"
        rows.append(row)
    return "\n".join([*rows, f"{'all':<12} {len(counts):>5} {sum(counts.values()):>6}"])


def faults(counts: dict[str, int], allowed: dict[str, str]) -> list[str]:
    """What is wrong, one sentence each."""
    long = [
        f"{path} has {count} lines, more than {MOST}: cut it where it has two subjects"
        for path, count in counts.items()
        if count > MOST and path not in allowed
    ]
    stale = [
        f"{path} is allowed to be long, but is {'short' if path in counts else 'gone'}"
        for path in allowed
        if counts.get(path, 0) <= MOST
    ]
    return long + stale


def main() -> int:
    counts = lines(Path(__file__).resolve().parent.parent / "src" / "everview")
    print(table(counts))
    wrong = faults(counts, ALLOWED)
    for fault in wrong:
        print(f"sizes: {fault}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
