"""``async for row in engine.arun(source)``."""

import asyncio
import io
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

import penstock
from penstock.results import Result

DOCUMENTS = [f"<a><b>{number}</b></a>" for number in range(20)]


@pytest.fixture
def engine() -> penstock.Engine:
    registry = penstock.Registry()
    registry.add("b", "//b/text()")
    return penstock.Engine(registry)


async def all_of(rows: AsyncIterator[Result]) -> list[str | None]:
    return [row.value for row in [row async for row in rows]]


async def arriving(*texts: str) -> AsyncIterator[penstock.Document]:
    for number, text in enumerate(texts):
        await asyncio.sleep(0)
        yield penstock.Document(text, id=f"d{number}")


@pytest.mark.parametrize("order", ["decided", "document"])
def test_rows_are_those_of_run(engine: penstock.Engine, order: str, tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    path.write_text(DOCUMENTS[3])
    sources = (DOCUMENTS[0], DOCUMENTS, path, penstock.Document(b"<a><b>x</b>", id="bad"))
    for source in sources:
        expected = list(engine.run(source, order))  # type: ignore[arg-type]
        found = asyncio.run(_rows(engine, source, order))
        assert found == expected


async def _rows(engine: penstock.Engine, source: object, order: str) -> list[Result]:
    return [row async for row in engine.arun(source, order)]  # type: ignore[arg-type]


def test_a_source_may_be_asynchronous(engine: penstock.Engine) -> None:
    assert asyncio.run(all_of(engine.arun(arriving(*DOCUMENTS)))) == [str(n) for n in range(20)]


def test_rows_come_before_the_next_document_is_there(engine: penstock.Engine) -> None:
    async def main() -> None:
        seen = asyncio.Event()

        async def source() -> AsyncIterator[str]:
            yield DOCUMENTS[1]
            await seen.wait()  # never, if the row waits for the next document
            yield DOCUMENTS[2]

        found = []
        async for row in engine.arun(source()):
            found.append(row.value)
            seen.set()
        assert found == ["1", "2"]

    asyncio.run(main())


def test_documents_may_be_read_asynchronously(engine: penstock.Engine) -> None:
    async def main() -> None:
        reader, other = asyncio.StreamReader(), asyncio.StreamReader()
        rows = engine.arun(reader)
        reader.feed_data(b"<a><b>1</b>")
        assert (await anext(rows)).value == "1"
        reader.feed_data(b"<b>2</b></a>")
        reader.feed_eof()
        assert await all_of(rows) == ["2"]
        other.feed_data(b"<a><b>3</b></a>")
        other.feed_eof()

        async def source() -> AsyncIterator[penstock.Document]:
            yield penstock.Document(other, id="other")  # type: ignore[arg-type]

        assert [row.document async for row in engine.arun(source())] == ["other"]

    asyncio.run(main())


def test_the_event_loop_goes_on_meanwhile(engine: penstock.Engine) -> None:
    async def main() -> None:
        released = asyncio.Event()

        class Slow(io.RawIOBase):
            """A file that ends only when the loop has run."""

            def read(self, size: int = -1) -> bytes:
                if released.is_set():
                    return b""
                loop.call_soon_threadsafe(released.set)
                asyncio.run_coroutine_threadsafe(released.wait(), loop).result()
                return b"<a><b>1</b></a>"

        loop = asyncio.get_running_loop()
        assert await all_of(engine.arun(Slow())) == ["1"]  # type: ignore[arg-type]

    asyncio.run(main())


def test_who_leaves_early_ends_the_source(engine: penstock.Engine) -> None:
    ended = []

    async def source() -> AsyncIterator[str]:
        try:
            for text in DOCUMENTS:
                yield text
        finally:
            ended.append(True)

    async def main() -> None:
        rows = engine.arun(source())
        async for _ in rows:
            break
        await rows.aclose()  # type: ignore[attr-defined]

    asyncio.run(main())
    assert ended == [True]


def test_a_run_that_waits_can_be_cancelled(engine: penstock.Engine) -> None:
    async def main() -> None:
        waiting = asyncio.Event()

        async def source() -> AsyncIterator[str]:
            yield DOCUMENTS[0]
            waiting.set()
            await asyncio.Event().wait()

        task = asyncio.create_task(all_of(engine.arun(source())))
        await waiting.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await all_of(engine.arun(DOCUMENTS[1])) == ["1"]

    asyncio.run(main())


def test_an_error_of_the_source_is_raised(engine: penstock.Engine) -> None:
    async def source() -> AsyncIterator[str]:
        yield DOCUMENTS[0]
        raise LookupError("no more")

    with pytest.raises(LookupError, match="no more"):
        asyncio.run(all_of(engine.arun(source())))


def test_many_runs_at_once_do_not_wait_for_each_other(engine: penstock.Engine) -> None:
    async def main() -> None:
        gate = asyncio.Barrier(50) if hasattr(asyncio, "Barrier") else None

        async def source(number: int) -> AsyncIterator[str]:
            if gate is not None:
                await gate.wait()  # all fifty are under way before any gets a document
            await asyncio.to_thread(lambda: None)
            yield DOCUMENTS[number % 20]

        found = await asyncio.gather(*(all_of(engine.arun(source(n))) for n in range(50)))
        assert found == [[str(number % 20)] for number in range(50)]

    asyncio.run(main())
