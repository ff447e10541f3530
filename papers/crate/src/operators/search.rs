//! Tree search from a bound node: Where-Filter and Return-Select (section 3.1).
//!
//! ```text
//! bound nodes ─► Where-Filter: first node that makes the condition true, depth first ─► nodes
//! bound node  ─► Return-Select: all nodes of each return path ─► a group of lists
//! ```
//!
//! The children and descendants of a name are a part of the list of that name, so no node of
//! another name is visited. Nothing is remembered from query to query.

use super::columns::compares;
use penstock_broker::formulas::{Formula, Formulas};
use penstock_broker::{Axis, Step, Store};

/// Whether a condition holds at an element. No value of it is an error.
pub(super) fn holds(formula: u32, element: u32, store: &mut Store, formulas: &Formulas) -> bool {
    match &formulas.all[formula as usize] {
        Formula::True => true,
        Formula::And(parts) => parts
            .iter()
            .all(|&part| holds(part, element, store, formulas)),
        Formula::Or(parts) => parts
            .iter()
            .any(|&part| holds(part, element, store, formulas)),
        Formula::Not(inner) => !holds(*inner, element, store, formulas),
        Formula::Exists { predicate } => {
            let path = formulas.predicates[*predicate as usize].path;
            let path = &formulas.paths[path as usize];
            find(store, element, &path.steps, &mut |store, node| {
                store.has_field(path, &[node])
            })
        }
        &Formula::Compare {
            predicate,
            operator,
            constant,
        } => {
            let predicate = formulas.predicates[predicate as usize];
            let Some(kind) = predicate.kind else {
                return false;
            };
            let path = &formulas.paths[predicate.path as usize];
            find(store, element, &path.steps, &mut |store, node| {
                !store.each_value(path, &[node], |values, value| {
                    !compares(formulas, (kind, operator, constant), values, value)
                })
            })
        }
    }
}

/// Whether some element that steps lead to is a hit.
fn find(
    store: &mut Store,
    from: u32,
    steps: &[Step],
    is_hit: &mut impl FnMut(&mut Store, u32) -> bool,
) -> bool {
    let [(axis, test), rest @ ..] = steps else {
        return is_hit(store, from);
    };
    for at in store.range_below(from, *test) {
        let next = store.list(*test)[at];
        let is_met = *axis == Axis::Descendant || store.element(next).parent == from;
        if is_met && find(store, next, rest, is_hit) {
            return true;
        }
    }
    false
}

/// Appends the list of a return path: its length, then its elements.
#[inline]
pub(super) fn select(store: &Store, from: u32, steps: &[Step], out: &mut Vec<u32>) {
    let head = out.len();
    out.push(0);
    store.follow(from, steps, out);
    out[head] = (out.len() - head - 1) as u32;
}
