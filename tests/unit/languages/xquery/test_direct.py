"""Direct constructors: the rules of XML inside them, and of namespaces."""

import pytest

from penstock.languages.xquery import xquery
from penstock.twigs import sequences as q
from tests.unit.languages.xquery.asking import printed, rejected


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("<a/>", "<a/>"),
        ("<a></a >", "<a/>"),
        ("<a b='1' c = \"2\"/>", '<a b="1" c="2"/>'),
        ("<a b='{1}x{2, 3}'/>", '<a b="{1}x{2, 3}"/>'),
        ("<a b=''''/>", '<a b="\'"/>'),
        ('<a b="""{"""}"/>', None),
        ("<a b='{{}}&lt;&#x41;'/>", '<a b="{{}}&lt;A"/>'),
        ("<a b='1\t2\r\n3&#xA;&#9;'/>", '<a b="1 2 3&#xA;&#x9;"/>'),
        ("<a>x{1}{2}y</a>", "<a>x{1}{2}y</a>"),
        ("<a> x </a>", "<a> x </a>"),
        ("<a> {1} <b/> </a>", "<a>{1}<b/></a>"),
        ("<a> &#x20; </a>", "<a>&#x20;  </a>"),
        ("<a> <![CDATA[ ]]> </a>", "<a>&#x20;  </a>"),
        ("<a><![CDATA[<{&amp;]]></a>", "<a>&lt;{{&amp;amp;</a>"),
        ("<a><![CDATA[]]></a>", "<a/>"),
        ("<a>{{1}}</a>", "<a>{{1}}</a>"),
        ("<a>1\r\n2\r3</a>", "<a>1&#xA;2&#xA;3</a>"),
        ("<a>(: no comment :)</a>", "<a>(: no comment :)</a>"),
        ("<a>{(: a comment :) 1}</a>", "<a>{1}</a>"),
        (
            "<a>{<b/>}<!--c--><?d e?></a>",
            '<a><b/>{comment { "c" }}{processing-instruction d { "e" }}</a>',
        ),
        ("<!----> , <?a?>", 'comment { "" }, processing-instruction a { "" }'),
        ("<?a  b ?>", 'processing-instruction a { "b " }'),
        ("<a>don't</a>", "<a>don't</a>"),
        ("<a b='1'>{attribute c {2}}</a>", '<a b="1" c="{2}"/>'),
        ("<a b='1'>{attribute b {2}}</a>", '<a b="1">{attribute b { 2 }}</a>'),
        ("<a>&#x1F600;</a>", "<a>\U0001f600</a>"),
        ("<a xml:space='preserve'> {1}</a>", '<a xml:space="preserve">{1}</a>'),
        ("declare boundary-space preserve; <a> {1} </a>", "<a>&#x20;{1}&#x20;</a>"),
        ("1 < <a/>", "1 < <a/>"),
        ("<a/> << <b/>", "<a/> << <b/>"),
        ("<a>{'}'}</a>", '<a>{"}"}</a>'),
        ("<a.b-c/>", "<a.b-c/>"),
    ],
)
def test_a_direct_constructor_is_read_as_xml(text: str, form: str | None) -> None:
    if form is None:
        assert rejected(text)[1] == "XPST0003"
    else:
        assert printed(text) == form


@pytest.mark.parametrize(
    ("text", "codes", "underlined"),
    [
        ("<a>", ("PQ0502", "XPST0003"), "a"),
        ("<a></b>", ("PQ0502", "XPST0003"), "</b>"),
        ("<p:a></a>", ("PQ0502", "XPST0003"), "</a>"),
        ("<a b/>", ("PQ0502", "XPST0003"), "/"),
        ("<a b=1/>", ("PQ0502", "XPST0003"), "1"),
        ("<a b='1'c='2'/>", ("PQ0502", "XPST0003"), "c"),
        ("<a b='<'/>", ("PQ0502", "XPST0003"), "<"),
        ("<a b='}'/>", ("PQ0502", "XPST0003"), "}"),
        ("<a b='1", ("PQ0102", "XPST0003"), "'1"),
        ("<a>}</a>", ("PQ0502", "XPST0003"), "}"),
        ("<a>{</a>", ("PQ0502", "XPST0003"), "<"),
        ("<a>{}</a>", ("PQ0103", "XPST0003"), "}"),
        ("<a>&b;</a>", ("PQ0503", "XPST0003"), "&"),
        ("<a>&#0;</a>", ("PQ0503", "XQST0090"), "&#0;"),
        ("<a>&#xD800;</a>", ("PQ0503", "XQST0090"), "&#xD800;"),
        ("<a>&#x110000;</a>", ("PQ0503", "XQST0090"), "&#x110000;"),
        ("< a/>", ("PQ0502", "XPST0003"), "<"),
        ("<a (: c :)/>", ("PQ0502", "XPST0003"), "("),
        ("<!-- -- -->", ("PQ0502", "XPST0003"), "<!--"),
        ("<!-- --->", ("PQ0502", "XPST0003"), "<!--"),
        ("<? a?>", ("PQ0502", "XPST0003"), "<?"),
        ("<?xMl a?>", ("PQ0502", "XPST0003"), "xMl"),
        ("<?a:b c?>", ("PQ0502", "XPST0003"), "<?"),
        ("<a><![CDATA[ </a>", ("PQ0502", "XPST0003"), "<"),
        ("<a b='1' b='2'/>", ("PQ0505", "XQST0040"), "b='2'"),
        ("<a xmlns:p='u' xmlns:q='u' p:b='1' q:b='2'/>", ("PQ0505", "XQST0040"), "q:b='2'"),
        ("<a xmlns='{1}'/>", ("PQ0502", "XQST0022"), "xmlns='{1}'"),
        ("<a xmlns:p=''/>", ("PQ0506", "XQST0085"), "xmlns:p=''"),
        ("<a xmlns:p='u' xmlns:p='v'/>", ("PQ0505", "XQST0071"), "xmlns:p='v'"),
        ("<a xmlns:xml='u'/>", ("PQ0506", "XQST0070"), "xmlns:xml='u'"),
        ("<a xmlns:xmlns='u'/>", ("PQ0506", "XQST0070"), "xmlns:xmlns='u'"),
        ("<a xmlns='http://www.w3.org/XML/1998/namespace'/>", ("PQ0506", "XQST0070"), None),
        ("<p:a/>", ("PQ0111", "XPST0081"), "p:a"),
        ("<a p:b=''/>", ("PQ0111", "XPST0081"), "p:b"),
        ("<a xmlns:p='u'/>, <p:a/>", ("PQ0111", "XPST0081"), "p:a"),
    ],
)
def test_a_constructor_that_is_not_well_formed_is_underlined(
    text: str, codes: tuple[str, str], underlined: str | None
) -> None:
    code, xquery_code, found = rejected(text)
    assert (code, xquery_code) == codes
    assert underlined in (None, found)


def element(text: str) -> q.NewElement:
    output = xquery(text).output
    assert isinstance(output, q.Sequences)
    assert isinstance(output.body, q.NewElement)
    return output.body


def test_declarations_hold_for_the_element_its_attributes_and_its_content() -> None:
    outer = element("<p:a p:b='1' xmlns:p='u' xmlns='v'>{<c p:d='2'>{p:e, f}</c>}</p:a>")
    assert outer.name == q.Name("a", "u", "p")
    assert outer.namespaces == (("p", "u"), ("", "v"))
    attribute, inner = outer.content
    assert attribute.name == q.Name("b", "u", "p")
    assert inner.name == q.Name("c", "v", "")
    assert inner.around == (("p", "u"), ("", "v"))
    first, second = inner.content[1].parts
    assert (first.test.uris, second.test.uris) == (("u",), ("v",))


def test_a_declaration_can_be_undone_and_replaced() -> None:
    outer = element("<a xmlns='u' xmlns:p='v'><b xmlns=''/><c xmlns:p='w'/></a>")
    first, second = outer.content
    assert (first.name, first.namespaces, first.around) == (q.Name("b"), (("", ""),), (("p", "v"),))
    assert second.around == (("", "u"),)


def test_an_element_without_a_prefix_is_in_the_default_namespace_an_attribute_is_not() -> None:
    outer = element("declare default element namespace 'u'; <a b='1'>{c, @d}</a>")
    assert outer.name == q.Name("a", "u")
    attribute, content = outer.content
    assert attribute.name == q.Name("b")
    assert [part.test.uris for part in content.parts] == [("u",), ("",)]
