"""The wheel that `make build` makes, built once for all tests that look into it."""

from pathlib import Path

import pytest

from tests.wheel.wheels import build_wheel


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return our wheel as `make build` makes it; this takes minutes."""
    return build_wheel(tmp_path_factory.mktemp("built"))
