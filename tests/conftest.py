"""Settings and fixtures that all tests share."""

import os
import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

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


GROUPS = ("tests/spark/joins/", "tests/spark/", "tests/docs/")
"""Folders whose tests share a session of Spark, which takes seconds to start; the first that fits.

No group may take longer than all other tests together, so there are several.
"""


def group_of(nodeid: str) -> str:
    """Return which tests run in the same process as this one: those of a file, or of a folder."""
    file = nodeid.partition("::")[0]
    return next((group for group in GROUPS if file.startswith(group)), file)


class _InGroups(LoadScopeScheduling):
    """Keeps the tests of a group in one process.

    Marks of groups say the same, but have no effect with this version of pytest.
    """

    def _split_scope(self, nodeid: str) -> str:
        return group_of(nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadScopeScheduling:
    """Say which tests run in the same process, where several run."""
    return _InGroups(config, log)


@pytest.fixture(scope="session")
def shared() -> Path:
    """Return the folder of cases and hostile documents beside the checkout, or skip the test."""
    folder = ROOT.parent / "shared"
    if not folder.is_dir():
        pytest.skip("needs the folder `shared` beside the checkout")
    return folder
