"""The attack on XSCL finds nothing, and would find something if there were anything."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from xml.sax.saxutils import escape

import pytest

from penstock.joins import Joiner, Subscribers, results, subscribing
from penstock.kernel import Witness
from penstock.results import Result
from penstock_testing.adversary.xscl import answers, attacking
from penstock_testing.adversary.xscl.syntax import Query, write_query

Patch = pytest.MonkeyPatch


def test_a_short_attack_finds_nothing() -> None:
    tally = attacking.attack(seed=1_000_000, count=480)
    assert tally.failures == []
    assert tally.cases == 480
    assert tally.non_empty > 240


def test_a_seed_makes_the_same_case_again() -> None:
    assert attacking.case_of(77) == attacking.case_of(77)


def written(pattern: str, replacement: str) -> Callable[[Patch], None]:
    """Return a mutant that reads other queries than were written."""

    def mutate(patch: Patch) -> None:
        def write(query: Query) -> str:
            return re.sub(pattern, replacement, write_query(query))

        patch.setattr(answers, "write_query", write)

    return mutate


def only_witnesses_advance_time(patch: Patch) -> None:
    def join(self: Joiner, witness: Witness, document: str, time_us: int, version: int) -> bool:
        record = self.joins.record(witness, next(self._numbers), document, time_us, version)
        if record and self.joins.admit(time_us):
            self.joins.push(record)
            return True
        return not record

    patch.setattr(Joiner, "join", join)


def late_documents_are_joined(patch: Patch) -> None:
    def join(self: Joiner, witness: Witness, document: str, time_us: int, version: int) -> bool:
        record = self.joins.record(witness, next(self._numbers), document, time_us, version)
        self.joins.advance(time_us)
        if record:
            self.joins.push(record)
        return True

    patch.setattr(Joiner, "join", join)


def events_are_escaped_twice(patch: Patch) -> None:
    patch.setattr(Result, "xml", property(lambda row: escape(row.value)))


def nodes_move_into_a_namespace(patch: Patch) -> None:
    patch.setattr(results, "_without_default", lambda node: node.text)


def one_event_for_each_id(patch: Patch) -> None:
    take = Subscribers.take

    def once(self: Subscribers, *given: object) -> Iterator[subscribing.Found]:
        published = set()
        for found in take(self, *given):  # type: ignore[arg-type]
            key = (found.joined.subscription, found.joined.ranges)
            is_new = key not in published
            published.add(key)
            yield found if is_new else subscribing.Found(found.joined, found.xml)

    patch.setattr(Subscribers, "take", lambda self, *given: list(once(self, *given)))


MUTANTS: dict[str, Callable[[Patch], None]] = {
    "only documents with witnesses advance event time": only_witnesses_advance_time,
    "late documents are joined": late_documents_are_joined,
    "events are escaped twice": events_are_escaped_twice,
    "nodes move into the namespace of their constructor": nodes_move_into_a_namespace,
    "documents with one id publish one event": one_event_for_each_id,
    "numbers are compared as strings": written(r"= (\d[\d.]*)(?=[, ])", r"= '\1'"),
    "a window ends a moment early": written(r", 3\}", ", 2999999 us}"),
    "JOIN is FOLLOWED BY": written(r" JOIN\{", " FOLLOWED BY{"),
    "absence is an INF": written(r"(NOT FOLLOWED BY\{[^}]*, )[^}]*\}", r"\1INF}"),
    "unequal or equal": written("<=", "<"),
    "children are descendants": written(r"(?<=[ST])/(?=\w)", "//"),
}


@pytest.mark.parametrize("mutant", MUTANTS)
def test_an_attack_finds_a_mutant(mutant: str, monkeypatch: Patch) -> None:
    answers.registry_of.cache_clear()
    MUTANTS[mutant](monkeypatch)
    monkeypatch.setattr(attacking, "FAILURES_MAX", 1)
    try:
        tally = attacking.attack(seed=0, count=4_000)
    finally:
        answers.registry_of.cache_clear()
    (failure,) = tally.failures
    assert failure.kind in ("wrong", "error")


def test_a_case_that_fails_is_made_smaller(monkeypatch: Patch) -> None:
    answers.registry_of.cache_clear()
    late_documents_are_joined(monkeypatch)
    monkeypatch.setattr(attacking, "FAILURES_MAX", 1)
    (failure,) = attacking.attack(seed=0, count=4_000).failures
    answers.registry_of.cache_clear()
    case = failure.case.splitlines()
    assert sum(line.startswith("registry.add") for line in case) == 1
    # One document or heartbeat makes another one late.
    assert sum(line.startswith(("# Document", "# Heartbeat")) for line in case) == 2
