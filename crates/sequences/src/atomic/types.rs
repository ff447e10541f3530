//! The atomic types and their derivation.

use std::fmt;

/// A type of atomic values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AtomicType {
    /// `xs:anyAtomicType`, from which all others derive
    AnyAtomic,
    /// `xs:untypedAtomic`
    UntypedAtomic,
    /// `xs:string`
    String,
    /// `xs:anyURI`
    AnyUri,
    /// `xs:boolean`
    Boolean,
    /// `xs:decimal`
    Decimal,
    /// `xs:integer`, which is a decimal
    Integer,
    /// `xs:float`
    Float,
    /// `xs:double`
    Double,
    /// `xs:QName`
    QName,
    /// `xs:date`
    Date,
    /// `xs:time`
    Time,
    /// `xs:dateTime`
    DateTime,
    /// `xs:duration`
    Duration,
    /// `xs:dayTimeDuration`, which is a duration
    DayTimeDuration,
    /// `xs:yearMonthDuration`, which is a duration
    YearMonthDuration,
}

/// Every type with its local name.
const NAMES: [(AtomicType, &str); 16] = [
    (AtomicType::AnyAtomic, "anyAtomicType"),
    (AtomicType::UntypedAtomic, "untypedAtomic"),
    (AtomicType::String, "string"),
    (AtomicType::AnyUri, "anyURI"),
    (AtomicType::Boolean, "boolean"),
    (AtomicType::Decimal, "decimal"),
    (AtomicType::Integer, "integer"),
    (AtomicType::Float, "float"),
    (AtomicType::Double, "double"),
    (AtomicType::QName, "QName"),
    (AtomicType::Date, "date"),
    (AtomicType::Time, "time"),
    (AtomicType::DateTime, "dateTime"),
    (AtomicType::Duration, "duration"),
    (AtomicType::DayTimeDuration, "dayTimeDuration"),
    (AtomicType::YearMonthDuration, "yearMonthDuration"),
];

impl AtomicType {
    /// All types.
    pub fn all() -> impl Iterator<Item = AtomicType> {
        NAMES.iter().map(|(kind, _)| *kind)
    }

    /// The type with a local name in the namespace of XML Schema.
    pub fn from_name(name: &str) -> Option<Self> {
        NAMES
            .iter()
            .find(|(_, known)| *known == name)
            .map(|(kind, _)| *kind)
    }

    /// The local name, such as `integer`.
    pub fn name(self) -> &'static str {
        NAMES[self as usize].1
    }

    /// The type that this one is derived from; None for `xs:anyAtomicType`.
    pub fn base(self) -> Option<Self> {
        match self {
            AtomicType::AnyAtomic => None,
            AtomicType::Integer => Some(AtomicType::Decimal),
            AtomicType::DayTimeDuration | AtomicType::YearMonthDuration => {
                Some(AtomicType::Duration)
            }
            _ => Some(AtomicType::AnyAtomic),
        }
    }

    /// Whether values of this type are values of the other type too.
    pub fn derives_from(self, other: Self) -> bool {
        self == other || self.base().is_some_and(|base| base.derives_from(other))
    }

    /// Whether the values are numbers.
    pub fn is_numeric(self) -> bool {
        matches!(
            self,
            AtomicType::Integer | AtomicType::Decimal | AtomicType::Float | AtomicType::Double
        )
    }
}

impl fmt::Display for AtomicType {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "xs:{}", self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_the_order_of_the_types() {
        for kind in AtomicType::all() {
            assert_eq!(AtomicType::from_name(kind.name()), Some(kind));
        }
        assert_eq!(AtomicType::Integer.to_string(), "xs:integer");
        assert_eq!(AtomicType::from_name("int"), None);
    }

    #[test]
    fn integers_are_decimals_and_decimals_are_no_integers() {
        assert!(AtomicType::Integer.derives_from(AtomicType::Decimal));
        assert!(AtomicType::Integer.derives_from(AtomicType::AnyAtomic));
        assert!(!AtomicType::Decimal.derives_from(AtomicType::Integer));
        assert!(AtomicType::DayTimeDuration.derives_from(AtomicType::Duration));
        assert!(!AtomicType::AnyUri.derives_from(AtomicType::String));
    }
}
