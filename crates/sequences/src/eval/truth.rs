//! Effective boolean values.

use super::item::{Item, Sequence};
use super::run::{Flow, Focus, Run, Stop, fail};
use super::stream::until_enough;
use crate::atomic;
use crate::code::{Expr, ExprId, For, NodeFunction};

impl<'a> Run<'a> {
    /// The effective boolean value of an expression.
    pub fn truth(&mut self, id: ExprId, focus: Focus<'_>) -> Flow<bool> {
        if self.code.is_kept[id.index()] {
            let value = self.kept(id, focus)?;
            return self.truth_of(&value);
        }
        self.decide(id, focus)
    }

    /// The same, whether the value is kept or not.
    pub fn decide(&mut self, id: ExprId, focus: Focus<'_>) -> Flow<bool> {
        self.charge(1);
        match self.code.expr(id) {
            Expr::GeneralCompare(comparison, left, right) => {
                self.compare_general(*comparison, *left, *right, focus)
            }
            Expr::ValueCompare(comparison, left, right) => {
                let holds = self.compare_values(*comparison, *left, *right, focus)?;
                Ok(holds.unwrap_or(false))
            }
            Expr::And(parts) => {
                for &part in parts {
                    if !self.truth(part, focus)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Expr::Or(parts) => {
                for &part in parts {
                    if self.truth(part, focus)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Expr::NodeCall(NodeFunction::Not, arguments) => Ok(!self.truth(arguments[0], focus)?),
            Expr::NodeCall(NodeFunction::Boolean, arguments) => self.truth(arguments[0], focus),
            Expr::NodeCall(NodeFunction::Exists, arguments) => self.exists(arguments[0], focus),
            Expr::NodeCall(NodeFunction::Empty, arguments) => {
                Ok(!self.exists(arguments[0], focus)?)
            }
            Expr::Quantified {
                is_every,
                bindings,
                test,
            } => {
                let is_found = self.is_found(bindings, test, !is_every, focus)?;
                Ok(is_found != *is_every)
            }
            Expr::InstanceOf(operand, type_) => {
                let value = self.value(*operand, focus)?;
                Ok(self.is_instance(&value, *type_))
            }
            Expr::CastableAs {
                operand,
                target,
                is_optional,
            } => self.is_castable(*operand, *target, *is_optional, focus),
            _ => self.decide_items(id, focus),
        }
    }

    /// The effective boolean value of a sequence.
    pub fn truth_of(&self, value: &Sequence) -> Flow<bool> {
        match value.as_slice() {
            [] => Ok(false),
            [Item::Node(_), ..] => Ok(true),
            [Item::Atomic(value)] => Ok(atomic::truth(value)?),
            _ => several(),
        }
    }

    /// The same, item by item: a node decides at once.
    fn decide_items(&mut self, id: ExprId, focus: Focus<'_>) -> Flow<bool> {
        let mut first: Option<Item> = None;
        let mut is_decided = false;
        let flow = self.stream(id, focus, &mut |_, item| {
            is_decided = first.is_some() || matches!(item, Item::Node(_));
            if first.is_some() {
                return several();
            }
            first = Some(item);
            if is_decided {
                Err(Stop::Enough)
            } else {
                Ok(())
            }
        });
        until_enough(flow, is_decided)?;
        match first {
            None => Ok(false),
            Some(Item::Node(_)) => Ok(true),
            Some(Item::Atomic(value)) => Ok(atomic::truth(&value)?),
        }
    }

    /// Whether there are values of the variables for which the test is as wanted.
    fn is_found(
        &mut self,
        bindings: &'a [For],
        test: &'a [ExprId],
        wanted: bool,
        focus: Focus<'_>,
    ) -> Flow<bool> {
        let mut is_found = false;
        let flow = self.bindings(bindings, focus, &mut |run| {
            let mut holds = true;
            for &part in test {
                holds = holds && run.truth(part, focus)?;
            }
            is_found = holds == wanted;
            if is_found { Err(Stop::Enough) } else { Ok(()) }
        });
        until_enough(flow, is_found)?;
        Ok(is_found)
    }

    fn bindings(
        &mut self,
        bindings: &'a [For],
        focus: Focus<'_>,
        out: &mut dyn FnMut(&mut Self) -> Flow,
    ) -> Flow {
        match bindings.split_first() {
            None => out(self),
            Some((first, rest)) => {
                self.for_each(first, focus, &mut |run| run.bindings(rest, focus, out))
            }
        }
    }
}

fn several<T>() -> Flow<T> {
    let reason = "a sequence of several atomic values has no effective boolean value";
    fail("FORG0006", reason)
}
