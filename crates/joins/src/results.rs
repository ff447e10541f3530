//! Joined events, as columns.

use crate::plan::StageId;
use crate::record::{Node, Part, Record};
use crate::writer::hash_value;
use penstock_kernel::plan::SubscriptionId;
use rustc_hash::{FxHashMap, FxHashSet};

/// A node of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Kept {
    /// Which of the event's documents it is in.
    pub part: u32,
    /// Where it lies there.
    pub span: (u32, u32),
    /// Its text: a place in `texts`.
    pub text: u32,
    /// Its string value, likewise.
    pub value: u32,
}

/// An event, before its subscriptions are written out.
#[derive(Clone, Debug)]
struct Event {
    time: i64,
    parts: Vec<u32>,
    nodes: Vec<Kept>,
    ordinal: u64,
}

/// What a caller takes.
#[derive(Debug, Default)]
pub struct Results {
    /// (subscription, event): one result each.
    pub rows: Vec<(SubscriptionId, u32)>,
    events: Vec<Event>,
    /// Documents that events are made of: number, time, id.
    pub documents: Vec<(u64, i64, Vec<u8>)>,
    /// Texts and values of nodes, each once.
    pub texts: Vec<Vec<u8>>,
    document_numbers: FxHashMap<u64, u32>,
    text_numbers: FxHashMap<Vec<u8>, u32>,
    /// Events of chains by row, parts and nodes, and who has got each of them.
    chained: FxHashMap<(StageId, Vec<u32>, Vec<Kept>), u32>,
    delivered: FxHashSet<(u32, SubscriptionId)>,
    /// Results counted and not written, if only their number is asked for.
    pub counted: u64,
    /// Rows, by place, that stand for all that a subscription had beyond its bound.
    pub passed: Vec<u32>,
    is_counting: bool,
    /// How many rows a batch has, and how many bytes of texts.
    rows_max: usize,
    bytes_max: usize,
    bytes: usize,
    /// Whether there were too many; then they are to be written out in order.
    is_ordered: bool,
}

impl Results {
    /// No results. Batches have so many rows and bytes of texts; with `is_counting` rows will only
    /// be counted.
    pub fn new(rows_max: usize, bytes_max: usize, is_counting: bool) -> Self {
        Results {
            is_counting,
            rows_max: rows_max.max(1),
            bytes_max,
            ..Results::default()
        }
    }

    /// No results, with the same bounds.
    pub fn fresh(&self) -> Self {
        Results::new(self.rows_max, self.bytes_max, self.is_counting)
    }

    /// How many rows a batch has.
    pub fn rows_max(&self) -> usize {
        self.rows_max
    }

    /// Whether a batch is full.
    pub fn is_full(&self) -> bool {
        self.rows.len() >= self.rows_max || (self.bytes >= self.bytes_max && !self.rows.is_empty())
    }

    /// Whether there were more results than a batch has, so that they are to be written out in
    /// order.
    pub fn is_ordered(&self) -> bool {
        self.is_ordered
    }

    /// Whether results are only counted.
    pub fn is_counting(&self) -> bool {
        self.is_counting
    }

    /// Whether texts are too many to be held at once.
    pub fn is_over(&self) -> bool {
        self.bytes > self.bytes_max && self.rows.len() > 1
    }

    /// How many events for so many subscriptions there is room for.
    pub fn room(&self, subscriptions: usize) -> usize {
        if self.is_ordered {
            return 0;
        }
        (self.rows_max - self.rows.len()) / subscriptions
    }

    /// There are too many results: none is held, all are to be written out in order.
    pub fn overflow(&mut self) {
        *self = Results {
            is_ordered: true,
            ..self.fresh()
        };
    }

    /// The last row stands for all that its subscription has from there on.
    pub fn pass(&mut self) {
        self.passed.push(self.rows.len() as u32 - 1);
    }

    /// Cuts rows that are in order: no subscription has more than so many, and one that stands for
    /// the others.
    pub fn cut(&mut self, results_max: u64) {
        if self.rows.len() as u64 <= results_max {
            return;
        }
        let (mut kept, mut count, mut last) = (Vec::new(), 0, None);
        for &(subscription, event) in &self.rows {
            count = if last.replace(subscription) == Some(subscription) {
                count + 1
            } else {
                1
            };
            if count <= results_max + 1 {
                if count > results_max {
                    self.passed.push(kept.len() as u32);
                }
                kept.push((subscription, event));
            }
        }
        self.rows = kept;
    }

    /// How many results wait.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether none waits.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// How many events there are.
    pub fn event_count(&self) -> u32 {
        self.events.len() as u32
    }

    /// Adds an event for subscriptions. `nodes` come with the part that they are in. Partial
    /// matches of the same documents may lead to one event several times; where that can be, its
    /// row is given as `chained`, and each subscription gets the event once.
    pub fn add<'a>(
        &mut self,
        chained: Option<StageId>,
        subscriptions: impl Iterator<Item = SubscriptionId>,
        time: i64,
        parts: impl Iterator<Item = Part<'a>>,
        nodes: impl Iterator<Item = (u32, Node<'a>)>,
    ) {
        if self.is_counting {
            self.counted += subscriptions.count() as u64;
            return;
        }
        let parts: Vec<u32> = parts.map(|part| self.document(&part)).collect();
        let nodes: Vec<Kept> = nodes
            .map(|(part, node)| Kept {
                part,
                span: node.span,
                text: self.text(node.text.unwrap_or(b"")),
                value: self.text(node.value.unwrap_or(b"")),
            })
            .collect();
        let said = |node: &Kept| {
            let (text, value) = (node.text as usize, node.value as usize);
            self.texts[text].len() + self.texts[value].len()
        };
        let bytes: usize = nodes.iter().map(said).sum();
        let mut event = self.events.len() as u32;
        if let Some(row) = chained {
            let key = (row, parts.clone(), nodes.clone());
            event = *self.chained.entry(key).or_insert(event);
        }
        if event as usize == self.events.len() {
            let ordinal = self.ordinal(&parts, &nodes);
            self.events.push(Event {
                time,
                parts,
                nodes,
                ordinal,
            });
            self.counted += 1;
        }
        for subscription in subscriptions {
            if chained.is_none() || self.delivered.insert((event, subscription)) {
                self.rows.push((subscription, event));
                self.bytes += bytes;
            }
        }
    }

    fn document(&mut self, part: &Part<'_>) -> u32 {
        let next = self.documents.len() as u32;
        *self.document_numbers.entry(part.number).or_insert_with(|| {
            self.documents
                .push((part.number, part.time, part.id.to_vec()));
            next
        })
    }

    fn text(&mut self, text: &[u8]) -> u32 {
        if let Some(&number) = self.text_numbers.get(text) {
            return number;
        }
        self.texts.push(text.to_vec());
        self.text_numbers
            .insert(text.to_vec(), self.texts.len() as u32 - 1);
        self.texts.len() as u32 - 1
    }

    fn ordinal(&self, parts: &[u32], nodes: &[Kept]) -> u64 {
        let ids = parts
            .iter()
            .map(|&part| self.documents[part as usize].2.as_slice());
        let nodes = nodes
            .iter()
            .map(|node| [node.part, node.span.0, node.span.1]);
        ordinal_of(ids, nodes)
    }

    /// The event's time.
    pub fn time(&self, event: u32) -> i64 {
        self.events[event as usize].time
    }

    /// The event's documents, in block order: places in `documents`.
    pub fn parts(&self, event: u32) -> &[u32] {
        &self.events[event as usize].parts
    }

    /// The event's nodes, in the order of what is kept.
    pub fn nodes(&self, event: u32) -> &[Kept] {
        &self.events[event as usize].nodes
    }

    /// What tells the event from others of its subscription.
    pub fn number(&self, event: u32) -> u64 {
        self.events[event as usize].ordinal
    }

    /// Orders rows by subscription, time, documents and nodes: no trace of how they were found.
    pub fn sort(&mut self) {
        let mut rows = std::mem::take(&mut self.rows);
        let id = |part: &u32| self.documents[*part as usize].2.as_slice();
        let spans = |node: &Kept| (node.part, node.span);
        rows.sort_by(|one, two| {
            let events = [one, two].map(|row| &self.events[row.1 as usize]);
            let [first, second] = events;
            one.0
                .cmp(&two.0)
                .then_with(|| first.time.cmp(&second.time))
                .then_with(|| first.parts.iter().map(id).cmp(second.parts.iter().map(id)))
                .then_with(|| {
                    first
                        .nodes
                        .iter()
                        .map(spans)
                        .cmp(second.nodes.iter().map(spans))
                })
        });
        self.rows = rows;
    }
}

/// A number that tells an event from all others of its subscription. It is made of the ids of its
/// documents and of its nodes (place of the document, range) alone, so it is the same in whatever
/// order documents arrive, and whoever joins them.
pub fn ordinal_of<'a>(
    ids: impl Iterator<Item = &'a [u8]>,
    nodes: impl Iterator<Item = [u32; 3]>,
) -> u64 {
    let mut bytes = Vec::new();
    for id in ids {
        bytes.extend_from_slice(&(id.len() as u32).to_le_bytes());
        bytes.extend_from_slice(id);
    }
    for word in nodes.flatten() {
        bytes.extend_from_slice(&word.to_le_bytes());
    }
    hash_value(&bytes) >> 1
}

/// The parts of two records together, left before right.
pub fn parts_of<'a>(left: Record<'a>, right: Option<Record<'a>>) -> impl Iterator<Item = Part<'a>> {
    left.parts()
        .chain(right.into_iter().flat_map(|right| right.parts()))
}
