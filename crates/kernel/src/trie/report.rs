//! Answers become rows.

use super::Trie;
use super::ask::{FILTERS, QUERIES, Told};
use crate::document::{NEVER, Timed};
use crate::ids::DocumentId;
use crate::plan::questions::{BARE, MARK, Part, QuestionId};
use crate::plan::{NONE, SubscriptionId, Tier};
use crate::rows::{List, Matches, RowHead, RowKind, Rows, Selected, Selections};

/// Who wants the rows, and how.
#[derive(Clone, Copy)]
pub struct Wanted<'a> {
    /// Says who is who, and who is no more.
    pub tier: &'a Tier,
    pub in_document_order: bool,
    /// When rows are counted, in seconds.
    pub now: u32,
}

impl Trie {
    /// Adds the rows of one document of the bundle, which carry a number.
    pub fn report(
        &mut self,
        document: usize,
        number: DocumentId,
        wanted: Wanted<'_>,
        rows: &mut Rows,
    ) {
        if !self.told.filters.is_empty() {
            rows.matches.begin(number, rows.kind.len());
            self.report_filters(document, &mut rows.matches);
        }
        if !self.taken.needs.descriptions {
            return;
        }
        self.report_queries(document, number, wanted, rows);
    }

    fn report_filters(&self, document: usize, matches: &mut Matches) {
        let Told { filters, dates, .. } = &self.told;
        if self.taken.bundle.document_count() == 1 {
            let offset = |&event: &u32| self.taken.bundle.offsets[event as usize] as u32;
            matches.extend(filters, dates.iter().map(offset));
            return;
        }
        let entries = &self.told.by_document[FILTERS];
        let count = entries.count(document);
        if document == 0 {
            // Growing step by step would copy most of them twice.
            let all = 0..self.taken.bundle.document_count();
            matches.reserve(
                all.map(|document| entries.count(document)).sum(),
                self.has_times,
            );
        }
        if !self.has_times {
            let mut room = matches.untimed_room(count).iter_mut();
            entries.each(document, |entry| {
                if let Some(place) = room.next() {
                    *place = filters[entry];
                }
            });
            return;
        }
        let offsets = self.times.offsets(document);
        let (subscriptions, decided_at) = matches.room(count);
        let mut room = subscriptions.iter_mut().zip(decided_at);
        entries.each(document, |entry| {
            if let Some((subscription, offset)) = room.next() {
                *subscription = filters[entry];
                *offset = offsets[dates[entry] as usize];
            }
        });
    }

    fn report_queries(
        &mut self,
        document: usize,
        number: DocumentId,
        wanted: Wanted<'_>,
        rows: &mut Rows,
    ) {
        let plan = self.plan.clone();
        let Some(image) = plan.questions() else {
            return;
        };
        let askers = image.part(Part::QueryAskers);
        let is_plain = wanted.tier.is_plain();
        let behind = (rows.kind.len(), rows.matches.document_count());
        rows.selections.begin(number, behind);
        let found = &mut rows.selections;
        let mut used = std::mem::take(&mut self.used[QUERIES]);
        let mut lists = Lists {
            number,
            range: self.taken.bundle.nodes_of(document),
            in_document_order: wanted.in_document_order,
            of_set: Vec::new(),
            fragments: Vec::new(),
            listed: Vec::new(),
        };
        let mut add = |(question, set): (u32, u32)| {
            let list = lists.list(self, set, found);
            if list.count == 0 {
                return;
            }
            used.count_rows(QuestionId(question), list.count, wanted.now);
            let add = |asker: u32, found: &mut Selections| {
                if let Some(subscription) = wanted.tier.number(SubscriptionId(asker & !BARE)) {
                    found.add(subscription, list, asker & BARE == 0);
                }
            };
            let asker = askers[question as usize];
            if is_plain && asker & (MARK | BARE) == 0 {
                found.add(SubscriptionId(asker), list, true);
            } else if asker & MARK == 0 {
                add(asker, found);
            } else {
                let askers = image.list(asker).iter();
                askers.for_each(|&asker| add(asker, found));
            }
        };
        let of_paths = |entry: usize| (self.queries.questions()[entry], self.query_sets[entry]);
        if self.taken.bundle.document_count() == 1 {
            for entry in 0..self.query_sets.len() {
                add(of_paths(entry));
            }
            self.selected.iter().for_each(|&answer| add(answer));
        } else {
            let [_, by_paths, by_conditions] = &self.told.by_document;
            by_paths.each(document, |entry| add(of_paths(entry)));
            by_conditions.each(document, |entry| add(self.selected[entry]));
        }
        self.used[QUERIES] = used;
        rows.selections.fragments().forget_scope();
    }

    /// Lists the items that lie in a range of nodes and are complete, in the order of their rows.
    ///
    /// Ordinals count decisions, by event and within one event in document order. A row comes when
    /// its node is decided and complete; at an end tag that of the element itself comes first.
    fn decide(&self, items: &[Timed], wanted: &Lists, listed: &mut Vec<Decided>) {
        let (from, to) = wanted.range;
        let items = &items[items.partition_point(|item| item.0 < from)..];
        let items = items[..items.partition_point(|item| item.0 < to)].iter();
        listed.clear();
        listed.extend(items.map(|&(node, time)| Decided {
            node,
            time,
            ordinal: 0,
        }));
        // Without conditions nodes are decided in document order.
        if !listed.is_sorted_by_key(|item| item.time) {
            listed.sort_unstable_by_key(|item| (item.time, item.node));
        }
        for (ordinal, item) in listed.iter_mut().enumerate() {
            item.ordinal = ordinal as u32;
        }
        let closed = |item: &Decided| self.taken.bundle.nodes[item.node as usize].closed;
        // A decided node that never ended, in a bad document, is no row.
        listed.retain(|item| closed(item) != NEVER);
        if wanted.in_document_order {
            listed.sort_unstable_by_key(|item| item.node);
        } else {
            listed.sort_unstable_by_key(|item| {
                let closed = closed(item);
                (item.time.max(closed), item.time >= closed, item.node)
            });
        }
    }

    /// Adds the row that describes a node.
    fn describe_node(&self, document: DocumentId, node: u32, rows: &mut Rows) {
        let bundle = &self.taken.bundle;
        let description = bundle.description(node);
        let kind = RowKind::of(bundle.kind(node));
        let value = match kind {
            RowKind::Element | RowKind::Document => bundle.source(node),
            _ => bundle.value(node),
        };
        rows.value.bytes.extend_from_slice(value);
        bundle.expand_name(node, &mut rows.name.bytes);
        let first = bundle.nodes_of(bundle.nodes[node as usize].document as usize);
        let head = RowHead {
            document,
            subscription: SubscriptionId(0),
            ordinal: 0,
            kind,
            span: Some((description.span.start, Some(description.span.end))),
            decided_at: 0,
            node: u64::from(node - first.0),
        };
        rows.push(head, b"", description.scope.as_ref());
    }
}

/// Lists of nodes of one document, each written when it is first asked for.
struct Lists {
    number: DocumentId,
    /// The nodes of the document.
    range: (u32, u32),
    in_document_order: bool,
    /// By set of nodes.
    of_set: Vec<Option<List>>,
    /// By node of the document: the row that describes it.
    fragments: Vec<u32>,
    listed: Vec<Decided>,
}

/// A node of a list.
struct Decided {
    node: u32,
    time: u32,
    ordinal: u32,
}

impl Lists {
    #[inline]
    fn list(&mut self, trie: &Trie, set: u32, found: &mut Selections) -> List {
        if self.of_set.len() <= set as usize {
            self.of_set.resize(trie.nodes.count(), None);
        }
        if let Some(list) = self.of_set[set as usize] {
            return list;
        }
        let list = self.write(trie, trie.nodes.get(set), found);
        self.of_set[set as usize] = Some(list);
        list
    }

    #[inline(never)]
    fn write(&mut self, trie: &Trie, items: &[Timed], found: &mut Selections) -> List {
        let (from, to) = self.range;
        self.fragments.resize((to - from) as usize, NONE);
        let mut listed = std::mem::take(&mut self.listed);
        trie.decide(items, self, &mut listed);
        for item in &listed {
            let fragment = &mut self.fragments[(item.node - from) as usize];
            if *fragment == NONE {
                *fragment = found.fragments().len() as u32;
                trie.describe_node(self.number, item.node, found.fragments());
            }
        }
        let list = found.add_list(listed.iter().map(|item| Selected {
            fragment: self.fragments[(item.node - from) as usize],
            ordinal: item.ordinal,
            decided_at: trie.taken.bundle.offsets[item.time as usize] as i64,
        }));
        self.listed = listed;
        list
    }
}
