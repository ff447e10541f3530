"""To suspend a subscription and to let it go on is to remove it and to add it again."""

from __future__ import annotations

import random

import pytest

import penstock
from penstock import Document, Engine, Limits, Registry
from penstock.errors import LimitError, RegistryError
from penstock.twigs import Query

SEEDS = 200
STREAMS = "for $a in stream('S')//a, $b in stream('T')//b where $a = $b return "
KINDS: dict[str, Query | str] = {
    "path": "//a",
    "message": penstock.xquery("for $b in //b return <m>{$b}</m>"),
    "table": penstock.table("//a", {"value": "."}),
    "block": penstock.xscl("S//a->x"),
    "pair": penstock.xscl("S//a->x JOIN{x = y, 10} T//b->y"),
    "absence": penstock.xscl("S//a->x NOT FOLLOWED BY{x = y, 1} T//b->y"),
    "outline": penstock.xquery(STREAMS + "<m>{$a}{$b}</m>", within="2 h"),
    "shared": penstock.xquery(STREAMS + "<n>{$a}</n>", within="2 h"),
    "evaluated": penstock.xquery(STREAMS + "<m n='{count(($a, $b))}'/>", within="2 h"),
}
ERROR = LimitError("PL0016", "there are more than 3 results", 0, 0, "", limit="results_max")

Row = tuple[str, str, tuple[str, ...] | None, str, str]


def rows_of(seed: int, *, suspends: bool) -> list[Row]:
    """Return the rows of documents between which subscriptions go and come, in either way."""
    draw = random.Random(seed)
    registry = Registry()
    for name, query in KINDS.items():
        registry.add(name, query)
    engine = Engine(registry, lateness=draw.choice([None, 0]))
    gone: set[str] = set()
    rows = []
    for number in range(draw.randrange(3, 9)):
        # What is suspended and resumed between two documents has missed nothing.
        for name in draw.sample([*KINDS], draw.randrange(3)):
            if suspends and name in gone:
                engine.resume(name)
            elif suspends:
                engine._suspensions.suspend(name, ERROR)
            elif name in gone:
                registry.add(name, KINDS[name])
            else:
                registry.remove(name)
            gone ^= {name}
        parts = [
            f"<{one}>{draw.randrange(3)}</{one}>" for one in draw.choices("ab", k=draw.randrange(5))
        ]
        document = engine.open(f"d{number}", stream=draw.choice("ST"), time=number)
        rows += document.feed(f"<r>{''.join(parts)}</r>".encode())
        rows += document.finish()
        assert engine.suspended().keys() == (gone if suspends else set())
    rows += engine.close()
    made = [(row.subscription, row.document, row.documents, row.kind, row.value) for row in rows]
    return sorted(made, key=repr)  # type: ignore[arg-type]


def test_suspended_subscriptions_are_as_good_as_removed() -> None:
    found: set[str] = set()
    for seed in range(SEEDS):
        rows = rows_of(seed, suspends=True)
        assert rows == rows_of(seed, suspends=False), seed
        found.update(row[0] for row in rows)
    assert found == KINDS.keys()


def many(stream: str, number: int) -> Document:
    """Return a document with five bindings."""
    name = "a" if stream == "S" else "b"
    content = f"<r>{f'<{name}>1</{name}>' * 5}</r>"
    return Document(content, id=str(number), stream=stream, time=number)


@pytest.mark.filterwarnings("ignore::penstock.PenstockWarning")
@pytest.mark.parametrize("kind", [*KINDS])
def test_three_documents_with_too_many_results_suspend_every_kind(kind: str) -> None:
    registry = Registry()
    registry.add(kind, KINDS[kind])
    registry.add("calm", penstock.xscl("S//never->x JOIN{x = y, 1} T//never->y"))
    engine = Engine(registry, Limits(results_max=3), lateness=0)
    streams = "ST" if kind in ("pair", "outline", "shared", "evaluated") else "S"
    if kind == "message":
        streams = "T"
    given = [many(streams[number % len(streams)], number) for number in range(20)]
    errors = [row for row in engine.run(given) if row.error is not None]
    codes = [row.error.code for row in errors if row.error is not None]
    assert codes == ["PL0016"] * 3 + ["PL0018"]
    assert {row.subscription for row in errors} == {kind}
    assert [*engine.suspended()] == [kind]
    assert engine.statistics().of(kind).matches > 0
    assert not [row for row in engine.run(given) if row.subscription == kind]
    engine.resume(kind)
    assert [row for row in engine.run(given) if row.subscription == kind]
    with pytest.raises(RegistryError, match="not suspended"):
        engine.resume("calm")
    engine.resume(kind)  # it was suspended again


@pytest.mark.filterwarnings("ignore::penstock.PenstockWarning")
def test_documents_that_a_join_does_not_look_at_do_not_come_between_its_failures() -> None:
    registry = Registry()
    registry.add("block", penstock.xscl("S//a->x"))
    engine = Engine(registry, Limits(results_max=3))
    assert len([*engine.run([many("ST"[number % 2], number) for number in range(4)])]) == 8
    calm = Document("<r><a>1</a></r>", stream="S", time=4)
    assert len([*engine.run([calm, many("S", 5), many("S", 6)])]) == 9
    assert not engine.suspended()
    codes = [row.error.code for row in engine.run([many("S", 7)]) if row.error is not None]
    assert codes == ["PL0016", "PL0018"]
