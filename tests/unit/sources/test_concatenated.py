"""Several documents in one file or pipe."""

import io

import pytest

from penstock import Engine, Registry
from penstock.results import Document
from penstock.sources import inputs
from penstock.sources.concatenated import separate, separated

DOCUMENTS = [
    b"<?xml version='1.0'?>\n<a><i>1</i></a>\n",
    b"<?xml version='1.0' encoding='iso-8859-1'?><a><i>\xe9</i></a>\n<!-- of the one before -->\n",
    b"<!DOCTYPE a [<!ENTITY e '<i>3</i>'>]><a>&e;</a>",
    b"<a><![CDATA[<?xml ?></a>]]><i>4</i></a> ",
    b"<a/>",
    b"<a><i>5</i><b></a>\n",  # not well-formed
    b"\xef\xbb\xbf<?xml version='1.0'?><a><i>6</i></a>",
    b"<a><i t='/>'>7</i></a>\n\n",
]


def engine(**options: str) -> Engine:
    registry = Registry()
    registry.add("i", "//i")
    return Engine(registry, **options)


def rows(source: object, **options: str) -> list[tuple[str, str | None, str | None]]:
    """Return the document, the value and the error of each row."""
    return [
        (row.document, row.value, row.error and row.error.code)
        for row in engine(**options).run(source)
    ]


def in_pieces(data: bytes, size: int) -> list[bytes]:
    return [data[at : at + size] for at in range(0, len(data), size)]


@pytest.mark.parametrize("size", range(1, 60))
def test_documents_are_those_given_one_by_one_for_every_cut(size: int) -> None:
    pieces = iter(in_pieces(b"".join(DOCUMENTS), size))
    found = [one if isinstance(one, bytes) else b"".join(one) for one in separate(pieces)]
    assert found == DOCUMENTS


@pytest.mark.parametrize("size", [1, 7, 50, 1 << 20])
def test_many_documents_give_the_rows_of_documents_given_one_by_one(size: int) -> None:
    class Pipe(io.RawIOBase):
        data = in_pieces(b"".join(DOCUMENTS), size)

        def read(self, count: int = -1) -> bytes:
            return self.data.pop(0) if self.data else b""

    one_by_one = [Document(data, id=f"log#{n}") for n, data in enumerate(DOCUMENTS)]
    expected = rows(one_by_one)
    assert [error for _, _, error in expected if error] == ["PD0007"]
    assert rows(Document(Pipe(), id="log"), documents="many") == expected
    assert rows(Document(b"".join(DOCUMENTS), id="log"), documents="many") == expected


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-32-le"])
def test_wide_encodings_are_cut_between_characters(encoding: str) -> None:
    text = "<a><i>\u20ac</i></a>\n<a><i>\U0001f600</i></a>"
    data = text.encode(encoding)
    for size in (1, 3, 1000):
        found = list(separated(inputs(Document(io.BytesIO(data), id="w"))))
        values = [row.value for row in engine(documents="many").run(Document(data, id="w"))]
        assert values == ["<i>\u20ac</i>", "<i>\U0001f600</i>"]
        assert len(list(separate(iter(in_pieces(data, size))))) == len(found) == 2


def test_text_is_read_as_text_whatever_it_declares() -> None:
    text = "<?xml version='1.0' encoding='koi8-r'?><a><i>\xe9</i></a>" * 2
    values = [row.value for row in engine(documents="many").run(text)]
    assert values == ["<i>\xe9</i>", "<i>\xe9</i>"]


def test_nothing_but_white_space_is_no_document() -> None:
    assert rows(b" \n\t", documents="many") == []
    assert rows([b"", b"\n<a><i>1</i></a>"], documents="many") == [("1#0", "<i>1</i>", None)]


def test_a_second_root_says_what_reads_it() -> None:
    (row,) = engine().run(b"<a/><a/>")
    assert row.error is not None
    assert 'documents="many"' in row.error.reason


def test_what_cannot_be_read_fails_the_last_document_alone() -> None:
    import gzip

    data = gzip.compress(b"".join(DOCUMENTS[:2]) * 2000)[:-20]
    found = rows(data, documents="many")
    assert [error for _, _, error in found if error] == ["PS0002"]
    assert len(found) > 1000
