//! What becomes of bindings: results, or partial matches that are joined again.

use crate::absence::Absent;
use crate::bindings::Search;
use crate::plan::{Plan, StageId};
use crate::record::Record;
use crate::results::{Results, parts_of};
use crate::store::Store;
use crate::writer::Writer;

/// Where what was found goes.
pub struct Sink<'a> {
    pub plan: &'a Plan,
    pub results: &'a mut Results,
    pub partials: &'a mut Vec<Vec<u32>>,
}

impl Sink<'_> {
    /// Hands on what a record gives by itself.
    pub fn emit_alone(&mut self, record: &Record<'_>) {
        let mut tuples = Vec::new();
        for number in self.plan.woken_by(record) {
            let stage = self.plan.stage(number);
            let search = Search {
                shape: &stage.shape,
                variables: &stage.variables,
                left: *record,
                right: *record,
            };
            tuples.clear();
            if search.shape.kind.is_none() && search.kept(&mut tuples) {
                self.emit(number, &search, None, &tuples, &|_| true);
            }
        }
    }

    /// Hands on what of a record found no partner at a stage.
    pub fn let_go(&mut self, store: &Store, number: StageId, left: Record<'_>) {
        let stage = self.plan.stage(number);
        let waiting = Absent {
            store,
            shape: &stage.shape,
            stage,
            left,
        };
        for since in waiting.versions() {
            if let Some(tuples) = waiting.survivors(since) {
                let search = waiting.search(left);
                self.emit(number, &search, None, &tuples, &|version| version == since);
            }
        }
    }

    /// Hands on the tuples of kept nodes of a stage: as results, or as partial matches.
    pub fn emit(
        &mut self,
        number: StageId,
        search: &Search<'_>,
        right: Option<Record<'_>>,
        tuples: &[u32],
        admits: &dyn Fn(u32) -> bool,
    ) {
        let stage = self.plan.stage(number);
        let (left, kept) = (search.left, &search.shape.kept);
        let version = right.map_or(left.version(), |right| right.version().min(left.version()));
        let time = right.map_or(left.time(), |right| right.time().max(left.time()));
        let seen = || {
            let seen = stage
                .subscriptions
                .iter()
                .filter(|(_, since)| *since <= version && admits(*since));
            seen.map(|&(subscription, _)| subscription)
        };
        if seen().next().is_none() {
            return;
        }
        let shift = left.parts_count() as u32;
        let node = |(&slot, &node): (&u32, &u32)| match right {
            Some(right) if slot >= search.shape.left_count => {
                let node = right.node(node);
                (shift + node.part, node)
            }
            _ => {
                let node = left.node(node);
                (node.part, node)
            }
        };
        let width = kept.len().max(1);
        let once = [0];
        let tuples = if kept.is_empty() { &once } else { tuples };
        for tuple in tuples.chunks_exact(width) {
            let nodes = kept.iter().zip(tuple).map(node);
            if stage.is_last() {
                let chained = left.is_partial().then_some(number);
                let parts = parts_of(left, right);
                self.results.add(chained, seen(), time, parts, nodes);
            } else {
                let mut writer = Writer::new(time, version);
                for part in parts_of(left, right) {
                    writer.part(&part);
                }
                let itself = writer.node(0, (0, 0), None, None);
                writer.bind(stage.output[0], itself);
                for ((part, node), &variable) in nodes.zip(&stage.output[1..]) {
                    let copy = writer.copy(part, &node);
                    writer.bind(variable, copy);
                }
                self.partials.push(writer.finish_partial());
            }
        }
    }
}
