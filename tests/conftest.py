"""Settings and fixtures that all tests share."""

import os
import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parent.parent

# `make test` takes the profile "ci": the same examples on every machine, so that a failure
# there is a failure here. Plain pytest draws new examples each time and so keeps exploring.
# How long examples take depends on what else the machine does, and fails no test.
_TIMELESS = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("dev", _TIMELESS)
settings.register_profile("ci", _TIMELESS, derandomize=True, print_blob=True, database=None)
settings.register_profile("slow", _TIMELESS, max_examples=20_000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))

# What a shell starts in the background ignores Ctrl-C, and so would all that the tests start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep the tests of a file in one process, and all that use Spark, since they share a session.

    Documentation starts sessions of its own, which would take the place of that one.
    """
    for item in items:
        folder, _, _ = item.nodeid.removeprefix("tests/").partition("/")
        is_spark = folder in ("spark", "docs") or item.get_closest_marker("spark") is not None
        group = "spark" if is_spark else item.nodeid.partition("::")[0]
        item.add_marker(pytest.mark.xdist_group(group))


@pytest.fixture(scope="session")
def shared() -> Path:
    """Return the folder of cases and hostile documents beside the checkout, or skip the test."""
    folder = ROOT.parent / "shared"
    if not folder.is_dir():
        pytest.skip("needs the folder `shared` beside the checkout")
    return folder
