"""Settings and fixtures that all tests share."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parent.parent

# `make test` takes the profile "ci": the same examples on every machine, so that a failure
# there is a failure here. Plain pytest draws new examples each time and so keeps exploring.
settings.register_profile("dev", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True, database=None)
settings.register_profile(
    "slow", deadline=None, max_examples=20_000, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))


@pytest.fixture(scope="session")
def shared() -> Path:
    """Return the folder of cases and hostile documents beside the checkout, or skip the test."""
    folder = ROOT.parent / "shared"
    if not folder.is_dir():
        pytest.skip("needs the folder `shared` beside the checkout")
    return folder
