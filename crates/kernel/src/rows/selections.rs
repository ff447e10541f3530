//! Rows of queries in bulk: many subscriptions select the same nodes of a document, so a node is
//! described once, a list of nodes is written once, and a subscription names its list.

use super::columns::Rows;
use crate::ids::{DocumentId, SubscriptionId};
use std::ops::Range;

/// A node in a list: the row that describes it, its ordinal, and the offset that decided it.
#[derive(Clone, Copy, Debug)]
pub struct Selected {
    /// Place among the fragments.
    pub fragment: u32,
    /// Order of decision.
    pub ordinal: u32,
    /// Offset just past the deciding event.
    pub decided_at: i64,
}

/// A list of nodes: where it lies among the items, and how many bytes its values have.
#[derive(Clone, Copy, Debug)]
pub struct List {
    first: u32,
    /// How many nodes it has.
    pub count: u32,
    bytes: usize,
}

/// Selections that are not spread out into rows yet. Entries are columns.
#[derive(Default)]
pub struct Selections {
    /// Each selected node once, as a row of nobody.
    pub fragments: Option<Box<Rows>>,
    /// Lists of nodes, one behind the other.
    pub items: Vec<Selected>,
    /// By entry: who selects.
    pub subscription: Vec<SubscriptionId>,
    /// By entry: where its list lies, and how long it is.
    pub first: Vec<u32>,
    /// See `first`.
    pub count: Vec<u32>,
    /// Entries of subscriptions without values, sorted; mostly there are none.
    bare: Vec<u32>,
    /// For each document: how many rows and how many documents' matches come before, and where its
    /// entries start.
    runs: Vec<(DocumentId, (usize, usize), usize)>,
    rows: usize,
    value_bytes: usize,
}

impl Selections {
    /// Starts the selections of a document, behind so many rows and so many documents' matches.
    pub fn begin(&mut self, document: DocumentId, behind: (usize, usize)) {
        self.runs.push((document, behind, self.subscription.len()));
    }

    /// Makes room for entries.
    pub fn reserve(&mut self, count: usize) {
        self.subscription.reserve(count);
        self.first.reserve(count);
        self.count.reserve(count);
    }

    /// The rows that describe nodes. The caller keeps the place of a row that it adds.
    pub fn fragments(&mut self) -> &mut Rows {
        self.fragments.get_or_insert_default()
    }

    /// Adds a list of nodes.
    pub fn add_list(&mut self, items: impl Iterator<Item = Selected>) -> List {
        let before = self.items.len();
        self.items.extend(items);
        let added = &self.items[before..];
        let fragments = self.fragments.as_ref();
        let length = |item: &Selected| {
            fragments.map_or(0, |rows| rows.value.value(item.fragment as usize).len())
        };
        List {
            first: before as u32,
            count: added.len() as u32,
            bytes: added.iter().map(length).sum(),
        }
    }

    /// Adds a subscription that selects a list.
    #[inline]
    pub fn add(&mut self, subscription: SubscriptionId, list: List, has_value: bool) {
        self.subscription.push(subscription);
        self.first.push(list.first);
        self.count.push(list.count);
        self.rows += list.count as usize;
        if has_value {
            self.value_bytes += list.bytes;
        } else {
            self.bare.push(self.subscription.len() as u32 - 1);
        }
    }

    /// How many rows they are.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// How many bytes their values are.
    pub fn value_bytes(&self) -> usize {
        self.value_bytes
    }

    /// Documents, and which entries are theirs.
    pub fn documents(&self) -> impl Iterator<Item = (DocumentId, Range<usize>)> + '_ {
        let runs = self.runs.iter().enumerate();
        runs.map(|(run, &(document, _, from))| (document, from..self.run_end(run)))
    }

    fn run_end(&self, run: usize) -> usize {
        let next = self.runs.get(run + 1);
        next.map_or(self.subscription.len(), |next| next.2)
    }

    /// For each document: how many rows and how many documents' matches come before its selections.
    pub(super) fn places(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.runs.iter().map(|run| run.1)
    }

    /// Appends the rows of one document, whose declarations lie behind `first_scope`, until there
    /// are `rows_max`; `from` entries of it are passed over. How many are done then, if not all.
    pub(super) fn spread_run(
        &self,
        run: usize,
        from: usize,
        first_scope: i32,
        rows_max: usize,
        to: &mut Rows,
    ) -> Option<usize> {
        let fragments = self.fragments.as_ref()?;
        let start = self.runs[run].2;
        for entry in start + from..self.run_end(run) {
            if to.len() >= rows_max {
                return Some(entry - start);
            }
            let subscription = self.subscription[entry];
            let list = &self.items[self.first[entry] as usize..][..self.count[entry] as usize];
            let has_value = self.bare.binary_search(&(entry as u32)).is_err();
            for item in list {
                let row = item.fragment as usize;
                if has_value {
                    to.append_row(fragments, row, subscription, first_scope);
                } else {
                    to.append_bare(fragments, row, subscription);
                }
                let last = to.len() - 1;
                to.ordinal[last] = i64::from(item.ordinal);
                to.decided_at[last] = item.decided_at;
            }
        }
        None
    }

    /// The declarations that the fragments refer to.
    pub(super) fn take_scopes(&mut self) -> Vec<crate::events::Declarations> {
        let fragments = self.fragments.as_mut();
        fragments.map_or_else(Vec::new, |rows| std::mem::take(&mut rows.scopes))
    }
}
