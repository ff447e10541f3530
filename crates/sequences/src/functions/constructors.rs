//! Constructor functions of types, such as `xs:integer`.

use super::{ANY, Builtin, Call, Kind, Parameter, Values, empty, optional, value};
use crate::atomic::AtomicType;
use crate::error::Result;

const PARAMETERS: &[Parameter] = &[optional(ANY)];

const fn constructor(name: &'static str, kind: AtomicType) -> Builtin {
    Builtin::new(name, PARAMETERS, optional(Kind::Type(kind)), construct)
}

pub(super) static BUILTINS: &[Builtin] = &[
    constructor("xs:untypedAtomic", AtomicType::UntypedAtomic),
    constructor("xs:string", AtomicType::String),
    constructor("xs:anyURI", AtomicType::AnyUri),
    constructor("xs:boolean", AtomicType::Boolean),
    constructor("xs:decimal", AtomicType::Decimal),
    constructor("xs:integer", AtomicType::Integer),
    constructor("xs:float", AtomicType::Float),
    constructor("xs:double", AtomicType::Double),
    constructor("xs:QName", AtomicType::QName),
    constructor("xs:date", AtomicType::Date),
    constructor("xs:time", AtomicType::Time),
    constructor("xs:dateTime", AtomicType::DateTime),
    constructor("xs:duration", AtomicType::Duration),
    constructor("xs:dayTimeDuration", AtomicType::DayTimeDuration),
    constructor("xs:yearMonthDuration", AtomicType::YearMonthDuration),
];

fn construct(call: &mut Call<'_>) -> Result<Values> {
    match (call.value(0), call.builtin.result.kind) {
        (Some(argument), Kind::Type(target)) => value(argument.cast(target)?),
        _ => empty(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::functions::testing::{fails, gives};

    #[test]
    fn every_type_but_the_abstract_one_has_a_constructor() {
        for kind in AtomicType::all().filter(|kind| *kind != AtomicType::AnyAtomic) {
            let name = format!("xs:{}", kind.name());
            let builtin = crate::functions::find(&name, 1).unwrap();
            assert_eq!(builtin.result.kind, Kind::Type(kind));
        }
    }

    #[test]
    fn constructors_cast() {
        gives("xs:integer", &["u: 12 "], "integer:12");
        gives("xs:integer", &["decimal:-1.9"], "integer:-1");
        gives("xs:integer", &["()"], "()");
        fails("xs:integer", &["string:1.0"], "FORG0001");
        fails("xs:date", &["integer:1"], "XPTY0004");
    }
}
