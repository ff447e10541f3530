"""Subscriptions that join come and go: whoever is left finds what a fresh registry finds."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import penstock
from penstock.errors import QueryError, RegistryError
from penstock.joins import Joiner, JoinOptions, WitnessReader
from penstock.kernel import JoinStatistics
from penstock.planning.programs import compile_program
from penstock.results import Document
from penstock_testing.generate import random_stream, random_subscriptions
from tests.property.test_joins import WAYS, Found, expected

RANDOMS = st.randoms(use_true_random=False)

Change = tuple[str, str | None]
"""A name, and the text that it has from now on; None: it is removed."""


def random_changes(random: Random, documents: int) -> list[list[Change]]:
    """Return what changes before each document; queries come again under old and new names."""
    texts = list(random_subscriptions(random, 5).values())
    live: set[str] = set()
    steps: list[list[Change]] = []
    for _ in range(documents):
        step: list[Change] = []
        for _ in range(random.choice((0, 0, 1, 2, 3))):
            name = f"q{random.randrange(4)}"
            if name in live:
                live.discard(name)
                step.append((name, None))
            if random.random() < 0.7:
                live.add(name)
                step.append((name, random.choice(texts)))
        steps.append(step)
    return steps


def apply(registry: penstock.Registry, step: list[Change]) -> None:
    for name, text in step:
        if text is None:
            registry.remove(name)
        else:
            registry.add(name, penstock.xscl(text))


def lives(steps: list[list[Change]]) -> Iterator[tuple[str, str, int, int]]:
    """Yield each subscription with the documents, from and to, that it is there for."""
    open_: dict[str, tuple[str, int]] = {}
    for at, step in enumerate(steps):
        for name, text in step:
            if name in open_:
                yield name, *open_.pop(name), at
            if text is not None:
                open_[name] = (text, at)
    for name, (text, start) in open_.items():
        yield name, text, start, len(steps)


def found_live(
    steps: list[list[Change]], documents: list[Document], options: JoinOptions
) -> list[list[Found]]:
    """Return what each document completes while subscriptions change; last, what the end does."""
    registry = penstock.Registry()
    rows: list[list[Found]] = []

    def source() -> Iterator[Document]:
        for step, document in zip(steps, documents, strict=True):
            apply(registry, step)
            rows.append([])
            yield document
        rows.append([])

    for row in penstock.Engine(registry, joins=options).run(source()):
        assert not row.is_error
        time = row.event_time.timestamp() if row.event_time else 0.0
        made = (str(row.subscription), row.documents or (row.document,), time, str(row.value))
        rows[-1].append(made)
    return [sorted(one) for one in rows]


@pytest.mark.parametrize("way", ["shared", "spilled now and then"])
@given(RANDOMS)
def test_who_stays_to_the_end_finds_what_the_oracle_finds_in_what_it_saw(
    way: str, random: Random
) -> None:
    documents = random_stream(random)
    steps = random_changes(random, len(documents))
    # Who publishes changes what others see; the next test has those.
    steps = [[(n, None if t is None else t.split(" PUBLISH")[0]) for n, t in s] for s in steps]
    try:
        rows = found_live(steps, documents, WAYS[way])
    except (QueryError, RegistryError):
        assume(False)
        raise
    everything = sorted(row for one in rows for row in one)
    for name, text, start, end in lives(steps):
        if end == len(steps):
            want = [
                (o.subscription, o.documents, o.time, o.value)
                for o in expected({name: text}, documents[start:])
            ]
            seen = {str(one.id) for one in documents[start:]}
            got = [row for row in everything if row[0] == name and seen.issuperset(row[1])]
            assert sorted(got) == sorted(want)


@given(RANDOMS)
def test_changes_that_are_taken_back_leave_no_trace(random: Random) -> None:
    documents = random_stream(random)
    texts = random_subscriptions(random, 3)
    passing = random_subscriptions(random, 4)
    try:
        want = sorted(
            (o.subscription, o.documents, o.time, o.value) for o in expected(texts, documents)
        )
        registry = penstock.Registry()
        for name, text in texts.items():
            registry.add(name, penstock.xscl(text))
        for text in passing.values():
            penstock.xscl(text)
    except (QueryError, RegistryError):
        assume(False)
        raise

    def source() -> Iterator[Document]:
        for document in documents:
            for name, text in passing.items():
                # Their streams are their own: they must not feed the others.
                own = text.replace(" PUBLISH P", " PUBLISH Q")
                registry.add(f"passing {name}", penstock.xscl(own))
            if random.random() < 0.5:
                list(registry.snapshot().names)
                yield Document(document.data, "", "elsewhere", document.time)
            for name in passing:
                registry.remove(f"passing {name}")
            yield document

    rows = [
        (str(r.subscription), r.documents or (r.document,), r.event_time.timestamp(), str(r.value))
        for r in penstock.Engine(registry).run(source())
        if r.event_time and not str(r.subscription).startswith("passing")
    ]
    assert sorted(rows) == want


def sizes(statistics: JoinStatistics) -> tuple[int, ...]:
    """Return what has to be as it was when everybody is gone who came."""
    return (
        statistics.rows,
        statistics.shapes,
        statistics.pairs,
        statistics.nodes,
        statistics.variables,
        statistics.edges,
        statistics.steps,
        statistics.formulas,
        statistics.tests,
    )


@given(RANDOMS)
def test_what_is_removed_is_given_back(random: Random) -> None:
    texts = [*random_subscriptions(random, 3).values(), *random_subscriptions(random, 3).values()]
    try:
        programs = [compile_program(penstock.xscl(text)) for text in texts]
    except QueryError:
        assume(False)
        raise
    documents = random_stream(random)
    joiner = Joiner()
    before = [sizes(joiner.statistics())]
    for number, program in enumerate(programs):
        joiner.add(number, number, str(number), program)
        joiner.settle()
        before.append(sizes(joiner.statistics()))
        if documents and random.random() < 0.5:
            document = documents.pop()
            reader = WitnessReader(joiner.joins)
            witness = reader.read(document.stream, [document.data])  # type: ignore[list-item]
            time_us = round(float(str(document.time)) * 1e6)
            joiner.join(witness, str(document.id), time_us, number)
            list(joiner.results(number))
    for number in reversed(range(len(programs))):
        joiner.remove(number)
        joiner.settle()
        before.pop()
        assert sizes(joiner.statistics()) == before[-1]
