//! The function conversion rules: from the values of an argument to those of a parameter.

use super::Values;
use crate::atomic::{Atomic, AtomicType};
use crate::error::{Error, Result};

/// What one value has to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A value of a type; `AnyAtomic` takes all.
    Type(AtomicType),
    /// A number of any type.
    Numeric,
}

/// How many values there may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Occurrence {
    /// One.
    One,
    /// One or none: `?`.
    Optional,
    /// Any number: `*`.
    Many,
    /// At least one: `+`.
    Some,
}

/// What an argument is converted to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// What each value has to be.
    pub kind: Kind,
    /// How many values there may be.
    pub occurrence: Occurrence,
}

impl Occurrence {
    /// Whether there may be so many values.
    pub fn allows(self, count: usize) -> bool {
        match self {
            Occurrence::One => count == 1,
            Occurrence::Optional => count <= 1,
            Occurrence::Many => true,
            Occurrence::Some => count >= 1,
        }
    }
}

/// The values of an argument as a parameter wants them.
///
/// Untyped values are cast, numbers are promoted to floats and doubles, URIs to strings.
///
/// # Errors
///
/// XPTY0004 if the number of values or the type of one does not fit; FORG0001 if an untyped value
/// is not a value of the type.
pub fn convert(mut values: Values, parameter: &Parameter) -> Result<Values> {
    if !parameter.occurrence.allows(values.len()) {
        return Err(miscounted(values.len(), parameter));
    }
    for value in &mut values {
        if let Some(converted) = converted(value, parameter.kind)? {
            *value = converted;
        }
    }
    Ok(values)
}

/// The value that one has to be replaced with; None if it fits as it is.
fn converted(value: &Atomic, kind: Kind) -> Result<Option<Atomic>> {
    let found = value.type_of();
    let wanted = match kind {
        Kind::Type(wanted) if found.derives_from(wanted) => return Ok(None),
        Kind::Numeric if found.is_numeric() => return Ok(None),
        Kind::Type(wanted) => wanted,
        Kind::Numeric => AtomicType::Double,
    };
    let is_promoted = match wanted {
        AtomicType::Double => kind != Kind::Numeric && found.is_numeric(),
        AtomicType::Float => found.derives_from(AtomicType::Decimal),
        AtomicType::String => found == AtomicType::AnyUri,
        _ => false,
    };
    if is_promoted || found == AtomicType::UntypedAtomic {
        return value.cast(wanted).map(Some);
    }
    let wanted = if kind == Kind::Numeric {
        "a number".into()
    } else {
        wanted.to_string()
    };
    Err(Error::new(
        "XPTY0004",
        format!("{wanted} is expected here, not {found}"),
    ))
}

fn miscounted(count: usize, parameter: &Parameter) -> Error {
    let wanted = match parameter.occurrence {
        Occurrence::One => "one value is",
        Occurrence::Optional => "at most one value is",
        Occurrence::Many => "any number of values is",
        Occurrence::Some => "at least one value is",
    };
    let found = if count == 0 {
        "none".into()
    } else {
        count.to_string()
    };
    Error::new("XPTY0004", format!("{wanted} expected here, not {found}"))
}
