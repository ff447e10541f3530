"""The attack with expressions finds what is wrong, and shrinks it."""

from collections.abc import Sequence
from importlib import import_module

import pytest

from penstock.kernel import Session
from penstock_testing.adversary.splitting import feed
from penstock_testing.adversary.xpath import attack
from penstock_testing.adversary.xpath.asking import AskedQuestion, Rows, take

# The package exports the function under the name of the module.
MODULE = import_module("penstock_testing.adversary.xpath.attack")


class PanicException(BaseException):
    """Named as a panic of the kernel is."""


def test_a_wrong_answer_is_found_and_shrunk(monkeypatch: pytest.MonkeyPatch) -> None:
    def without_comments(session: Session, questions: Sequence[AskedQuestion]) -> list[Rows]:
        return [
            [row for row in rows if row[0] != "comment"] if isinstance(rows, list) else rows
            for rows in take(session, questions)
        ]

    monkeypatch.setattr(MODULE, "take", without_comments)
    tally = attack(seed=0, count=256)
    assert tally.failures
    shortest = min((failure.case for failure in tally.failures), key=len)
    query, document, *_ = shortest.split("\n")
    assert len(query) < 40
    assert document.count("<") <= 4


def test_a_panic_is_found_and_shrunk(monkeypatch: pytest.MonkeyPatch) -> None:
    def panic_at_instructions(session: Session, pieces: Sequence[bytes]) -> None:
        if b"<?t" in b"".join(pieces):
            raise PanicException("an instruction")
        feed(session, pieces)

    monkeypatch.setattr(MODULE, "feed", panic_at_instructions)
    tally = attack(seed=0, count=192)
    assert {failure.kind for failure in tally.failures} == {"panic"}
    assert all("panic: an instruction" in failure.case for failure in tally.failures)


def test_a_seed_makes_the_same_round_again() -> None:
    assert attack(seed=64, count=64) == attack(seed=64, count=64)
