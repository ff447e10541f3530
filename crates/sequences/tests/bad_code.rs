//! Bytes that are not code are rejected; whatever is read can be evaluated.

mod support;

use penstock_sequences::code::Code;
use penstock_sequences::eval::Evaluation;
use penstock_sequences::tree::Forest;
use proptest::prelude::*;
use std::rc::Rc;
use support::builder::{Builder, FOR, LET, WHERE};

/// A query with many kinds of expressions.
fn code() -> Vec<u8> {
    let b = Builder::default();
    let source = b.path(b.root(), "r/a");
    let condition = b.compare(0, b.path(b.item(0), "@k"), b.variable(1));
    b.function(1, b.plus(b.variable(0), b.integer(1)));
    let value = b.own_call(0, &[b.call("count", &[source])]);
    let filtered = b.expr(&[13, source], Some(&[b.integer(1)]));
    let attribute = b.attribute(&["p", "x", "urn:x"], &[value]);
    let new = b.element(
        &["e"],
        &[("q", "urn:q")],
        &[attribute, filtered, b.characters("c")],
    );
    let clauses: [&[u32]; 3] = [
        &[LET, 1, b.text("1")],
        &[FOR, 0, source],
        &[WHERE, condition],
    ];
    b.code(b.flwor(&clauses, new))
}

fn evaluate(bytes: &[u8]) -> bool {
    let mut forest = Forest::default();
    support::document::read("<r><a k='1'>x</a><a k='2'/></r>", &mut forest);
    let Ok(code) = Code::read(bytes, &mut forest.names) else {
        return false;
    };
    let entries = code.entry_count();
    let mut evaluation = Evaluation::new(Rc::new(code), support::settings());
    let mut steps = 0u64;
    for entry in 0..entries {
        let meter = &mut |count| {
            steps += count;
            assert!(steps < 1_000_000, "a small query takes few steps");
        };
        // Any result will do, an error as well.
        let _ = evaluation.rows(entry, None, &mut forest, meter, &mut |_| {});
    }
    true
}

#[test]
fn the_code_is_read_and_no_shorter_one_is() {
    let code = code();
    assert!(evaluate(&code));
    for length in 0..code.len() {
        assert!(!evaluate(&code[..length]), "{length} bytes");
    }
    assert!(!evaluate(&[&code[..], b"\0"].concat()));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn changed_bytes_do_no_harm(changes in prop::collection::vec((any::<prop::sample::Index>(), 0..48u8), 1..4)) {
        let mut code = code();
        for (place, byte) in changes {
            let at = place.index(code.len());
            code[at] = byte;
        }
        evaluate(&code);
    }
}
