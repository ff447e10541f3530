"""Records split from one document."""

import pickle

import pytest

from penstock import QueryError
from penstock.errors import DocumentError, LimitError
from penstock.limits import Limits
from penstock.sources.paths import RecordPath
from penstock.sources.splitting import Record, Splitter, split

STATEMENT = b"""<?xml version="1.0"?>
<d:Document xmlns:d="urn:camt" xmlns="urn:other"><d:Stmt><d:Id>S1</d:Id>
<d:Ntry><d:Amt>1</d:Amt></d:Ntry><d:Ntry xmlns:d="urn:camt"/></d:Stmt>
<d:Stmt><d:Id>S<![CDATA[&]]>&#50;</d:Id><d:Ntry><x/></d:Ntry></d:Stmt></d:Document>
"""


def split_all(document: bytes, text: str, **options: object) -> list[Record]:
    """Return the records of a document in memory."""
    return list(split([document], RecordPath(text, **options)))  # type: ignore[arg-type]


def test_a_path_matches_by_namespace_whatever_the_prefix() -> None:
    found = split_all(STATEMENT, "/doc:Document//doc:Ntry", namespaces={"doc": "urn:camt"})
    assert [STATEMENT[r.start : r.end][:7] for r in found] == [b"<d:Ntry"] * 3
    assert split_all(STATEMENT, "//Ntry") == []


def test_declarations_in_scope_are_added_where_they_are_missing() -> None:
    one, two, _ = split_all(STATEMENT, "//d:Ntry", namespaces={"d": "urn:camt"})
    assert one.xml.startswith(b'<d:Ntry xmlns="urn:other" xmlns:d="urn:camt"><d:Amt>')
    assert two.xml == b'<d:Ntry xmlns="urn:other" xmlns:d="urn:camt"/>'


def test_values_around_a_record_are_those_known_where_it_ends() -> None:
    found = split_all(
        STATEMENT,
        "//d:Ntry",
        namespaces={"d": "urn:camt"},
        ancestors={"statement": "//d:Stmt/d:Id", "amount": "//d:Amt", "none": "//d:No"},
    )
    assert [dict(r.ancestors) for r in found] == [
        {"statement": "S1", "amount": "1"},
        {"statement": "S1", "amount": "1"},
        {"statement": "S&2", "amount": "1"},
    ]


def test_a_value_decided_after_the_record_is_not_taken() -> None:
    document = b"<d><h>1</h><r/><ok/><r/></d>"
    found = split_all(document, "//r", ancestors={"h": "/d[ok]/h"})
    assert [dict(r.ancestors) for r in found] == [{}, {"h": "1"}]


def test_a_record_waits_for_the_predicate_that_decides_it() -> None:
    document = b"<d><r>1</r><r>2</r><ok/></d>"
    found = split_all(document, "/d[ok]/r", ancestors={"own": "//r"})
    assert [(r.xml, dict(r.ancestors)) for r in found] == [
        (b"<r>1</r>", {"own": "1"}),
        (b"<r>2</r>", {"own": "2"}),
    ]
    assert split_all(document, "/d[no]/r") == []


def test_the_outermost_match_is_the_record() -> None:
    splitter = Splitter(RecordPath("//r"))
    found = splitter.feed(b"<d><r><r/><r><r/></r></r><r/></d>") + splitter.finish()
    assert [(r.start, r.end) for r in found] == [(3, 25), (25, 29)]
    assert splitter.account.nested == 3


def test_the_bytes_of_records_and_the_bytes_between_make_up_the_document() -> None:
    splitter = Splitter(RecordPath("//d:Ntry", {"d": "urn:camt"}))
    found = splitter.feed(STATEMENT) + splitter.finish()
    account = splitter.account
    assert account.bytes_in == len(STATEMENT)
    assert account.bytes_records == sum(r.end - r.start for r in found)
    assert account.bytes_between == account.bytes_in - account.bytes_records


def test_internal_entities_are_expanded_and_unread_ones_vanish() -> None:
    document = (
        b'<!DOCTYPE d SYSTEM "x" [<!ENTITY e "<i>&#38;amp;</i>">]><d><r a="1&amp;">&e;&no;</r></d>'
    )
    (record,) = split_all(document, "//r")
    assert record.xml == b'<r a="1&amp;"><i>&amp;</i></r>'


def test_a_record_that_comes_from_an_entity_is_refused_not_lost() -> None:
    document = b'<!DOCTYPE d [<!ENTITY e "<r/>">]><d><r>1</r>&e;</d>'
    splitter = Splitter(RecordPath("//r"))
    with pytest.raises(DocumentError, match="entity reference &e;") as caught:
        splitter.feed(document)
    assert caught.value.code == "PS0005"
    assert [r.xml for r in caught.value.results] == [b"<r>1</r>"]


def test_another_encoding_gives_records_in_utf_8() -> None:
    text = '<?xml version="1.0" encoding="utf-16"?><d><r>é</r></d>'
    (record,) = split_all(text.encode("utf-16"), "//r")
    assert record.xml.decode() == "<r>é</r>"
    assert f"\ufeff{text}".encode()[record.start : record.end] == record.xml


def test_records_before_an_error_stand() -> None:
    splitter = Splitter(RecordPath("//r"))
    with pytest.raises(DocumentError) as caught:
        splitter.feed(b"<d><r/><r></d>")
    assert [(r.start, r.end) for r in caught.value.results] == [(3, 7)]
    assert (splitter.account.bytes_in, splitter.account.bytes_records) == (caught.value.byte, 4)
    seen: list[int] = []
    found = split([b"<d><r/><r/>", b"<"], RecordPath("//r"))
    with pytest.raises(DocumentError):
        seen.extend(record.start for record in found)
    assert seen == [3, 7]


def test_an_open_record_is_bounded() -> None:
    path = RecordPath("//r", ancestors={"h": "//h"})
    fits = Splitter(path, Limits(buffer_bytes_max=100))
    assert len(fits.feed(b"<d><r>" + b"x" * 80 + b"</r></d>")) == 1
    passes = Splitter(path, Limits(buffer_bytes_max=100))
    with pytest.raises(LimitError) as caught:
        passes.feed(b"<d><r>" + b"x" * 110 + b"</r></d>")
    assert caught.value.limit == "buffer_bytes_max"


@pytest.mark.parametrize("text", ["//a/@b", "//a/text()", "count(//a)", "/", "//comment()", "1"])
def test_a_record_path_selects_elements(text: str) -> None:
    with pytest.raises(QueryError) as caught:
        RecordPath(text)
    assert caught.value.code == "PQ0119"


def test_a_record_path_pickles_as_its_texts() -> None:
    path = RecordPath("//p:a", {"p": ["urn:1", "urn:2"]}, {"x": "//p:x"})
    again = pickle.loads(pickle.dumps(path))
    assert again == path
    assert hash(again) == hash(path)
    assert repr(again) == repr(path)
