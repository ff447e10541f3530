"""The short form of every attack: nothing wrong, no panic, no hang."""

import pytest

from penstock_testing.adversary.report import describe
from penstock_testing.adversary.running import run


@pytest.mark.parametrize(
    ("name", "count"), [("xpath", 8_000), ("documents", 10_000), ("views", 8_192)]
)
def test_an_attack_finds_nothing(name: str, count: int) -> None:
    tally = run(name, seed=0, count=count)
    assert not tally.failures, describe(name, tally, 0)
    assert tally.cases >= count
    # Cases without an answer prove little.
    assert tally.non_empty > tally.cases / 10
