"""The oracle over several subscriptions: published streams, ids, and what goes round."""

from __future__ import annotations

from random import Random

import pytest

from penstock.languages.xscl import xscl
from penstock.results import Document, event_id
from penstock.twigs import Event, Fragments, JoinKind
from penstock_testing.generate import random_stream, random_subscriptions, random_xscl
from penstock_testing.reference import Arrival, run
from penstock_testing.tree import parse

ARRIVALS = [
    Arrival("d1", parse("<a>1</a>"), 0.0, "S"),
    Arrival("d2", parse("<b>1</b>"), 2.0, "S"),
]


def test_a_reader_sees_what_is_published_with_the_time_of_its_latest_part() -> None:
    queries = {
        "reader": xscl("P//k->k"),
        "writer": xscl("SELECT <k>{x}</k> FROM S//a->x JOIN{x = y, INF} S//b->y PUBLISH P"),
    }
    writer, reader = run(queries, ARRIVALS)
    assert writer.id == "writer(d1+d2: d1[0-8])"
    assert reader.documents == (writer.id,)
    assert (reader.time, reader.value) == (2.0, "<k><a>1</a></k>")


def test_ids_of_events_are_made_of_their_parts() -> None:
    assert event_id("q", ("d1", "d2"), (("d2", 3, 4),)) == "q(d1+d2: d2[3-4])"


def test_a_circle_is_refused() -> None:
    queries = {"one": xscl("P//a->x PUBLISH Q"), "other": xscl("Q//a->x PUBLISH P")}
    with pytest.raises(ValueError, match="one, other read what they publish"):
        run(queries, ARRIVALS)


def test_random_streams_have_ties_and_several_streams() -> None:
    documents: list[Document] = [d for seed in range(50) for d in random_stream(Random(seed))]
    assert {document.stream for document in documents} == {"S", "T"}
    assert len({document.time for document in documents}) == 13


def test_random_queries_are_of_every_kind() -> None:
    queries = [xscl(random_xscl(Random(seed))) for seed in range(400)]
    assert {join.kind for query in queries for join in query.joins} == set(JoinKind) - {
        JoinKind.MEET
    }
    assert {type(query.output) for query in queries} == {Event, Fragments}
    assert {len(query.blocks) for query in queries} == {1, 2, 3}
    assert any(join.terms for query in queries for join in query.joins)
    assert any(join.inequalities for query in queries for join in query.joins)
    assert any(isinstance(q.output, Event) and q.output.content for q in queries)


def test_random_subscriptions_publish_and_read() -> None:
    texts = [text for seed in range(20) for text in random_subscriptions(Random(seed), 4).values()]
    assert any(text.endswith("PUBLISH P") for text in texts)
    assert any("P/" in text for text in texts)
