"""Streams are joined as a brute force over all bindings does, whatever comes in which order."""

from __future__ import annotations

from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

import penstock
from penstock.joins import JoinOptions

QUERY = """for $a in stream('s')//a, $b in stream('t')//b, $c in stream('s')//c
where $a/k = $b/k and $b/@id = $c/@id and $a/@id != $c/@id and count($b/k) < 3
return <m>{string-join((string($a/@n), string($b/@n), string($c/@n)), '-')}</m>"""

Binding = tuple[str, str, list[str]]

BINDINGS = st.tuples(st.sampled_from("abc"), st.sampled_from("xy"), st.lists(st.sampled_from("pq")))
DOCUMENTS = st.lists(st.tuples(st.sampled_from("st"), st.lists(BINDINGS, max_size=6)), max_size=6)


def brute_force(documents: list[tuple[str, list[Binding]]]) -> list[str]:
    """Return the results of all triples of bindings."""
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
    )


@settings(max_examples=60)
@given(
    documents=DOCUMENTS,
    budget=st.sampled_from([2_000, 10_000, 1 << 30]),
    is_beside=st.booleans(),
    is_whole=st.booleans(),
)
def test_streams_join_as_brute_force_does(
    documents: list[tuple[str, list[Binding]]], budget: int, is_beside: bool, is_whole: bool
) -> None:
    registry = penstock.Registry()
    registry.add("q", penstock.xquery(QUERY))
    inputs = []
    for place, (stream, bindings) in enumerate(documents):
        parts = [
            f"<{name} n='{place}.{at}' id='{key}'>{''.join(f'<k>{k}</k>' for k in keys)}</{name}>"
            for at, (name, key, keys) in enumerate(bindings)
        ]
        data = f"<r>{''.join(parts)}</r>"
        if not is_whole:
            data += " " * (1 << 20)  # so much is read in pieces
        inputs.append(penstock.Document(data, id=str(place), stream=stream))
    options = JoinOptions(state_bytes_max=budget)
    engine = penstock.Engine(registry, joins=options)
    beside = {name: [one for one in inputs if one.stream == name] for name in "st"}
    rows = engine.run(beside if is_beside else inputs)
    found = sorted((row.value or "").removeprefix("<m>").removesuffix("</m>") for row in rows)
    assert found == brute_force(documents)
