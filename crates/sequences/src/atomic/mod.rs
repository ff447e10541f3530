//! Atomic values: types, casts, comparison, arithmetic.
//!
//! The implicit time zone is UTC. So the same documents give the same results on every machine.
//!
//! | files | what they do |
//! | --- | --- |
//! | `types` | the types and their derivation |
//! | `parse`, `text` | from text to values, and back to the canonical text |
//! | `cast` | from one type to another |
//! | `numbers`, `arithmetic` | promotion of numbers; `+ - * div idiv mod` |
//! | `moment`, `duration`, `calendar` | dates and times; durations; arithmetic of both |
//! | `compare`, `order`, `key` | comparisons; the order of sorted values; keys for hash tables |

mod arithmetic;
mod calendar;
mod cast;
mod compare;
mod duration;
mod key;
mod moment;
mod numbers;
mod order;
mod parse;
mod text;
mod types;

use std::hash::{Hash, Hasher};
use std::rc::Rc;

pub use arithmetic::{Operator, arithmetic, negate, plus};
pub use compare::{Comparison, Untyped, compare_general, compare_values};
pub(crate) use compare::{as_duration, is_equal};
pub use duration::{Duration, Seconds};
pub use key::{Key, key};
pub use moment::{Moment, ZONE_MINUTES_MAX};
pub(crate) use order::common_type;
pub use order::{order_keys, unify};
pub(crate) use parse::is_ncname;
pub use rust_decimal::Decimal;
pub use types::AtomicType;

use crate::error::{Error, Result};

/// An atomic value. A clone copies no text.
#[derive(Clone, Debug)]
pub enum Atomic {
    /// `xs:string`
    String(Rc<str>),
    /// `xs:untypedAtomic`, the value of nodes of documents without a schema
    UntypedAtomic(Rc<str>),
    /// `xs:anyURI`
    AnyUri(Rc<str>),
    /// `xs:boolean`
    Boolean(bool),
    /// `xs:integer`
    Integer(i64),
    /// `xs:decimal`
    Decimal(Decimal),
    /// `xs:float`
    Float(f32),
    /// `xs:double`
    Double(f64),
    /// `xs:QName`
    QName(Rc<QName>),
    /// `xs:date`: midnight of the day
    Date(Moment),
    /// `xs:time`: on the reference day
    Time(Moment),
    /// `xs:dateTime`
    DateTime(Moment),
    /// `xs:duration`: months and seconds
    Duration(Rc<Duration>),
    /// `xs:dayTimeDuration`
    DayTimeDuration(Seconds),
    /// `xs:yearMonthDuration`, in months
    YearMonthDuration(i64),
}

/// An expanded name and its prefix. Only the name counts in comparisons.
#[derive(Clone, Debug)]
pub struct QName {
    /// The prefix; empty if there is none.
    pub prefix: Box<str>,
    /// The namespace name; empty if there is none.
    pub uri: Box<str>,
    /// The local name.
    pub local: Box<str>,
}

impl PartialEq for QName {
    fn eq(&self, other: &Self) -> bool {
        self.local == other.local && self.uri == other.uri
    }
}

impl Eq for QName {}

impl Hash for QName {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.local.hash(state);
        self.uri.hash(state);
    }
}

impl Atomic {
    /// An `xs:string`.
    pub fn string(text: impl Into<Rc<str>>) -> Self {
        Atomic::String(text.into())
    }

    /// An `xs:untypedAtomic`.
    pub fn untyped(text: impl Into<Rc<str>>) -> Self {
        Atomic::UntypedAtomic(text.into())
    }

    /// The type of the value, the most specific one.
    pub fn type_of(&self) -> AtomicType {
        match self {
            Atomic::String(_) => AtomicType::String,
            Atomic::UntypedAtomic(_) => AtomicType::UntypedAtomic,
            Atomic::AnyUri(_) => AtomicType::AnyUri,
            Atomic::Boolean(_) => AtomicType::Boolean,
            Atomic::Integer(_) => AtomicType::Integer,
            Atomic::Decimal(_) => AtomicType::Decimal,
            Atomic::Float(_) => AtomicType::Float,
            Atomic::Double(_) => AtomicType::Double,
            Atomic::QName(_) => AtomicType::QName,
            Atomic::Date(_) => AtomicType::Date,
            Atomic::Time(_) => AtomicType::Time,
            Atomic::DateTime(_) => AtomicType::DateTime,
            Atomic::Duration(_) => AtomicType::Duration,
            Atomic::DayTimeDuration(_) => AtomicType::DayTimeDuration,
            Atomic::YearMonthDuration(_) => AtomicType::YearMonthDuration,
        }
    }

    /// The text of a string, an untyped value or a URI; None for other types.
    pub fn as_text(&self) -> Option<&Rc<str>> {
        match self {
            Atomic::String(text) | Atomic::UntypedAtomic(text) | Atomic::AnyUri(text) => Some(text),
            _ => None,
        }
    }
}

/// The effective boolean value of one atomic value.
///
/// # Errors
///
/// FORG0006 for types that have none, such as dates.
pub fn truth(value: &Atomic) -> Result<bool> {
    match value {
        Atomic::Boolean(truth) => Ok(*truth),
        Atomic::String(text) | Atomic::UntypedAtomic(text) | Atomic::AnyUri(text) => {
            Ok(!text.is_empty())
        }
        Atomic::Integer(number) => Ok(*number != 0),
        Atomic::Decimal(number) => Ok(!number.is_zero()),
        Atomic::Float(number) => Ok(*number != 0.0 && !number.is_nan()),
        Atomic::Double(number) => Ok(*number != 0.0 && !number.is_nan()),
        other => Err(Error::new(
            "FORG0006",
            format!(
                "a value of type {} has no effective boolean value",
                other.type_of()
            ),
        )),
    }
}
