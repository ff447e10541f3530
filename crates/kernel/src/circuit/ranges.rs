//! Numbers of which only bounds are known yet: counts and positions while the document arrives.

use crate::plan::Op;

/// A number between two bounds, never NaN.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    pub low: f64,
    pub high: f64,
}

impl Range {
    pub fn of(number: f64) -> Self {
        Range {
            low: number,
            high: number,
        }
    }

    pub fn from(low: f64) -> Self {
        Range {
            low,
            high: f64::INFINITY,
        }
    }
}

/// The bounds of a sum, difference or negation.
pub fn combine(op: Op, args: &[Option<Range>]) -> Option<Range> {
    let first = args.first().copied().flatten()?;
    let range = match op {
        Op::ToNumber => first,
        Op::Negate => Range {
            low: -first.high,
            high: -first.low,
        },
        Op::Add | Op::Subtract => {
            let second = args.get(1).copied().flatten()?;
            let (low, high) = if op == Op::Add {
                (second.low, second.high)
            } else {
                (-second.high, -second.low)
            };
            Range {
                low: first.low + low,
                high: first.high + high,
            }
        }
        _ => return None,
    };
    (!range.low.is_nan() && !range.high.is_nan()).then_some(range)
}

/// The outcome of a comparison, where the bounds decide it.
pub fn compare(op: Op, left: Range, right: Range) -> Option<bool> {
    let decide = |yes: bool, no: bool| {
        if yes {
            Some(true)
        } else if no {
            Some(false)
        } else {
            None
        }
    };
    let is_apart = left.high < right.low || right.high < left.low;
    let is_same = left.low == left.high && left == right;
    match op {
        Op::Eq => decide(is_same, is_apart),
        Op::Ne => decide(is_apart, is_same),
        Op::Lt => decide(left.high < right.low, left.low >= right.high),
        Op::Le => decide(left.high <= right.low, left.low > right.high),
        Op::Gt => decide(left.low > right.high, left.high <= right.low),
        Op::Ge => decide(left.low >= right.high, left.high < right.low),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_decide_as_soon_as_they_can() {
        let some = Range::from(3.0);
        let two = Range::of(2.0);
        assert_eq!(compare(Op::Gt, some, two), Some(true));
        assert_eq!(compare(Op::Eq, some, two), Some(false));
        assert_eq!(compare(Op::Eq, some, Range::of(3.0)), None);
        assert_eq!(compare(Op::Le, Range::from(2.0), two), None);
    }

    #[test]
    fn differences_keep_their_bounds() {
        let last = Range::from(4.0);
        let range = combine(Op::Subtract, &[Some(last), Some(Range::of(1.0))]);
        assert_eq!(range, Some(Range::from(3.0)));
        assert_eq!(combine(Op::Multiply, &[Some(last), Some(last)]), None);
    }
}
