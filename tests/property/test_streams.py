"""Streams are joined as a brute force over all bindings does, whatever comes in which order.

Two of three loops read one stream: within one document if both name it by ``doc``, otherwise all
its documents, as far apart in time as ``within`` says.
"""

from __future__ import annotations

import math
from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

import penstock
from penstock.joins import JoinOptions

QUERY = """for $a in {}('s')//a, $b in {}('t')//b, $c in {}('s')//c
where $a/k = $b/k and $b/@id = $c/@id and $a/@id != $c/@id and count($b/k) < 3
return {}"""
RETURNS = (
    "<m>{string-join((string($a/@n), string($b/@n), string($c/@n)), '-')}</m>",
    "<m>{string($a/@n)}-{string($b/@n)}-{string($c/@n)}</m>",
)

Binding = tuple[str, str, list[str]]

BINDINGS = st.tuples(st.sampled_from("abc"), st.sampled_from("xy"), st.lists(st.sampled_from("pq")))
DOCUMENTS = st.lists(st.tuples(st.sampled_from("st"), st.lists(BINDINGS, max_size=6)), max_size=6)


def brute_force(
    documents: list[tuple[str, list[Binding]]], is_one: bool, within: float
) -> list[str]:
    """Return the results of all triples of bindings; the number of a document is its time."""
    numbered = [
        (stream, f"{place}.{at}", *binding)
        for place, (stream, bindings) in enumerate(documents)
        for at, binding in enumerate(bindings)
    ]
    sides = [
        [one for one in numbered if (one[0], one[2]) == side]
        for side in (("s", "a"), ("t", "b"), ("s", "c"))
    ]
    return sorted(
        "-".join((a[1], b[1], c[1]))
        for a, b, c in product(*sides)
        if {*a[4]} & {*b[4]} and b[3] == c[3] and a[3] != c[3] and len(b[4]) < 3
        if not is_one or document_of(a) == document_of(c)
        if max(map(document_of, (a, b, c))) - min(map(document_of, (a, b, c))) <= within
    )


def document_of(numbered: tuple[object, ...]) -> int:
    return int(str(numbered[1]).partition(".")[0])


@settings(max_examples=60)
@given(
    documents=DOCUMENTS,
    budget=st.sampled_from([2_000, 10_000, 1 << 30]),
    is_beside=st.booleans(),
    is_whole=st.booleans(),
    functions=st.tuples(*[st.sampled_from(("doc", "stream"))] * 3),
    result=st.sampled_from(RETURNS),
    within=st.sampled_from([math.inf, 0, 1, 3]),
)
def test_streams_join_as_brute_force_does(
    documents: list[tuple[str, list[Binding]]],
    budget: int,
    is_beside: bool,
    is_whole: bool,
    functions: tuple[str, ...],
    result: str,
    within: float,
) -> None:
    registry = penstock.Registry()
    text = QUERY.format(*functions, result)
    is_one = functions[0] == functions[2] == "doc"
    window = "INF" if within == math.inf else within
    registry.add("q", penstock.xquery(text, within=None if is_one and window == "INF" else window))
    inputs = []
    for place, (stream, bindings) in enumerate(documents):
        parts = [
            f"<{name} n='{place}.{at}' id='{key}'>{''.join(f'<k>{k}</k>' for k in keys)}</{name}>"
            for at, (name, key, keys) in enumerate(bindings)
        ]
        data = f"<r>{''.join(parts)}</r>"
        if not is_whole:
            data += " " * (1 << 20)  # so much is read in pieces
        # Documents of one id are told apart.
        inputs.append(penstock.Document(data, id=str(place // 2), stream=stream, time=place))
    options = JoinOptions(state_bytes_max=budget)
    engine = penstock.Engine(registry, joins=options)
    beside = {name: [one for one in inputs if one.stream == name] for name in "st"}
    rows = engine.run(beside if is_beside else inputs)
    found = sorted((row.value or "").removeprefix("<m>").removesuffix("</m>") for row in rows)
    assert found == brute_force(documents, is_one, within)
