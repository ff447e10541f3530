"""Messages that are put together from pieces are those that a session evaluates."""

from __future__ import annotations

from unittest.mock import patch

from hypothesis import given, settings
from hypothesis import strategies as st

import penstock
from penstock.engine.gathering import sides_of
from penstock.joins import JoinOptions
from penstock.kernel import Plan, Session
from penstock.planning.bindings import gathering
from penstock.planning.bindings.programs import BindingProgram, compile_bindings

LOOPS = ("stream('s')//a", "stream('s')/r/a[d = 'x']", "stream('s')//a[@c = 'x' and d]")
CONDITIONS = (
    "$a/@c = 'x'",
    "'y' = $a/d",
    "$a/d != 'x'",
    "exists($b/x)",
    "$b/@c = ''",
    "$b/x = 'é<&amp;'",
    "not($a/d = 'y')",
    "$a/n > 3",
    "$a/n >= 4 and $a/n < 9",
    "5.5 >= $b/n",
    "$a/n = 10",
    "$b/n = 4.0e0 and $b/@c = 'x'",
)
ATTRIBUTES = ("{$a/@id}", "{$b/@c}", "{$a/@c}")
CONTENT = (
    "{$a}",
    "{$a/x}",
    "{$b/x/text()}",
    "{$a//text()}",
    "{$b/node()}",
    "{data($a/x)}",
    "{data($b/@c)}",
    "{string($a/@id)}",
    "{string($b)}",
    "{count($a/x)}",
    "{$b/x, $a/d}",
    "{$a/x[1]}",
    "{$a/x[. = 'x']}",
    "{()}",
    "words &amp; &lt;more",
    "<z k='{$a/@c}!{$b/x}' l='&quot;&#9;'>{$b/@id}</z>",
    "<z>{$a/@none}</z>",
    "<y/>",
)
NUMBERS = st.sampled_from(["1", "4", " 4.0 ", "5.5", "9", "1e1", "-INF", "NaN", "x", ""])
VALUES = st.sampled_from(["x", "y", "", "é<&", " a\n\tb\r "])
KEYS = st.lists(st.sampled_from("pq"), max_size=2)


@st.composite
def queries(draw: st.DrawFn) -> tuple[str, str]:
    """Return what a query joins, and what it returns."""
    conditions = draw(st.lists(st.sampled_from(CONDITIONS), max_size=2))
    where = " and ".join(["$a/k = $b/k", *conditions])
    attributes = draw(st.lists(st.sampled_from(ATTRIBUTES), max_size=2, unique=True))
    content = draw(st.lists(st.sampled_from(CONTENT), max_size=3))
    loops = f"for $a in {draw(st.sampled_from(LOOPS))}, $b in stream('t')//b"
    return f"{loops} where {where}", f"<m>{''.join([*attributes, *content])}</m>"


@st.composite
def elements(draw: st.DrawFn, name: str, depth: int = 1) -> str:
    """Return an element with keys, and with other elements of its name inside."""
    escaped = {"&": "&amp;", "<": "&lt;", "\r": "&#13;", "\n": "&#10;", "\t": "&#9;"}

    def text() -> str:
        return "".join(escaped.get(one, one) for one in draw(VALUES))

    parts = [f"<k>{key}</k>" for key in draw(KEYS)]
    parts += [f"<x>{text()}</x>" for _ in range(draw(st.integers(0, 2)))]
    parts += [f"<d n='{text()}'>{text()}</d>" for _ in range(draw(st.integers(0, 1)))]
    parts += [f"<n>{number}</n>" for number in draw(st.lists(NUMBERS, max_size=2))]
    parts += draw(st.lists(st.sampled_from(["<!--c-->", "<![CDATA[<&]]>", "<?i j?>"]), max_size=1))
    if depth and draw(st.booleans()):
        parts.append(draw(elements(name, depth - 1)))
    attributes = "".join(
        f" {attribute}='{text()}'" for attribute in ("id", "c") if draw(st.booleans())
    )
    return f"<{name}{attributes}>{''.join(draw(st.permutations(parts)))}</{name}>"


@st.composite
def documents(draw: st.DrawFn) -> list[penstock.Document]:
    """Return documents of two streams; some have event times and namespaces."""
    made = []
    for place in range(draw(st.integers(1, 5))):
        stream, name = draw(st.sampled_from([("s", "a"), ("t", "b")]))
        inside = "".join(draw(st.lists(elements(name), max_size=3)))
        spaces = draw(st.sampled_from(["", " xmlns:n='u'"]))
        time = draw(st.sampled_from([None, 10 + place, 10 - place]))
        data = f"<r{spaces}>{inside}</r>"
        made.append(penstock.Document(data, id=f"d{place}", stream=stream, time=time))
    return made


def row_of(row: penstock.Result) -> tuple[object, ...]:
    """Return what a row says, without what says how it came about."""
    error = None if row.error is None else row.error.code
    return (row.document, row.documents, row.kind, row.value, row.event_time or 0, error)


def query_of(text: str) -> penstock.Query:
    """Return a query; what is no number compares with none, so nothing fails."""
    return penstock.xquery(text, untyped="false")


def evaluated(query: tuple[str, str]) -> str:
    """Return a query that asks for the same, with a loop that no outline has."""
    loops, result = query
    return loops.replace(" where", ", $one in 1 where") + f" return {result}"


@settings(max_examples=150)
@given(
    asked=st.lists(queries(), min_size=1, max_size=4),
    given_documents=documents(),
    budget=st.sampled_from([3_000, 1 << 30]),
)
def test_outlines_give_what_is_evaluated(
    asked: list[tuple[str, str]], given_documents: list[penstock.Document], budget: int
) -> None:
    texts = [f"{loops} return {result}" for loops, result in asked]
    registries = penstock.Registry(), penstock.Registry()
    for number, query in enumerate(asked):
        registries[0].add(f"q{number}", query_of(texts[number]))
        registries[1].add(f"q{number}", query_of(evaluated(query)))
        program = BindingProgram.read(compile_bindings(query_of(evaluated(query))))
        assert program.outline is None
    options = JoinOptions(state_bytes_max=budget)
    both = [penstock.Engine(registry, joins=options) for registry in registries]
    rows = [[*engine.run(given_documents)] for engine in both]
    # Documents without a time come when they are read.
    told = [sorted((row.subscription, *map(str, row_of(row)[:4])) for row in own) for own in rows]
    assert told[0] == told[1]
    # Numbers count what the loops bind, before conditions that outlines take out of them.
    told_apart = {
        (row.subscription, row.documents, row.ordinal) for row in rows[0] if not row.error
    }
    assert len(told_apart) == sum(row.error is None for row in rows[0])
    batches = penstock.Engine(registries[0], joins=options).batches(given_documents)
    listed = [row for batch in batches for row in batch.to_pylist()]
    assert sorted(
        (
            row["subscription"],
            str(row["document"]),
            str(tuple(row["documents"] or ())),
            row["value"],
        )
        for row in listed
        if row["kind"] == "element"
    ) == sorted(
        (row.subscription, row.document, str(row.documents or ()), row.value)
        for row in rows[0]
        if row.kind == "element"
    )


@settings(max_examples=60)
@given(
    asked=st.lists(queries(), min_size=2, max_size=5),
    given_documents=documents(),
    data=st.data(),
)
def test_subscriptions_that_come_and_go_get_what_is_joined_while_they_are_there(
    asked: list[tuple[str, str]], given_documents: list[penstock.Document], data: st.DataObject
) -> None:
    count = len(given_documents)
    spans = [
        sorted(data.draw(st.tuples(st.integers(0, count), st.integers(0, count)))) for _ in asked
    ]
    registry = penstock.Registry()
    engine = penstock.Engine(registry)
    found: dict[int, list[object]] = {number: [] for number in range(len(asked))}
    for place, document in enumerate(given_documents):
        for number, (first, last) in enumerate(spans):
            name = f"q{number}"
            if place == first < last:
                registry.add(name, query_of(" return ".join(asked[number])))
            if place == last and name in registry:
                registry.remove(name)
        with engine.open(id=document.id, stream=document.stream, time=document.time) as opened:
            rows = opened.feed(str(document.data).encode())
        for row in [*rows, *opened.results]:
            found[int(row.subscription[1:])].append(row_of(row)[:4])
    for number, (first, last) in enumerate(spans):
        alone = penstock.Registry()
        alone.add("q", query_of(" return ".join(asked[number])))
        own = penstock.Engine(alone).run(given_documents[first:last]) if first < last else ()
        assert sorted(map(str, found[number])) == sorted(str(row_of(row)[:4]) for row in own)


@settings(max_examples=150)
@given(query=queries(), given_documents=documents(), has_entity=st.booleans())
def test_layouts_write_what_a_query_constructs(
    query: tuple[str, str], given_documents: list[penstock.Document], has_entity: bool
) -> None:
    text = query_of(" return ".join(query))
    plain = BindingProgram.read(compile_bindings(text))
    with patch.object(gathering, "_layout", lambda *_: None):
        constructed = BindingProgram.read(compile_bindings(text))
    found = []
    for program in (plain, constructed):
        sides = [*sides_of(program), *(side.program for side in program.sides)]
        session = Session(Plan.build(sides))
        for number, document in enumerate(given_documents):
            # Source is not copied as it stands where a document declares entities.
            head = "<!DOCTYPE r [<!ENTITY e 'x'>]>" if has_entity else ""
            session.begin(stream=document.stream, number=number)
            session.feed(f"{head}{document.data}".encode())
            session.finish()
        found.append(session.take().take_bindings(0).bindings())
    assert found[0] == found[1]
