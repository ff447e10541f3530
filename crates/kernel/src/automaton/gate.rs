//! Document order: a row waits until no earlier node can still become a result of its target.

use crate::events::Scope;
use crate::plan::{Plan, TargetId};
use crate::rows::{Bindings, RowHead, Rows};
use crate::tables::Table;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

/// A finished row on hold.
#[derive(Debug)]
pub struct Parked {
    pub head: RowHead,
    pub name: Rc<[u8]>,
    pub value: Vec<u8>,
    pub scope: Option<Rc<Scope>>,
    pub bindings: Option<Bindings>,
}

#[derive(Debug, Default)]
struct Lane {
    /// Nodes that are open questions, or decided and incomplete.
    unsettled: BTreeSet<u64>,
    parked: BTreeMap<u64, Vec<Parked>>,
}

/// One lane per target.
#[derive(Debug, Default)]
pub struct Gate {
    lanes: Table<TargetId, Lane>,
    changed: Vec<TargetId>,
}

impl Gate {
    pub fn new(targets: usize) -> Self {
        Gate {
            lanes: Table::of_defaults(targets),
            changed: Vec::new(),
        }
    }

    pub fn expect(&mut self, target: TargetId, node: u64) {
        self.lanes[target].unsettled.insert(node);
    }

    /// The node is a delivered result of the target, or can no longer become one.
    pub fn settle(&mut self, target: TargetId, node: u64) {
        if self.lanes[target].unsettled.remove(&node) {
            self.changed.push(target);
        }
    }

    pub fn park(&mut self, target: TargetId, row: Parked) {
        self.lanes[target]
            .parked
            .entry(row.head.node)
            .or_default()
            .push(row);
        self.changed.push(target);
    }

    /// Moves the rows that nothing earlier holds back any more.
    pub fn open(&mut self, plan: &Arc<Plan>, rows: &mut Rows) {
        for target in std::mem::take(&mut self.changed) {
            let lane = &mut self.lanes[target];
            let floor = lane.unsettled.first().copied().unwrap_or(u64::MAX);
            while let Some(entry) = lane.parked.first_entry() {
                if *entry.key() > floor {
                    break;
                }
                for row in entry.remove() {
                    rows.value.bytes.extend_from_slice(&row.value);
                    rows.push(row.head, &row.name, row.scope.as_ref());
                    rows.bind(plan, target, row.bindings.as_ref());
                }
            }
        }
    }

    /// The document ends: nothing can come before what waits. Nodes that expressions might have
    /// come back to are unsettled until here.
    pub fn finish(&mut self) {
        for target in self.lanes.ids() {
            let lane = &mut self.lanes[target];
            lane.unsettled.clear();
            if !lane.parked.is_empty() {
                self.changed.push(target);
            }
        }
    }

    pub fn clear(&mut self) {
        for lane in self.lanes.iter_mut() {
            lane.unsettled.clear();
            lane.parked.clear();
        }
        self.changed.clear();
    }
}
