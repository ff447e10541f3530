//! Values in order: what lies on one side of a constant is a range of them.

use super::nodes::NodeSets;
use crate::document::{Earliest, Timed};
use std::ops::Range;

const UNKNOWN: u32 = u32::MAX;

/// A value that a chain leads to, among the others of its list.
#[derive(Clone, Copy, Debug)]
struct Entry<K> {
    key: K,
    /// The node from which the chain leads here, and when that is certain.
    context: u32,
    time: u32,
    /// Where the entries with the same key end; known at the first of them.
    run_end: u32,
    /// The earliest time and the documents up to here, from here on, and of those with the same
    /// key.
    upto: Earliest,
    from: Earliest,
    run: Earliest,
    /// The sets of contexts of the parts that start or end here, or `UNKNOWN`.
    sets: [u32; 4],
}

/// A part of a list, by places in it.
#[derive(Clone, Copy, Debug)]
pub enum Part {
    /// Everything up to a place.
    Upto(usize),
    /// Everything from a place on.
    From(usize),
    /// The entries with the same key, by the first of them.
    Run(usize),
    /// All but these.
    Rest(usize),
}

/// Lists of values, each sorted by key, behind each other. A list is named by its range.
#[derive(Debug, Default)]
pub struct Ranked<K> {
    entries: Vec<Entry<K>>,
    scratch: Vec<Timed>,
}

impl<K: Copy + PartialOrd> Ranked<K> {
    pub fn clear(&mut self) {
        self.entries.clear();
    }

    /// How many entries there are; a new list starts here.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Adds to the list under way.
    pub fn push(&mut self, key: K, context: u32, first: Earliest) {
        self.entries.push(Entry {
            key,
            context,
            time: first.time,
            run_end: 0,
            upto: first,
            from: first,
            run: first,
            sets: [UNKNOWN; 4],
        });
    }

    /// Ends the list that starts at an entry.
    pub fn finish(&mut self, start: usize) -> Range<usize> {
        let end = self.entries.len();
        let list = &mut self.entries[start..];
        // Keys have an order: numbers that are none are left out.
        list.sort_unstable_by(|a, b| {
            let order = a.key.partial_cmp(&b.key);
            order
                .unwrap_or(std::cmp::Ordering::Equal)
                .then(a.context.cmp(&b.context))
        });
        for place in 1..list.len() {
            list[place].upto = list[place].upto.or(list[place - 1].upto);
        }
        for place in (0..list.len()).rev() {
            list[place].run_end = (place + 1) as u32;
            if let Some(&next) = list.get(place + 1) {
                let entry = &mut list[place];
                entry.from = entry.from.or(next.from);
                if entry.key == next.key {
                    entry.run = entry.run.or(next.run);
                    entry.run_end = next.run_end;
                }
            }
        }
        start..end
    }

    #[inline]
    pub fn key(&self, list: &Range<usize>, place: usize) -> K {
        self.entries[list.start + place].key
    }

    /// Where the run that starts at a place ends.
    #[inline]
    pub fn run_end(&self, list: &Range<usize>, place: usize) -> usize {
        self.entries[list.start + place].run_end as usize
    }

    /// The first place, from a given one on, whose key is not below a bound.
    #[inline]
    pub fn seek(&self, list: &Range<usize>, from: usize, bound: K) -> usize {
        let rest = &self.entries[list.start + from..list.end];
        from + rest.partition_point(|entry| entry.key < bound)
    }

    /// When the first context of a part is certain, and in which documents there are some.
    #[inline]
    pub fn earliest(&self, list: &Range<usize>, part: Part) -> Earliest {
        let entries = &self.entries[list.clone()];
        match part {
            Part::Upto(place) => entries[place].upto,
            Part::From(place) => entries[place].from,
            Part::Run(place) => entries[place].run,
            Part::Rest(place) => {
                let before = place
                    .checked_sub(1)
                    .map_or(Earliest::NONE, |last| entries[last].upto);
                let behind = entries.get(entries[place].run_end as usize);
                before.or(behind.map_or(Earliest::NONE, |first| first.from))
            }
        }
    }

    /// The set of the contexts of a part, each with its earliest time.
    pub fn set(&mut self, list: &Range<usize>, part: Part, nodes: &mut NodeSets) -> u32 {
        let entries = &mut self.entries[list.clone()];
        let end = entries.len();
        let (kind, place) = match part {
            Part::Upto(place) => (0, place),
            Part::From(place) => (1, place),
            Part::Run(place) => (2, place),
            Part::Rest(place) => (3, place),
        };
        if entries[place].sets[kind] != UNKNOWN {
            return entries[place].sets[kind];
        }
        let run_end = entries[place].run_end as usize;
        let (one, other) = match part {
            Part::Upto(place) => (0..place + 1, end..end),
            Part::From(place) => (place..end, end..end),
            Part::Run(place) => (place..run_end, end..end),
            Part::Rest(place) => (0..place, run_end..end),
        };
        let found = entries[one].iter().chain(&entries[other]);
        nodes.unpaid += end;
        self.scratch.clear();
        self.scratch
            .extend(found.map(|entry| (entry.context, entry.time)));
        nodes.gather(&mut self.scratch);
        let set = nodes.intern(&self.scratch);
        entries[place].sets[kind] = set;
        set
    }
}

#[cfg(test)]
mod tests {
    use super::{Earliest, NodeSets, Part, Ranked};

    #[test]
    fn parts_know_their_earliest_time_and_their_contexts() {
        let (mut ranked, mut nodes) = (Ranked::default(), NodeSets::default());
        let values = [(5, 1, 9), (3, 2, 4), (5, 1, 7), (8, 3, 6)];
        let parts = [
            (Part::Upto(0), 4, vec![(2, 4)]),
            (Part::Upto(2), 4, vec![(1, 7), (2, 4)]),
            (Part::From(1), 6, vec![(1, 7), (3, 6)]),
            (Part::Run(1), 7, vec![(1, 7)]),
            (Part::Rest(1), 4, vec![(2, 4), (3, 6)]),
        ];
        for _ in 0..2 {
            // A second list behind the first knows nothing of it.
            let start = ranked.len();
            for (key, context, time) in values {
                let documents = 1 << context;
                ranked.push(key, context, Earliest { time, documents });
            }
            let list = ranked.finish(start);
            assert_eq!(ranked.seek(&list, 0, 5), 1);
            assert_eq!(ranked.run_end(&list, 1), 3);
            for (part, time, contexts) in &parts {
                let documents = contexts.iter().fold(0, |all, item| all | 1 << item.0);
                let first = Earliest {
                    time: *time,
                    documents,
                };
                assert_eq!(ranked.earliest(&list, *part), first);
                let set = ranked.set(&list, *part, &mut nodes);
                assert_eq!(nodes.get(set), contexts);
            }
        }
        let start = ranked.len();
        let only = Earliest {
            time: 1,
            documents: 1,
        };
        ranked.push(1, 1, only);
        let alone = ranked.finish(start);
        assert_eq!(ranked.earliest(&alone, Part::Rest(0)), Earliest::NONE);
    }
}
