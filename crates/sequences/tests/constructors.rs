//! Constructed and copied nodes as they are written.

mod support;

use support::builder::{Builder, WHERE};
use support::{rows, value};

#[test]
fn values_are_separated_by_spaces_within_one_expression_only() {
    let b = Builder::default();
    let pair = b.sequence(&[b.integer(1), b.integer(2)]);
    let body = b.element(
        &["e"],
        &[],
        &[pair, b.integer(3), b.characters("<&"), b.text("x")],
    );
    assert_eq!(value(&b, body, "<r/>"), "<e>1 23&lt;&amp;x</e>");
}

#[test]
fn attributes_come_before_content_and_have_different_names() {
    let b = Builder::default();
    let attribute = || b.attribute(&["a"], &[b.characters("\"<\n"), b.integer(1)]);
    let body = b.element(&["e"], &[], &[attribute()]);
    assert_eq!(value(&b, body, "<r/>"), "<e a=\"&quot;&lt;&#10;1\"/>");
    let late = b.element(&["e"], &[], &[b.text("x"), attribute()]);
    assert_eq!(value(&b, late, "<r/>"), "XQTY0024");
    let after_nothing = b.element(&["e"], &[], &[b.text(""), attribute()]);
    assert_eq!(
        value(&b, after_nothing, "<r/>"),
        "<e a=\"&quot;&lt;&#10;1\"/>"
    );
    let twice = b.element(&["e"], &[], &[attribute(), attribute()]);
    assert_eq!(value(&b, twice, "<r/>"), "XQDY0025");
}

#[test]
fn namespaces_are_declared_where_they_are_missing() {
    let b = Builder::default();
    let inner = b.element(&["p", "i", "urn:p"], &[], &[]);
    let plain = b.element(&["n"], &[], &[]);
    let body = b.element(
        &["", "o", "urn:d"],
        &[("", "urn:d"), ("p", "urn:p")],
        &[inner, plain],
    );
    let expected = "<o xmlns=\"urn:d\" xmlns:p=\"urn:p\"><p:i/><n xmlns=\"\"/></o>";
    assert_eq!(value(&b, body, "<r/>"), expected);
}

#[test]
fn an_attribute_gets_another_prefix_if_its_own_is_taken() {
    let b = Builder::default();
    let first = b.attribute(&["p", "a", "urn:1"], &[]);
    let second = b.attribute(&["p", "a", "urn:2"], &[]);
    let third = b.attribute(&["", "b", "urn:2"], &[]);
    let body = b.element(&["p", "e", "urn:0"], &[], &[first, second, third]);
    let expected = "<p:e xmlns:p=\"urn:0\" xmlns:ns0=\"urn:1\" ns0:a=\"\" \
                    xmlns:ns1=\"urn:2\" ns1:a=\"\" ns1:b=\"\"/>";
    assert_eq!(value(&b, body, "<r/>"), expected);
}

#[test]
fn copies_keep_the_namespaces_in_scope() {
    let b = Builder::default();
    let document = "<r xmlns:p='urn:p'><a p:k='1'><b xmlns='urn:d'/></a></r>";
    let copied = b.path(b.root(), "r/a");
    let body = b.element(&["", "o", "urn:d"], &[("p", "urn:other")], &[copied]);
    let expected = "<o xmlns=\"urn:d\" xmlns:p=\"urn:other\">\
                    <a xmlns=\"\" xmlns:p=\"urn:p\" p:k=\"1\"><b xmlns=\"urn:d\"/></a></o>";
    assert_eq!(value(&b, body, document), expected);
}

#[test]
fn a_constructor_that_is_navigated_gives_the_nodes_that_were_written() {
    let b = Builder::default();
    let inner = b.element(&["b"], &[], &[b.path(b.root(), "r/a")]);
    let new = b.element(&["o"], &[], &[inner, b.integer(5)]);
    let body = b.step(new, support::builder::DESCENDANT, "a", &[]);
    let found = rows(&b, body, "<r><a k='1'>x<!--c--></a></r>").expect("there is a value");
    assert_eq!(found, ["element <a k=\"1\">x<!--c--></a>"]);
}

#[test]
fn a_message_is_dropped_if_all_its_enclosed_expressions_are_empty() {
    let b = Builder::default();
    let nothing = b.path(b.root(), "r/none");
    let inner = b.element(&["i"], &[], &[nothing]);
    let body = b.element(&["o"], &[], &[b.characters("x"), inner]);
    assert_eq!(value(&b, body, "<r/>"), "");
    let count = b.call("count", &[nothing]);
    let body = b.element(&["o"], &[], &[inner, count]);
    assert_eq!(value(&b, body, "<r/>"), "<o><i/>0</o>");
    let body = b.element(&["o"], &[], &[b.characters("x")]);
    assert_eq!(value(&b, body, "<r/>"), "<o>x</o>");
    let group = b.flwor(&[&[WHERE, b.call("true", &[])]], inner);
    let body = b.element(&["o"], &[], &[group]);
    assert_eq!(value(&b, body, "<r/>"), "<o><i/></o>");
}
