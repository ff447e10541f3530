//! XPaSS: queries cut into segments, pairs of labels with the axis between them, and evaluated
//! all at once by operations on sets of query numbers (chapter 8 of the thesis).
//!
//! `Out`, `In`, `Part` and `Pending` are the sets of the thesis. It clears `Pending` by the queries
//! that a descendant matches from the inside and from the outside. Here the inside is enough: the
//! outside is asked for again at the element itself, and only so is `In` a function of the subtree
//! type, as its memoisation demands.

use super::bitmap::Bitmap;
use super::labels::{Label, LabelFacts, ROOT, Segment, build_labels};
use super::query::{Axis, NameId, Queries};
use super::reader::Matcher;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// The tables of earlier results are emptied between documents when they are larger than this.
const MEMO_BYTES_MAX: usize = 256 << 20;

/// `Out` of an element, label by label, and the segments that it waits for. Both depend only on
/// the names from the root to it: its prefix.
struct Outer<B> {
    out: Vec<(Label, B)>,
    pending: Vec<Rc<Segment<B>>>,
}

impl<B> Outer<B> {
    fn out(&self, label: Label) -> Option<&B> {
        let found = self.out.iter().find(|entry| entry.0 == label);
        found.map(|entry| &entry.1)
    }
}

/// `Part` of an element, and the queries whose result it may be.
struct Matched<B> {
    part: Vec<(Label, B)>,
    output: Vec<(Label, B)>,
}

/// A possible result and the queries that it may be a result of.
struct Item<B> {
    element: u32,
    candidates: B,
}

/// An open element.
struct Frame<B> {
    name: NameId,
    element: u32,
    prefix: u32,
    outer: Rc<Outer<B>>,
    /// `Pending` of the segments in `outer.pending`; None is as at the start.
    pending: Vec<Option<B>>,
    buffers: Vec<(Label, Vec<Item<B>>)>,
    child_types: Vec<u32>,
}

/// Results of earlier elements.
struct Memo<B> {
    prefixes: FxHashMap<(u32, NameId), u32>,
    by_prefix: FxHashMap<u32, Rc<Outer<B>>>,
    types: FxHashMap<(NameId, Box<[u32]>), u32>,
    by_type: FxHashMap<u32, Rc<[B]>>,
    by_both: FxHashMap<(u32, u32), Rc<Matched<B>>>,
    bytes: usize,
}

impl<B> Default for Memo<B> {
    fn default() -> Self {
        Memo {
            prefixes: FxHashMap::default(),
            by_prefix: FxHashMap::default(),
            types: FxHashMap::default(),
            by_type: FxHashMap::default(),
            by_both: FxHashMap::default(),
            bytes: 0,
        }
    }
}

pub struct Segments<B> {
    labels: Vec<LabelFacts<B>>,
    /// The labels that a name matches, wildcards included; those of unknown names at 0.
    labels_of: Vec<Box<[Label]>>,
    is_query: bool,
    memo: Memo<B>,
    frames: Vec<Frame<B>>,
    results: Vec<Item<B>>,
}

impl<B: Bitmap> Segments<B> {
    pub fn build(queries: &Queries, is_query: bool) -> Self {
        let labels = build_labels(queries);
        let labels_of = (0..=queries.names.len() as NameId)
            .map(|name| {
                let matching = labels.iter().enumerate().skip(1);
                let matching = matching.filter(|(_, l)| l.name.is_none() || l.name == Some(name));
                matching.map(|(label, _)| label).collect()
            })
            .collect();
        Segments {
            labels,
            labels_of,
            is_query,
            memo: Memo::default(),
            frames: Vec::new(),
            results: Vec::new(),
        }
    }

    fn outer(&mut self, name: NameId) -> Outer<B> {
        let mut outer = Outer {
            out: Vec::new(),
            pending: Vec::new(),
        };
        for &label in &self.labels_of[name as usize] {
            let mut out: Option<B> = None;
            for segment in &self.labels[label].incoming {
                for above in above(&self.frames, segment.axis) {
                    if let Some(reached) = above.outer.out(segment.above) {
                        merge(&mut out, segment.queries.and(reached));
                    }
                }
            }
            outer.out.extend(out.map(|out| (label, out)));
            let branches = &self.labels[label].branches;
            outer.pending.extend(branches.iter().cloned());
        }
        outer
    }

    /// `In` of an element that ends, for each label that its name matches.
    fn inner(&self, frame: &Frame<B>) -> Rc<[B]> {
        let labels = &self.labels_of[frame.name as usize];
        let inner = labels.iter().map(|&label| {
            let mut inner = self.labels[label].all.clone();
            for (segment, pending) in frame.outer.pending.iter().zip(&frame.pending) {
                if segment.above == label {
                    inner.remove(pending.as_ref().unwrap_or(&segment.queries));
                }
            }
            inner
        });
        inner.collect()
    }

    fn matched(&self, frame: &Frame<B>, inner: &[B]) -> Matched<B> {
        let labels = &self.labels_of[frame.name as usize];
        let mut matched = Matched {
            part: Vec::new(),
            output: Vec::new(),
        };
        for (&label, inner) in labels.iter().zip(inner) {
            let Some(out) = frame.outer.out(label) else {
                continue;
            };
            let facts = &self.labels[label];
            let part = out.and(inner).and(&facts.trunk);
            if part.is_empty() {
                continue;
            }
            let output = part.and(&facts.output);
            if !output.is_empty() {
                matched.output.push((label, output));
            }
            matched.part.push((label, part));
        }
        matched
    }

    /// Takes what an element satisfies out of what the elements around it wait for.
    fn clear_pending(&mut self, name: NameId, inner: &[B]) {
        let labels = &self.labels_of[name as usize];
        let parent = self.frames.len() - 1;
        for (place, frame) in self.frames.iter_mut().enumerate() {
            for (segment, pending) in frame.outer.pending.iter().zip(&mut frame.pending) {
                if segment.axis == Axis::Child && place < parent {
                    continue;
                }
                if let Ok(found) = labels.binary_search(&segment.below) {
                    let pending = pending.get_or_insert_with(|| segment.queries.clone());
                    pending.remove(&inner[found]);
                }
            }
        }
    }

    /// Moves possible results to the elements around, or out of the document's root.
    fn move_buffers(&mut self, buffers: &[(Label, Vec<Item<B>>)], matched: &Matched<B>) {
        let parent = self.frames.len() - 1;
        for (label, items) in buffers {
            let Some((_, part)) = matched.part.iter().find(|entry| entry.0 == *label) else {
                continue;
            };
            for segment in &self.labels[*label].incoming {
                let first = if segment.axis == Axis::Child {
                    parent
                } else {
                    0
                };
                for frame in &mut self.frames[first..] {
                    let Some(out) = frame.outer.out(segment.above) else {
                        continue;
                    };
                    let passing = out.and(&segment.queries).and(part);
                    if passing.is_empty() {
                        continue;
                    }
                    let moved = items.iter().map(|item| Item {
                        element: item.element,
                        candidates: item.candidates.and(&passing),
                    });
                    let moved = moved.filter(|item| !item.candidates.is_empty());
                    if segment.above == ROOT {
                        moved.for_each(|item| add(&mut self.results, item));
                    } else {
                        let buffer = buffer_of(&mut frame.buffers, segment.above);
                        moved.for_each(|item| add(buffer, item));
                    }
                }
            }
        }
    }
}

impl<B: Bitmap> Matcher for Segments<B> {
    fn begin(&mut self) {
        if self.memo.bytes > MEMO_BYTES_MAX {
            self.forget();
        }
        self.results.clear();
        self.frames.clear();
        let root = Outer {
            out: vec![(ROOT, self.labels[ROOT].all.clone())],
            pending: Vec::new(),
        };
        self.frames.push(Frame {
            name: 0,
            element: u32::MAX,
            prefix: 0,
            outer: Rc::new(root),
            pending: Vec::new(),
            buffers: Vec::new(),
            child_types: Vec::new(),
        });
    }

    fn start(&mut self, name: NameId, element: u32, _found: &mut Vec<u32>) {
        let above = self.frames.last().map_or(0, |frame| frame.prefix);
        let next = self.memo.prefixes.len() as u32 + 1;
        let prefix = *self.memo.prefixes.entry((above, name)).or_insert(next);
        let outer = match self.memo.by_prefix.get(&prefix) {
            Some(outer) => outer.clone(),
            None => {
                let outer = Rc::new(self.outer(name));
                self.memo.bytes += outer.out.iter().map(|entry| entry.1.bytes()).sum::<usize>();
                self.memo.by_prefix.insert(prefix, outer.clone());
                outer
            }
        };
        self.frames.push(Frame {
            name,
            element,
            prefix,
            pending: vec![None; outer.pending.len()],
            outer,
            buffers: Vec::new(),
            child_types: Vec::new(),
        });
    }

    fn end(&mut self, _found: &mut Vec<u32>) {
        let Some(mut frame) = self.frames.pop() else {
            return;
        };
        frame.child_types.sort_unstable();
        frame.child_types.dedup();
        let children = std::mem::take(&mut frame.child_types).into_boxed_slice();
        let next = self.memo.types.len() as u32;
        let kind = *self
            .memo
            .types
            .entry((frame.name, children))
            .or_insert(next);
        let inner = match self.memo.by_type.get(&kind) {
            Some(inner) => inner.clone(),
            None => {
                let inner = self.inner(&frame);
                self.memo.bytes += inner.iter().map(B::bytes).sum::<usize>();
                self.memo.by_type.insert(kind, inner.clone());
                inner
            }
        };
        let key = (frame.prefix, kind);
        let matched = match self.memo.by_both.get(&key) {
            Some(matched) => matched.clone(),
            None => {
                let matched = Rc::new(self.matched(&frame, &inner));
                let sets = matched.part.iter().chain(&matched.output);
                self.memo.bytes += sets.map(|entry| entry.1.bytes()).sum::<usize>();
                self.memo.by_both.insert(key, matched.clone());
                matched
            }
        };
        for (label, output) in &matched.output {
            let item = Item {
                element: frame.element,
                candidates: output.clone(),
            };
            add(buffer_of(&mut frame.buffers, *label), item);
        }
        self.clear_pending(frame.name, &inner);
        self.move_buffers(&frame.buffers, &matched);
        if let Some(parent) = self.frames.last_mut() {
            parent.child_types.push(kind);
        }
    }

    fn finish(&mut self, found: &mut Vec<u32>) {
        if self.is_query {
            for item in &self.results {
                item.candidates
                    .for_each(|query| found.extend([item.element, query]));
            }
            return;
        }
        let mut all: Option<B> = None;
        for item in self.results.drain(..) {
            merge(&mut all, item.candidates);
        }
        if let Some(all) = all {
            all.for_each(|query| found.push(query));
        }
    }

    fn forget(&mut self) {
        self.memo = Memo::default();
    }
}

/// The open elements that a step's axis may lead from.
fn above<B>(frames: &[Frame<B>], axis: Axis) -> &[Frame<B>] {
    match axis {
        Axis::Child => &frames[frames.len() - 1..],
        Axis::Descendant => frames,
    }
}

/// Adds to a set; one that is empty stays None.
fn merge<B: Bitmap>(set: &mut Option<B>, more: B) {
    match set {
        Some(set) => set.or_with(&more),
        None if more.is_empty() => {}
        None => *set = Some(more),
    }
}

fn buffer_of<B>(buffers: &mut Vec<(Label, Vec<Item<B>>)>, label: Label) -> &mut Vec<Item<B>> {
    let known = buffers.iter().position(|entry| entry.0 == label);
    let place = known.unwrap_or_else(|| {
        buffers.push((label, Vec::new()));
        buffers.len() - 1
    });
    &mut buffers[place].1
}

/// Adds a possible result; one that is there already gets more queries.
fn add<B: Bitmap>(items: &mut Vec<Item<B>>, item: Item<B>) {
    // An element's ways out of the document end with it, one after the other.
    match items
        .iter_mut()
        .rev()
        .find(|known| known.element == item.element)
    {
        Some(known) => known.candidates.or_with(&item.candidates),
        None => items.push(item),
    }
}
