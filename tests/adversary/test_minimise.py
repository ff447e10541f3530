"""Failing cases shrink to what makes them fail."""

from penstock_testing.adversary.minimise import (
    minimise,
    smaller_bytes,
    smaller_documents,
    smaller_queries,
)


def test_a_query_loses_what_does_not_matter() -> None:
    query = "//a[not(count(b[@x = '1'] | c/d) > 2)]/following::node()[position() = 3]//@k"
    assert minimise(query, smaller_queries, lambda text: "following::" in text) == "following::"
    shrunk = minimise(query, smaller_queries, lambda text: "not(" in text and "c/d" in text)
    assert shrunk == "not(c/d)"


def test_a_document_stays_one_and_loses_nodes_and_attributes() -> None:
    document = b"<!DOCTYPE r [<!ATTLIST a i ID #IMPLIED>]><r>x<a i='1' k='2'><b/>y</a><!--c--></r>"

    def fails(source: bytes) -> bool:
        return source.count(b"<r>") == source.count(b"</r>") == 1 and b"k='2'" in source

    assert minimise(document, smaller_documents, fails) == b"<r><a k='2'></r>"


def test_bytes_shrink_to_those_that_matter() -> None:
    document = bytes(range(256)) * 3
    assert minimise(document, smaller_bytes, lambda found: b"\x41\x42" in found) == b"AB"


def test_what_does_not_shrink_stays_as_it_is() -> None:
    assert minimise("//a", smaller_queries, lambda text: text == "//a") == "//a"
