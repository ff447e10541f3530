//! Built-in functions of atomic values.
//!
//! A function is found by its name and the number of its arguments. The caller converts each
//! argument with `convert` and calls the function with the values.
//!
//! | files | functions |
//! | --- | --- |
//! | `constructors`, `names`, `context` | `xs:integer(…)`; QNames; `error`, `current-date` … |
//! | `numbers`, `aggregates` | `abs`, `round` …; `sum`, `max` …, `distinct-values`, `index-of` |
//! | `strings`, `substrings`, `patterns` | text; its parts; regular expressions |
//! | `uris` | percent-encoding and `resolve-uri` |
//! | `moments`, `durations`, `zones` | the parts of dates, times and durations; time zones |

mod aggregates;
mod constructors;
mod context;
mod conversion;
mod durations;
mod environment;
mod made;
mod moments;
mod names;
mod numbers;
mod patterns;
mod strings;
mod substrings;
#[cfg(test)]
mod testing;
mod uris;
mod zones;

pub use conversion::{Kind, Occurrence, Parameter, convert};
pub use environment::Environment;
use smallvec::{SmallVec, smallvec};

use crate::atomic::{Atomic, AtomicType};
use crate::error::{Error, Result};

/// The one collation there is: strings are ordered by their code points.
pub const CODEPOINT_COLLATION: &str = "http://www.w3.org/2005/xpath-functions/collation/codepoint";

/// A sequence of atomic values; most have one.
pub type Values = SmallVec<[Atomic; 1]>;

/// A built-in function.
pub struct Builtin {
    /// The local name, or `xs:integer` for the constructor of a type.
    pub name: &'static str,
    /// What the arguments are converted to. The last one holds for all further arguments of a
    /// variadic function.
    pub parameters: &'static [Parameter],
    /// How many arguments there are at least; further parameters may be left out.
    pub required: usize,
    /// Whether there may be more arguments than parameters.
    pub is_variadic: bool,
    /// What the function returns.
    pub result: Parameter,
    /// The function itself.
    pub call: fn(&mut Call<'_>) -> Result<Values>,
}

impl Builtin {
    /// A function with a fixed number of arguments.
    const fn new(
        name: &'static str,
        parameters: &'static [Parameter],
        result: Parameter,
        call: fn(&mut Call<'_>) -> Result<Values>,
    ) -> Self {
        Builtin {
            name,
            parameters,
            required: parameters.len(),
            is_variadic: false,
            result,
            call,
        }
    }

    /// The same function with parameters that may be left out.
    const fn requires(self, required: usize) -> Self {
        Builtin { required, ..self }
    }

    /// What the argument at a place is converted to.
    pub fn parameter(&self, place: usize) -> Option<&Parameter> {
        match self.parameters.get(place) {
            None if self.is_variadic => self.parameters.last(),
            found => found,
        }
    }

    fn takes(&self, arity: usize) -> bool {
        self.required <= arity && (self.is_variadic || arity <= self.parameters.len())
    }
}

/// One call of a function: its converted arguments, and what it may know besides.
pub struct Call<'a> {
    /// The function that is called.
    pub builtin: &'static Builtin,
    /// The values of each argument. A function may take them out.
    pub arguments: &'a mut [Values],
    /// The time of the evaluation, and patterns that were compiled before.
    pub environment: &'a Environment,
    /// Hears of steps of work beyond a few; it may end the evaluation.
    pub meter: &'a mut dyn FnMut(u64),
}

impl Call<'_> {
    /// The value of an argument; None if it is empty or left out.
    fn value(&self, place: usize) -> Option<&Atomic> {
        self.arguments.get(place).and_then(|values| values.first())
    }

    /// The text of an argument; None if it is empty or left out.
    fn optional_text(&self, place: usize) -> Option<&str> {
        self.value(place)
            .and_then(Atomic::as_text)
            .map(|text| &**text)
    }

    /// The text of an argument; no characters if it is empty or left out.
    fn text(&self, place: usize) -> &str {
        text_at(self.arguments, place)
    }

    /// Check an argument that names a collation, which may be left out.
    fn check_collation(&self, place: usize) -> Result<()> {
        match self.optional_text(place) {
            None | Some(CODEPOINT_COLLATION) => Ok(()),
            Some(other) => Err(Error::new(
                "FOCH0002",
                format!("the collation `{other}` is not supported; `{CODEPOINT_COLLATION}` is"),
            )),
        }
    }
}

/// The text of one of the arguments; no characters if it is empty or left out. What a function
/// makes of it is metered, so the arguments are borrowed alone.
fn text_at(arguments: &[Values], place: usize) -> &str {
    let value = arguments.get(place).and_then(|values| values.first());
    value.and_then(Atomic::as_text).map_or("", |text| text)
}

static GROUPS: [&[Builtin]; 12] = [
    aggregates::BUILTINS,
    constructors::BUILTINS,
    context::BUILTINS,
    durations::BUILTINS,
    moments::BUILTINS,
    names::BUILTINS,
    numbers::BUILTINS,
    patterns::BUILTINS,
    strings::BUILTINS,
    substrings::BUILTINS,
    uris::BUILTINS,
    zones::BUILTINS,
];

/// All functions.
pub fn all() -> impl Iterator<Item = &'static Builtin> {
    GROUPS.iter().flat_map(|group| group.iter())
}

/// The function with a name that takes so many arguments.
pub fn find(name: &str, arity: usize) -> Option<&'static Builtin> {
    all().find(|builtin| builtin.name == name && builtin.takes(arity))
}

// What the tables of the groups are written with.

const ANY: Kind = Kind::Type(AtomicType::AnyAtomic);
const BOOLEAN: Kind = Kind::Type(AtomicType::Boolean);
const DECIMAL: Kind = Kind::Type(AtomicType::Decimal);
const DOUBLE: Kind = Kind::Type(AtomicType::Double);
const INTEGER: Kind = Kind::Type(AtomicType::Integer);
const STRING: Kind = Kind::Type(AtomicType::String);
const URI: Kind = Kind::Type(AtomicType::AnyUri);
const QNAME: Kind = Kind::Type(AtomicType::QName);
const DATE: Kind = Kind::Type(AtomicType::Date);
const TIME: Kind = Kind::Type(AtomicType::Time);
const DATE_TIME: Kind = Kind::Type(AtomicType::DateTime);
const DURATION: Kind = Kind::Type(AtomicType::Duration);
const DAY_TIME: Kind = Kind::Type(AtomicType::DayTimeDuration);

const fn one(kind: Kind) -> Parameter {
    Parameter {
        kind,
        occurrence: Occurrence::One,
    }
}

const fn optional(kind: Kind) -> Parameter {
    Parameter {
        kind,
        occurrence: Occurrence::Optional,
    }
}

const fn many(kind: Kind) -> Parameter {
    Parameter {
        kind,
        occurrence: Occurrence::Many,
    }
}

/// A sequence of one value.
fn value(value: Atomic) -> Result<Values> {
    Ok(smallvec![value])
}

/// A sequence of one string.
fn string(text: impl Into<std::rc::Rc<str>>) -> Result<Values> {
    value(Atomic::string(text))
}

/// The empty sequence.
fn empty() -> Result<Values> {
    Ok(Values::new())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_functions_have_one_name_and_arity() {
        for builtin in all() {
            for arity in builtin.required..=builtin.parameters.len() {
                let found = find(builtin.name, arity).map(std::ptr::from_ref);
                assert_eq!(found, Some(std::ptr::from_ref(builtin)), "{}", builtin.name);
            }
        }
    }

    #[test]
    fn functions_are_found_by_the_number_of_their_arguments() {
        assert!(find("substring", 1).is_none());
        assert!(find("substring", 2).is_some());
        assert!(find("substring", 4).is_none());
        assert!(find("concat", 1).is_none());
        assert!(find("concat", 90).is_some());
        assert!(find("sub-string", 2).is_none());
    }
}
