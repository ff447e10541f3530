//! One row after the other: each probes the values of its first value join.

use penstock_joins::finding::{
    Finder, Found, Meter, Other, Place, Store, admits, is_overlapping, key_of, times,
};
use penstock_joins::plan::{Plan, Stage, StageId};
use penstock_joins::record::Record;

/// All rows, each of which is looked at for every record.
#[derive(Default)]
pub struct Sequential {
    rows: Vec<StageId>,
}

impl Finder for Sequential {
    fn refresh(&mut self, plan: &Plan) {
        self.rows = plan.positive().map(|row| row.0).collect();
    }

    /// Finds rows for a record as the right side, then as the left side of each.
    fn find<'r>(
        &mut self,
        plan: &Plan,
        store: &'r Store,
        record: &Record<'r>,
        meter: &Meter,
        found: &mut Found<'_, 'r>,
    ) {
        let mut places: Vec<Place> = Vec::new();
        for &row in &self.rows {
            let stage = plan.stage(row);
            let (left, right) = stage.shape.joins[0];
            let (left, right) = (
                stage.variables[left as usize],
                stage.variables[right as usize],
            );
            for (is_left, own) in [(true, (right, left)), (false, (left, right))] {
                probe(store, record, stage, own, is_left, &mut places);
                meter.spend(1 + places.len() as u64);
                let places = places.iter();
                for (place, other) in places.filter_map(|&at| Some((at, store.record(at)?))) {
                    let (left, right) = if is_left {
                        (other, *record)
                    } else {
                        (*record, other)
                    };
                    if admits(stage, &left, &right) && !is_overlapping(&left, &right) {
                        found(row, left, right, Other { place, is_left });
                    }
                }
            }
        }
    }
}

/// The records that have a value of the record's variable at the other one.
fn probe(
    store: &Store,
    record: &Record<'_>,
    stage: &Stage,
    (own, other): (u32, u32),
    is_right: bool,
    places: &mut Vec<Place>,
) {
    places.clear();
    let (from, to) = times(record.time(), stage.distances, is_right);
    let nodes = record.nodes_of(own);
    for node in nodes.iter() {
        store.find(
            key_of(other, record.node(node).hash),
            from,
            to,
            &mut |place| {
                if nodes.len() == 1 || !places.contains(&place) {
                    places.push(place);
                }
            },
        );
    }
}
