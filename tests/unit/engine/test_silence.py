"""A query that gives nothing is warned of, once, with the likely reason."""

import io
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

import penstock
from penstock.engine import silence
from penstock.errors import PenstockWarning

SHOP = "<shop xmlns='urn:s'><book><title>Rivers</title><price>9</price></book></shop>"


@pytest.fixture(autouse=True)
def heard(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[warnings.WarningMessage]]:
    monkeypatch.setattr(silence, "_warned", {})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", PenstockWarning)
        yield caught


def engine_of(**queries: str) -> penstock.Engine:
    registry = penstock.Registry()
    for name, text in queries.items():
        registry.add(name, text, namespaces={"": "urn:s"})
    return penstock.Engine(registry)


def texts(heard: list[warnings.WarningMessage]) -> list[str]:
    found = [str(one.message) for one in heard]
    heard.clear()
    return found


def test_evaluate_warns_once_for_each_query(heard: list[warnings.WarningMessage]) -> None:
    for _ in range(2):
        assert penstock.evaluate("//book", SHOP) == []
    assert heard[0].filename == __file__
    (text,) = texts(heard)
    assert text.startswith("the query //book gave no row: `book` exists only in namespace urn:s")
    assert "namespaces={'p': 'urn:s'} and p:book" in text
    penstock.evaluate("//cd", SHOP)
    assert len(texts(heard)) == 1


def test_a_value_is_an_answer(heard: list[warnings.WarningMessage]) -> None:
    assert penstock.evaluate("count(//none)", SHOP) == 0
    assert penstock.evaluate("boolean(//none)", SHOP) is False
    assert texts(heard) == []


@pytest.mark.parametrize("form", ["text", "bytes", "path", "file"])
def test_the_document_is_looked_at_again_wherever_it_is(
    form: str, tmp_path: Path, heard: list[warnings.WarningMessage]
) -> None:
    path = tmp_path / "shop.xml"
    path.write_text(SHOP)
    forms = {"text": SHOP, "bytes": SHOP.encode(), "path": path, "file": io.BytesIO(SHOP.encode())}
    penstock.evaluate("//s:titel", forms[form], namespaces={"s": "urn:s"})  # type: ignore[arg-type]
    (text,) = texts(heard)
    assert "no element is called `titel`; similar: title" in text


def test_run_warns_of_each_subscription_once(heard: list[warnings.WarningMessage]) -> None:
    engine = engine_of(good="//title", bad="//titel", dear="//book[price > 10]")
    for _ in range(2):
        assert len(list(engine.run(SHOP))) == 1
    bad, dear = texts(heard)
    assert "the subscription `bad` gave no row in 1 document: " in bad
    assert "similar: title" in bad
    assert "`//book` 1 → `[price > 10]` 0; values of `price` seen: 9 to 9" in dear


def test_a_subscription_that_gave_a_row_before_is_not_warned_of(
    heard: list[warnings.WarningMessage],
) -> None:
    engine = engine_of(titles="//title")
    assert list(engine.run(SHOP))
    assert list(engine.run("<other/>")) == []
    assert texts(heard) == []


def test_documents_that_fail_say_why_themselves(heard: list[warnings.WarningMessage]) -> None:
    engine = engine_of(titles="//title")
    assert [row.kind for row in engine.run("<a>")] == ["error"]
    assert list(engine.run([])) == []
    assert texts(heard) == []


def test_a_run_that_is_left_early_says_nothing(heard: list[warnings.WarningMessage]) -> None:
    engine = engine_of(titles="//title", cds="//cd")
    rows = engine.run([SHOP, SHOP])
    next(rows)
    rows.close()  # type: ignore[attr-defined]
    assert texts(heard) == []


def test_that_a_filter_does_not_match_is_an_answer(heard: list[warnings.WarningMessage]) -> None:
    registry = penstock.Registry()
    registry.add("dear", "//s:book[s:price > 10]", mode="filter", namespaces={"s": "urn:s"})
    registry.add("typo", "//s:bok", mode="filter", namespaces={"s": "urn:s"})
    assert list(penstock.Engine(registry).run(SHOP)) == []
    (text,) = texts(heard)
    assert "`typo`" in text


def test_of_many_subscriptions_only_complete_silence_is_worth_a_word(
    heard: list[warnings.WarningMessage],
) -> None:
    many = {f"q{number}": f"//n{number}" for number in range(silence.SUBSCRIPTIONS_MAX)}
    engine = engine_of(**many, title="//title")
    list(engine.run(SHOP))
    assert texts(heard) == []
    engine = engine_of(**many, none="//none")
    list(engine.run(SHOP))
    (text,) = texts(heard)
    assert text.startswith("none of 101 subscriptions gave a row")


def test_what_nobody_wants_to_know_costs_nothing(
    heard: list[warnings.WarningMessage], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(silence, "_Reasons", lambda *_: pytest.fail("somebody looked"))
    warnings.simplefilter("ignore", PenstockWarning)
    penstock.evaluate("//book", SHOP)
    list(engine_of(bad="//bad").run(SHOP))
    assert texts(heard) == []


@pytest.mark.parametrize(
    "query",
    [
        penstock.xquery("for $a in doc('orders')//a return $a"),
        penstock.xquery("for $a in doc('orders')//a, $b in doc('x')//a where $a = $b return $a"),
        penstock.xscl("orders//a->x FOLLOWED BY{x = y, 1 h} x//a->y"),
    ],
)
def test_a_stream_that_nothing_feeds_is_named(query: penstock.Query) -> None:
    registry = penstock.Registry()
    registry.add("q", query)
    documents = [penstock.Document("<a>1</a>", stream="x", time=1)]
    message = "no document is of the stream `orders`; the documents are of `x`"
    with pytest.warns(penstock.PenstockWarning, match=message):
        assert list(penstock.Engine(registry).run(documents)) == []


def test_a_stream_of_another_name_is_fed() -> None:
    registry = penstock.Registry()
    registry.add("q", penstock.xquery("for $a in doc('orders')//b return $a"))
    engine = penstock.Engine(registry, streams={"orders": "default"})
    with pytest.warns(penstock.PenstockWarning) as caught:
        assert list(engine.run("<a/>")) == []
    assert "no document is of the stream" not in str(caught[0].message)
