//! FLWOR expressions: tuples of variables, one after the other.

use super::item::{Item, Sequence};
use super::run::{Bound, Flow, Focus, Run};
use crate::atomic::{Atomic, order_keys, unify};
use crate::code::{Clause, ExprId, For, OrderKey, Slot};
use std::cmp::Ordering;

/// What is done for each tuple.
type Then<'o, 'a> = &'o mut dyn FnMut(&mut Run<'a>) -> Flow;

impl<'a> Run<'a> {
    /// Binds the variables of the clauses in all ways, and does something for each.
    pub fn flwor(&mut self, clauses: &'a [Clause], focus: Focus<'_>, then: Then<'_, 'a>) -> Flow {
        let sorted = clauses.iter().enumerate().find_map(|(at, clause)| {
            let Clause::OrderBy(keys, slots) = clause else {
                return None;
            };
            Some((at, keys, slots))
        });
        let Some((at, keys, slots)) = sorted else {
            return self.tuples(clauses, focus, then);
        };
        let mut columns: Vec<Vec<Option<Atomic>>> = vec![Vec::new(); keys.len()];
        let mut tuples: Vec<Box<[Bound]>> = Vec::new();
        self.tuples(&clauses[..at], focus, &mut |run| {
            for (key, column) in keys.iter().zip(&mut columns) {
                column.push(run.atom(key.key, focus)?);
            }
            let values = slots.iter().map(|&slot| run.variable(slot).clone());
            tuples.push(values.collect());
            Ok(())
        })?;
        for column in &mut columns {
            unify(column)?;
        }
        self.charge(tuples.len() as u64);
        for place in sorted_places(keys, &columns, tuples.len()) {
            self.restore_tuple(slots, &tuples[place]);
            self.flwor(&clauses[at + 1..], focus, then)?;
        }
        Ok(())
    }

    fn restore_tuple(&mut self, slots: &[Slot], tuple: &[Bound]) {
        for (&slot, bound) in slots.iter().zip(tuple) {
            self.restore(slot, bound.clone());
        }
    }

    /// Tuples of clauses without `order by`.
    fn tuples(&mut self, clauses: &'a [Clause], focus: Focus<'_>, then: Then<'_, 'a>) -> Flow {
        for (at, clause) in clauses.iter().enumerate() {
            match clause {
                Clause::For(clause) => {
                    let rest = &clauses[at + 1..];
                    return self.for_each(clause, focus, &mut |run| run.tuples(rest, focus, then));
                }
                Clause::Let {
                    slot,
                    source,
                    type_,
                } => {
                    let value = self.value(*source, focus)?;
                    if let Some(type_) = type_ {
                        self.check(&value, *type_, "XPTY0004")?;
                    }
                    self.bind(*slot, value);
                }
                Clause::Where(test) => {
                    if !self.all(test, focus)? {
                        return Ok(());
                    }
                }
                Clause::OrderBy(..) => {}
            }
        }
        then(self)
    }

    /// Whether all conditions hold.
    pub fn all(&mut self, conditions: &[ExprId], focus: Focus<'_>) -> Flow<bool> {
        for &condition in conditions {
            if !self.truth(condition, focus)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Binds a variable to each item of its source, and does something for each.
    pub fn for_each(&mut self, clause: &'a For, focus: Focus<'_>, then: Then<'_, 'a>) -> Flow {
        let mut position = if clause.goes_on {
            self.state.position()
        } else {
            0
        };
        if let Some((lookup, _)) = clause.lookup
            && let Some((items, places)) = self.probe(lookup, focus)?
        {
            self.charge(places.len() as u64);
            if clause.goes_on {
                self.state.set_position(position + items.len());
            }
            for &place in places.as_slice() {
                let item = items.as_slice()[place as usize].clone();
                self.bind_item(clause, item, position + place as usize + 1);
                then(self)?;
            }
            return Ok(());
        }
        self.each(clause.source, focus, &mut |run, item| {
            position += 1;
            if clause.goes_on {
                run.state.set_position(position);
            }
            run.charge(1);
            if let Some(type_) = clause.type_ {
                run.check(&Sequence::One(item.clone()), type_, "XPTY0004")?;
            }
            run.bind_item(clause, item, position);
            if let Some((_, condition)) = clause.lookup
                && !run.truth(condition, focus)?
            {
                return Ok(());
            }
            then(run)
        })
    }

    fn bind_item(&mut self, clause: &For, item: Item, position: usize) {
        self.bind(clause.slot, Sequence::One(item));
        if let Some(slot) = clause.position {
            self.bind(slot, Sequence::atomic(Atomic::Integer(position as i64)));
        }
    }
}

/// The places of the tuples in the order of their keys.
fn sorted_places(keys: &[OrderKey], columns: &[Vec<Option<Atomic>>], count: usize) -> Vec<usize> {
    let mut places: Vec<usize> = (0..count).collect();
    places.sort_by(|&left, &right| {
        let orders = keys.iter().zip(columns).map(|(key, column)| {
            let (left, right) = (column[left].as_ref(), column[right].as_ref());
            // The values of a column can be compared since they have one type.
            let order = order_keys(left, right, key.is_empty_greatest).unwrap_or(Ordering::Equal);
            if key.is_descending {
                order.reverse()
            } else {
                order
            }
        });
        orders
            .into_iter()
            .find(|order| order.is_ne())
            .unwrap_or(Ordering::Equal)
    });
    places
}
