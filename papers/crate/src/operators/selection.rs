//! Selection: tuples whose elements or values compare with constants.

use super::columns::{Column, compares};
use super::search::holds;
use super::streams::Tuples;
use penstock_broker::formulas::Formulas;
use penstock_broker::{Kind, Operator, Store};

/// A comparison of a value with a constant; `Exists` asks for the value only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Test {
    /// There is one.
    Exists,
    /// It compares.
    Compare(Kind, Operator, u32),
}

/// The bound nodes of those tuples of a predicate path whose value passes a test.
#[inline]
pub(super) fn of_values(
    column: &Column,
    tuples: Tuples<'_>,
    at: u32,
    test: Test,
    (store, formulas): (&Store, &Formulas),
    out: &mut Vec<u32>,
) {
    out.clear();
    match test {
        Test::Exists => out.extend(column.tuples.iter().map(|&tuple| tuples.field(tuple, at))),
        Test::Compare(_, Operator::Equal, constant) => {
            for (&tuple, &key) in column.tuples.iter().zip(&column.keys) {
                if key == constant {
                    out.push(tuples.field(tuple, at));
                }
            }
        }
        Test::Compare(kind, operator, constant) => {
            let test = (kind, operator, constant);
            for (&tuple, &value) in column.tuples.iter().zip(&column.values) {
                if compares(formulas, test, &store.values, value) {
                    out.push(tuples.field(tuple, at));
                }
            }
        }
    }
}

/// The bound nodes, each once, of those tuples of a binding path at whose steps conditions hold.
/// Equal bound nodes are neighbours; duplicates can only leave behind the selection.
pub(super) fn of_steps(
    tuples: Tuples<'_>,
    checks: &[(u32, u32)],
    store: &mut Store,
    formulas: &Formulas,
    out: &mut Vec<u32>,
) {
    out.clear();
    let last = tuples.width - 1;
    for tuple in tuples.iter() {
        if out.last() == Some(&tuple[last]) {
            continue;
        }
        let mut checks = checks.iter();
        if checks.all(|&(at, formula)| holds(formula, tuple[at as usize], store, formulas)) {
            out.push(tuple[last]);
        }
    }
}
