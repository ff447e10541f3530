"""Documents in memory."""

import pytest

import penstock


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_bytes_of_every_kind_are_read(kind: type) -> None:
    assert penstock.evaluate("string(/a)", kind(b"<a>x</a>")) == "x"


def test_the_encoding_declared_in_text_does_not_matter() -> None:
    text = "<?xml version='1.0' encoding='ISO-8859-1'?><a>ÿ€</a>"
    assert penstock.evaluate("string(/a)", text) == "ÿ€"


def test_bytes_are_in_the_encoding_that_they_declare() -> None:
    data = "<?xml version='1.0' encoding='ISO-8859-1'?><a>ÿ</a>".encode("latin-1")
    assert penstock.evaluate("string(/a)", data) == "ÿ"


def test_a_file_name_in_place_of_text_gets_a_hint() -> None:
    with pytest.raises(penstock.DocumentError, match=r"pathlib\.Path") as caught:
        penstock.evaluate("//a", "feed.xml")
    assert caught.value.code == "PS0003"


@pytest.mark.parametrize("document", ["", b""])
def test_nothing_is_not_a_document(document: str | bytes) -> None:
    with pytest.raises(penstock.DocumentError):
        penstock.evaluate("//a", document)


def test_a_lone_surrogate_is_an_error_of_the_document() -> None:
    with pytest.raises(penstock.DocumentError):
        penstock.evaluate("//a", "<a>\ud800</a>")
