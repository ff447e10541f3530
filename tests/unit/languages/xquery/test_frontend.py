"""The entry point: options, namespaces with several URIs, errors that travel."""

import json
import pickle

import pytest

import penstock
from penstock.languages.xpath.tokens import TEXT_LENGTH_MAX
from penstock.languages.xquery import parse, xquery
from penstock.twigs import sequences as q
from penstock.twigs.expressions import Step
from penstock.twigs.sequence_parts import all_parts, depth_of, parts_of
from tests.unit.languages.xquery.asking import error_of, printed, rejected


def test_the_package_exports_it() -> None:
    query = penstock.xquery("for $b in //book return <t>{$b/title}</t>")
    assert (query.language, query.blocks, query.constants) == ("xquery", (), ())
    assert "for $b in /descendant::book" in penstock.explain(query)
    assert penstock.verdict(query).suits_endless


def test_the_options_give_an_equal_query_again() -> None:
    namespaces = {"p": ["u", "v"], "": "w"}
    query = xquery(
        "//p:a[b = $x]", namespaces=namespaces, variables={"x": 1.5}, untyped="false", empty="send"
    )
    options = json.loads(json.dumps(query.options))
    assert options == {
        "namespaces": {"p": ["u", "v"], "": ["w"]},
        "variables": {"x": 1.5},
        "untyped": "false",
        "empty": "send",
    }
    assert xquery(query.text, **options) == query
    assert xquery("1").options == {}


def test_queries_that_say_the_same_are_equal_and_hash_alike() -> None:
    one = xquery("for $a in //x return (: all :) <b>{ $a }</b>")
    two = xquery("for $a in /descendant::x return <b> {$a}</b>")
    assert one == two
    assert hash(one) == hash(two)
    assert one != xquery("for $a in //x return <b>{ $a }</b>", untyped="false")


def test_a_prefix_may_stand_for_several_namespaces_in_tests_only() -> None:
    several = {"p": ["u", "v"], "g": "urn:*"}
    assert printed("p:a/@g:b", namespaces=several) == "child::{u | v}a/attribute::{urn:*}b"
    assert printed("1 instance of element(p:a)", namespaces=several).endswith("element({u | v}a)")
    for text in ("<p:a/>", "element g:a {}", "<a p:b='1'/>", "p:f()", "$g:x"):
        assert rejected(text, namespaces=several)[0] == "PQ0509"


def test_an_element_without_a_prefix_needs_one_namespace() -> None:
    assert rejected("<a/>", namespaces={"": ["u", "v"]}) == ("PQ0509", None, "a")
    assert printed("<a xmlns='u'>{b}</a>", namespaces={"": ["v", "w"]}).endswith("{u}b}</a>")
    assert printed("<a/>", namespaces={"": "u"}) == "<a/>"


def test_the_prolog_replaces_the_namespaces_from_outside() -> None:
    text = "declare namespace p = 'v'; p:a"
    assert printed(text, namespaces={"p": "u"}) == "child::{v}a"


def test_an_unknown_setting_is_rejected() -> None:
    assert rejected("1", untyped="maybe")[0] == "PQ0512"
    assert rejected("1", empty="keep")[0] == "PQ0512"
    assert rejected("1", namespaces={"p": 1})[0] == "PQ0118"


def test_settings_are_part_of_the_printed_form() -> None:
    form = printed("1", untyped="false", empty="send")
    assert "(: untyped text that is no number compares as false :)" in form
    assert xquery(form) == xquery("1")


def test_an_error_pickles_with_its_codes() -> None:
    error = error_of("1 +")
    copy = pickle.loads(pickle.dumps(error))
    assert str(copy) == str(error)
    assert (copy.code, copy.xquery_code, copy.span) == ("PQ0104", "XPST0003", (3, 3))


def test_the_error_of_another_language_has_no_code_of_xquery() -> None:
    with pytest.raises(penstock.QueryError) as caught:
        penstock.xpath("//")
    assert caught.value.xquery_code is None


def test_an_error_shows_the_line_and_a_way_out() -> None:
    text = "for $b in //book\nwhere $b/price < 10\nreturn\n  switch ($b) default return 1"
    assert str(error_of(text)) == (
        "PQ0501: XQuery 1.0 has no switch\n"
        "  4 |   switch ($b) default return 1\n"
        "    |   ^^^^^^\n"
        "help: write if (…) then … else if (…) then … else …"
    )


@pytest.mark.parametrize(
    "text",
    [
        "(" * 5000,
        "<a>" * 5000,
        "-" * 5000 + "1",
        "if (1) then 1 else " * 500 + "1",
        "a[" * 5000,
        "for $x in 1 return " * 500 + "1",
        "/".join(["a"] * 300),
        "/".join(["a"] * 200),
        "f(" * 5000,
        "<a b='{" * 3000,
        "typeswitch (" * 500,
    ],
)
def test_nesting_is_bounded(text: str) -> None:
    assert error_of(text).code == "PQ0105"


def test_the_length_is_bounded() -> None:
    xquery("1" + " " * (TEXT_LENGTH_MAX - 1))
    with pytest.raises(penstock.QueryError) as caught:
        xquery("1" + " " * TEXT_LENGTH_MAX)
    assert caught.value.code == "PQ0106"


def test_syntax_trees_are_equal_wherever_they_stand() -> None:
    assert parse("1 + $x") == parse(" (: c :) 1+$x")
    assert parse("a[1]") != parse("(a)[1]")


def test_parts_are_listed_in_the_order_of_the_printed_form() -> None:
    output = xquery("for $a in b order by c return if (d) then <e>{f}</e> else g").output
    assert isinstance(output, q.Sequences)
    tests = [part.test.local for part in all_parts(output.body) if isinstance(part, Step)]
    assert tests == ["b", "c", "d", "f", "g"]
    assert parts_of(q.Atomic("integer", "1")) == []
    assert depth_of(output) == 5  # FLWOR, if, element, step, context item
