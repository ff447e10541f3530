"""Tests of the papers' algorithms run where their extension is built; `make test` builds it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from papers import native
from tests.conftest import ROOT

DEBUG = ROOT / "target" / "debug" / native.path().name


def pytest_configure() -> None:
    """Take the extension that `make test` builds, unless another one is named."""
    if native.LIBRARY not in os.environ and DEBUG.exists():
        os.environ[native.LIBRARY] = str(DEBUG)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip the tests of this folder where there is no extension."""
    if native.path().exists():
        return
    folder = Path(__file__).parent
    for item in items:
        if folder in item.path.parents:
            item.add_marker(pytest.mark.skip(reason="`make test-papers` builds the extension"))
