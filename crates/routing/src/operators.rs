//! Tests of string values against constants.

use crate::dates::{self, Instant};
use penstock_kernel::values::{Comparison, ValueTest, parse_number};
use regex::bytes::{Regex, RegexBuilder};

/// Bytes that a compiled expression may take: a byte of a value costs as much at worst.
const COMPILED_BYTES_MAX: usize = 512 << 10;

/// A test of the string value of a node.
#[derive(Clone, Debug)]
pub enum Test {
    /// One that queries of the kernel have as well.
    Value(ValueTest<Box<[u8]>>),
    /// A part of the value matches the expression.
    Matches(Regex),
    /// The value is a date or a time that compares with another one. What is neither differs from
    /// every date, and is neither before nor after it.
    Date(Comparison, Instant),
}

impl Test {
    /// A test by a regular expression, or what is wrong with that.
    pub fn matching(expression: &str) -> Result<Test, String> {
        let mut builder = RegexBuilder::new(expression);
        let compiled = builder.size_limit(COMPILED_BYTES_MAX).build();
        compiled
            .map(Test::Matches)
            .map_err(|error| error.to_string())
    }

    /// Whether a value passes.
    pub fn passes(&self, value: &[u8]) -> bool {
        match self {
            Test::Value(test) => test.passes(value, || parse_number(value)),
            Test::Matches(expression) => expression.is_match(value),
            Test::Date(comparison, constant) => match dates::parse(value) {
                Some(instant) => compare(*comparison, instant, *constant),
                None => *comparison == Comparison::Ne,
            },
        }
    }
}

fn compare(comparison: Comparison, left: Instant, right: Instant) -> bool {
    match comparison {
        Comparison::Eq => left == right,
        Comparison::Ne => left != right,
        Comparison::Lt => left < right,
        Comparison::Le => left <= right,
        Comparison::Gt => left > right,
        Comparison::Ge => left >= right,
    }
}
