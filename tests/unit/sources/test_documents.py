"""Whatever a caller has, as documents."""

import io
from collections.abc import Iterator

import pytest

import penstock


@pytest.fixture
def engine() -> penstock.Engine:
    registry = penstock.Registry()
    registry.add("b", "//b")
    return penstock.Engine(registry)


def test_documents_without_an_id_are_numbered(engine: penstock.Engine) -> None:
    source = [penstock.Document("<b/>"), penstock.Document("<b/>", id="x"), "<b/>", b"<b/>"]
    assert [row.document for row in engine.run(source)] == ["0", "x", "2", "3"]


def test_an_iterable_is_read_only_as_far_as_needed(engine: penstock.Engine) -> None:
    taken = []

    def documents() -> Iterator[penstock.Document]:
        for number in range(10):
            taken.append(number)
            yield penstock.Document("<b/>", id=str(number))

    rows = engine.run(documents())
    next(rows)
    next(rows)
    assert taken == [0, 1]


@pytest.mark.parametrize("source", [None, 5, [5], [None], object()])
def test_what_is_no_document_is_a_mistake_of_the_caller(
    engine: penstock.Engine, source: object
) -> None:
    with pytest.raises(TypeError):
        list(engine.run(source))  # type: ignore[arg-type]


def test_one_document_is_a_source(engine: penstock.Engine) -> None:
    (row,) = engine.run(penstock.Document(io.BytesIO(b"<b/>"), id="d", stream="s"))
    assert (row.document, row.stream) == ("d", "s")
