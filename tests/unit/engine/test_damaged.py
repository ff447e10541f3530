"""What a damaged document gives, by choice, through every way in."""

import asyncio
from collections.abc import Callable
from io import BytesIO
from typing import Any

import pytest

import penstock
from penstock import Engine, Limits, Registry
from penstock.errors import DocumentError, SettingError
from penstock.results import Document

ITEMS = [f"<item n='{n}'><v>{n}</v></item>" for n in range(8)]
GOOD = "<list>" + "\n".join(ITEMS) + "</list>"
BAD = GOOD.replace("<v>3</v>", "<v>&#x1;</v>")
VALUES = [f"<v>{n}</v>" for n in range(8)]

Found = tuple[list[str], int]
"""The values of rows, and how many errors there are."""


def new_engine(**options: Any) -> Engine:
    registry = Registry()
    registry.add("v", "//v")
    return Engine(registry, **options)


def split(rows: list[Any]) -> Found:
    return [row.value for row in rows if row.error is None], sum(
        row.error is not None for row in rows
    )


def by_run(engine: Engine, documents: list[Document]) -> Found:
    return split(list(engine.run(documents)))


def in_order(engine: Engine, documents: list[Document]) -> Found:
    return split(list(engine.run(documents, order="document")))


def by_steps(engine: Engine, documents: list[Document]) -> Found:
    return split([row for rows in engine.steps(documents) for row in rows])


def beside(engine: Engine, documents: list[Document]) -> Found:
    return split(list(engine.run({"default": documents})))


def awaited(engine: Engine, documents: list[Document]) -> Found:
    async def collect() -> list[Any]:
        return [row async for row in engine.arun(documents)]

    return split(asyncio.run(collect()))


def by_batches(engine: Engine, documents: list[Document]) -> Found:
    rows = [row for batch in engine.batches(documents) for row in batch.to_pylist()]
    values = [row["value"] for row in rows if row["kind"] != "error"]
    return values, len(rows) - len(values)


def by_matches(engine: Engine, documents: list[Document]) -> Found:
    values: list[str] = []
    errors = 0
    for found in engine.matches(documents):
        fragments = found.fragments.column("value").to_pylist()
        values += [
            fragments[at] for entry in found.entries.to_pylist() for at in entry["fragments"]
        ]
        errors += found.errors.num_rows
    return values, errors


WAYS = [by_run, in_order, by_steps, beside, awaited, by_batches, by_matches]


@pytest.mark.parametrize("is_streamed", [False, True])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("damaged", "expected"),
    [("stop", VALUES[:3]), ("reject", []), ("skip", VALUES[:3] + VALUES[4:])],
)
def test_every_way_in_gives_the_same(
    damaged: str,
    expected: list[str],
    way: Callable[[Engine, list[Document]], Found],
    is_streamed: bool,
) -> None:
    documents = [
        Document(BytesIO(text.encode()) if is_streamed else text.encode(), id=f"d{number}")
        for number, text in enumerate((GOOD, BAD, GOOD))
    ]
    engine = new_engine(damaged=damaged, record="//item")
    assert way(engine, documents) == (VALUES + expected + VALUES, 1)


@pytest.mark.parametrize("way", WAYS)
def test_many_documents_and_damage_go_together(
    way: Callable[[Engine, list[Document]], Found],
) -> None:
    document = Document((GOOD + BAD + GOOD).encode(), id="log")
    engine = new_engine(damaged="skip", record="//item", documents="many")
    assert way(engine, [document]) == (VALUES + VALUES[:3] + VALUES[4:] + VALUES, 1)


def test_what_is_left_out_is_an_error_row_with_its_range_and_its_bytes() -> None:
    rows = list(new_engine(damaged="skip", record="//item").run(Document(BAD, id="d")))
    (error,) = [row for row in rows if row.error is not None]
    start = BAD.index("<item n='3'>")
    end = BAD.index("<item n='4'>")
    assert error.document == f"d@{start}-{end}"
    assert error.source == BAD[start:end].encode()
    assert error.error is not None
    assert error.error.reason.endswith(f"; bytes {start} to {end} are left out")
    assert error.error.byte == BAD.index("&#x1;")
    # Offsets of what comes behind are those of the document as it came.
    (four,) = [row for row in rows if row.value == "<v>4</v>"]
    assert BAD[four.start : four.end] == "<v>4</v>"


def test_a_pushed_document_that_is_rejected_gives_nothing() -> None:
    engine = new_engine(damaged="reject")
    document = engine.open()
    assert document.feed(GOOD[:-7].encode()) == []
    with pytest.raises(DocumentError) as caught:
        document.feed(b"</v>")
    assert caught.value.results == []
    document = engine.open()
    assert document.feed(GOOD[:-7].encode()) == []
    assert [row.value for row in [*document.feed(b"</list>"), *document.finish()]] == VALUES


@pytest.mark.parametrize("is_streamed", [False, True])
def test_rows_that_wait_for_the_end_are_charged_to_the_memory(is_streamed: bool) -> None:
    text = "<list>" + "<v/>" * 200_000 + "</list>"
    source = Document(BytesIO(text.encode()) if is_streamed else text, id="d")
    limits = Limits(memory_bytes_max=8 << 20)
    rows = list(new_engine(damaged="reject", limits=limits).run(source))
    assert [row.error and row.error.code for row in rows] == ["PL0013"]
    assert len(list(new_engine(damaged="reject").run(text))) == 200_000


def test_documents_that_are_rejected_are_not_joined() -> None:
    registry = Registry()
    registry.add(
        "pair",
        penstock.xquery(
            'for $a in doc("l")//v, $b in doc("r")//v where $a = $b return <p>{$a}</p>', within="1h"
        ),
    )
    for damaged, expected in (("stop", 3), ("reject", 0)):
        sources = {
            "l": [Document(BAD.encode(), time=1)],
            "r": [Document(GOOD.encode(), time=2)],
        }
        rows = list(Engine(registry, damaged=damaged).run(sources))
        assert sum(row.error is None for row in rows) == expected


def test_a_table_skips_the_damaged_records_and_keeps_what_is_around() -> None:
    registry = Registry()
    registry.add(
        "t", penstock.table("//item", {"n": ("@n", "integer"), "made": ("/list/@made", "integer")})
    )
    text = BAD.replace("<list>", "<list made='7'>")
    with pytest.raises(DocumentError):
        Engine(registry).table(text)
    with pytest.raises(DocumentError, match="left out"):
        Engine(registry, damaged="skip").table(text)
    registry.replace(
        "t",
        penstock.table(
            "//item",
            {"n": ("@n", "integer"), "made": ("/list/@made", "integer")},
            on_error="quarantine",
        ),
    )
    with pytest.warns(penstock.errors.PenstockWarning, match="left out"):
        table = Engine(registry, damaged="skip").table(text)
    assert table.to_pylist() == [{"n": n, "made": 7} for n in range(8) if n != 3]


def test_mistakes_are_said() -> None:
    with pytest.raises(SettingError, match="'stop', 'reject' or 'skip'"):
        new_engine(damaged="drop")
    with pytest.raises(SettingError, match="'one' or 'many'"):
        new_engine(documents="two")
    with pytest.raises(SettingError, match="record="):
        list(new_engine(damaged="skip").run(GOOD))
    with pytest.raises(SettingError, match="give the records a name"):
        list(new_engine(damaged="skip", record="//*").run(GOOD))
