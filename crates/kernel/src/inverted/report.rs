//! Answers become rows.

use super::Inverted;
use super::document::NEVER;
use super::image::{Askers, BARE, Image, MARK, Part};
use super::paths::First;
use super::walk::Walked;
use crate::matcher::{Matches, RowHead, RowKind, Rows, Selected};
use crate::plan::{NONE, NodeKind};
use crate::tiers::Tier;
use crate::usage::Used;
use std::rc::Rc;

impl Inverted {
    /// Prepares the document that was taken in; false if it is too large or diverse to be asked.
    pub fn can_answer(&mut self) -> bool {
        self.nodes.clear();
        self.values.clear();
        self.edges.clear();
        self.document.nodes.len() as u64 <= self.nodes_max
            && self.paths.take(&self.document, &self.names)
    }

    /// Asks the document and adds the rows; a tier says who is who, and who is no more.
    pub fn answer(&mut self, number: u32, tier: &Tier, how: How, rows: &mut Rows) {
        let plan = self.plan.clone();
        let Some(image) = plan.questions() else {
            return;
        };
        let known = if self.has_queries {
            Err(0)
        } else {
            self.shapes.find(&self.document)
        };
        let mut walked = std::mem::take(&mut self.walked);
        if !image.part(Part::Filters).is_empty() {
            match known {
                Ok(shape) => {
                    rows.matches.begin(number, rows.kind.len());
                    self.report_paths(image, tier, &shape.questions, &shape.firsts, how, rows);
                    for (block, places) in &shape.blocks {
                        let set = self.paths.set_of(places);
                        self.enter_block(*block, set, false);
                        self.walk_nodes(image, false);
                    }
                }
                Err(hash) => {
                    walked.walk_filters(image.stream(Part::Filters), &mut self.paths);
                    rows.matches.begin(number, rows.kind.len());
                    self.report_paths(image, tier, walked.questions(), walked.firsts(), how, rows);
                    for &(block, set) in &walked.blocks {
                        self.enter_block(block, set, false);
                        self.walk_nodes(image, false);
                    }
                    if !self.has_queries {
                        let places = |set| self.paths.places(set).into();
                        self.shapes.keep(hash, &self.document, &walked, places);
                    }
                }
            }
            self.report_conditions(image, tier, how, rows);
        }
        if self.has_queries {
            self.ask_queries(image, &mut walked);
            self.report_queries(number, tier, how, rows);
        }
        self.walked = walked;
    }

    fn enter_block(&mut self, block: u32, set: u32, is_query: bool) {
        let paths = self.paths.numbers(set);
        let nodes = self.nodes.of_paths(&self.document, set, paths);
        self.try_block(block, nodes, is_query);
    }

    /// Rows of filters that paths alone answer.
    fn report_paths(
        &mut self,
        image: Image<'_>,
        tier: &Tier,
        questions: &[u32],
        firsts: &[First],
        how: How,
        rows: &mut Rows,
    ) {
        let askers = image.part(Part::FilterAskers);
        let times: Vec<i64> = self
            .document
            .paths
            .iter()
            .map(|path| self.document.offsets[path.first as usize] as i64)
            .collect();
        // Questions come in order, subscriptions do not: counting those is much cheaper.
        self.used[FILTERS].count(questions, how.now);
        let matches = &mut rows.matches;
        if tier.is_plain() && image.part(Part::Lists).is_empty() {
            // One asker each, who is still there: the usual case of a large tier.
            let numbers = questions.iter().map(|&question| askers[question as usize]);
            matches.subscription.extend(numbers);
            let times = firsts.iter().map(|&first| times[first as usize]);
            matches.decided_at.extend(times);
            return;
        }
        matches.reserve(questions.len());
        for (&question, &first) in questions.iter().zip(firsts) {
            let asker = askers[question as usize];
            if asker & MARK == 0 {
                if let Some(subscription) = tier.number(asker) {
                    matches.push(subscription, times[first as usize]);
                }
            } else {
                report_match(image, tier, question, times[first as usize], matches);
            }
        }
    }

    /// Rows of filters that conditions answer.
    fn report_conditions(&mut self, image: Image<'_>, tier: &Tier, how: How, rows: &mut Rows) {
        for (question, time) in self.found.drain(..) {
            self.used[FILTERS].count_rows(question, 1, how.now);
            let decided_at = self.document.offsets[time as usize] as i64;
            report_match(image, tier, question, decided_at, &mut rows.matches);
        }
    }

    fn ask_queries(&mut self, image: Image<'_>, walked: &mut Walked) {
        walked.walk_queries(image.stream(Part::Queries), &mut self.paths);
        for &(question, set) in &walked.selected {
            let paths = self.paths.numbers(set);
            let nodes = self.nodes.of_paths(&self.document, set, paths);
            self.selected.push((question, nodes));
        }
        for &(block, set) in &walked.blocks {
            self.enter_block(block, set, true);
            self.walk_nodes(image, true);
        }
    }

    fn report_queries(&mut self, number: u32, tier: &Tier, how: How, rows: &mut Rows) {
        let plan = self.plan.clone();
        let Some(image) = plan.questions() else {
            return;
        };
        let before = rows.kind.len();
        let found = &mut rows.selections;
        found.begin(before);
        let mut fragments = vec![NONE; self.document.nodes.len()];
        let mut lists: Vec<u32> = vec![UNWRITTEN; self.nodes.count()];
        let mut selected = std::mem::take(&mut self.selected);
        for (question, set) in selected.drain(..) {
            if lists[set as usize] == UNWRITTEN {
                let items = self.decisions(set, how.in_document_order);
                for &(node, _, _) in &items {
                    if fragments[node as usize] == NONE {
                        fragments[node as usize] = found.fragments().len() as u32;
                        self.describe_node(number, node, found.fragments());
                    }
                }
                let list = found.add_list(items.iter().map(|&(node, time, ordinal)| Selected {
                    fragment: fragments[node as usize],
                    ordinal,
                    decided_at: self.document.offsets[time as usize] as i64,
                }));
                lists[set as usize] = list.unwrap_or(NOTHING);
            }
            let list = lists[set as usize];
            if list == NOTHING {
                continue;
            }
            let count = found.list_len(list);
            self.used[QUERIES].count_rows(question, count, how.now);
            let mut add = |asker: u32| {
                if let Some(subscription) = tier.number(asker & !BARE) {
                    found.add(subscription, list, asker & BARE == 0);
                }
            };
            match image.askers(Part::QueryAskers, question) {
                Askers::One(asker) => add(asker),
                Askers::Many(askers) => askers.iter().copied().for_each(add),
            }
        }
        self.selected = selected;
        rows.selections.fragments().forget_scope();
    }

    /// What subscriptions did since the last call, by the numbers of a tier; one may come several
    /// times.
    pub fn take_usage(&mut self, tier: &Tier) -> Vec<Used> {
        let plan = self.plan.clone();
        let mut all = Vec::new();
        let Some(image) = plan.questions() else {
            return all;
        };
        for (kind, part) in [(FILTERS, Part::FilterAskers), (QUERIES, Part::QueryAskers)] {
            for used in self.used[kind].take() {
                let askers = image.askers(part, used.subscription);
                let numbers = askers.as_slice().iter().map(|asker| asker & !BARE);
                let subscriptions = numbers.filter_map(|own| tier.number(own));
                all.extend(subscriptions.map(|subscription| Used {
                    subscription,
                    ..used
                }));
            }
        }
        all
    }

    /// The nodes of a set that are complete: node, time, ordinal, in the order of their rows.
    ///
    /// Ordinals count decisions, by event and within one event in document order. A row comes when
    /// its node is decided and complete; at an end tag that of the element itself comes first.
    fn decisions(&self, set: u32, in_document_order: bool) -> Vec<(u32, u32, u32)> {
        let items = self.nodes.get(set).iter();
        let mut decided: Vec<(u32, u32)> = items.map(|&(node, time)| (time, node)).collect();
        decided.sort_unstable();
        let numbered = decided.into_iter().enumerate();
        let mut items: Vec<(u32, u32, u32)> = numbered
            .map(|(ordinal, (time, node))| (node, time, ordinal as u32))
            // A decided node that never ended, in a bad document, is no row.
            .filter(|item| self.document.nodes[item.0 as usize].closed != NEVER)
            .collect();
        if in_document_order {
            items.sort_unstable();
        } else {
            items.sort_unstable_by_key(|&(node, time, _)| {
                let closed = self.document.nodes[node as usize].closed;
                (time.max(closed), time >= closed, node)
            });
        }
        items
    }

    /// Adds the row that describes a node.
    fn describe_node(&self, document: u32, node: u32, rows: &mut Rows) {
        let entry = &self.document.nodes[node as usize];
        let span = self.document.spans[node as usize];
        let kind = row_kind(self.document.paths[entry.path as usize].kind);
        let value = if matches!(kind, RowKind::Element | RowKind::Document) {
            &self.source[span.start as usize..span.end as usize]
        } else {
            self.document.value(node)
        };
        rows.value.bytes.extend_from_slice(value);
        let head = RowHead {
            document,
            subscription: 0,
            ordinal: 0,
            kind,
            span: Some((span.start, Some(span.end))),
            decided_at: 0,
            node: u64::from(node),
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

fn report_match(image: Image<'_>, tier: &Tier, question: u32, at: i64, matches: &mut Matches) {
    let mut push = |own: u32| {
        if let Some(subscription) = tier.number(own) {
            matches.push(subscription, at);
        }
    };
    match image.askers(Part::FilterAskers, question) {
        Askers::One(asker) => push(asker),
        Askers::Many(list) => list.iter().copied().for_each(push),
    }
}

/// What a caller wants of rows, and when it is for those who count.
#[derive(Clone, Copy)]
pub struct How {
    pub in_document_order: bool,
    pub now: u32,
}

/// Places in `Inverted::used`.
const FILTERS: usize = 0;
const QUERIES: usize = 1;
const NAMES_MAX: usize = 1 << 14;
/// By set of nodes: its list is not written yet, or has no nodes.
const UNWRITTEN: u32 = u32::MAX;
const NOTHING: u32 = u32::MAX - 1;

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
