//! Built-in functions of sequences.

use super::item::{Item, Sequence};
use super::run::{Flow, Focus, Run, fail};
use crate::atomic::{Atomic, AtomicType};
use crate::code::{Amount, Clause, Expr, ExprId, NodeFunction as F};
use crate::functions::{self, Kind, Occurrence, Parameter};

impl<'a> Run<'a> {
    /// How many items there are.
    pub fn count(&mut self, id: ExprId, focus: Focus<'_>) -> Flow<usize> {
        if self.code.is_kept[id.index()] {
            return Ok(self.kept(id, focus)?.len());
        }
        match self.code.expr(id) {
            Expr::Variable(slot) => Ok(self.variable(*slot).value.len()),
            Expr::Flwor(clauses, result) if self.is_counted(clauses, *result) => {
                self.count_tuples(clauses, focus)
            }
            _ => {
                let mut count = 0;
                self.each(id, focus, &mut |_, _| {
                    count += 1;
                    Ok(())
                })?;
                Ok(count)
            }
        }
    }

    /// Whether each tuple is one item and its value does not matter.
    fn is_counted(&self, clauses: &[Clause], result: ExprId) -> bool {
        let is_plain = matches!(self.code.expr(result), Expr::Item(_) | Expr::Constant(_));
        let is_for = matches!(clauses.last(), Some(Clause::For(clause)) if clause.lookup.is_some());
        let is_sorted = |clause: &Clause| matches!(clause, Clause::OrderBy(..));
        is_plain && is_for && !clauses.iter().any(is_sorted)
    }

    fn count_tuples(&mut self, clauses: &'a [Clause], focus: Focus<'_>) -> Flow<usize> {
        let Some((Clause::For(last), before)) = clauses.split_last() else {
            return Ok(0);
        };
        let mut count = 0;
        self.flwor(before, focus, &mut |run| {
            let known = match last.lookup {
                Some((lookup, _)) => run.probe_count(lookup, focus)?,
                None => None,
            };
            match known {
                Some(known) => count += known,
                None => run.for_each(last, focus, &mut |_| {
                    count += 1;
                    Ok(())
                })?,
            }
            Ok(())
        })?;
        Ok(count)
    }

    /// A call of a function of sequences.
    pub fn sequence_call(
        &mut self,
        function: F,
        arguments: &[ExprId],
        focus: Focus<'_>,
    ) -> Flow<Sequence> {
        let first = arguments[0];
        Ok(match function {
            F::Subsequence => self.subsequence(arguments, focus)?,
            F::InsertBefore => {
                let mut items = self.value(first, focus)?.as_slice().to_vec();
                let place = self.required_integer(arguments[1], focus)?;
                let inserted = self.value(arguments[2], focus)?;
                self.charge((items.len() + inserted.len()) as u64);
                let at = usize::try_from(place.max(1) - 1).unwrap_or(usize::MAX);
                let at = at.min(items.len());
                items.splice(at..at, inserted.as_slice().iter().cloned());
                items.into()
            }
            F::Remove => {
                let mut items = self.value(first, focus)?.as_slice().to_vec();
                let place = self.required_integer(arguments[1], focus)?;
                self.charge(items.len() as u64);
                if place >= 1 && place as u64 <= items.len() as u64 {
                    items.remove(place as usize - 1);
                }
                items.into()
            }
            F::Reverse => {
                let items = self.value(first, focus)?;
                self.charge(items.len() as u64);
                let reversed: Vec<Item> = items.as_slice().iter().rev().cloned().collect();
                reversed.into()
            }
            F::ExactlyOne | F::ZeroOrOne | F::OneOrMore => self.counted(function, first, focus)?,
            F::Trace => {
                self.optional_text(arguments[1], focus)?;
                self.value(first, focus)?
            }
            _ => self.value(first, focus)?,
        })
    }

    fn counted(&mut self, function: F, id: ExprId, focus: Focus<'_>) -> Flow<Sequence> {
        let value = if self.code.facts(id).amount == Amount::Many {
            self.value(id, focus)?
        } else {
            self.optional_item(id, focus)?
                .map_or(Sequence::Empty, Sequence::One)
        };
        let (code, wanted, is_right) = match (function, value.len()) {
            (F::ExactlyOne, count) => ("FORG0005", "exactly one item", count == 1),
            (F::ZeroOrOne, count) => ("FORG0003", "at most one item", count <= 1),
            (_, count) => ("FORG0004", "at least one item", count >= 1),
        };
        if is_right {
            return Ok(value);
        }
        let count = value.len();
        fail(code, format!("{wanted} is expected here, not {count}"))
    }

    fn required_integer(&mut self, id: ExprId, focus: Focus<'_>) -> Flow<i64> {
        match self.integer(id, focus)? {
            Some(number) => Ok(number),
            None => fail(
                "XPTY0004",
                "a number is expected here, not an empty sequence",
            ),
        }
    }

    fn subsequence(&mut self, arguments: &[ExprId], focus: Focus<'_>) -> Flow<Sequence> {
        let start = self.required_double(arguments[1], focus)?.round_half_up();
        let end = match arguments.get(2) {
            Some(&length) => start + self.required_double(length, focus)?.round_half_up(),
            None => f64::INFINITY,
        };
        let items = self.value(arguments[0], focus)?;
        self.charge(items.len() as u64);
        // Comparisons with NaN are false, so that nothing is taken.
        let taken = items.as_slice().iter().enumerate().filter(|(at, _)| {
            let place = *at as f64 + 1.0;
            start <= place && place < end
        });
        Ok(taken
            .map(|(_, item)| item.clone())
            .collect::<Vec<_>>()
            .into())
    }

    fn required_double(&mut self, id: ExprId, focus: Focus<'_>) -> Flow<f64> {
        let parameter = Parameter {
            kind: Kind::Type(AtomicType::Double),
            occurrence: Occurrence::One,
        };
        let values = functions::convert(self.atoms(id, focus)?, &parameter)?;
        match values.first() {
            Some(Atomic::Double(number)) => Ok(*number),
            _ => fail("XPTY0004", "a number is expected here"),
        }
    }
}

trait Rounding {
    /// `fn:round`: halves go up.
    fn round_half_up(self) -> f64;
}

impl Rounding for f64 {
    fn round_half_up(self) -> f64 {
        (self + 0.5).floor()
    }
}
