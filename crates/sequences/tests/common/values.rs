//! Random values of every type, with those in front that something is special about.

use penstock_sequences::atomic::{Atomic, AtomicType};
use proptest::prelude::*;

use super::common::atomic;

const SPECIAL: [&str; 34] = [
    "s:",
    "u:",
    "u: 1 ",
    "u:NaN",
    "u:x",
    "anyURI:",
    "boolean:true",
    "integer:0",
    "integer:1",
    "integer:-9223372036854775808",
    "integer:9223372036854775807",
    "integer:9007199254740993",
    "decimal:0.0",
    "decimal:-0.5",
    "decimal:79228162514264337593543950335",
    "decimal:-79228162514264337593543950335",
    "decimal:0.0000000000000000000000000001",
    "double:0",
    "double:-0",
    "double:NaN",
    "double:INF",
    "double:-INF",
    "double:1e308",
    "double:4.9e-324",
    "float:NaN",
    "float:0.1",
    "float:3.4e38",
    "date:999999999-12-31Z",
    "dateTime:-999999999-01-01T00:00:00+14:00",
    "time:24:00:00-14:00",
    "dayTimeDuration:-P106751991167300DT15H30M8S",
    "dayTimeDuration:PT0S",
    "yearMonthDuration:-P9223372036854775808M",
    "QName:{urn:x}p:n",
];

fn parsed(kind: AtomicType, text: &str) -> Atomic {
    Atomic::parse(kind, text).expect(text)
}

fn zone() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(String::new()),
        Just("Z".to_owned()),
        ("[+-]", 0..14_u8, 0..60_u8).prop_map(|(sign, h, m)| format!("{sign}{h:02}:{m:02}")),
    ]
}

fn day() -> impl Strategy<Value = String> {
    (0..3000_u32, 1..13_u8, 1..29_u8).prop_map(|(y, m, d)| format!("{y:04}-{m:02}-{d:02}"))
}

fn clock() -> impl Strategy<Value = String> {
    (0..24_u8, 0..60_u8, 0..60_u8, "(\\.[0-9]{1,9})?")
        .prop_map(|(h, m, s, fraction)| format!("{h:02}:{m:02}:{s:02}{fraction}"))
}

/// A value of one type.
pub fn of(kind: AtomicType) -> BoxedStrategy<Atomic> {
    let parse = move |text: String| parsed(kind, &text);
    match kind {
        AtomicType::Boolean => any::<bool>().prop_map(Atomic::Boolean).boxed(),
        AtomicType::Integer => prop_oneof![-20..20_i64, any::<i64>()]
            .prop_map(Atomic::Integer)
            .boxed(),
        AtomicType::Decimal => "-?[0-9]{1,12}(\\.[0-9]{1,12})?".prop_map(parse).boxed(),
        AtomicType::Double => prop_oneof![
            any::<f64>(),
            (-40..40_i32).prop_map(|number| f64::from(number) / 8.0)
        ]
        .prop_map(Atomic::Double)
        .boxed(),
        AtomicType::Float => prop_oneof![
            any::<f32>(),
            (-40..40_i16).prop_map(|number| f32::from(number) / 8.0)
        ]
        .prop_map(Atomic::Float)
        .boxed(),
        AtomicType::QName => "(\\{urn:[a-b]\\}([a-b]:)?)?[a-c]".prop_map(parse).boxed(),
        AtomicType::Date => (day(), zone())
            .prop_map(|(day, zone)| day + &zone)
            .prop_map(parse)
            .boxed(),
        AtomicType::Time => (clock(), zone())
            .prop_map(|(clock, zone)| clock + &zone)
            .prop_map(parse)
            .boxed(),
        AtomicType::DateTime => (day(), clock(), zone())
            .prop_map(move |(day, clock, zone)| parsed(kind, &format!("{day}T{clock}{zone}")))
            .boxed(),
        AtomicType::Duration => {
            "-?P[0-9]{1,3}Y[0-9]{1,2}M[0-9]{1,3}DT[0-9]{1,3}H[0-9]{1,3}(\\.[0-9]{1,9})?S"
                .prop_map(parse)
                .boxed()
        }
        AtomicType::DayTimeDuration => "-?P[0-9]{1,4}DT[0-9]{1,3}M[0-9]{1,3}(\\.[0-9]{1,9})?S"
            .prop_map(parse)
            .boxed(),
        AtomicType::YearMonthDuration => "-?P[0-9]{1,4}Y[0-9]{1,2}M".prop_map(parse).boxed(),
        _ => "[a-c0-1 é𐀁]{0,4}".prop_map(parse).boxed(),
    }
}

/// A type with values.
pub fn kind() -> impl Strategy<Value = AtomicType> {
    let kinds: Vec<_> = AtomicType::all()
        .filter(|kind| *kind != AtomicType::AnyAtomic)
        .collect();
    prop::sample::select(kinds)
}

/// A value of any type.
pub fn any_value() -> impl Strategy<Value = Atomic> {
    prop_oneof![
        1 => prop::sample::select(SPECIAL.to_vec()).prop_map(atomic),
        3 => kind().prop_flat_map(of),
    ]
}
