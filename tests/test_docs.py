"""The documents: every file they name is there, every link leads somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "everview"
DOCUMENTS = (*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md")))
NAMED = re.compile(r"`((?:[\w.-]+/)*[\w-]+(?:\.(?:py|sh|md|toml|json)|/))`")
LINK = re.compile(r"\]\(([^)#\s]+)[^)]*\)")
MADE_BY_USERS = {"everview.json", "everview.toml"}


def ids(document: Path) -> str:
    return document.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("document", DOCUMENTS, ids=ids)
def test_files_named_are_there(document):
    named = set(NAMED.findall(document.read_text(encoding="utf-8"))) - MADE_BY_USERS
    missing = [n for n in sorted(named) if not ((PACKAGE / n).exists() or (ROOT / n).exists())]
    assert missing == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=ids)
def test_links_lead_somewhere(document):
    links = set(LINK.findall(document.read_text(encoding="utf-8")))
    inside = [link for link in links if ":" not in link]
    assert [link for link in inside if not (document.parent / link).exists()] == []


def test_the_layers_shown_are_the_layers_checked():
    def names(text: str) -> list[str]:
        return re.findall(r"[a-z]+", text)

    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    checked = re.search(r"^layers = \[(.+?)^\]", project, re.DOTALL | re.MULTILINE)
    assert checked
    guide = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    shown = guide.partition("never the other way")[2].split("```")[1]
    lines = [re.split(r" {3,}", line)[0] for line in shown.strip().splitlines()]
    assert [names(line) for line in lines] == [names(x) for x in checked[1].strip().splitlines()]
