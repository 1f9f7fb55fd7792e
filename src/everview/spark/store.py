"""A shard's durable state in Spark's state store: log chunks in a map, the token in a value.

Writes go to the store's transaction; Spark commits it with the epoch or not at all.

Not here: what chunks hold (state/log), the arena that the token names (state/arena).
"""

from __future__ import annotations

from typing import Any


class MapStore:
    """The Store of state/log over a MapState `number -> blob`. Reads the keys once per epoch."""

    def __init__(self, chunks: Any) -> None:
        self.chunks = chunks

    def numbers(self) -> list[int]:
        return [int(k[0]) for k in self.chunks.keys()]  # noqa: SIM118  not a dictionary

    def has(self, number: int) -> bool:
        return bool(self.chunks.containsKey((number,)))

    def get(self, number: int) -> bytes:
        return bytes(self.chunks.getValue((number,))[0])

    def put(self, number: int, blob: bytes) -> None:
        self.chunks.updateValue((number,), (blob,))

    def remove(self, number: int) -> None:
        self.chunks.removeKey((number,))
