//! Grouped selection: one index over the constants of all plans with one signature (section 5.2).
//!
//! ```text
//! pairs of a shared join ─► value ─► index ─► list of each constant that it makes true
//! ```
//!
//! Equal bound nodes are neighbours in a join's output, so duplicates are left out on the way in.

use super::columns::{Column, compares};
use super::duplicates::add;
use super::selection::Test;
use super::shared_join::SharedJoin;
use penstock_broker::formulas::Formulas;
use penstock_broker::{Kind, NONE, Operator, Store};
use rustc_hash::FxHashMap;

/// What tells selections above one join apart, but for the constant; None asks for a value.
pub(super) type Signature = Option<(Kind, Operator)>;

/// A selection for all constants of a signature.
#[derive(Debug)]
pub(super) struct Selection {
    pub join: u32,
    pub signature: Signature,
    /// Lists by constant.
    index: FxHashMap<u32, u32>,
    /// Constants that an operator other than `=` is asked with, in order, and their lists.
    ordered: Vec<(u32, u32)>,
    /// The list of everything.
    all: u32,
}

/// The lists that plans read, made where something is in them.
#[derive(Debug, Default)]
pub(super) struct TupleLists {
    pub all: Vec<Vec<u32>>,
    used: Vec<u32>,
}

impl TupleLists {
    /// A new list.
    pub fn push(&mut self) -> u32 {
        self.all.push(Vec::new());
        self.all.len() as u32 - 1
    }

    /// Forgets the document.
    pub fn clear(&mut self) {
        for list in self.used.drain(..) {
            self.all[list as usize].clear();
        }
    }

    /// Adds a bound node, unless it came last.
    #[inline]
    pub fn put(&mut self, list: u32, node: u32) {
        let own = &mut self.all[list as usize];
        if own.is_empty() {
            self.used.push(list);
        }
        add(own, node);
    }
}

impl Selection {
    /// A selection above a join.
    pub fn new(join: u32, signature: Signature) -> Selection {
        Selection {
            join,
            signature,
            index: FxHashMap::default(),
            ordered: Vec::new(),
            all: NONE,
        }
    }

    /// The list of a test.
    pub fn list(&mut self, test: Test, lists: &mut TupleLists) -> u32 {
        match test {
            Test::Exists => {
                if self.all == NONE {
                    self.all = lists.push();
                }
                self.all
            }
            Test::Compare(_, _, constant) => {
                *self.index.entry(constant).or_insert_with(|| lists.push())
            }
        }
    }

    /// All plans are known: constants are put in order.
    pub fn close(&mut self, formulas: &Formulas) {
        let Some((kind, operator)) = self.signature else {
            return;
        };
        if operator == Operator::Equal {
            return;
        }
        self.ordered = self.index.iter().map(|(&one, &list)| (one, list)).collect();
        self.ordered
            .sort_unstable_by(|&(a, _), &(b, _)| match kind {
                Kind::Text => formulas.texts[a as usize].cmp(&formulas.texts[b as usize]),
                _ => formulas.numbers[a as usize].total_cmp(&formulas.numbers[b as usize]),
            });
    }

    /// Gives each pair of the join to the lists of the constants that its value compares with.
    pub fn run(
        &self,
        join: &SharedJoin,
        column: &Column,
        (store, formulas): (&Store, &Formulas),
        lists: &mut TupleLists,
    ) {
        let Some((kind, operator)) = self.signature else {
            for &(node, _) in &join.pairs {
                lists.put(self.all, node);
            }
            return;
        };
        if operator == Operator::Equal {
            for &(node, place) in &join.pairs {
                if let Some(&list) = self.index.get(&column.keys[place as usize]) {
                    lists.put(list, node);
                }
            }
            return;
        }
        for &(node, place) in &join.pairs {
            let value = column.values[place as usize];
            let holds = |&(constant, _): &(u32, u32)| {
                compares(formulas, (kind, operator, constant), &store.values, value)
            };
            // Along the constants `<` turns true once and `>` turns false once; `!=` does neither.
            let some = match operator {
                Operator::Less | Operator::LessOrEqual => {
                    let from = self.ordered.partition_point(|one| !holds(one));
                    &self.ordered[from..]
                }
                Operator::Greater | Operator::GreaterOrEqual => {
                    let to = self.ordered.partition_point(holds);
                    &self.ordered[..to]
                }
                _ => &self.ordered[..],
            };
            for one in some {
                if operator != Operator::NotEqual || holds(one) {
                    lists.put(one.1, node);
                }
            }
        }
    }
}
