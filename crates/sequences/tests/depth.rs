//! Depth: of documents, of expressions and of calls.

mod support;

use support::builder::{Builder, CHILD, DESCENDANT, LET};
use support::{rows, value};

const DEEP: usize = 10_000;

fn deep_document() -> String {
    "<a>".repeat(DEEP) + "x" + &"</a>".repeat(DEEP)
}

#[test]
fn deep_documents_are_copied_compared_and_read() {
    let b = Builder::default();
    let document = deep_document();
    let root = b.path(b.root(), "a");
    let body = b.element(&["o"], &[], &[root]);
    assert_eq!(value(&b, body, &document), format!("<o>{document}</o>"));
    let built = b.element(&["a"], &[], &[b.path(b.root(), "a/a")]);
    let equal = b.call("deep-equal", &[built, root]);
    assert_eq!(value(&b, equal, &document), "true");
    let string = b.call("string", &[b.root()]);
    assert_eq!(value(&b, string, &document), "x");
    let all = b.step(b.root(), DESCENDANT, "a", &[]);
    let children = b.step(all, CHILD, "a", &[]);
    let count = b.call("count", &[children]);
    assert_eq!(value(&b, count, &document), (DEEP - 1).to_string());
}

#[test]
fn calls_are_bounded() {
    let b = Builder::default();
    let less = b.expr(&[17, 1, b.variable(0), b.integer(1)], None);
    let again = b.plus(b.integer(1), b.own_call(0, &[less]));
    let test = b.compare(0, b.variable(0), b.integer(0));
    b.function(1, b.condition(test, b.integer(0), again));
    let body = b.own_call(0, &[b.integer(199)]);
    assert_eq!(value(&b, body, "<r/>"), "199");
    let body = b.own_call(0, &[b.integer(200)]);
    let error = rows(&b, body, "<r/>").expect_err("it is too deep");
    assert_eq!(error.code, penstock_sequences::eval::RECURSION);
}

#[test]
fn expressions_may_be_nested_as_deeply_as_code_may_be() {
    for wrap in [
        (|b: &Builder, inner| b.plus(inner, b.integer(0))) as fn(&Builder, u32) -> u32,
        |b, inner| b.sequence(&[inner]),
        |b, inner| b.flwor(&[&[LET, 0, inner]], b.variable(0)),
        |b, inner| b.element(&["e"], &[], &[inner]),
        |b, inner| b.step(b.root(), CHILD, "r", &[inner]),
        |b, inner| b.call("exists", &[inner]),
    ] {
        let b = Builder::default();
        let mut body = b.integer(1);
        for _ in 0..490 {
            body = wrap(&b, body);
        }
        rows(&b, body, "<r/>").expect("there is a value");
    }
}
