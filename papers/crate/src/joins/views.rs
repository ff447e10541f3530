//! MMQJP with view materialisation: RL and RR once for all templates, slices of RL cached by value.

use super::mmqjp::{Met, Templates};
use penstock_joins::finding::{
    Finder, Found, Meter, Other, Place, Store, is_overlapping, key_of, times,
};
use penstock_joins::plan::Plan;
use penstock_joins::record::Record;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// A slice of RL: records with a value, and the variable and node that have it.
type View = Vec<(Place, u32, u32)>;

/// Slices of RL by value, the least recently used one given up first (algorithm 5).
pub struct Views {
    templates: Templates,
    slices: FxHashMap<u64, (u64, View)>,
    used: BTreeMap<u64, u64>,
    clock: u64,
    views_max: usize,
}

impl Views {
    /// A cache of so many slices.
    pub fn new(views_max: usize) -> Self {
        Views {
            templates: Templates::default(),
            slices: FxHashMap::default(),
            used: BTreeMap::new(),
            clock: 0,
            views_max: views_max.max(1),
        }
    }

    /// Sees to it that the slice of a value is there.
    fn materialise(&mut self, plan: &Plan, store: &Store, hash: u64) {
        self.clock += 1;
        if let Some((used, _)) = self.slices.get_mut(&hash) {
            self.used.remove(used);
            *used = self.clock;
        } else {
            let mut view = View::new();
            for variable in 0..plan.variable_count() as u32 {
                store.find(key_of(variable, hash), i64::MIN, i64::MAX, &mut |place| {
                    add_entries(&mut view, store, place, hash, Some(variable));
                });
            }
            view.sort_unstable_by_key(|&(place, variable, node)| (key(place), variable, node));
            view.dedup();
            self.slices.insert(hash, (self.clock, view));
        }
        self.used.insert(self.clock, hash);
        // The slices of the record at hand are the youngest, and there are fewer than the bound.
        while self.slices.len() > self.views_max
            && let Some((_, oldest)) = self.used.pop_first()
            && oldest != hash
        {
            self.slices.remove(&oldest);
        }
    }
}

impl Finder for Views {
    fn refresh(&mut self, plan: &Plan) {
        self.templates = Templates::of(plan);
        self.forget();
    }

    /// Drops everything.
    fn forget(&mut self) {
        self.slices.clear();
        self.used.clear();
    }

    /// Algorithm 4: the slices of the values that come with the record, then all templates.
    fn find<'r>(
        &mut self,
        plan: &Plan,
        store: &'r Store,
        record: &Record<'r>,
        meter: &Meter,
        found: &mut Found<'_, 'r>,
    ) {
        let mut common: FxHashMap<Place, Vec<(u32, u32, u32, u32)>> = FxHashMap::default();
        let mut last = None;
        for entry in record.entries() {
            if last != Some(entry.hash) {
                self.materialise(plan, store, entry.hash);
                last = Some(entry.hash);
            }
            for &(place, variable, node) in &self.slices[&entry.hash].1 {
                meter.spend(1);
                common
                    .entry(place)
                    .or_default()
                    .push((variable, node, entry.variable, entry.node));
            }
        }
        let mut met = Met::new();
        for (place, values) in common {
            let Some(other) = store.record(place) else {
                continue;
            };
            for is_right in [true, false] {
                let (from, to) = times(record.time(), self.templates.distances(), is_right);
                if other.time() < from || other.time() > to || is_overlapping(&other, record) {
                    continue;
                }
                met.clear();
                for &(variable, node, own, own_node) in &values {
                    meter.spend(1);
                    let pair = if is_right {
                        (variable, own)
                    } else {
                        (own, variable)
                    };
                    if met.last() != Some(&pair) && other.has_equal_value(node, record, own_node) {
                        met.push(pair);
                    }
                }
                met.sort_unstable();
                met.dedup();
                let is_left = is_right;
                let found_with = Other { place, is_left };
                let pair = if is_right {
                    (other, *record, found_with)
                } else {
                    (*record, other, found_with)
                };
                self.templates.query(plan, &met, pair, found);
            }
        }
    }

    /// The record has joined the state: its values join the slices that are there.
    fn inserted(&mut self, store: &Store, place: Place) {
        let Some(record) = store.record(place) else {
            return;
        };
        let mut last = None;
        for entry in record.entries() {
            if last != Some(entry.hash)
                && let Some((_, view)) = self.slices.get_mut(&entry.hash)
            {
                add_entries(view, store, place, entry.hash, None);
            }
            last = Some(entry.hash);
        }
    }
}

fn key(place: Place) -> (u32, u32) {
    match place {
        Place::Head(place) => (u32::MAX, place),
        Place::Segment(segment, record) => (segment, record),
    }
}

fn add_entries(view: &mut View, store: &Store, place: Place, hash: u64, variable: Option<u32>) {
    let Some(record) = store.record(place) else {
        return;
    };
    for entry in record.entries() {
        if entry.hash == hash && variable.is_none_or(|variable| variable == entry.variable) {
            view.push((place, entry.variable, entry.node));
        }
    }
}
