//! Comparisons. Text of nodes is compared where it lies.

use super::item::Item;
use super::run::{Flow, Focus, Run, Stop, steps_of_bytes};
use super::stream::until_enough;
use crate::atomic::{self, Atomic, Comparison, Untyped};
use crate::code::{Amount, Expr, ExprId};
use crate::tree::{Forest, Kind};
use rustc_hash::FxHashSet;
use smallvec::SmallVec;
use std::borrow::Cow;

type Items = SmallVec<[Item; 2]>;

/// From so many pairs on, equal text is found by hashing.
const PAIRS_MAX: usize = 64;

impl<'a> Run<'a> {
    /// Whether some pair of items compares.
    pub fn compare_general(
        &mut self,
        comparison: Comparison,
        left: ExprId,
        right: ExprId,
        focus: Focus<'_>,
    ) -> Flow<bool> {
        // The side that is one item is kept, the other one is read item by item.
        if self.code.facts(right).amount == Amount::Many
            && self.code.facts(left).amount != Amount::Many
        {
            return self.compare_each(comparison.mirrored(), right, left, focus);
        }
        self.compare_each(comparison, left, right, focus)
    }

    fn compare_each(
        &mut self,
        comparison: Comparison,
        many: ExprId,
        few: ExprId,
        focus: Focus<'_>,
    ) -> Flow<bool> {
        let few = self.list(few, focus)?;
        if few.is_empty() {
            return Ok(false);
        }
        if few.len() > 1 {
            let many = self.list(many, focus)?;
            return self.compare_lists(comparison, &many, &few);
        }
        let mut holds = false;
        let flow = self.each(many, focus, &mut |run, item| {
            holds = run.compare_pair(comparison, &item, &few[0])?;
            if holds { Err(Stop::Enough) } else { Ok(()) }
        });
        until_enough(flow, holds)?;
        Ok(holds)
    }

    fn list(&mut self, id: ExprId, focus: Focus<'_>) -> Flow<Items> {
        if let Expr::Constant(constant) = self.code.expr(id) {
            let value = self.code.constants[*constant as usize].clone();
            return Ok(SmallVec::from_iter([Item::Atomic(value)]));
        }
        let mut items = Items::new();
        self.each(id, focus, &mut |_, item| {
            items.push(item);
            Ok(())
        })?;
        Ok(items)
    }

    fn compare_lists(
        &mut self,
        comparison: Comparison,
        left: &[Item],
        right: &[Item],
    ) -> Flow<bool> {
        let is_large = left.len() * right.len() > PAIRS_MAX;
        if is_large && comparison == Comparison::Equal {
            let texts = |items: &'_ [Item]| {
                items
                    .iter()
                    .all(|item| text_of(self.forest, item).is_some())
            };
            if texts(left) && texts(right) {
                let forest = &*self.forest;
                let known: FxHashSet<&[u8]> = left
                    .iter()
                    .filter_map(|item| text_of(forest, item))
                    .collect();
                let mut others = right.iter().filter_map(|item| text_of(forest, item));
                let is_there = others.any(|text| known.contains(text));
                let bytes: usize = [left, right]
                    .into_iter()
                    .flatten()
                    .filter_map(|item| text_of(forest, item))
                    .map(<[u8]>::len)
                    .sum();
                self.charge((left.len() + right.len()) as u64 + steps_of_bytes(bytes));
                return Ok(is_there);
            }
        }
        for first in left {
            self.charge(right.len() as u64);
            for second in right {
                if self.compare_pair(comparison, first, second)? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// Whether a pair of items compares.
    pub fn compare_pair(&self, comparison: Comparison, left: &Item, right: &Item) -> Flow<bool> {
        if let (Some(left), Some(right)) = (text_of(self.forest, left), text_of(self.forest, right))
        {
            self.owe(steps_of_bytes(left.len().min(right.len())));
            return Ok(comparison.holds(Some(left.cmp(right))));
        }
        let known = match (left, right) {
            (Item::Node(_), Item::Atomic(number)) => self.compare_number(comparison, left, number),
            (Item::Atomic(number), Item::Node(_)) => {
                self.compare_number(comparison.mirrored(), right, number)
            }
            _ => None,
        };
        if let Some(holds) = known {
            return Ok(holds);
        }
        let (left, right) = (self.view(left), self.view(right));
        let untyped = self.code.untyped;
        Ok(atomic::compare_general(comparison, &left, &right, untyped)?)
    }

    /// A node compared with a number; None where the usual way has to decide.
    fn compare_number(&self, comparison: Comparison, node: &Item, number: &Atomic) -> Option<bool> {
        let Item::Node(node) = node else {
            return None;
        };
        let number = match number {
            Atomic::Integer(number) if number.unsigned_abs() < 1 << 53 => *number as f64,
            Atomic::Double(number) => *number,
            _ => return None,
        };
        if matches!(self.forest.kind(*node), Kind::Comment | Kind::Instruction) {
            return None;
        }
        match double(self.forest.value(*node)) {
            Some(value) => Some(comparison.holds(value.partial_cmp(&number))),
            None if self.code.untyped == Untyped::False => Some(false),
            None => None,
        }
    }

    fn view<'i>(&self, item: &'i Item) -> Cow<'i, Atomic> {
        match item {
            Item::Atomic(value) => Cow::Borrowed(value),
            node => Cow::Owned(self.atomize(node)),
        }
    }

    /// A value comparison; None if an operand is empty.
    pub fn compare_values(
        &mut self,
        comparison: Comparison,
        left: ExprId,
        right: ExprId,
        focus: Focus<'_>,
    ) -> Flow<Option<bool>> {
        let left = self.optional_item(left, focus)?;
        let right = self.optional_item(right, focus)?;
        let (Some(left), Some(right)) = (left, right) else {
            return Ok(None);
        };
        if let (Some(left), Some(right)) =
            (text_of(self.forest, &left), text_of(self.forest, &right))
        {
            self.owe(steps_of_bytes(left.len().min(right.len())));
            return Ok(Some(comparison.holds(Some(left.cmp(right)))));
        }
        let (left, right) = (self.view(&left), self.view(&right));
        Ok(Some(atomic::compare_values(comparison, &left, &right)?))
    }
}

/// The text that an item is compared as with other text; None for numbers, dates and so on.
pub(super) fn text_of<'i>(forest: &'i Forest, item: &'i Item) -> Option<&'i [u8]> {
    match item {
        Item::Node(node) => Some(forest.value(*node)),
        Item::Atomic(value) => value.as_text().map(|text| text.as_bytes()),
    }
}

/// Text as an `xs:double`.
pub fn double(text: &[u8]) -> Option<f64> {
    let text = text.trim_ascii();
    match text {
        b"INF" => return Some(f64::INFINITY),
        b"-INF" => return Some(f64::NEG_INFINITY),
        b"NaN" => return Some(f64::NAN),
        _ => {}
    }
    // Rust reads more words as numbers than XML Schema does: letters are those of an exponent.
    let is_number = |byte: &u8| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E');
    if !text.iter().all(is_number) {
        return None;
    }
    std::str::from_utf8(text).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::double;

    #[test]
    fn text_is_read_as_a_double_as_xml_schema_says() {
        assert_eq!(double(b" 1e3\n"), Some(1000.0));
        assert_eq!(double(b"+.5"), Some(0.5));
        assert_eq!(double(b"5."), Some(5.0));
        assert_eq!(double(b"-INF"), Some(f64::NEG_INFINITY));
        for text in [
            "", "inf", "nan", "infinity", "1e", "0x1", ".", "1 2", "+INF",
        ] {
            assert_eq!(double(text.as_bytes()), None, "{text}");
        }
    }
}
