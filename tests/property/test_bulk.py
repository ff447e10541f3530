"""Documents that are read together give what each of them gives alone."""

from collections import Counter
from collections.abc import Sequence
from itertools import chain
from typing import Any

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from penstock.kernel import Batch, Columns, Plan, Session, WholeDocument
from penstock.results.arrow import kernel_arrays
from tests.property.strategies import documents
from tests.property.test_readings import bushy
from tests.property.test_whole import EXPRESSIONS, compiled

Entry = tuple[int, int, tuple[object, ...]]
"""Document, subscription, and a node, or nothing for a filter."""
Row = tuple[object, ...]
Found = tuple[Counter[Entry], dict[int, str]]

MODES = st.lists(st.sampled_from(("filter", "filter", "query")), min_size=8, max_size=8)
PATHS = [f"//{one}/{other}" for one in "abcdefgh" for other in "abcdefgh*"]
CUTS = st.lists(st.integers(min_value=0, max_value=300), min_size=6, max_size=6)


def lists(columns: Columns) -> dict[str, list[Any]]:
    """Return the kernel's columns as lists, those that it leaves out included."""
    return {name: array.to_pylist() for name, array in kernel_arrays(columns).items()}


def taken(session: Session) -> Counter[Entry]:
    """Return the entries that wait; whether nodes share one does not matter."""
    entries, fragments = session.take().matches()
    nodes = lists(fragments)
    found: Counter[Entry] = Counter()
    for entry in pa.record_batch(entries).to_pylist():
        pair = entry["document"], entry["subscription"]
        for place in entry["fragments"]:
            node = tuple(nodes[name][place] for name in ("start", "end", "kind", "value"))
            found[*pair, node] += 1
        if not entry["fragments"]:
            found[*pair, ()] += 1
    return found


def rows(batch: Batch) -> list[Row]:
    """Return the rows of a batch, in their order."""
    columns = lists(batch.columns())
    keys = ("document", "subscription", "ordinal", "start", "end", "decided_at")
    return list(zip(*(columns[name] for name in (*keys, "kind", "name", "value")), strict=True))


def together(session: Session, several: Sequence[bytes]) -> Found:
    _, failures = session.read(wholes(several), with_times=False)
    return taken(session), {number: str(error) for number, error in failures}


def one_by_one(session: Session, several: Sequence[bytes]) -> Found:
    found: Counter[Entry] = Counter()
    errors: dict[int, str] = {}
    for number, document in enumerate(several):
        _, failures = session.read(wholes([document]), number)
        errors |= {failed: str(error) for failed, error in failures}
        found += taken(session)
    return found, errors


def wholes(several: Sequence[bytes]) -> list[WholeDocument]:
    return [(document, None, "default") for document in several]


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
def test_with_times_rows_are_those_of_each_alone_in_the_same_order(
    texts: list[str],
    modes: list[str],
    several: list[bytes],
    cuts: list[int],
    in_document_order: bool,
) -> None:
    several = broken_off(several, cuts)
    # So many filters by paths that documents are read together, whatever the others are.
    programs = compiled(texts, modes) + compiled(PATHS, ["filter"] * len(PATHS))
    plan = Plan.build(programs)

    def session() -> Session:
        return Session(plan, questions_min=0, in_document_order=in_document_order)

    bundled, alone = session(), session()
    bundled.read(wholes(several))
    expected = []
    for number, document in enumerate(several):
        alone.read(wholes([document]), number)
        expected += rows(alone.take())
    assert rows(bundled.take()) == expected


def test_parts_are_all_rows_in_order() -> None:
    texts = [f"/a/b[@n = {number}]" if number % 5 == 0 else "//b" for number in range(3000)]
    queries = ["//b/@n", "//b[. > 2]"]
    modes = ["filter"] * len(texts) + ["query"] * len(queries)
    plan = Plan.build(compiled(texts + queries, modes))
    document = b"<a>%s</a>" % b"".join(b'<b n="%d">%d</b>' % (n, n % 4) for n in range(40))
    sessions = Session(plan), Session(plan)
    for session in sessions:
        session.read(wholes([document] * 5))
    expected = rows(sessions[0].take())
    batch, parted, has_bare = sessions[1].take(), [], False
    while (columns := batch.next_columns(4000)) is not None:
        has_bare |= "ordinal" not in pa.record_batch(columns).schema.names
        part = lists(columns)
        keys = (part[name] for name in ("document", "subscription", "decided_at"))
        parted.append(list(zip(*keys, strict=True)))
    assert len(parted) > 1
    assert has_bare
    assert list(chain(*parted)) == [(row[0], row[1], row[5]) for row in expected]


@given(EXPRESSIONS, st.lists(documents(), min_size=1, max_size=3))
def test_many_copies_are_many_documents(texts: list[str], several: list[bytes]) -> None:
    plan = Plan.build(compiled(texts, ["filter"] * len(texts)))
    copies = several * 30
    assert together(Session(plan, questions_min=0), copies) == one_by_one(Session(plan), copies)


def test_what_cannot_be_read_together_is_read_alone() -> None:
    plan = Plan.build(compiled(["//a/b/c", "//c/b"], ["filter", "filter"]))
    # So many label paths do not fit one table.
    wide = bushy(9)
    several = [wide, b"<a><b><c/></b></a>", wide, b"<a/>", b"<a><b></a>"]
    session = Session(plan, questions_min=0)
    for _ in range(2):
        assert together(session, several) == one_by_one(Session(plan), several)
