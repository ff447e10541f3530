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


class _OneSpark(LoadScopeScheduling):
    """Keeps the tests of a file in one process, and those of Spark and of the documentation in one.

    The tests of Spark share a session. Marks of groups say the same, but have no effect with this
    version of pytest.
    """

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        return "spark" if file.startswith(("tests/spark/", "tests/docs/")) else file


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadScopeScheduling:
    """Say which tests run in the same process, where several run."""
    return _OneSpark(config, log)


@pytest.fixture(scope="session")
def shared() -> Path:
    """Return the folder of cases and hostile documents beside the checkout, or skip the test."""
    folder = ROOT.parent / "shared"
    if not folder.is_dir():
        pytest.skip("needs the folder `shared` beside the checkout")
    return folder
