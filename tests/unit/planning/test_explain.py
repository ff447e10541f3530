"""`explain` says what a query is, when it is decided and what is held."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from penstock.errors import QueryError
from penstock.languages.xpath import xpath
from penstock.languages.xscl import xscl
from penstock.planning.explain import explain, verdict
from penstock.planning.verdicts import Cost, Decided
from penstock.twigs import Selection


def section(text: str, title: str) -> list[str]:
    """Return the lines of one section of an explanation."""
    for part in explain(xpath(text)).split("\n\n"):
        lines = part.strip("\n").splitlines()
        if lines[0] == title:
            return [line.strip() for line in lines[1:]]
    return []


def test_the_whole_explanation_reads_like_this() -> None:
    assert explain(xpath("//item[@id = 'x' and price < 10]/name")) == (
        "query\n"
        "  //item[@id = 'x' and price < 10]/name\n"
        "\n"
        "representation\n"
        "  fragments $result\n"
        "  block 0\n"
        "    self::document()\n"
        "      descendant::item\n"
        "        where attribute::id[string(.) = ?0]\n"
        "        where child::price[number(string(.)) < ?1]\n"
        "        child::name as $result\n"
        "  ?0 = 'x'\n"
        "  ?1 = 10.0\n"
        "\n"
        "normal form\n"
        "  fragments $result\n"
        "  block 0\n"
        "    self::document()\n"
        "      descendant::item\n"
        "        where attribute::id[string(.) = ?0]\n"
        "        where child::price[number(string(.)) < ?1]\n"
        "        child::name as $result\n"
        "  ?0 = 'x'\n"
        "  ?1 = 10.0\n"
        "\n"
        "decided\n"
        "  child::name: at the end tag of descendant::item at the latest, "
        "earlier once child::price[number(string(.)) < ?1] is certain\n"
        "\n"
        "held\n"
        "  child::name: its bytes, while descendant::item is open and undecided\n"
        "\n"
        "memory\n"
        "  at most the candidates in one subtree of descendant::item\n"
        "\n"
        "cost\n"
        "  flat: every record costs the same\n"
        "\n"
        "endless streams\n"
        "  yes, if the endless element itself is not descendant::item\n"
    )


@pytest.mark.parametrize(
    ("text", "decided"),
    [
        ("//a", "descendant::a: at its start"),
        ("//a[@b = 1]/c", "child::c: at its start"),
        ("//a/@b", "attribute::b: at the start tag that carries it"),
        ("//text()", "descendant::text(): at the end of the text"),
        ("//text()[. = 'x']", "descendant::text(): at the end of the text"),
        ("//a[name() = 'a']", "descendant::a: at its start"),
        ("/@x", "before the document: nothing can match"),
        ("1 + 1", "before the first element: the value is constant"),
    ],
)
def test_what_needs_no_content_is_decided_at_once(text: str, decided: str) -> None:
    assert section(text, "decided") == [decided]
    assert section(text, "held") in (["nothing"], [])


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("/r/a[b]/c", "the end tag of child::a"),
        ("/r/a[. = 'x']", "the end tag of child::a"),
        ("/r/a[not(b)]/c[d]", "the end tag of child::a"),
        ("/r/a[@b]/c[d]", "the end tag of child::c"),
        ("//a[//b]", "the end of the document"),
    ],
)
def test_the_outermost_condition_on_content_decides(text: str, end: str) -> None:
    (line,) = section(text, "decided")
    assert f"at {end} at the latest" in line


@pytest.mark.parametrize(
    ("text", "memory"),
    [
        ("//a", "constant beside the depth of the document"),
        ("//x/a[b]", "at most the candidates in one subtree of child::a"),
        ("/a[b]/c", "grows with the candidates until the document ends"),
        ("//a[/b]", "grows with the candidates until the document ends"),
        ("count(//a)", "constant beside the depth of the document"),
    ],
)
def test_memory_is_bounded_in_words(text: str, memory: str) -> None:
    assert section(text, "memory") == [memory]


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("//a", "yes"),
        ("/r/a[b]", "yes"),
        ("/r[b]/a", "no"),
        ("count(//a)", "no"),
        ("//a = 1", "no"),
    ],
)
def test_it_says_whether_an_endless_stream_suits(text: str, word: str) -> None:
    (line,) = section(text, "endless streams")
    assert line.startswith(word)


@pytest.mark.parametrize(
    ("text", "decided", "is_endless"),
    [
        ("/@x", Decided.BEFORE, True),
        ("1 + 1", Decided.BEFORE, True),
        ("position()", Decided.BEFORE, True),
        ("//a[@x]", Decided.START, True),
        ("//a[1]", Decided.START, True),
        ("//a[@x = ../@x]", Decided.START, True),
        ("//a[preceding-sibling::b]", Decided.START, True),
        ("//a[preceding::b]", Decided.START, True),
        ("//a[count(preceding-sibling::a) > 5]", Decided.START, True),
        ("//a[preceding-sibling::a/@n = @n]", Decided.START, False),
        ("//a/following-sibling::a[1]", Decided.START, True),
        ("/r/a/following-sibling::a/b", Decided.START, True),
        ("//a/following::b[1]", Decided.START, True),
        ("//a/following::b[position() mod 2 = 0]", Decided.START, False),
        ("//*", Decided.START, False),
        ("/r", Decided.START, False),
        ("//x/a[b]", Decided.END, True),
        ("//a[count(b) = 2]", Decided.END, True),
        ("//x[b]/a", Decided.SCOPE, True),
        ("//a[following-sibling::b]", Decided.SCOPE, False),
        ("/r/g/a[following-sibling::b]", Decided.SCOPE, True),
        ("//g/a[following-sibling::b]", Decided.SCOPE, True),
        ("//*/a[following-sibling::b]", Decided.SCOPE, False),
        ("//a[not(ancestor::n[b])]", Decided.SCOPE, True),
        ("/r[b]/a", Decided.DOCUMENT, False),
        ("//a[following::b]", Decided.DOCUMENT, False),
        ("(//a)[last()]", Decided.DOCUMENT, False),
        ("count(//a)", Decided.DOCUMENT, False),
        ("count(//a[1])", Decided.DOCUMENT, False),
        ("count(//a) + 1", Decided.DOCUMENT, False),
        ("//a = 1", Decided.DOCUMENT, False),
    ],
)
def test_a_verdict_names_the_latest_moment(text: str, decided: Decided, is_endless: bool) -> None:
    said = verdict(xpath(text))
    assert (said.decided, said.suits_endless) == (decided, is_endless)
    assert said.endless.startswith("yes" if is_endless else "no")


def test_values_beside_a_result_may_come_later() -> None:
    assert verdict(xpath("//a", select={"id": "@id"})).decided is Decided.START
    assert verdict(xpath("//a", select={"b": "b"})).decided is Decided.END
    later = verdict(xpath("//a", select={"id": "@id", "b": "../b"}))
    assert later.decided is Decided.SCOPE
    assert later.when == (
        "descendant::a: at its start",
        "the values beside it: at the end of its parent at the latest, earlier once it is certain",
    )


def test_what_is_looked_back_at_is_held() -> None:
    said = verdict(xpath("//a[preceding-sibling::b = @x]"))
    assert said.held == ("preceding-sibling::b: what later nodes ask of it",)
    assert said.memory == "grows with what later nodes may ask for until the document ends"
    said = verdict(xpath("/r/g/a[count(preceding-sibling::b) > 2]"))
    assert said.memory == "at most what is in one subtree of its parent"
    said = verdict(xpath("//a[preceding::b/.. = @x]"))
    pairs = "grows with the pairs of a node and a member of its set, to `Limits.pairs_max`"
    assert said.memory == pairs


@pytest.mark.parametrize(
    ("text", "cost"),
    [
        ("//a[b]/c", Cost.FLAT),
        ("//a[position() mod 2 = 0]", Cost.FLAT),
        ("//a[preceding-sibling::b]", Cost.FLAT),
        ("//a[sum(b) > 3]", Cost.FLAT),
        ("//a[b = c]", Cost.FLAT),
        ("/r[b]/a", Cost.KEPT),
        ("//a[b = //k]", Cost.KEPT),
        ("//a[b >= //k]", Cost.KEPT),
        ("//a[preceding::b = @x]", Cost.KEPT),
        ("//a[../following::b/c != @x]", Cost.KEPT),
        ("//a[@n < ../a/@n]", Cost.KEPT),
        ("//a[following-sibling::b]", Cost.KEPT),
        ("//a/preceding-sibling::a[last()]", Cost.KEPT),
        ("//a/following-sibling::a[position() mod 2 = 0]", Cost.PAIRS),
        ("//a[count(preceding-sibling::a/following-sibling::b) > 3]", Cost.POWERS),
        ("//a[preceding-sibling::a/@n = following-sibling::a/@n]", Cost.PAIRS),
        ("//a[../a/@n = following-sibling::a/@n]", Cost.PAIRS),
        ("//a[parent::*[@x]/a/@n = @n]", Cost.PAIRS),
        ("//a[b/following::c = @n]", Cost.PAIRS),
        ("//a[preceding::b/.. = @n]", Cost.PAIRS),
    ],
)
def test_a_verdict_names_what_a_record_costs(text: str, cost: Cost) -> None:
    said = verdict(xpath(text))
    assert said.cost is cost
    assert said.suits_endless <= (cost is Cost.FLAT)
    assert ("pairs_max" in said.memory) is (cost >= Cost.PAIRS)


def test_a_running_aggregate_suits_an_endless_stream() -> None:
    query = xpath("count(//a[1])")
    assert isinstance(query.output, Selection)
    said = verdict(replace(query, output=replace(query.output, running=True)))
    assert (said.decided, said.suits_endless) == (Decided.START, True)
    assert said.when[-1] == "count: after every node that counts"


def test_the_explanation_of_an_expression_reads_like_this() -> None:
    text = explain(xpath("//a[following-sibling::b = 1]", select={"id": "../@id"}))
    assert text == (
        "query\n"
        "  //a[following-sibling::b = 1]\n"
        "\n"
        "representation\n"
        "  nodes /descendant::a[following-sibling::b = ?0]\n"
        "    id: parent::node()/attribute::id\n"
        "  ?0 = 1.0\n"
        "\n"
        "normal form\n"
        "  nodes /descendant::a[following-sibling::b = ?0]\n"
        "    id: parent::node()/attribute::id\n"
        "  ?0 = 1.0\n"
        "\n"
        "decided\n"
        "  descendant::a: at the end of its parent at the latest, earlier once it is certain\n"
        "\n"
        "held\n"
        "  descendant::a: its bytes, until then\n"
        "\n"
        "memory\n"
        "  at most what is in one subtree of its parent\n"
        "\n"
        "cost\n"
        "  kept: something is kept for each record; time follows the input\n"
        "\n"
        "endless streams\n"
        "  no: its parent may be the element that never ends\n"
    )


@pytest.mark.parametrize(
    ("text", "cost", "is_endless"),
    [
        ("news//a->x FOLLOWED BY{x/b = y/b, 2 h} blogs//c->y", Cost.KEPT, True),
        ("news//a->x JOIN{x/b = y/b, INF} blogs//c->y", Cost.KEPT, False),
        ("a//a->x JOIN{x/b = y/b, 9} b//c->y NOT FOLLOWED BY{y = z, 1 h} c//d->z", Cost.KEPT, True),
        ("SELECT <m>{x}</m> FROM news//a->x", Cost.FLAT, True),
        ("news//a[b = 1]->x", Cost.FLAT, True),
    ],
)
def test_there_is_a_verdict_on_joins(text: str, cost: Cost, is_endless: bool) -> None:
    said = verdict(xscl(text))
    assert (said.cost, said.suits_endless) == (cost, is_endless)
    assert said.endless.startswith("yes" if is_endless else "no")
    explained = explain(xscl(text))
    assert all(line in explained for line in (*said.when, *said.held))


def test_texts_are_xpath() -> None:
    assert explain("//a[b]") == explain(xpath("//a[b]"))
    assert verdict("//a[b]") == verdict(xpath("//a[b]"))


@pytest.mark.parametrize("call", [explain, verdict])
def test_what_is_no_query_is_an_error(call: Callable[[Any], object]) -> None:
    with pytest.raises(QueryError, match="PQ0104"):
        call("//a[")
    with pytest.raises(TypeError, match="a query is XPath text"):
        call(7)
