//! Which subscriptions select a binding: those whose conditions hold for its values.
//!
//! Subscriptions that differ in the constants of such conditions alone share tables. One that asks
//! nothing of a side selects all of its bindings, and is not listed in their fragments.

use super::super::graph::StreamId;
use penstock_sequences::atomic::{Atomic, AtomicType};
use penstock_sequences::error::Error;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// What some value of an attribute has to be.
#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    /// This text.
    Is(Box<[u8]>),
    /// This number.
    Equals(f64),
    /// A number in this range, its ends included.
    Within(f64, f64),
}

/// A condition of a subscription on an attribute of a side.
#[derive(Clone, Debug, PartialEq)]
pub struct Selection {
    /// The side.
    pub side: StreamId,
    /// The attribute, behind those that join.
    pub attribute: u8,
    /// The condition.
    pub condition: Condition,
}

impl Selection {
    /// Whether two are about one attribute.
    fn is_beside(&self, other: &Selection) -> bool {
        (self.side, self.attribute) == (other.side, other.attribute)
    }

    /// Takes over another range, if both are ranges of one attribute. Whatever values there are,
    /// some is above the lower ends if the greatest is, and some below the upper ends if the least
    /// is.
    fn narrow(&mut self, other: &Selection) -> bool {
        match (&mut self.condition, &other.condition) {
            (Condition::Within(least, most), Condition::Within(from, to)) => {
                (*least, *most) = (least.max(*from), most.min(*to));
                true
            }
            _ => false,
        }
    }
}

/// A range that a subscription asks for.
#[derive(Clone, Debug)]
struct Range {
    least: f64,
    most: f64,
    /// One value has to be both ends.
    is_point: bool,
    subscription: u32,
}

/// The conditions on one attribute.
#[derive(Clone, Debug, Default)]
struct Asked {
    /// The subscriptions that ask for a text.
    texts: FxHashMap<Box<[u8]>, Vec<u32>>,
    /// Those that ask for a number, in order of the least one.
    ranges: Vec<Range>,
}

/// The values of an attribute as numbers.
struct Numbers {
    all: SmallVec<[f64; 2]>,
    least: f64,
    most: f64,
    /// What is wrong with a value that is none.
    error: Option<Error>,
}

impl Numbers {
    fn of<'v>(values: impl Iterator<Item = &'v [u8]>) -> Numbers {
        let mut numbers = Numbers {
            all: SmallVec::new(),
            least: f64::INFINITY,
            most: f64::NEG_INFINITY,
            error: None,
        };
        for value in values {
            let text = String::from_utf8_lossy(value);
            match Atomic::parse(AtomicType::Double, &text) {
                // Nothing compares with what is not a number but looks like one.
                Ok(Atomic::Double(number)) if number.is_nan() => {}
                Ok(Atomic::Double(number)) => {
                    numbers.least = numbers.least.min(number);
                    numbers.most = numbers.most.max(number);
                    numbers.all.push(number);
                }
                Ok(_) => {}
                Err(error) => numbers.error = Some(error),
            }
        }
        numbers
    }

    fn pass(&self, range: &Range) -> bool {
        if range.is_point {
            return self.all.contains(&range.least);
        }
        !self.all.is_empty() && range.least <= self.most && range.most >= self.least
    }
}

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

impl Asked {
    fn add(&mut self, condition: &Condition, subscription: u32) {
        let is_point = matches!(condition, Condition::Equals(_));
        let (least, most) = match condition {
            Condition::Is(text) => {
                let list = self.texts.entry(text.clone()).or_default();
                list.push(subscription);
                return;
            }
            Condition::Equals(number) => (*number, *number),
            Condition::Within(least, most) => (*least, *most),
        };
        let place = self.ranges.partition_point(|range| range.least <= least);
        let range = Range {
            least,
            most,
            is_point,
            subscription,
        };
        self.ranges.insert(place, range);
    }

    fn remove(&mut self, condition: &Condition, subscription: u32) {
        match condition {
            Condition::Is(text) => {
                if let Some(list) = self.texts.get_mut(text) {
                    list.retain(|&other| other != subscription);
                    if list.is_empty() {
                        self.texts.remove(text);
                    }
                }
            }
            _ => self
                .ranges
                .retain(|range| range.subscription != subscription),
        }
    }
}

/// What a subscription asks.
#[derive(Clone, Debug)]
struct Subscription {
    /// The last arrival before it came: it sees what came later.
    since: u64,
    is_strict: bool,
    /// Each once.
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

    /// Adds a subscription, which sees bindings behind an arrival; its number is the next one. If it
    /// `is_strict`, a value that is compared with a number and is none is an error. Selections of
    /// sides that are none are left out.
    pub fn add(&mut self, selections: Vec<Selection>, since: u64, is_strict: bool) {
        let number = self.subscriptions.len() as u32;
        let mut own: Vec<Selection> = Vec::new();
        for selection in selections {
            let is_known = selection.side.index() >= self.sides.len() || own.contains(&selection);
            let mut beside = own.iter_mut().filter(|other| other.is_beside(&selection));
            if !is_known && !beside.any(|other| other.narrow(&selection)) {
                own.push(selection);
            }
        }
        for selection in &own {
            let side = &mut self.sides[selection.side.index()];
            let asked = side.asked_of(selection.attribute);
            asked.add(&selection.condition, number);
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
            is_strict,
            selections: own,
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
            asked.remove(&selection.condition, number);
        }
        for side in &mut self.sides {
            if side.needed.remove(&number).is_none() {
                side.free -= 1;
            }
        }
        self.free.retain(|&other| other != number);
    }

    /// Writes who selects a binding of a side, of those that ask something of it, and who fails:
    /// all that is left of its conditions needs numbers of values that are none. Returns whether
    /// anybody selects it.
    pub(super) fn select<'v>(
        &mut self,
        side: StreamId,
        values: impl Iterator<Item = (u8, &'v [u8])> + Clone,
        out: &mut Vec<u32>,
        failing: &mut Vec<(u32, Error)>,
    ) -> bool {
        let own = &self.sides[side.index()];
        out.clear();
        if own.needed.is_empty() {
            return own.free > 0;
        }
        self.counts.clear();
        let mut count = |subscription: u32| *self.counts.entry(subscription).or_default() += 1;
        for (place, (attribute, value)) in values.clone().enumerate() {
            let asked = own.asked.get(usize::from(attribute));
            let Some(list) = asked.and_then(|asked| asked.texts.get(value)) else {
                continue;
            };
            // A value that is there twice counts once.
            let mut before = values.clone().take(place);
            if !before.any(|other| other == (attribute, value)) {
                list.iter().copied().for_each(&mut count);
            }
        }
        let mut unsure: Vec<(u32, Error)> = Vec::new();
        for (attribute, asked) in own.asked.iter().enumerate() {
            if asked.ranges.is_empty() {
                continue;
            }
            let of_attribute = values.clone();
            let of_attribute = of_attribute.filter(|(own, _)| usize::from(*own) == attribute);
            let numbers = Numbers::of(of_attribute.map(|(_, value)| value));
            let end = asked
                .ranges
                .partition_point(|range| range.least <= numbers.most);
            let passing = asked.ranges[..end]
                .iter()
                .filter(|range| numbers.pass(range));
            passing.for_each(|range| count(range.subscription));
            if let Some(error) = &numbers.error {
                let others = asked.ranges.iter().filter(|range| !numbers.pass(range));
                unsure.extend(others.map(|range| (range.subscription, error.clone())));
            }
        }
        let counted = self.counts.iter();
        out.extend(counted.filter_map(|(subscription, count)| {
            (own.needed.get(subscription) == Some(count)).then_some(*subscription)
        }));
        out.sort_unstable();
        self.note_failing(side, unsure, failing);
        self.sides[side.index()].free > 0 || !out.is_empty()
    }

    /// Notes those all of whose other conditions hold, each once.
    fn note_failing(
        &self,
        side: StreamId,
        mut unsure: Vec<(u32, Error)>,
        failing: &mut Vec<(u32, Error)>,
    ) {
        unsure.sort_by_key(|(subscription, _)| *subscription);
        for same in unsure.chunk_by(|one, other| one.0 == other.0) {
            let (subscription, error) = &same[0];
            let held = self.counts.get(subscription).copied().unwrap_or(0);
            let needed = self.sides[side.index()].needed.get(subscription);
            let is_strict = self.own(*subscription).is_some_and(|own| own.is_strict);
            if is_strict && needed == Some(&(held + same.len() as u32)) {
                failing.push((*subscription, error.clone()));
            }
        }
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

    fn selection(side: u8, attribute: u8, condition: Condition) -> Selection {
        Selection {
            side: StreamId(side),
            attribute,
            condition,
        }
    }

    fn text(side: u8, attribute: u8, value: &str) -> Selection {
        selection(side, attribute, Condition::Is(value.as_bytes().into()))
    }

    /// Whether anybody selects a binding, who of those that ask something, and who fails.
    fn select(all: &mut Selections, side: u8, values: &[(u8, &str)]) -> (bool, Vec<u32>, Vec<u32>) {
        let values = values.iter().map(|&(at, value)| (at, value.as_bytes()));
        let (mut out, mut failing) = (vec![9], Vec::new());
        let is_selected = all.select(StreamId(side), values, &mut out, &mut failing);
        (
            is_selected,
            out,
            failing.into_iter().map(|(number, _)| number).collect(),
        )
    }

    #[test]
    fn a_subscription_selects_what_has_all_of_its_constants() {
        let mut all = Selections::new(2);
        all.add(vec![text(0, 1, "a")], 0, true);
        all.add(
            vec![text(0, 1, "a"), text(0, 1, "b"), text(1, 0, "z")],
            7,
            true,
        );
        all.add(vec![text(0, 2, "a")], 0, true);
        let found = |selected: &[u32]| (!selected.is_empty(), selected.to_vec(), vec![]);
        assert_eq!(select(&mut all, 0, &[(1, "a"), (1, "a")]), found(&[0]));
        assert_eq!(select(&mut all, 0, &[(1, "a"), (1, "b")]), found(&[0, 1]));
        assert_eq!(select(&mut all, 0, &[(0, "a"), (1, "c")]), found(&[]));
        assert_eq!(select(&mut all, 1, &[(0, "y")]), (true, vec![], vec![]));
        all.remove(0);
        all.remove(0);
        assert_eq!(select(&mut all, 0, &[(1, "a")]), found(&[]));
        all.remove(2);
        assert_eq!(select(&mut all, 1, &[(0, "y")]), found(&[]));
        assert_eq!(select(&mut all, 1, &[(0, "z")]), found(&[1]));
        all.add(vec![], 9, true);
        assert_eq!(select(&mut all, 0, &[(1, "c")]), (true, vec![], vec![]));
        assert_eq!(all.asked(3), Some(&[][..]));
        assert_eq!((all.asked(0), all.asked(1)), (None, Some(&[0, 1][..])));
        assert_eq!(all.free(), [3]);
        assert_eq!(
            (all.sees(1, 7), all.sees(1, 8), all.sees(0, 8)),
            (false, true, false)
        );
    }

    #[test]
    fn ranges_hold_for_some_value_and_a_value_that_is_no_number_fails_alone() {
        let mut all = Selections::new(1);
        let within = |least, most| selection(0, 1, Condition::Within(least, most));
        let above = within(5.0, f64::INFINITY);
        all.add(vec![above.clone(), within(f64::NEG_INFINITY, 7.0)], 0, true);
        all.add(vec![selection(0, 1, Condition::Equals(6.0))], 0, true);
        all.add(vec![above.clone(), text(0, 2, "x")], 0, true);
        all.add(vec![above], 0, false);
        let found = |selected: &[u32], failing: &[u32]| {
            (!selected.is_empty(), selected.to_vec(), failing.to_vec())
        };
        assert_eq!(select(&mut all, 0, &[(1, " 6.0 ")]), found(&[0, 1, 3], &[]));
        assert_eq!(select(&mut all, 0, &[(1, "7.5")]), found(&[3], &[]));
        // One is above, the other one below.
        assert_eq!(
            select(&mut all, 0, &[(1, "1"), (1, "9")]),
            found(&[0, 3], &[])
        );
        assert_eq!(select(&mut all, 0, &[]), found(&[], &[]));
        assert_eq!(select(&mut all, 0, &[(1, "NaN")]), found(&[], &[]));
        assert_eq!(select(&mut all, 0, &[(1, "no")]), found(&[], &[0, 1]));
        let failing = select(&mut all, 0, &[(1, "no"), (2, "x")]);
        assert_eq!(failing, found(&[], &[0, 1, 2]));
        let one = vec![within(6.0, f64::INFINITY), within(f64::NEG_INFINITY, 6.0)];
        all.add(one, 0, true);
        assert_eq!(select(&mut all, 0, &[(1, "5"), (1, "7")]).1, [0, 3, 4]);
        all.remove(4);
        // What holds already needs no other value.
        assert_eq!(
            select(&mut all, 0, &[(1, "no"), (1, "6")]),
            found(&[0, 1, 3], &[])
        );
        all.remove(0);
        assert_eq!(select(&mut all, 0, &[(1, "6")]), found(&[1, 3], &[]));
    }
}
