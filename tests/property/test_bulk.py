"""Documents that are read together give what each of them gives alone."""

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from itertools import pairwise
from typing import Literal

from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import DocumentError
from penstock.kernel import Plan, Session
from tests.property.strategies import documents
from tests.property.test_whole import EXPRESSIONS, compiled

Entry = tuple[int, int, tuple[object, ...]]
"""Document, subscription, and a node, or nothing for a filter."""
Row = tuple[object, ...]
Found = tuple[Counter[Entry], dict[int, str]]

MODES = st.lists(st.sampled_from(("filter", "filter", "query")), min_size=8, max_size=8)
CUTS = st.lists(st.integers(min_value=0, max_value=300), min_size=6, max_size=6)


def numbers(column: object, format: Literal["i", "q"] = "i") -> list[int]:
    return memoryview(column).cast("B").cast(format).tolist()  # type: ignore[arg-type]


def taken(session: Session) -> Counter[Entry]:
    """Return the entries that wait; whether nodes share one does not matter."""
    entries, nodes, fragments = session.take_found()
    starts, ends = bytes(fragments["start"]), bytes(fragments["end"])
    kinds = bytes(fragments["kind"])
    values = bytes(fragments["value_bytes"])
    offsets = numbers(fragments["value_offsets"])

    def node(place: int) -> tuple[object, ...]:
        at = slice(8 * place, 8 * place + 8)
        value = values[offsets[place] : offsets[place + 1]]
        return starts[at], ends[at], kinds[place], value

    listed = numbers(nodes)
    first, count = numbers(entries["first"]), numbers(entries["count"])
    found: Counter[Entry] = Counter()
    pairs = zip(numbers(entries["document"]), numbers(entries["subscription"]), strict=True)
    for place, (document, subscription) in enumerate(pairs):
        places = listed[first[place] : first[place] + count[place]] if first else []
        for one in places:
            found[document, subscription, node(one)] += 1
        if not places:
            found[document, subscription, ()] += 1
    return found


def rows(session: Session) -> list[Row]:
    """Return the rows that wait, in their order."""
    columns = session.take_columns()

    def texts(name: str) -> list[bytes]:
        ends, data = numbers(columns[f"{name}_offsets"]), bytes(columns[f"{name}_bytes"])  # type: ignore[arg-type]
        return [data[start:end] for start, end in pairwise(ends)]

    listed = [
        numbers(columns["document"]),
        numbers(columns["subscription"]),
        *(numbers(columns[name], "q") for name in ("ordinal", "start", "end", "decided_at")),
        list(bytes(columns["kind"])),  # type: ignore[arg-type]
        texts("name"),
        texts("value"),
    ]
    return list(zip(*listed, strict=True))


def together(session: Session, several: Sequence[bytes]) -> Found:
    failures = session.read_in_bulk([(document, None) for document in several], 0)
    return taken(session), {number: str(error) for number, error in failures}


def one_by_one(session: Session, several: Sequence[bytes]) -> Found:
    found: Counter[Entry] = Counter()
    errors: dict[int, str] = {}
    for number, document in enumerate(several):
        failures = session.read_in_bulk([(document, None)], number)
        errors |= {failed: str(error) for failed, error in failures}
        found += taken(session)
    return found, errors


def broken_off(several: Sequence[bytes], cuts: Sequence[int]) -> list[bytes]:
    """Return documents of which some end too early: that must not harm the others."""
    pairs = zip(several, cuts, strict=False)
    return [document[:cut] if cut % 3 == 0 else document for document, cut in pairs]


@given(EXPRESSIONS, MODES, st.lists(documents(), min_size=2, max_size=6), CUTS)
def test_together_is_each_alone(
    texts: list[str], modes: list[str], several: list[bytes], cuts: list[int]
) -> None:
    several = broken_off(several, cuts)
    plan = Plan.build(compiled(texts, modes))
    expected = one_by_one(Session(plan), several)
    assert together(Session(plan, questions_min=0), several) == expected
    assert one_by_one(Session(plan, questions_min=0), several) == expected


@given(EXPRESSIONS, MODES, st.lists(documents(), min_size=2, max_size=6), CUTS, st.booleans())
def test_with_times_the_rows_are_those_of_each_alone_in_the_same_order(
    texts: list[str],
    modes: list[str],
    several: list[bytes],
    cuts: list[int],
    in_document_order: bool,
) -> None:
    several = broken_off(several, cuts)
    plan = Plan.build(compiled(texts, modes))

    def session() -> Session:
        return Session(plan, questions_min=0, in_document_order=in_document_order)

    bundled, alone = session(), session()
    bundled.read_in_bulk([(document, None) for document in several], 0, with_times=True)
    expected = []
    for number, document in enumerate(several):
        alone.number_documents(number)
        with suppress(DocumentError):
            alone.read(document)
        expected += rows(alone)
    assert rows(bundled) == expected


@given(EXPRESSIONS, st.lists(documents(), min_size=1, max_size=3))
def test_many_copies_are_many_documents(texts: list[str], several: list[bytes]) -> None:
    plan = Plan.build(compiled(texts, ["filter"] * len(texts)))
    copies = several * 30
    assert together(Session(plan, questions_min=0), copies) == one_by_one(Session(plan), copies)


def test_what_cannot_be_read_together_is_read_alone() -> None:
    plan = Plan.build(compiled(["//b/c", "/a/*"], ["filter", "filter"]))
    # So many label paths do not fit one table.
    wide = b"<a>" + b"".join(b"<x%d><b/></x%d>" % (n, n) for n in range(3000)) + b"<b><c/></b></a>"
    several = [wide, b"<a><b><c/></b></a>", wide, b"<a/>", b"<a><b></a>"]
    session = Session(plan, questions_min=0)
    for _ in range(2):
        assert together(session, several) == one_by_one(Session(plan), several)
