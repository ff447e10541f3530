"""Fixtures of the comparisons with other engines."""

import pytest

from penstock_testing.peers import Saxon


@pytest.fixture(scope="session")
def saxon() -> Saxon:
    """Return SaxonC, which starts up once."""
    return Saxon()
