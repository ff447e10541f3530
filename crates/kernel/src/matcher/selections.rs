//! Rows of queries in bulk: many subscriptions select the same nodes of a document, so a node is
//! described once, a list of nodes is written once, and a subscription names its list.

use super::rows::Rows;

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

/// Lists of nodes, one behind the other.
#[derive(Default)]
pub struct Lists {
    /// The nodes.
    pub items: Vec<Selected>,
    /// By list: where it ends, and how many bytes its values have.
    ends: Vec<(usize, usize)>,
}

impl Lists {
    /// Where a list lies.
    #[inline]
    pub fn range(&self, list: u32) -> (usize, usize) {
        let list = list as usize;
        let from = if list == 0 { 0 } else { self.ends[list - 1].0 };
        (from, self.ends[list].0)
    }
}

/// Subscription, list, whether the value is wanted.
pub type Entry = (u32, u32, bool);

/// Selections that are not spread out into rows yet.
#[derive(Default)]
pub struct Selections {
    /// Each selected node once, as a row of nobody.
    fragments: Option<Box<Rows>>,
    lists: Lists,
    entries: Vec<Entry>,
    /// For each document: how many rows come before, and where its entries start.
    runs: Vec<(usize, usize)>,
    rows: usize,
    value_bytes: usize,
}

impl Selections {
    /// Starts the selections of a document, behind so many rows.
    pub fn begin(&mut self, rows: usize) {
        self.runs.push((rows, self.entries.len()));
    }

    /// The rows that describe nodes; whoever adds one remembers its place.
    pub fn fragments(&mut self) -> &mut Rows {
        self.fragments.get_or_insert_default()
    }

    /// Adds a list of nodes; None if it has none.
    pub fn add_list(&mut self, items: impl Iterator<Item = Selected>) -> Option<u32> {
        let lists = &mut self.lists;
        let before = lists.items.len();
        lists.items.extend(items);
        if lists.items.len() == before {
            return None;
        }
        let fragments = self.fragments.as_ref()?;
        let length = |item: &Selected| fragments.value.value(item.fragment as usize).len();
        let bytes = lists.items[before..].iter().map(length).sum();
        lists.ends.push((lists.items.len(), bytes));
        Some((lists.ends.len() - 1) as u32)
    }

    /// Adds a subscription that selects a list.
    #[inline]
    pub fn add(&mut self, subscription: u32, list: u32, has_value: bool) {
        self.entries.push((subscription, list, has_value));
        let (from, to) = self.lists.range(list);
        self.rows += to - from;
        if has_value {
            self.value_bytes += self.lists.ends[list as usize].1;
        }
    }

    /// How many nodes a list has.
    #[inline]
    pub fn list_len(&self, list: u32) -> u32 {
        let (from, to) = self.lists.range(list);
        (to - from) as u32
    }

    fn list(&self, list: u32) -> &[Selected] {
        let (from, to) = self.lists.range(list);
        &self.lists.items[from..to]
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

    /// The fragments, the lists of them, and who selects which list; None if there are none.
    pub fn into_parts(self) -> Option<(Rows, Lists, Vec<Entry>)> {
        Some((*self.fragments?, self.lists, self.entries))
    }

    /// Where each document's come, behind how many rows.
    pub(super) fn places(&self) -> impl Iterator<Item = usize> + '_ {
        self.runs.iter().map(|run| run.0)
    }

    /// Appends the rows of one document, whose declarations lie behind `first_scope`.
    pub(super) fn spread_run(&self, run: usize, first_scope: i32, to: &mut Rows) {
        let Some(fragments) = &self.fragments else {
            return;
        };
        let end = self.runs.get(run + 1).map_or(self.entries.len(), |r| r.1);
        for &(subscription, list, has_value) in &self.entries[self.runs[run].1..end] {
            for item in self.list(list) {
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
    }

    /// The declarations that the fragments refer to.
    pub(super) fn take_scopes(&mut self) -> Vec<super::Declarations> {
        let fragments = self.fragments.as_mut();
        fragments.map_or_else(Vec::new, |rows| std::mem::take(&mut rows.scopes))
    }
}
