//! Answers become rows.

use super::Inverted;
use super::ask::{Selection, Told};
use super::bundle::NEVER;
use crate::matcher::{List, RowHead, RowKind, Rows, Selected};
use crate::plan::{NONE, NodeKind};
use std::rc::Rc;

impl Inverted {
    /// Adds the rows of one document of the bundle, which carry a number.
    pub fn report(
        &mut self,
        document: usize,
        number: u32,
        in_document_order: bool,
        rows: &mut Rows,
    ) {
        let told = std::mem::take(&mut self.told);
        if !told.filters.is_empty() {
            rows.matches.begin(number, rows.kind.len());
            self.report_filters(document, &told, rows);
        }
        if !told.queries.is_empty() {
            self.report_queries(document, number, &told, in_document_order, rows);
        }
        self.told = told;
    }

    fn report_filters(&self, document: usize, told: &Told, rows: &mut Rows) {
        let matches = &mut rows.matches;
        if self.bundle.document_count() == 1 {
            matches.extend(&told.filters, &told.decided_at);
            return;
        }
        matches.reserve(told.by_document.count(document));
        told.by_document
            .each(document, |entry| matches.push(told.filters[entry]));
    }

    fn report_queries(
        &self,
        document: usize,
        number: u32,
        told: &Told,
        in_document_order: bool,
        rows: &mut Rows,
    ) {
        let before = rows.kind.len();
        let found = &mut rows.selections;
        found.begin(number, before);
        let (from, to) = self.bundle.nodes_of(document);
        let mut fragments = vec![NONE; (to - from) as usize];
        let mut lists: Vec<Option<List>> = vec![None; self.nodes.count()];
        let mut add = |selection: &Selection| {
            let list = lists[selection.set as usize].unwrap_or_else(|| {
                let items = self.decisions(selection.set, (from, to), in_document_order);
                for &(node, _, _) in &items {
                    let fragment = &mut fragments[(node - from) as usize];
                    if *fragment == NONE {
                        *fragment = found.fragments().len() as u32;
                        self.describe_node(number, node, found.fragments());
                    }
                }
                let list = found.add_list(items.iter().map(|&(node, time, ordinal)| Selected {
                    fragment: fragments[(node - from) as usize],
                    ordinal,
                    decided_at: self.bundle.offsets[time as usize] as i64,
                }));
                lists[selection.set as usize] = Some(list);
                list
            });
            found.add(selection.subscription, list, selection.has_value);
        };
        if self.bundle.document_count() == 1 {
            told.queries.iter().for_each(add);
        } else {
            told.queries_by_document
                .each(document, |entry| add(&told.queries[entry]));
        }
        rows.selections.fragments().forget_scope();
    }

    /// The nodes of a set that lie between two and are complete: node, time, ordinal, in the order
    /// of their rows.
    ///
    /// Ordinals count decisions, by event and within one event in document order. A row comes when
    /// its node is decided and complete; at an end tag that of the element itself comes first.
    fn decisions(
        &self,
        set: u32,
        (from, to): (u32, u32),
        in_document_order: bool,
    ) -> Vec<(u32, u32, u32)> {
        let items = self.nodes.get(set);
        let items = &items[items.partition_point(|item| item.0 < from)..];
        let items = items[..items.partition_point(|item| item.0 < to)].iter();
        let mut decided: Vec<(u32, u32)> = items.map(|&(node, time)| (time, node)).collect();
        decided.sort_unstable();
        let numbered = decided.into_iter().enumerate();
        let mut items: Vec<(u32, u32, u32)> = numbered
            .map(|(ordinal, (time, node))| (node, time, ordinal as u32))
            // A decided node that never ended, in a bad document, is no row.
            .filter(|item| self.bundle.nodes[item.0 as usize].closed != NEVER)
            .collect();
        if in_document_order {
            items.sort_unstable();
        } else {
            items.sort_unstable_by_key(|&(node, time, _)| {
                let closed = self.bundle.nodes[node as usize].closed;
                (time.max(closed), time >= closed, node)
            });
        }
        items
    }

    /// Adds the row that describes a node.
    fn describe_node(&self, document: u32, node: u32, rows: &mut Rows) {
        let entry = &self.bundle.nodes[node as usize];
        let span = self.bundle.spans[node as usize];
        let kind = row_kind(self.bundle.paths[entry.path as usize].kind);
        let value = if matches!(kind, RowKind::Element | RowKind::Document) {
            let source = &self.source[self.source_from[entry.document as usize]..];
            &source[span.start as usize..span.end as usize]
        } else {
            self.bundle.value(node)
        };
        rows.value.bytes.extend_from_slice(value);
        let head = RowHead {
            document,
            subscription: 0,
            ordinal: 0,
            kind,
            span: Some((span.start, Some(span.end))),
            decided_at: 0,
            node: u64::from(node - self.bundle.nodes_of(entry.document as usize).0),
        };
        let (name, scope) = &self.described[node as usize];
        rows.push(head, name, scope.as_ref());
    }

    /// `{uri}local`, kept once.
    pub(super) fn expanded_name(&mut self, local: &[u8], uri: &[u8]) -> Rc<[u8]> {
        self.scratch.clear();
        if !uri.is_empty() {
            self.scratch.push(b'{');
            self.scratch.extend_from_slice(uri);
            self.scratch.push(b'}');
        }
        self.scratch.extend_from_slice(local);
        if let Some(known) = self.known_names.get(self.scratch.as_slice()) {
            return known.clone();
        }
        if self.known_names.len() >= NAMES_MAX {
            self.known_names.clear();
        }
        let fresh: Rc<[u8]> = self.scratch.as_slice().into();
        self.known_names.insert(fresh.clone());
        fresh
    }
}

const NAMES_MAX: usize = 1 << 14;

fn row_kind(kind: NodeKind) -> RowKind {
    match kind {
        NodeKind::Document => RowKind::Document,
        NodeKind::Attribute => RowKind::Attribute,
        NodeKind::Text => RowKind::Text,
        NodeKind::Comment => RowKind::Comment,
        NodeKind::Instruction => RowKind::Instruction,
        _ => RowKind::Element,
    }
}
