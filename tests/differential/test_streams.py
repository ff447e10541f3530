"""Queries over several streams have the results that Saxon finds in whole documents.

``stream('s')`` is the sequence of all documents there. ``doc('s')`` is one of them after the other,
the same for all loops of a query.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from dataclasses import dataclass

import pytest

import penstock
from penstock.joins import JoinOptions
from penstock_testing.peers.saxon_xquery import SaxonXQuery
from penstock_testing.sequences.describing import WHOLE, Described, canonical, shorten
from tests.volume import short

BATCH = 40
NON_EMPTY_MIN = 0.6
STREAMS = ("s", "t", "u")
BUDGETS = (4_000, 20_000, 1 << 30)

FUNCTIONS = ("stream", "doc")
LOOPS = ("//x", "/r/x", "//x[k]", "//y", "//x[p > 1]", "//*[@id]", "/r/*/x", "//x[not(x)]")
EQUALITIES = (
    "${0}/k = ${1}/k",
    "${0}/@id = ${1}/@id",
    "${0}//k = ${1}/k",
    "${0}/k = ${1}/@id",
    "${0}/@id eq ${1}/@id",
    "number(${0}/p[1]) = ${1}/p",
    "lower-case(${0}/@id) = ${1}/k",
    "${0}/k/text() = ${1}//k",
    "count(${0}/k) = count(${1}/k)",
)
CONDITIONS = (
    "${0}/p > 1",
    "${0}/p < ${1}/p",
    "${0}/@id != ${1}/@id",
    "exists(${1}/k)",
    "count(${0}//k) + count(${1}//k) > 2",
    "not(${0}/p = ${1}/p)",
    "(${0}/k = 'a' or ${1}/k = 'b')",
    "(some $v in ${0}/k satisfies starts-with($v, 'a'))",
)
RESULTS = (
    "<m>{{${1}/@id}}{{${0}/k}}</m>",
    "<m n='{{${0}/@id}}'>{{${0}, ${1}}}</m>",
    "${0}/k",
    "(string(${0}/@id), count(${1}/k))",
    "<m>{{for $k in ${0}/k where $k = ${1}/k return <k>{{$k/text()}}</k>}}</m>",
)


@dataclass(frozen=True)
class Case:
    text: str
    documents: list[penstock.Document]
    within: str | None
    """Loops over all documents of one stream need a bound."""


def element(chance: random.Random, depth: int) -> str:
    name = chance.choice("xxy")
    keys = "".join(f"<k>{chance.choice('abA')}</k>" for _ in range(chance.randrange(1, 3)))
    number = f"<p>{chance.randrange(5)}</p>" if chance.random() < 0.7 else ""
    marked = f" id='{chance.choice('abA')}'" if chance.random() < 0.9 else ""
    inside = element(chance, depth - 1) if depth and chance.random() < 0.3 else ""
    parts = [keys, number, inside, "&lt;&amp; " if chance.random() < 0.2 else ""]
    chance.shuffle(parts)
    return f"<{name}{marked}>{''.join(parts)}</{name}>"


def document(chance: random.Random) -> str:
    return f"<r>{''.join(element(chance, 2) for _ in range(chance.randrange(1, 7)))}</r>"


def case_of(seed: int) -> Case:
    """Return a random query over two or three streams, and their documents."""
    chance = random.Random(seed)
    count = chance.choice((2, 2, 3))
    names = "abc"[:count]
    streams = list(STREAMS[:count])
    if count == 3 and chance.random() < 0.5:
        streams[2] = "s"
    loops = [
        f"${name} in {chance.choice(FUNCTIONS)}('{stream}'){chance.choice(LOOPS)}"
        for name, stream in zip(names, streams, strict=True)
    ]
    of_one = [loop for loop in loops if "('s')" in loop]
    within = "INF" if len(of_one) > 1 and any("stream(" in loop for loop in of_one) else None
    pairs = [(names[at], names[at + 1]) for at in range(count - 1)]
    tests = [chance.choice(EQUALITIES).format(*pair) for pair in pairs]
    if chance.random() < 0.6:
        tests.append(chance.choice(CONDITIONS).format(*chance.choice(pairs)))
    clauses = f"for {', '.join(loops)}"
    if chance.random() < 0.3:
        clauses += f" let $l := ${names[0]}/k for $i in $l"
        tests.append(f"$i = ${names[1]}//k")
    result = chance.choice(RESULTS).format(names[0], names[-1])
    documents = [
        penstock.Document(document(chance), id=f"d{number}", stream=chance.choice(streams))
        for number in range(chance.randrange(6, 12))
    ]
    text = f"{clauses} where {' and '.join(tests)} return {result}"
    return Case(text, documents, within)


def joined(case: Case, budget: int) -> Counter[Described]:
    """Return the results of the engine, with so much memory."""
    registry = penstock.Registry()
    registry.add("q", penstock.xquery(case.text, untyped="false", within=case.within))
    options = JoinOptions(state_bytes_max=budget)
    rows = [*penstock.Engine(registry, joins=options).run(case.documents)]
    assert [row for row in rows if row.error] == []
    return Counter(described(row) for row in rows)


def described(row: penstock.Result) -> Described:
    assert row.value is not None
    if row.kind in WHOLE:
        return (row.kind, row.name, canonical(row.xml or ""))
    kind = "" if row.kind in ("string", "number", "boolean") else row.kind
    return (kind, "" if kind == "" else row.name, shorten(row.value))


def expected(saxon: SaxonXQuery, case: Case) -> Counter[Described]:
    """Return what Saxon finds where each stream is the sequence of its documents."""
    named = {f"d{at}": one for at, one in enumerate(case.documents)}

    def documents_of(stream: str) -> str:
        own = [f"${name}" for name, one in named.items() if one.stream == stream]
        return f"({', '.join(own)})"

    prolog = "".join(f"declare variable ${name} external; " for name in named)
    text = re.sub(r"stream\('(\w)'\)", lambda found: documents_of(found[1]), case.text)
    for stream in sorted({*re.findall(r"doc\('(\w)'\)", text)}):
        name, one = f"doc('{stream}')", f"$one-{stream}"
        text = f"for {one} in {documents_of(stream)} return {text.replace(name, one)}"
    text = prolog + text
    sources = {name: str(one.data).encode() for name, one in named.items()}
    items = saxon.ask(text, None, sources)
    return Counter((kind, name if kind else "", value) for kind, name, value in items)


@pytest.fixture(scope="module")
def saxon() -> SaxonXQuery:
    return SaxonXQuery()


@pytest.mark.parametrize("first", short([0, 40, 80], 1))
def test_streams_join_as_whole_documents_do(saxon: SaxonXQuery, first: int) -> None:
    non_empty = 0
    for seed in range(first, first + BATCH):
        case = case_of(seed)
        theirs = expected(saxon, case)
        ours = joined(case, BUDGETS[seed % 3])
        assert ours == theirs, (case.text, [one.data for one in case.documents])
        non_empty += bool(theirs)
    assert non_empty >= NON_EMPTY_MIN * BATCH
