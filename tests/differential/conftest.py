"""Fixtures of the comparisons with other engines."""

import pytest

from tests.differential.peers import Saxon


@pytest.fixture(scope="session")
def saxon() -> Saxon:
    """Return SaxonC, which starts up once."""
    return Saxon()
