"""What all tests share: the option `--update`, which rewrites golden files instead of comparing."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update", action="store_true", help="rewrite golden files")


@pytest.fixture
def update(request: pytest.FixtureRequest) -> bool:
    """Were golden files to be rewritten?"""
    return bool(request.config.getoption("--update"))
