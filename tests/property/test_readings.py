"""Each document is tokenized once, whoever listens and however it comes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

import penstock
from penstock.errors import DocumentError
from penstock.joins import WitnessReader
from penstock.kernel import JoinState, Plan, Session
from penstock.planning.programs import compile_program
from tests.property.strategies import documents
from tests.property.test_whole import EXPRESSIONS, compiled

ASKED = ["/a", "//b", "/a/b[c]", "//b[. = 'x']", "//c/@id", "/a/*"]
"""Questions for a trie."""
COUNTED = ["count(//b)", "//b[position() = 2]", "//c[../b]"]
"""Expressions that need a circuit."""
PLANS = {
    "none": lambda: Plan.build([]),
    "asked": lambda: plan_of(ASKED),
    "matched": lambda: plan_of(COUNTED),
    "asked and the rest": lambda: plan_of([*ASKED, *COUNTED]),
    "several": lambda: tiers_of(ASKED, [*ASKED, *COUNTED], COUNTED[:1]),
}
SMALL = [f"<a><b>{text}</b><c id='{text}'/></a>".encode() for text in ("x", "y", "z" * 50)]

Mode = Callable[..., None]


def plan_of(texts: Sequence[str]) -> Plan:
    modes = ["filter" if "[" in text else "query" for text in texts]
    return Plan.build(compiled(texts, modes))


def bushy(depth: int) -> bytes:
    """Return a document that has every label path of three names up to a depth."""
    inner = b""
    for _ in range(depth):
        inner = b"".join(b"<%b>%b</%b>" % (name, inner, name) for name in (b"a", b"b", b"c"))
    return b"<a>%b</a>" % inner


def tiers_of(*tiers: Sequence[str]) -> Plan:
    parts, first = [], 0
    for texts in tiers:
        parts.append((plan_of(texts), first))
        first += len(texts)
    return Plan.attached(parts)


def joins_of(stream: str = "S") -> JoinState:
    joins = JoinState()
    query = penstock.xscl(f"{stream}//a->x[b->y] JOIN{{y = z, INF}} {stream}//a->w[c->z]")
    joins.add(0, 0, compile_program(query))
    return joins


def in_pieces(session: Session, several: Sequence[bytes], first: int = 0) -> None:
    for number, document in enumerate(several, first):
        session.begin(None, "S", number)
        for start in range(0, len(document), 7):
            session.feed(document[start : start + 7])
        session.finish()


def one_by_one(session: Session, several: Sequence[bytes]) -> None:
    for number, document in enumerate(several):
        assert session.read([(document, None, "S")], number)[1] == []


def together(session: Session, several: Sequence[bytes], first: int = 0) -> None:
    assert session.read([(document, None, "S") for document in several], first)[1] == []


def mixed(session: Session, several: Sequence[bytes]) -> None:
    for turn, way in enumerate((together, in_pieces, together)):
        way(session, several, turn * len(several))


MODES: dict[str, Mode] = {mode.__name__: mode for mode in (in_pieces, one_by_one, together, mixed)}


@pytest.mark.parametrize("is_live", [False, True], ids=["still", "live"])
@pytest.mark.parametrize("joined", [None, "S", "T"])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("plan", PLANS)
def test_every_byte_is_tokenized_once(
    plan: str, mode: str, joined: str | None, is_live: bool
) -> None:
    session = Session(PLANS[plan](), questions_min=1, is_live=is_live)
    if joined is not None:
        session.listen(joins_of(joined))
    MODES[mode](session, SMALL)
    times = 3 if mode == "mixed" else 1
    assert session.statistics().bytes_tokenized == times * sum(map(len, SMALL))
    witnesses = session.take().witnesses()
    assert len(witnesses) == (0 if joined is None else times * len(SMALL))


def test_a_change_in_the_middle_of_a_document_reads_nothing_again() -> None:
    session = Session(plan_of(ASKED), is_live=True)
    session.listen(joins_of())
    session.begin(None, "S")
    session.feed(SMALL[0][:9])
    session.attach(tiers_of(ASKED, COUNTED))
    session.feed(SMALL[0][9:])
    session.finish()
    assert session.statistics().bytes_tokenized == len(SMALL[0])


def test_what_a_trie_cannot_take_is_read_again_and_counted() -> None:
    session = Session(Plan.build(compiled(["//a/b/c", "//c/b"], ["filter"] * 2)), questions_min=1)
    expected = 0
    for depth, times in ((6, 1), (9, 2), (6, 1)):
        document = bushy(depth)
        together(session, [document])
        session.take()
        expected += times * len(document)
        assert session.statistics().bytes_tokenized == expected
    # Together they have too many paths for the trie, then the large one has by itself.
    several = [bushy(9), SMALL[0]]
    together(session, several)
    expected += 3 * len(several[0]) + 2 * len(several[1])
    assert session.statistics().bytes_tokenized == expected


def taken(session: Session, joins: JoinState) -> tuple[dict[int, list[object]], dict[int, bytes]]:
    batch = session.take()
    witnesses = batch.witnesses()
    records = {number: joins.record(one, number, "d", 0, 0) for number, one in witnesses}
    rows: dict[int, list[object]] = {}
    for row in batch.rows()[0]:
        # What follows only orders nodes and lists declarations.
        rows.setdefault(row[0], []).append(row[1:8])
    return rows, records


def read(session: Session, several: Sequence[bytes], is_together: bool) -> Iterator[str | None]:
    """Yield what is wrong with each document."""
    if is_together:
        failures = dict(session.read([(document, None, "S") for document in several])[1])
        yield from (str(failures.get(number)) for number in range(len(several)))
        return
    for number, document in enumerate(several):
        try:
            session.begin(None, "S", number)
            session.feed(document)
            session.finish()
        except DocumentError as error:
            yield str(error)
        else:
            yield str(None)


@given(
    EXPRESSIONS,
    st.lists(documents(), min_size=1, max_size=4),
    st.lists(st.integers(0, 200), min_size=4, max_size=4),
)
def test_listeners_do_not_disturb_each_other(
    texts: list[str], several: list[bytes], cuts: list[int]
) -> None:
    several = [
        document[:cut] if cut % 3 == 0 else document
        for document, cut in zip(several, cuts, strict=False)
    ]
    programs = compiled(texts, ["query"] * len(texts))
    half = len(programs) // 2
    whole = Plan.build(programs)
    tiers = Plan.attached([(Plan.build(programs[:half]), 0), (Plan.build(programs[half:]), half)])
    joins = joins_of()
    alone = Session(whole)
    errors = list(read(alone, several, is_together=False))
    rows, _ = taken(alone, joins)
    reader, records = WitnessReader(joins), {}
    for number, document in enumerate(several):
        if errors[number] == "None":
            witness = reader.read("S", [document])
            records[number] = joins.record(witness, number, "d", 0, 0)
    for plan, questions_min, is_together in product((whole, tiers), (0, None), (False, True)):
        session = Session(plan, questions_min=questions_min)
        session.listen(joins)
        assert list(read(session, several, is_together)) == errors
        assert taken(session, joins) == (rows, records)
