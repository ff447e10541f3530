"""Branches that nobody asks for become conditions, and the results stay the same."""

from random import Random

import penstock
from penstock.languages.xpath import xpath
from penstock.languages.xscl import xscl
from penstock.planning.rewrites.unused_branches import drop_unused_branches
from penstock.twigs import Fragments, Query
from penstock_testing.generate import JoinKnobs, random_stream, random_xscl
from penstock_testing.reference import evaluate
from penstock_testing.tree import parse
from tests.unit.planning.results import shapes


def test_a_branch_with_an_unused_variable_is_a_condition() -> None:
    query = drop_unused_branches(xscl("S/a->x[b->y][@c->z]/d"))
    assert shapes(query) == ["/child::a[child::b][attribute::c]/child::d"]


def test_the_only_branch_may_be_unused() -> None:
    assert shapes(drop_unused_branches(xscl("S/a->x[b->y]"))) == ["/child::a[child::b]"]


def test_a_path_is_left_alone() -> None:
    query = xpath("//a/b[c]")
    assert drop_unused_branches(query) is query


def test_bare_blocks_keep_their_results_in_the_kernel() -> None:
    random = Random(4)
    done = 0
    while done < 150:
        query = xscl(random_xscl(random, JoinKnobs(blocks_max=1, select=0)))
        if not isinstance(query.output, Fragments):
            continue
        done += 1
        for document in random_stream(random):
            assert isinstance(document.data, bytes)
            expected = evaluate(query, parse(document.data))
            assert isinstance(expected, list)
            assert spans(query, document.data) == [(node.start, node.end) for node in expected]


def spans(query: Query, document: bytes) -> list[tuple[int | None, int | None]]:
    registry = penstock.Registry()
    registry.add("block", query)
    source = [penstock.Document(document, stream=str(query.blocks[0].stream))]
    rows = penstock.Engine(registry).run(source, order="document")
    return [(row.start, row.end) for row in rows]
