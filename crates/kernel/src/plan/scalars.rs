//! Scalar expressions of a plan and their values.

use super::Plan;
use super::ids::ExprId;
use super::records::Expr;
use crate::values::{Value, apply};
use std::borrow::Cow;

impl Plan {
    /// The value of an expression; `operand` gives the string of an operand by its place.
    pub(crate) fn evaluate<'a>(
        &'a self,
        expr: ExprId,
        operand: &dyn Fn(usize) -> &'a str,
    ) -> Value<'a> {
        match self.expr(expr) {
            Expr::Text(string) => Value::Text(Cow::Borrowed(
                std::str::from_utf8(self.string(string)).unwrap_or(""),
            )),
            Expr::Number(number) => Value::Number(self.number(number)),
            Expr::Boolean(truth) => Value::Boolean(truth),
            Expr::Operand(place) => Value::Text(Cow::Borrowed(operand(place))),
            Expr::Call(op, args) => {
                apply(op, args.len(), &|index| self.evaluate(args[index], operand))
            }
        }
    }
}
