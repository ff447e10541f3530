"""A document that is read as a whole gives the rows that it gives when it is fed."""

from collections.abc import Sequence
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import DocumentError, QueryError
from penstock.kernel import Plan, Session
from penstock.languages.xpath import xpath
from penstock.planning.compile import compile_query
from penstock_testing.generate import NAMESPACES, ExpressionKnobs
from tests.property.strategies import documents, expressions

Row = tuple[object, ...]
Rows = dict[int, list[Row]]
"""By subscription, in the order in which they came."""

NODES = ExpressionKnobs(values=0, namespaces=0.02)
EXPRESSIONS = st.lists(expressions(NODES), min_size=1, max_size=8)
MODES = st.lists(st.sampled_from(("filter", "query", "spans")), min_size=8, max_size=8)


def compiled(texts: Sequence[str], modes: Sequence[str]) -> list[bytes]:
    """Return the programs of the expressions that are evaluated."""
    programs = []
    for text, mode in zip(texts, modes, strict=False):
        query = xpath(text, namespaces=NAMESPACES)
        try:
            program = compile_query(query, is_filter=mode == "filter", is_spans=mode == "spans")
        except QueryError:
            continue
        programs.append(program)
    return programs


def rows_of(session: Session) -> Rows:
    """Return the rows that wait, without the numbers that only order nodes."""
    rows, scopes, bindings = session.take().rows()
    found: Rows = {}
    for place, row in enumerate(rows):
        # Without a value there is nothing that would need the declarations in scope.
        scope = scopes[row[9]] if row[9] >= 0 and row[4] else {}
        found.setdefault(row[0], []).append((*row[1:8], scope, bindings.get(place)))
    return found


def read(session: Session, document: bytes) -> tuple[Rows, object]:
    """Return the rows and the error of a document that is read as a whole."""
    _, failures = session.read([(document, None, "default")])
    return rows_of(session), [str(error) for _, error in failures]


def feed(session: Session, document: bytes) -> tuple[Rows, object]:
    """Return the rows and the error of a document that is fed."""
    errors = []
    try:
        session.begin()
        session.feed(document)
        session.finish()
    except DocumentError as error:
        errors.append(str(error))
    return rows_of(session), errors


@given(EXPRESSIONS, MODES, st.lists(documents(), min_size=1, max_size=3))
def test_reading_gives_the_rows_of_feeding(
    texts: list[str], modes: list[str], several: list[bytes]
) -> None:
    plan = Plan.build(compiled(texts, modes))
    asked, matched = Session(plan, questions_min=0), Session(plan)
    # Twice, so that what is remembered of a document is used.
    for document in several * 3:
        assert read(asked, document) == feed(matched, document)


@given(EXPRESSIONS, MODES, documents(), st.integers(min_value=1))
def test_what_is_decided_before_an_error_stands(
    texts: list[str], modes: list[str], document: bytes, cut: int
) -> None:
    plan = Plan.build(compiled(texts, modes))
    broken = document[: cut % len(document)] + b"<"
    assert read(Session(plan, questions_min=0), broken) == feed(Session(plan), broken)


@given(EXPRESSIONS, MODES, documents(), st.randoms(use_true_random=False))
def test_together_or_alone_or_in_any_order_gives_the_same_rows(
    texts: list[str], modes: list[str], document: bytes, random: Random
) -> None:
    programs = compiled(texts, modes)
    together, _ = read(Session(Plan.build(programs), questions_min=0), document)
    places = list(range(len(programs)))
    random.shuffle(places)
    shuffled, _ = read(
        Session(Plan.build([programs[place] for place in places]), questions_min=0), document
    )
    assert {places[number]: rows for number, rows in shuffled.items()} == together
    for place, program in enumerate(programs):
        alone, _ = read(Session(Plan.build([program]), questions_min=0), document)
        assert alone.get(0) == together.get(place)


@given(EXPRESSIONS, documents())
def test_a_filter_matches_where_the_query_has_rows(texts: list[str], document: bytes) -> None:
    filters = Plan.build(compiled(texts, ["filter"] * len(texts)))
    queries = Plan.build(compiled(texts, ["spans"] * len(texts)))
    matched, _ = read(Session(filters, questions_min=0), document)
    selected, _ = read(Session(queries, questions_min=0), document)
    assert matched.keys() == selected.keys()


@given(EXPRESSIONS, MODES, documents())
def test_document_order_is_that_of_the_automaton(
    texts: list[str], modes: list[str], document: bytes
) -> None:
    plan = Plan.build(compiled(texts, modes))
    listed = []
    for questions_min in (0, 1 << 30):
        session = Session(plan, in_document_order=True, questions_min=questions_min)
        listed.append(read(session, document))
    assert listed[0] == listed[1]
