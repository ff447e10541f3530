//! MMQJP, algorithm 1: one conjunctive query for each template, RT as an index over its rows.

use penstock_joins::finding::{
    Finder, Found, Meter, Other, Place, Seen, Store, admits, is_overlapping, key_of, times,
};
use penstock_joins::plan::{Plan, StageId};
use penstock_joins::record::Record;
use rustc_hash::FxHashMap;

/// The left and the right record, and which of them was there before.
pub type Pair<'r> = (Record<'r>, Record<'r>, Other);

/// Variables on the left and on the right with a value in common.
pub type Met = Vec<(u32, u32)>;

/// The rows of one template: its value joins, one after the other, lead to them.
#[derive(Default)]
struct Template {
    /// (rows that agree so far, left variable, right variable) to the rows that agree further.
    next: FxHashMap<(u32, u32, u32), u32>,
    /// The rows at the end of each way.
    rows: Vec<Vec<StageId>>,
    /// For each variable the variables that it is joined with, on the left and on the right.
    lefts: FxHashMap<u32, Vec<u32>>,
    rights: FxHashMap<u32, Vec<u32>>,
    distances: (i64, i64),
}

/// All templates.
#[derive(Default)]
pub struct Templates {
    templates: Vec<Template>,
    seen: Seen,
}

impl Templates {
    /// Groups the rows of a plan by template.
    pub fn of(plan: &Plan) -> Templates {
        let mut templates: Vec<Template> = Vec::new();
        let mut numbers = FxHashMap::default();
        for (row, stage) in plan.positive() {
            let number = *numbers.entry(stage.template).or_insert_with(|| {
                templates.push(Template {
                    rows: vec![Vec::new()],
                    distances: (i64::MAX, i64::MIN),
                    ..Template::default()
                });
                templates.len() - 1
            });
            let pairs: Vec<(u32, u32)> = stage.joined_pairs().collect();
            templates[number].add(row, &pairs, stage.distances);
        }
        Templates {
            templates,
            seen: Seen::default(),
        }
    }

    /// The conjunctive queries of all templates over what two records have in common.
    pub fn query<'r>(&self, plan: &Plan, met: &Met, pair: Pair<'r>, found: &mut Found<'_, 'r>) {
        for template in &self.templates {
            template.query(plan, met, pair, found);
        }
    }

    /// The least and the largest distance in time that some row admits.
    pub fn distances(&self) -> (i64, i64) {
        let all = self.templates.iter().map(|template| template.distances);
        all.reduce(|one, two| (one.0.min(two.0), one.1.max(two.1)))
            .unwrap_or((0, -1))
    }
}

impl Finder for Templates {
    fn refresh(&mut self, plan: &Plan) {
        *self = Templates::of(plan);
    }

    fn find<'r>(
        &mut self,
        plan: &Plan,
        store: &'r Store,
        record: &Record<'r>,
        meter: &Meter,
        found: &mut Found<'_, 'r>,
    ) {
        let (mut places, mut met) = (Vec::new(), Met::new());
        for template in &self.templates {
            for is_right in [true, false] {
                template.collect(store, record, is_right, &mut self.seen, &mut places);
                meter.spend((record.entry_count() + places.len()) as u64);
                for (place, other) in places
                    .iter()
                    .filter_map(|&at| Some((at, store.record(at)?)))
                {
                    let (left, right) = if is_right {
                        (other, *record)
                    } else {
                        (*record, other)
                    };
                    if !is_overlapping(&left, &right) {
                        // Nothing is shared between templates: each joins the values anew.
                        join_values(&left, &right, &mut met, meter);
                        let is_left = is_right;
                        let pair = (left, right, Other { place, is_left });
                        template.query(plan, &met, pair, found);
                    }
                }
            }
        }
    }
}

impl Template {
    fn add(&mut self, row: StageId, pairs: &[(u32, u32)], distances: (i64, i64)) {
        let mut at = 0;
        for &(left, right) in pairs {
            let fresh = self.rows.len() as u32;
            at = *self.next.entry((at, left, right)).or_insert(fresh);
            if at == fresh {
                self.rows.push(Vec::new());
            }
            for (map, key, value) in [
                (&mut self.lefts, right, left),
                (&mut self.rights, left, right),
            ] {
                let values: &mut Vec<u32> = map.entry(key).or_default();
                if !values.contains(&value) {
                    values.push(value);
                }
            }
        }
        self.rows[at as usize].push(row);
        self.distances = (
            self.distances.0.min(distances.0),
            self.distances.1.max(distances.1),
        );
    }

    /// The records that have some value in common with a record at variables that are joined.
    fn collect(
        &self,
        store: &Store,
        record: &Record<'_>,
        is_right: bool,
        seen: &mut Seen,
        places: &mut Vec<Place>,
    ) {
        places.clear();
        seen.begin(store.head.places());
        let others = if is_right { &self.lefts } else { &self.rights };
        let (from, to) = times(record.time(), self.distances, is_right);
        for entry in record.entries() {
            for &other in others.get(&entry.variable).map_or(&[][..], Vec::as_slice) {
                store.find(key_of(other, entry.hash), from, to, &mut |place| {
                    if seen.insert(place) {
                        places.push(place);
                    }
                });
            }
        }
    }

    fn query<'r>(&self, plan: &Plan, met: &Met, pair: Pair<'r>, found: &mut Found<'_, 'r>) {
        self.query_from(0, plan, met, pair, found);
    }

    fn query_from<'r>(
        &self,
        at: u32,
        plan: &Plan,
        met: &Met,
        pair: Pair<'r>,
        found: &mut Found<'_, 'r>,
    ) {
        for &row in &self.rows[at as usize] {
            if admits(plan.stage(row), &pair.0, &pair.1) {
                found(row, pair.0, pair.1, pair.2);
            }
        }
        for &(left, right) in met {
            if let Some(&next) = self.next.get(&(at, left, right)) {
                self.query_from(next, plan, met, pair, found);
            }
        }
    }
}

/// Joins the values of two records.
pub fn join_values(left: &Record<'_>, right: &Record<'_>, met: &mut Met, meter: &Meter) {
    met.clear();
    let mut from = 0;
    for entry in left.entries() {
        while from < right.entry_count() && right.entry(from).hash < entry.hash {
            from += 1;
        }
        let others = (from..right.entry_count()).map(|at| right.entry(at));
        for other in others.take_while(|other| other.hash == entry.hash) {
            meter.spend(1);
            if left.has_equal_value(entry.node, right, other.node) {
                let pair = (entry.variable, other.variable);
                // Nodes of one value follow each other, so that most repeated pairs do as well.
                if met.last() != Some(&pair) {
                    met.push(pair);
                }
            }
        }
    }
    met.sort_unstable();
    met.dedup();
}
