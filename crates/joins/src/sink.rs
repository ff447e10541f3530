//! What becomes of bindings: results, or partial matches that are joined again.

use crate::absence::Absent;
use crate::bindings::Search;
use crate::finding::Other;
use crate::findings::{Finding, Findings, Records, With, time_of, version_of};
use crate::meter::Meter;
use crate::plan::{Plan, Stage, StageId};
use crate::record::Record;
use crate::results::{Results, parts_of};
use crate::store::Store;
use crate::writer::Writer;
use penstock_kernel::plan::SubscriptionId;

/// Where what was found goes. Results are written at once as long as they fit into a batch; what
/// they are made of is noted in any case.
pub struct Sink<'a> {
    pub plan: &'a Plan,
    pub meter: &'a Meter,
    pub results: &'a mut Results,
    pub findings: &'a mut Findings,
    pub partials: &'a mut Vec<Box<[u32]>>,
    /// The number of the record that is joined.
    pub own: u32,
    pub tuples: Vec<u32>,
}

/// Appends tuples, or more than so many of them where there are more; says whether there is any.
type Fill<'f> = dyn Fn(&mut Vec<u32>, usize) -> bool + 'f;

impl Sink<'_> {
    /// Hands on what a row gives in two records.
    pub fn emit_pair(&mut self, row: StageId, left: Record<'_>, right: Record<'_>, other: Other) {
        let stage = self.plan.stage(row);
        let search = Search {
            shape: &stage.shape,
            variables: &stage.variables,
            left,
            right,
            meter: self.meter,
        };
        let fill = |tuples: &mut Vec<u32>, most: usize| search.kept(tuples, most);
        self.emit(row, (left, Some(right)), With::Other(other), &fill);
    }

    /// Hands on what a record gives by itself.
    pub fn emit_alone(&mut self, record: &Record<'_>) {
        for number in self.plan.woken_by(record) {
            let stage = self.plan.stage(number);
            let search = Search {
                shape: &stage.shape,
                variables: &stage.variables,
                left: *record,
                right: *record,
                meter: self.meter,
            };
            if search.shape.kind.is_none() {
                let fill = |tuples: &mut Vec<u32>, most: usize| search.kept(tuples, most);
                self.emit(number, (*record, None), With::Alone, &fill);
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
            meter: self.meter,
        };
        for since in waiting.versions() {
            let met = waiting.partnered(since);
            let fill =
                |tuples: &mut Vec<u32>, most: usize| waiting.survivors(&met, None, tuples, most);
            self.emit(number, (left, None), With::Nobody(since), &fill);
        }
    }

    /// Hands on the tuples of kept nodes of a stage: as results, or as partial matches.
    fn emit(&mut self, row: StageId, records: Records<'_>, with: With, fill: &Fill<'_>) {
        let stage = self.plan.stage(row);
        let mut seen = seen_by(stage, with, version_of(records));
        let is_written = stage.is_last() && !self.results.is_counting();
        let tuples_max = if is_written {
            match seen.count() {
                0 => return,
                count => self.results.room(count),
            }
        } else if seen.next().is_none() {
            return;
        } else {
            usize::MAX
        };
        self.tuples.clear();
        if !fill(&mut self.tuples, tuples_max) {
            return;
        }
        if is_written {
            let own = self.own;
            self.findings.list.push(Finding { row, own, with });
            let count = self.tuples.len() / stage.shape.kept.len().max(1);
            if tuples_max == 0 || count > tuples_max {
                self.results.overflow();
                return;
            }
        }
        self.write(row, records, with);
    }

    /// Writes the tuples at hand.
    fn write(&mut self, row: StageId, (left, right): Records<'_>, with: With) {
        let stage = self.plan.stage(row);
        let kept = &stage.shape.kept;
        let (time, version) = (time_of((left, right)), version_of((left, right)));
        let shift = left.parts_count() as u32;
        let node = |(&slot, &node): (&u32, &u32)| match right {
            Some(right) if slot >= stage.shape.left_count => {
                let node = right.node(node);
                (shift + node.part, node)
            }
            _ => {
                let node = left.node(node);
                (node.part, node)
            }
        };
        let once = [0];
        let tuples = if kept.is_empty() {
            &once[..]
        } else {
            &self.tuples[..]
        };
        for tuple in tuples.chunks_exact(kept.len().max(1)) {
            let nodes = kept.iter().zip(tuple).map(node);
            if stage.is_last() {
                let chained = left.is_partial().then_some(row);
                let seen = seen_by(stage, with, version);
                let parts = parts_of(left, right);
                self.results.add(chained, seen, time, parts, nodes);
                if self.results.is_over() {
                    self.results.overflow();
                    return;
                }
            } else {
                self.meter.spend(1);
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
                self.partials.push(writer.finish_partial().into());
            }
        }
    }
}

/// The subscriptions of a stage that see records of a version, with what they hold.
fn seen_by(stage: &Stage, with: With, version: u32) -> impl Iterator<Item = SubscriptionId> + '_ {
    let admits = move |since: u32| match with {
        With::Nobody(own) => since == own,
        _ => since <= version,
    };
    let seen = stage.subscriptions.iter().filter(move |one| admits(one.1));
    seen.map(|one| one.0)
}
