//! Scalar expressions of a plan and their values.

use super::Plan;
use crate::values::{Value, apply};
use crate::vocabulary::Op;
use std::borrow::Cow;

impl Plan {
    /// The value of an expression; `operand` gives the string of an operand.
    pub(crate) fn evaluate<'a>(&'a self, expr: u32, operand: &dyn Fn(u32) -> &'a str) -> Value<'a> {
        let view = self.expr(expr);
        match view.op {
            Op::Text => Value::Text(Cow::Borrowed(
                std::str::from_utf8(self.string(view.args[0])).unwrap_or(""),
            )),
            Op::Number => Value::Number(self.number(view.args[0])),
            Op::Boolean => Value::Boolean(view.args[0] != 0),
            Op::Operand => Value::Text(Cow::Borrowed(operand(view.args[0]))),
            op => apply(op, view.args.len(), &|index| {
                self.evaluate(view.args[index], operand)
            }),
        }
    }
}
