//! Conditions that an index answers give what comparing all pairs gives, errors included.

mod support;

use proptest::prelude::*;
use support::builder::{Builder, FOR, LET, WHERE};
use support::value;

/// How the inner loop is written.
#[derive(Clone, Copy, Debug)]
enum Form {
    Where,
    Predicate,
    Quantifier,
    Count,
}

/// For each `p`, the `t` whose key compares with that of `p`.
///
/// Where `is_hidden`, the condition stands in a double negation, which no index answers.
fn join(b: &Builder, operator: u32, is_number: bool, form: Form, is_hidden: bool) -> u32 {
    let source = b.path(b.root(), "r/t");
    let inner = match form {
        Form::Predicate => b.here(),
        _ => b.item(1),
    };
    let mut key = b.path(inner, "k");
    if is_number {
        key = b.times(b.integer(2), b.call("zero-or-one", &[key]));
    }
    let probe = b.path(b.item(0), "k");
    let mut condition = b.compare(operator, key, probe);
    if is_hidden {
        condition = b.call("not", &[b.call("not", &[condition])]);
    }
    let found = match form {
        Form::Where | Form::Count => {
            let list = b.flwor(&[&[FOR, 1, source], &[WHERE, condition]], b.item(1));
            if matches!(form, Form::Count) {
                b.call("count", &[list])
            } else {
                b.path(list, "@n")
            }
        }
        Form::Predicate => b.path(b.expr(&[13, source], Some(&[condition])), "@n"),
        Form::Quantifier => b.expr(&[26, 0, 1, 1, source, 0, 0, condition], None),
    };
    let list = b.element(&["l"], &[], &[found]);
    b.flwor(&[&[FOR, 0, b.path(b.root(), "r/p")]], list)
}

fn keys() -> impl Strategy<Value = Vec<String>> {
    let key = prop_oneof![
        4 => (0..6i32).prop_map(|number| number.to_string()),
        1 => Just("1.0".to_string()),
        1 => Just("-0".to_string()),
        1 => Just("x".to_string()),
        1 => Just("NaN".to_string()),
    ];
    prop::collection::vec(key, 0..3)
}

fn document(people: &[Vec<String>], things: &[Vec<String>]) -> String {
    let mut text = "<r>".to_string();
    for (name, lists) in [("p", people), ("t", things)] {
        for (at, keys) in lists.iter().enumerate() {
            text += &format!("<{name} n='{at}'>");
            keys.iter().for_each(|key| text += &format!("<k>{key}</k>"));
            text += &format!("</{name}>");
        }
    }
    text + "</r>"
}

proptest! {
    #[test]
    fn an_index_gives_what_all_pairs_give(
        people in prop::collection::vec(keys(), 0..6),
        things in prop::collection::vec(keys(), 0..6),
        operator in 0..6u32,
        is_number in any::<bool>(),
        form in prop::sample::select(vec![Form::Where, Form::Predicate, Form::Quantifier, Form::Count]),
    ) {
        let document = document(&people, &things);
        let answer = |is_hidden| {
            let b = Builder::default();
            let body = join(&b, operator, is_number, form, is_hidden);
            value(&b, body, &document)
        };
        prop_assert_eq!(answer(false), answer(true));
    }
}

#[test]
fn a_joined_loop_visits_each_item_once() {
    let b = Builder::default();
    let list: Vec<Vec<String>> = (0..200).map(|key| vec![key.to_string()]).collect();
    let body = join(&b, 0, false, Form::Where, false);
    let answer = value(&b, body, &document(&list, &list));
    let expected: Vec<String> = (0..200).map(|at| format!("<l n=\"{at}\"/>")).collect();
    assert_eq!(answer, expected.join("|"));
    let steps = |count: usize| {
        let list: Vec<Vec<String>> = (0..count).map(|key| vec![key.to_string()]).collect();
        support::steps(&b, body, &document(&list, &list))
    };
    // Ten times the items, ten times the steps: not a hundred times.
    assert!(steps(2000) < 15 * steps(200));
}

#[test]
fn variables_that_change_make_another_index() {
    let b = Builder::default();
    // for $o in /r/o for $x in (1, 2, 3) for $t in $o/t where $t/k = string($x) return $t/@n
    let source = b.path(b.item(0), "t");
    let numbers = b.sequence(&[b.text("1"), b.text("2"), b.text("3")]);
    let condition = b.compare(0, b.path(b.item(2), "k"), b.item(1));
    let body = b.flwor(
        &[
            &[FOR, 0, b.path(b.root(), "r/o")],
            &[FOR, 1, numbers],
            &[FOR, 2, source],
            &[WHERE, condition],
        ],
        b.path(b.item(2), "@n"),
    );
    let document = "<r><o><t n='a'><k>3</k></t><t n='b'><k>1</k></t></o>\
                    <o><t n='c'><k>3</k></t><t n='d'><k>2</k></t></o></r>";
    assert_eq!(value(&b, body, document), "b|a|d|c");
    let inlined = b.flwor(&[&[LET, 3, body]], b.variable(3));
    assert_eq!(value(&b, inlined, document), "b|a|d|c");
}
