"""Files that are there whole or not at all, and stay there when the machine stops.

Not here: what stands in them (hand, changelog).
"""

from __future__ import annotations

import os

from everview.errors import InputError


def sync(path: str) -> None:
    """Wait until a file, or the names in a folder, are on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def place_once(hidden: str, target: str) -> bool:
    """Give a finished file its name at once, and never take it from another: False if it is taken.

    The hidden name stays when the name is taken, and is gone when the file is placed.
    """
    try:
        os.link(hidden, target)
    except FileExistsError:
        return False
    except OSError as e:
        raise InputError(
            "INPUT.NO_LINKS",
            f"{target} cannot be written: its file system has no hard links ({e.strerror})",
            fix="keep this folder on a local or POSIX file system",
        ) from e
    os.unlink(hidden)
    sync(os.path.dirname(target) or ".")
    return True
