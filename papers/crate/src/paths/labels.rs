//! The segment table of XPaSS: for each label the queries that have it, and for each pair of labels
//! the queries in which one follows the other.

use super::bitmap::Bitmap;
use super::query::{Axis, NameId, Queries};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// A label: the n-th node of one name in a query, so that a query has each label once.
pub type Label = usize;

pub const ROOT: Label = 0;
/// Two labels, the axis between them, and the queries that have them so.
pub struct Segment<B> {
    pub above: Label,
    pub below: Label,
    pub axis: Axis,
    pub queries: B,
}

pub struct LabelFacts<B> {
    pub name: Option<NameId>,
    pub all: B,
    pub trunk: B,
    pub output: B,
    /// The segments that end here, and those of nested paths that begin here.
    pub incoming: Vec<Rc<Segment<B>>>,
    pub branches: Vec<Rc<Segment<B>>>,
}

#[derive(Default)]
struct Members {
    all: Vec<u32>,
    trunk: Vec<u32>,
    output: Vec<u32>,
}

/// Builds the segment table.
pub fn build_labels<B: Bitmap>(queries: &Queries) -> Vec<LabelFacts<B>> {
    let count = queries.queries.len();
    let mut members: Vec<(Option<NameId>, Members)> = vec![(None, Members::default())];
    let mut known: FxHashMap<(Option<NameId>, u32), Label> = FxHashMap::default();
    let mut segments: FxHashMap<(Label, Label, Axis, bool), Vec<u32>> = FxHashMap::default();
    for (number, query) in queries.queries.iter().enumerate() {
        let number = number as u32;
        let mut used: FxHashMap<Option<NameId>, u32> = FxHashMap::default();
        let mut labels: Vec<Label> = Vec::with_capacity(query.steps.len());
        for (place, step) in query.steps.iter().enumerate() {
            let occurrence = used.entry(step.name).or_default();
            let label = *known
                .entry((step.name, *occurrence))
                .or_insert(members.len());
            *occurrence += 1;
            if label == members.len() {
                members.push((step.name, Members::default()));
            }
            let sets = &mut members[label].1;
            sets.all.push(number);
            if step.is_trunk {
                sets.trunk.push(number);
            }
            if place == query.output {
                sets.output.push(number);
            }
            let above = step.parent.map_or(ROOT, |parent| labels[parent]);
            let key = (above, label, step.axis, step.is_trunk);
            segments.entry(key).or_default().push(number);
            labels.push(label);
        }
    }
    members[ROOT].1.all = (0..count as u32).collect();
    let facts = members.into_iter().map(|(name, sets)| LabelFacts {
        name,
        all: B::of(&sets.all, count),
        trunk: B::of(&sets.trunk, count),
        output: B::of(&sets.output, count),
        incoming: Vec::new(),
        branches: Vec::new(),
    });
    let mut facts: Vec<LabelFacts<B>> = facts.collect();
    for ((above, below, axis, is_trunk), queries) in segments {
        let queries = B::of(&queries, count);
        let segment = Rc::new(Segment {
            above,
            below,
            axis,
            queries,
        });
        // Nobody asks where a nested path was reached from: only whether it is there.
        if is_trunk {
            facts[below].incoming.push(segment);
        } else {
            facts[above].branches.push(segment);
        }
    }
    facts
}
