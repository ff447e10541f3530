//! Which subscriptions select a binding: those whose constants are all among its values.
//!
//! Subscriptions that differ in such constants alone share tables. One that asks nothing of a side
//! selects all of its bindings, and is not listed in their fragments.

use super::super::graph::StreamId;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// A condition of a subscription: an attribute of a side has a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    /// The side.
    pub side: StreamId,
    /// The attribute, behind those that join.
    pub attribute: u8,
    /// The constant.
    pub value: Box<[u8]>,
}

impl Selection {
    fn key(&self) -> (StreamId, u8, &[u8]) {
        (self.side, self.attribute, &self.value)
    }
}

/// The subscriptions that ask for a constant.
type Asked = FxHashMap<Box<[u8]>, Vec<u32>>;

/// One side.
#[derive(Clone, Debug, Default)]
struct Side {
    /// By attribute.
    asked: Vec<Asked>,
    /// How many conditions each subscription has.
    needed: FxHashMap<u32, u32>,
    /// How many subscriptions that are there ask nothing.
    free: usize,
}

impl Side {
    fn asked_of(&mut self, attribute: u8) -> &mut Asked {
        let place = usize::from(attribute);
        if self.asked.len() <= place {
            self.asked.resize_with(place + 1, Asked::default);
        }
        &mut self.asked[place]
    }
}

/// What a subscription asks.
#[derive(Clone, Debug)]
struct Subscription {
    /// The last arrival before it came: it sees what came later.
    since: u64,
    /// In order, each once.
    selections: Vec<Selection>,
    /// The sides that it asks something of.
    sides: SmallVec<[usize; 2]>,
}

/// The subscriptions of some tables, by their numbers there, and what they select.
#[derive(Clone, Debug)]
pub struct Selections {
    sides: Vec<Side>,
    /// None where a subscription was removed.
    subscriptions: Vec<Option<Subscription>>,
    /// Those that are there and ask nothing of any side, in order.
    free: Vec<u32>,
    counts: FxHashMap<u32, u32>,
}

impl Selections {
    /// Nobody, for so many sides.
    pub fn new(sides: usize) -> Selections {
        Selections {
            sides: vec![Side::default(); sides],
            subscriptions: Vec::new(),
            free: Vec::new(),
            counts: FxHashMap::default(),
        }
    }

    /// Adds a subscription, which sees bindings behind an arrival; its number is the next one.
    /// Selections of sides that are none are left out.
    pub fn add(&mut self, mut selections: Vec<Selection>, since: u64) {
        let number = self.subscriptions.len() as u32;
        selections.retain(|one| one.side.index() < self.sides.len());
        selections.sort_unstable_by(|a, b| a.key().cmp(&b.key()));
        selections.dedup();
        for selection in &selections {
            let side = &mut self.sides[selection.side.index()];
            let list = side.asked_of(selection.attribute);
            list.entry(selection.value.clone())
                .or_default()
                .push(number);
            *side.needed.entry(number).or_default() += 1;
        }
        let mut sides = SmallVec::new();
        for (at, side) in self.sides.iter_mut().enumerate() {
            match side.needed.contains_key(&number) {
                true => sides.push(at),
                false => side.free += 1,
            }
        }
        if sides.is_empty() {
            self.free.push(number);
        }
        self.subscriptions.push(Some(Subscription {
            since,
            selections,
            sides,
        }));
    }

    /// Removes a subscription; its number stays its own.
    pub fn remove(&mut self, number: u32) {
        let own = self.subscriptions.get_mut(number as usize);
        let Some(own) = own.and_then(Option::take) else {
            return;
        };
        for selection in own.selections {
            let side = &mut self.sides[selection.side.index()];
            let asked = side.asked_of(selection.attribute);
            if let Some(list) = asked.get_mut(&selection.value) {
                list.retain(|&other| other != number);
                if list.is_empty() {
                    asked.remove(&selection.value);
                }
            }
        }
        for side in &mut self.sides {
            if side.needed.remove(&number).is_none() {
                side.free -= 1;
            }
        }
        self.free.retain(|&other| other != number);
    }

    /// Writes who selects a binding of a side, of those that ask something of it. Returns whether
    /// anybody does.
    pub(super) fn select<'v>(
        &mut self,
        side: StreamId,
        values: impl Iterator<Item = (u8, &'v [u8])> + Clone,
        out: &mut Vec<u32>,
    ) -> bool {
        let own = &self.sides[side.index()];
        out.clear();
        if own.needed.is_empty() {
            return own.free > 0;
        }
        self.counts.clear();
        for (place, (attribute, value)) in values.clone().enumerate() {
            let asked = own.asked.get(usize::from(attribute));
            let Some(list) = asked.and_then(|asked| asked.get(value)) else {
                continue;
            };
            // A value that is there twice counts once.
            let mut before = values.clone().take(place);
            if !before.any(|other| other == (attribute, value)) {
                for &subscription in list {
                    *self.counts.entry(subscription).or_default() += 1;
                }
            }
        }
        let counted = self.counts.iter();
        out.extend(counted.filter_map(|(subscription, count)| {
            (own.needed.get(subscription) == Some(count)).then_some(*subscription)
        }));
        out.sort_unstable();
        own.free > 0 || !out.is_empty()
    }

    /// The subscriptions that are there and ask nothing of any side, in order.
    pub(super) fn free(&self) -> &[u32] {
        &self.free
    }

    /// The sides that a subscription asks something of; None if it is not there.
    pub(super) fn asked(&self, number: u32) -> Option<&[usize]> {
        Some(&self.own(number)?.sides)
    }

    /// Whether a subscription sees tuples whose first binding came with an arrival.
    pub(super) fn sees(&self, number: u32, arrival: u64) -> bool {
        self.own(number).is_some_and(|own| own.since < arrival)
    }

    fn own(&self, number: u32) -> Option<&Subscription> {
        self.subscriptions.get(number as usize)?.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selection(side: u8, attribute: u8, value: &str) -> Selection {
        Selection {
            side: StreamId(side),
            attribute,
            value: value.as_bytes().into(),
        }
    }

    #[test]
    fn a_subscription_selects_what_has_all_of_its_constants() {
        let mut all = Selections::new(2);
        all.add(vec![selection(0, 1, "a")], 0);
        let several = [(0, 1, "a"), (0, 1, "b"), (1, 0, "z")];
        let several = several.map(|(side, attribute, value)| selection(side, attribute, value));
        all.add(several.into(), 7);
        all.add(vec![selection(0, 2, "a")], 0);
        let select = |all: &mut Selections, side: u8, values: &[(u8, &str)]| {
            let values = values.iter().map(|&(at, value)| (at, value.as_bytes()));
            let mut out = vec![9];
            let is_selected = all.select(StreamId(side), values, &mut out);
            (is_selected, out)
        };
        assert_eq!(select(&mut all, 0, &[(1, "a"), (1, "a")]), (true, vec![0]));
        assert_eq!(
            select(&mut all, 0, &[(1, "a"), (1, "b")]),
            (true, vec![0, 1])
        );
        assert_eq!(select(&mut all, 0, &[(0, "a"), (1, "c")]), (false, vec![]));
        assert_eq!(select(&mut all, 1, &[(0, "y")]), (true, vec![]));
        all.remove(0);
        all.remove(0);
        assert_eq!(select(&mut all, 0, &[(1, "a")]), (false, vec![]));
        all.remove(2);
        assert_eq!(select(&mut all, 1, &[(0, "y")]), (false, vec![]));
        assert_eq!(select(&mut all, 1, &[(0, "z")]), (true, vec![1]));
        all.add(vec![], 9);
        assert_eq!(select(&mut all, 0, &[(1, "c")]), (true, vec![]));
        assert_eq!(all.asked(3), Some(&[][..]));
        assert_eq!((all.asked(0), all.asked(1)), (None, Some(&[0, 1][..])));
        assert_eq!(all.free(), [3]);
        assert_eq!(
            (all.sees(1, 7), all.sees(1, 8), all.sees(0, 8)),
            (false, true, false)
        );
    }
}
