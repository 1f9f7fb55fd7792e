"""From `CREATE TABLE ... WITH (connector = ..., path = ...)` to a source.

Not here: what the options are (options), the sources themselves, sequences of several relations in
one file (`together`: see `open_sources`).
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from everview.connect.folder import ChangeFolder
from everview.connect.hand import HandFolder
from everview.connect.options import read_options
from everview.connect.together import Counting, Together
from everview.connect.update_sequence import UpdateSequence
from everview.schema import Relation


def open_source(relation: Relation, base: Path) -> Counting:
    """The source of one relation; paths are relative to `base`."""
    said = read_options(relation)
    path = os.path.join(base, said.path)
    if said.connector == "hand":
        return HandFolder(path, relation, zone=said.zone, tasks=said.tasks)
    if said.connector == "update-sequence":
        return UpdateSequence(path, (relation,), tasks=said.tasks, zone=said.zone)
    return ChangeFolder(
        path, relation, said.connector, said.change_column, said.delimiter,  # type: ignore[arg-type]
        said.header, said.newlines, said.zone, said.tasks,
    )  # fmt: skip


def open_sources(relations: Iterable[Relation], base: Path) -> Together:
    """The sources of several relations as one; update sequences of one path are read once."""
    sources: list[Counting] = []
    mixed: dict[str, int] = {}
    for relation in relations:
        source = open_source(relation, base)
        if isinstance(source, UpdateSequence) and source.path in mixed:
            at = mixed[source.path]
            first = sources[at]
            assert isinstance(first, UpdateSequence)
            assert isinstance(first.relations, tuple)
            sources[at] = UpdateSequence(
                first.path, (*first.relations, relation), tasks=first.tasks, zone=first.zone
            )
            continue
        if isinstance(source, UpdateSequence):
            mixed[source.path] = len(sources)
        sources.append(source)
    return Together(tuple(sources))
