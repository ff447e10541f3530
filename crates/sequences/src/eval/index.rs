//! Indexes over the items of a source, for conditions that compare a value of each item.
//!
//! The first time that a source is asked, its items are compared one by one. If it is asked again
//! while the variables that it depends on have the same values, an index is built. Where the values
//! are not all of one kind that an index can tell apart, or where computing one fails, the items
//! are compared one by one for good, so that results and errors are the same.

use super::compare::double;
use super::item::{Item, Sequence};
use super::run::{Flow, Focus, Run, Stop};
use crate::atomic::{Atomic, Comparison, Untyped};
use crate::code::{Binder, ExprId, Lookup, LookupId, Match};
use crate::tree::Kind;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// Places in a source, ascending.
pub(super) type Places = Rc<Vec<u32>>;

/// What is known about the source of a lookup.
#[derive(Default)]
pub(super) struct Indexed {
    /// The values that the source depends on; None before it is asked.
    stamps: Option<Vec<u64>>,
    index: Option<Rc<Index>>,
}

/// The items of a source by a value.
struct Index {
    items: Sequence,
    column: Column,
}

enum Column {
    /// There is none: the items are compared one by one.
    None,
    /// Places by text.
    Text(FxHashMap<Box<[u8]>, Places>),
    /// The smallest or largest number of each item that has one, ascending, with its place.
    Numbers(Vec<(f64, u32)>),
}

/// What a key or a probe is compared as.
enum Value {
    Text(Box<[u8]>),
    Number(f64),
}

impl<'a> Run<'a> {
    /// The items of a source, and the places of those for which the condition holds; None if they
    /// have to be compared one by one.
    pub fn probe(&mut self, id: LookupId, focus: Focus<'_>) -> Flow<Option<(Sequence, Places)>> {
        let lookup = &self.code.lookups[id.0 as usize];
        let Some(index) = self.index(id, lookup, focus)? else {
            return Ok(None);
        };
        if index.items.is_empty() {
            return Ok(Some((Sequence::Empty, Places::default())));
        }
        let places = match &index.column {
            Column::None => None,
            Column::Text(texts) => self.places_of_text(texts, lookup.probe, focus)?,
            Column::Numbers(numbers) => {
                let range = self.range_of(numbers, lookup, focus)?;
                range.map(|range| {
                    let mut places: Vec<u32> = range.iter().map(|entry| entry.1).collect();
                    places.sort_unstable();
                    Rc::new(places)
                })
            }
        };
        Ok(places.map(|places| (index.items.clone(), places)))
    }

    /// How many items of a source fulfil the condition; None if they have to be compared.
    pub fn probe_count(&mut self, id: LookupId, focus: Focus<'_>) -> Flow<Option<usize>> {
        let lookup = &self.code.lookups[id.0 as usize];
        let Some(index) = self.index(id, lookup, focus)? else {
            return Ok(None);
        };
        if let Column::Numbers(numbers) = &index.column {
            let range = self.range_of(numbers, lookup, focus)?;
            return Ok(range.map(<[_]>::len));
        }
        let found = self.probe(id, focus)?;
        Ok(found.map(|(_, places)| places.len()))
    }

    /// The items of `source[condition]` that pass the other predicates as well; None if they have
    /// to be compared one by one.
    pub fn looked_up(
        &mut self,
        id: LookupId,
        predicates: &[ExprId],
        focus: Focus<'_>,
    ) -> Flow<Option<Sequence>> {
        let Some((items, places)) = self.probe(id, focus)? else {
            return Ok(None);
        };
        let lookup = &self.code.lookups[id.0 as usize];
        let mut found = Vec::new();
        for &place in places.as_slice() {
            let item = &items.as_slice()[place as usize];
            let inner = Focus::on(item);
            if self.all(&lookup.rest, inner)? && self.all(predicates, inner)? {
                found.push(item.clone());
            }
        }
        Ok(Some(found.into()))
    }

    fn index(
        &mut self,
        id: LookupId,
        lookup: &'a Lookup,
        focus: Focus<'_>,
    ) -> Flow<Option<Rc<Index>>> {
        let tree = match focus.item {
            Some(Item::Node(node)) if lookup.is_rooted => u64::from(node.tree),
            _ => 0,
        };
        let depends = lookup.depends.iter();
        let stamps = depends.map(|&slot| self.variable(slot).stamp);
        let is_known = |known: &Vec<u64>| {
            let stamps = depends_stamps(self, lookup);
            known.iter().copied().eq(stamps.chain([tree]))
        };
        let indexed = &self.state.indexed[id.0 as usize];
        if !indexed.stamps.as_ref().is_some_and(is_known) {
            let stamps = Some(stamps.chain([tree]).collect());
            self.state.indexed[id.0 as usize] = Indexed {
                stamps,
                index: None,
            };
            return Ok(None);
        }
        if let Some(index) = &indexed.index {
            return Ok(Some(index.clone()));
        }
        let index = Rc::new(self.build(lookup, focus)?);
        self.state.indexed[id.0 as usize].index = Some(index.clone());
        Ok(Some(index))
    }

    fn build(&mut self, lookup: &Lookup, focus: Focus<'_>) -> Flow<Index> {
        let items = self.value(lookup.source, focus)?;
        let column = match self.column(lookup, &items, focus) {
            Err(Stop::Failed(_)) => Column::None,
            column => column?,
        };
        Ok(Index { items, column })
    }

    fn column(&mut self, lookup: &Lookup, items: &Sequence, focus: Focus<'_>) -> Flow<Column> {
        let mut texts: FxHashMap<Box<[u8]>, Vec<u32>> = FxHashMap::default();
        let mut numbers: Vec<(f64, u32)> = Vec::new();
        for (at, item) in items.as_slice().iter().enumerate() {
            let place = at as u32;
            let values = self.keys(lookup, item, focus)?;
            for value in values {
                match (value, lookup.match_) {
                    (Some(Value::Text(text)), Match::Equal) => {
                        let places = texts.entry(text).or_default();
                        if places.last() != Some(&place) {
                            places.push(place);
                        }
                    }
                    (Some(Value::Number(number)), Match::Order(_)) => numbers.push((number, place)),
                    _ => return Ok(Column::None),
                }
            }
        }
        Ok(match lookup.match_ {
            Match::Equal => {
                let shared = texts
                    .into_iter()
                    .map(|(text, places)| (text, Rc::new(places)));
                Column::Text(shared.collect())
            }
            Match::Order(comparison) => Column::Numbers(extremes(numbers, comparison)),
        })
    }

    /// The values of one item; None for one that no index knows.
    fn keys(&mut self, lookup: &Lookup, item: &Item, focus: Focus<'_>) -> Flow<Vec<Option<Value>>> {
        let inner = match lookup.binder {
            Binder::Variable(slot) => {
                self.bind(slot, Sequence::One(item.clone()));
                focus
            }
            Binder::Context => Focus::on(item),
        };
        let is_text = lookup.match_ == Match::Equal;
        let mut values = Vec::new();
        self.each(lookup.key, inner, &mut |run, item| {
            run.charge(1);
            values.push(if is_text {
                super::compare::text_of(run.forest, &item).map(|text| Value::Text(text.into()))
            } else {
                exact_number(&item).map(Value::Number)
            });
            Ok(())
        })?;
        Ok(values)
    }

    fn places_of_text(
        &mut self,
        texts: &FxHashMap<Box<[u8]>, Places>,
        probe: ExprId,
        focus: Focus<'_>,
    ) -> Flow<Option<Places>> {
        let (mut found, mut is_text): (Vec<Places>, bool) = (Vec::new(), true);
        let flow = self.each(probe, focus, &mut |run, item| {
            match super::compare::text_of(run.forest, &item) {
                Some(text) => found.extend(texts.get(text).cloned()),
                None => is_text = false,
            }
            Ok(())
        });
        match flow {
            // Compared one by one, the same error arises, or none where no item gets that far.
            Err(Stop::Failed(_)) => return Ok(None),
            flow => flow?,
        }
        if !is_text {
            return Ok(None);
        }
        Ok(Some(match found.len() {
            0 => Places::default(),
            1 => found.remove(0),
            _ => {
                let mut places: Vec<u32> =
                    found.iter().flat_map(|list| list.iter().copied()).collect();
                places.sort_unstable();
                places.dedup();
                Rc::new(places)
            }
        }))
    }

    /// The numbers of a column that compare with some number of the probe.
    fn range_of<'n>(
        &mut self,
        numbers: &'n [(f64, u32)],
        lookup: &Lookup,
        focus: Focus<'_>,
    ) -> Flow<Option<&'n [(f64, u32)]>> {
        let Match::Order(comparison) = lookup.match_ else {
            return Ok(None);
        };
        let (mut probes, mut is_number): (Vec<f64>, bool) = (Vec::new(), true);
        let flow = self.each(lookup.probe, focus, &mut |run, item| {
            match run.probe_number(&item) {
                Some(number) => probes.push(number),
                None => is_number = false,
            }
            Ok(())
        });
        match flow {
            Err(Stop::Failed(_)) => return Ok(None),
            flow => flow?,
        }
        let probes = probes.into_iter().filter(|number| !number.is_nan());
        let is_upper = matches!(comparison, Comparison::Less | Comparison::LessOrEqual);
        let bound = probes.reduce(if is_upper { f64::max } else { f64::min });
        let Some(bound) = bound.filter(|_| is_number) else {
            return Ok(is_number.then_some(&[]));
        };
        let below = |limit: Comparison| {
            numbers.partition_point(|(key, _)| limit.holds(key.partial_cmp(&bound)))
        };
        Ok(Some(match comparison {
            Comparison::Less | Comparison::LessOrEqual => &numbers[..below(comparison)],
            Comparison::Greater => &numbers[below(Comparison::LessOrEqual)..],
            _ => &numbers[below(Comparison::Less)..],
        }))
    }

    /// The number that an item is compared as with numbers; None where that is an error, or where
    /// doubles do not tell numbers apart.
    fn probe_number(&self, item: &Item) -> Option<f64> {
        match item {
            Item::Node(node) => match self.forest.kind(*node) {
                Kind::Comment | Kind::Instruction => None,
                _ => self.untyped_number(self.forest.value(*node)),
            },
            Item::Atomic(Atomic::UntypedAtomic(text)) => self.untyped_number(text.as_bytes()),
            item => exact_number(item),
        }
    }

    fn untyped_number(&self, text: &[u8]) -> Option<f64> {
        let is_false = self.code.untyped == Untyped::False;
        // NaN compares with nothing.
        double(text).or(is_false.then_some(f64::NAN))
    }
}

fn depends_stamps<'r>(run: &'r Run<'_>, lookup: &'r Lookup) -> impl Iterator<Item = u64> + 'r {
    lookup.depends.iter().map(|&slot| run.variable(slot).stamp)
}

/// A number that is compared the same as a double; decimals are not.
fn exact_number(item: &Item) -> Option<f64> {
    match item {
        Item::Atomic(Atomic::Double(number)) => Some(*number),
        Item::Atomic(Atomic::Integer(number)) if number.unsigned_abs() < 1 << 53 => {
            Some(*number as f64)
        }
        _ => None,
    }
}

/// One number for each item: the smallest if keys must be small, else the largest; ascending.
fn extremes(mut numbers: Vec<(f64, u32)>, comparison: Comparison) -> Vec<(f64, u32)> {
    numbers.retain(|(number, _)| !number.is_nan());
    let is_small = matches!(comparison, Comparison::Less | Comparison::LessOrEqual);
    numbers.sort_unstable_by(|left, right| {
        let order = left.0.total_cmp(&right.0);
        let order = if is_small { order } else { order.reverse() };
        left.1.cmp(&right.1).then(order)
    });
    numbers.dedup_by_key(|entry| entry.1);
    // -0 and 0 are equal, and the order of numbers must say so.
    numbers.iter_mut().for_each(|entry| entry.0 += 0.0);
    numbers.sort_by(|left, right| left.0.total_cmp(&right.0));
    numbers
}
