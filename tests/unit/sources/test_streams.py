"""Documents from open binary files."""

import gzip
import io
import os
from typing import BinaryIO, cast

import pytest

import penstock


@pytest.fixture
def engine() -> penstock.Engine:
    registry = penstock.Registry()
    registry.add("b", "//b")
    return penstock.Engine(registry)


def test_a_binary_file_is_read_to_its_end(engine: penstock.Engine) -> None:
    (row,) = engine.run(io.BytesIO(b"<a><b/></a>"))
    assert row.value == "<b/>"
    (row,) = engine.run(io.BytesIO(gzip.compress(b"<a><b/></a>")))
    assert row.value == "<b/>"


def test_results_come_before_the_input_ends(engine: penstock.Engine) -> None:
    reading, writing = os.pipe()
    with open(reading, "rb") as file, open(writing, "wb", buffering=0) as pipe:
        pipe.write(b"<a><b>1</b>")
        rows = engine.run(file)
        assert next(rows).value == "<b>1</b>"
        pipe.write(b"<b>2</b>")
        assert next(rows).value == "<b>2</b>"
        pipe.write(b"</a>")
        pipe.close()
        assert list(rows) == []


def test_a_broken_stream_is_an_error_row(engine: penstock.Engine) -> None:
    class Broken:
        def read(self, size: int) -> bytes:
            raise OSError(5, "Input/output error")

    (row,) = engine.run(cast(BinaryIO, Broken()))
    assert row.error is not None
    assert row.error.code == "PS0001"
    assert "Input/output error" in row.error.reason


def test_what_was_read_before_an_error_comes_with_its_row(engine: penstock.Engine) -> None:
    (row,) = engine.run(io.BytesIO(b"<a></b>"))
    assert row.source == b"<a></b>"


def test_a_text_file_is_a_mistake_of_the_caller(engine: penstock.Engine) -> None:
    with pytest.raises(TypeError, match="binary"):
        list(engine.run(cast(BinaryIO, io.StringIO("<a/>"))))
