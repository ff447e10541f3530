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

/// Rows of one document that are not spread out yet: from an item of an entry on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rest {
    entry: usize,
    item: usize,
    end: usize,
}

/// Lengths of all lists.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    fragments: usize,
    items: usize,
    entries: usize,
    bare: usize,
    runs: usize,
    rows: usize,
    value_bytes: usize,
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

    /// Adds subscriptions that select one node each: by their numbers, and by the places of lists of
    /// one node.
    pub(super) fn add_single(
        &mut self,
        first_subscription: u32,
        subscriptions: &[u32],
        lists: &[u32],
        first_list: u32,
    ) {
        let numbers = subscriptions.iter();
        let numbers = numbers.map(|own| SubscriptionId(first_subscription + own));
        self.subscription.extend(numbers);
        self.first
            .extend(lists.iter().map(|list| first_list + list));
        self.count.resize(self.first.len(), 1);
        self.rows += lists.len();
        let Some(fragments) = &self.fragments else {
            return;
        };
        let offsets = &fragments.value.offsets;
        let items = &self.items[first_list as usize..];
        let bytes = lists.iter().map(|&list| {
            let row = items[list as usize].fragment as usize;
            (offsets[row + 1] - offsets[row]) as usize
        });
        self.value_bytes += bytes.sum::<usize>();
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

    /// The rows of one document that are not spread out yet: all of them.
    pub(super) fn rest_of(&self, run: usize) -> Rest {
        Rest {
            entry: self.runs[run].2,
            item: 0,
            end: self.run_end(run),
        }
    }

    /// Appends rows of one document, whose declarations lie behind `first_scope`, until there are
    /// enough; returns those that are left.
    pub(super) fn spread_some(
        &self,
        rest: Rest,
        first_scope: i32,
        is_enough: impl Fn(&Rows) -> bool,
        to: &mut Rows,
    ) -> Option<Rest> {
        let fragments = self.fragments.as_ref()?;
        let mut first_item = rest.item;
        for entry in rest.entry..rest.end {
            let subscription = self.subscription[entry];
            let list = &self.items[self.first[entry] as usize..][..self.count[entry] as usize];
            let has_value = self.bare.binary_search(&(entry as u32)).is_err();
            let skipped = std::mem::take(&mut first_item);
            for (place, item) in list.iter().enumerate().skip(skipped) {
                if is_enough(to) {
                    return Some(Rest {
                        entry,
                        item: place,
                        end: rest.end,
                    });
                }
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

    /// Where selections end now, for `rewind`.
    pub(super) fn mark(&self) -> Mark {
        let fragments = self.fragments.as_ref();
        Mark {
            fragments: fragments.map_or(0, |rows| rows.len()),
            items: self.items.len(),
            entries: self.subscription.len(),
            bare: self.bare.len(),
            runs: self.runs.len(),
            rows: self.rows,
            value_bytes: self.value_bytes,
        }
    }

    /// Drops the selections since then.
    pub(super) fn rewind(&mut self, mark: Mark) {
        if let Some(fragments) = &mut self.fragments {
            fragments.truncate(mark.fragments);
        }
        self.items.truncate(mark.items);
        self.subscription.truncate(mark.entries);
        self.first.truncate(mark.entries);
        self.count.truncate(mark.entries);
        self.bare.truncate(mark.bare);
        self.runs.truncate(mark.runs);
        (self.rows, self.value_bytes) = (mark.rows, mark.value_bytes);
    }

    /// The declarations that the fragments refer to.
    pub(super) fn take_scopes(&mut self) -> Vec<crate::events::Declarations> {
        let fragments = self.fragments.as_mut();
        fragments.map_or_else(Vec::new, |rows| std::mem::take(&mut rows.scopes))
    }
}
