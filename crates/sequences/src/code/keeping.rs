//! Which values are kept: those of expressions in loops that always have the same value.

use super::children::Role;
use super::expr::{Expr, ExprId};
use super::read::Tables;
use super::{Binding, Entry, Function};

/// For each expression, whether its value is computed once and kept.
pub(super) fn kept(tables: &Tables, functions: &[Function], entries: &[Entry]) -> Vec<bool> {
    let mut sweep = Sweep {
        tables,
        is_kept: vec![false; tables.exprs.len()],
        is_seen: vec![false; tables.exprs.len()],
    };
    for expr in &tables.exprs {
        expr.children(&mut |part, role| {
            if role != Role::Once {
                sweep.visit(part);
            }
        });
    }
    functions
        .iter()
        .for_each(|function| sweep.visit(function.body));
    let often = entries
        .iter()
        .filter(|entry| entry.binding != Binding::Document);
    often.for_each(|entry| sweep.visit(entry.body));
    sweep.is_kept
}

struct Sweep<'a> {
    tables: &'a Tables,
    is_kept: Vec<bool>,
    is_seen: Vec<bool>,
}

impl Sweep<'_> {
    /// Marks the largest parts of an expression in a loop that are worth keeping.
    fn visit(&mut self, root: ExprId) {
        let mut pending = vec![root];
        while let Some(id) = pending.pop() {
            if std::mem::replace(&mut self.is_seen[id.index()], true) {
                continue;
            }
            let expr = self.tables.expr(id);
            if self.tables.facts(id).is_closed() && !is_cheap(expr) {
                self.is_kept[id.index()] = true;
            } else {
                expr.children(&mut |part, _| pending.push(part));
            }
        }
    }
}

fn is_cheap(expr: &Expr) -> bool {
    matches!(
        expr,
        Expr::Constant(_)
            | Expr::Global(_)
            | Expr::Gathered(_)
            | Expr::Root
            | Expr::Document(_)
            | Expr::Characters(_)
            | Expr::Range(..)
            | Expr::Sequence(_)
    )
}
