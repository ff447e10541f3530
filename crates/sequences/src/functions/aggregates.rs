//! Functions of whole sequences: sums, extremes, distinct values.

use std::cmp::Ordering;

use rustc_hash::FxHashSet;

use super::{ANY, Builtin, Call, INTEGER, STRING, Values, empty, many, one, optional, value};
use crate::atomic::{
    Atomic, AtomicType, Operator, arithmetic, common_type, is_equal, key, order_keys,
};
use crate::error::{Error, Result};

pub(super) static BUILTINS: &[Builtin] = &[
    Builtin::new("sum", &[many(ANY), optional(ANY)], optional(ANY), sum).requires(1),
    Builtin::new("avg", &[many(ANY)], optional(ANY), average),
    Builtin::new("min", &[many(ANY), one(STRING)], optional(ANY), |call| {
        extreme(call, Ordering::Less)
    })
    .requires(1),
    Builtin::new("max", &[many(ANY), one(STRING)], optional(ANY), |call| {
        extreme(call, Ordering::Greater)
    })
    .requires(1),
    Builtin::new(
        "distinct-values",
        &[many(ANY), one(STRING)],
        many(ANY),
        distinct_values,
    )
    .requires(1),
    Builtin::new(
        "index-of",
        &[many(ANY), one(ANY), one(STRING)],
        many(INTEGER),
        index_of,
    )
    .requires(2),
];

/// The values of the first argument, untyped ones made doubles, all of one type.
fn unified(call: &mut Call<'_>) -> Result<Option<(AtomicType, Values)>> {
    let mut values = std::mem::take(&mut call.arguments[0]);
    for value in &mut values {
        if matches!(value, Atomic::UntypedAtomic(_)) {
            *value = value.cast(AtomicType::Double)?;
        }
    }
    let Some(target) = common_type(&values, "FORG0006")? else {
        return Ok(None);
    };
    for value in &mut values {
        // An integer is a decimal already.
        let is_decimal = target == AtomicType::Decimal && value.type_of() == AtomicType::Integer;
        if value.type_of() != target && !is_decimal {
            *value = value.cast(target)?;
        }
    }
    Ok(Some((target, values)))
}

/// The sum of values of a type that can be added.
fn total(name: &str, kind: AtomicType, values: Values) -> Result<Option<Atomic>> {
    let is_duration = matches!(
        kind,
        AtomicType::DayTimeDuration | AtomicType::YearMonthDuration
    );
    if !kind.is_numeric() && !is_duration {
        let reason = format!("`{name}` adds numbers or durations of one type, not {kind}");
        return Err(Error::new("FORG0006", reason));
    }
    let mut values = values.into_iter();
    let Some(first) = values.next() else {
        return Ok(None);
    };
    let add = |sum: Atomic, value| arithmetic(Operator::Add, &sum, &value);
    values.try_fold(first, add).map(Some)
}

fn sum(call: &mut Call<'_>) -> Result<Values> {
    if let Some((kind, values)) = unified(call)? {
        return Ok(total("sum", kind, values)?.into_iter().collect());
    }
    match call.arguments.get_mut(1) {
        Some(zero) => Ok(std::mem::take(zero)),
        None => value(Atomic::Integer(0)),
    }
}

fn average(call: &mut Call<'_>) -> Result<Values> {
    let Some((mut kind, mut values)) = unified(call)? else {
        return empty();
    };
    let count = Atomic::Integer(i64::try_from(values.len()).unwrap_or(i64::MAX));
    // The average of integers is a decimal; their sum may be out of range for integers.
    if kind == AtomicType::Integer {
        kind = AtomicType::Decimal;
        for value in &mut values {
            *value = value.cast(kind)?;
        }
    }
    match total("avg", kind, values)? {
        Some(total) => value(arithmetic(Operator::Divide, &total, &count)?),
        None => empty(),
    }
}

/// The first value that all others are in this order from; NaN if there is one.
fn extreme(call: &mut Call<'_>, wanted: Ordering) -> Result<Values> {
    call.check_collation(1)?;
    let Some((_, values)) = unified(call)? else {
        return empty();
    };
    let mut best: Option<Atomic> = None;
    for next in values {
        if is_nan(&next) {
            return value(next);
        }
        let is_better = match &best {
            None => true,
            Some(best) => order_keys(Some(&next), Some(best), false)? == wanted,
        };
        if is_better {
            best = Some(next);
        }
    }
    Ok(best.into_iter().collect())
}

fn is_nan(value: &Atomic) -> bool {
    match value {
        Atomic::Double(number) => number.is_nan(),
        Atomic::Float(number) => number.is_nan(),
        _ => false,
    }
}

/// The values without those that equal an earlier one.
fn distinct_values(call: &mut Call<'_>) -> Result<Values> {
    call.check_collation(1)?;
    let mut values = std::mem::take(&mut call.arguments[0]);
    if values.len() > 1 {
        let mut seen = FxHashSet::default();
        values.retain(|value| seen.insert(key(value)));
    }
    Ok(values)
}

fn index_of(call: &mut Call<'_>) -> Result<Values> {
    call.check_collation(2)?;
    let Some(wanted) = call.value(1) else {
        return empty();
    };
    let places = call.arguments[0].iter().zip(1_i64..);
    let places = places.filter(|(value, _)| is_equal(value, wanted));
    Ok(places.map(|(_, place)| Atomic::Integer(place)).collect())
}

#[cfg(test)]
mod tests {
    use crate::functions::testing::{fails, gives};

    #[test]
    fn sums_have_the_common_type() {
        gives("sum", &["integer:1, integer:2"], "integer:3");
        gives("sum", &["integer:1, decimal:0.5"], "decimal:1.5");
        gives("sum", &["u:1, integer:2"], "double:3");
        gives(
            "sum",
            &["float:0.1, double:0.1"],
            "double:0.20000000149011612",
        );
        gives("sum", &["()"], "integer:0");
        gives("sum", &["()", "()"], "()");
        gives("sum", &["()", "s:none"], "string:none");
        gives(
            "sum",
            &["yearMonthDuration:P1Y, yearMonthDuration:P1M"],
            "yearMonthDuration:P1Y1M",
        );
        fails("sum", &["s:a"], "FORG0006");
        fails("sum", &["u:a"], "FORG0001");
        fails("sum", &["integer:1, dayTimeDuration:PT1S"], "FORG0006");
        fails(
            "sum",
            &["integer:9223372036854775807, integer:1"],
            "FOAR0002",
        );
    }

    #[test]
    fn averages_of_integers_are_decimals() {
        gives("avg", &["integer:1, integer:2"], "decimal:1.5");
        gives(
            "avg",
            &["integer:9223372036854775807, integer:9223372036854775807"],
            "decimal:9223372036854775807",
        );
        gives("avg", &["()"], "()");
        gives(
            "avg",
            &["dayTimeDuration:PT1S, dayTimeDuration:PT2S"],
            "dayTimeDuration:PT1.5S",
        );
        gives("avg", &["float:-INF, decimal:2.34"], "float:-INF");
        fails("avg", &["float:NaN, s:a"], "FORG0006");
    }

    #[test]
    fn extremes_have_the_common_type() {
        gives("max", &["integer:3, double:2"], "double:3");
        gives("min", &["integer:3, decimal:3.5"], "integer:3");
        gives("max", &["double:5, float:NaN"], "double:NaN");
        gives("max", &["s:a, s:b"], "string:b");
        gives("max", &["s:a, anyURI:b"], "string:b");
        gives("max", &["u:10, u:9"], "double:10");
        gives("min", &["boolean:true, boolean:false"], "boolean:false");
        gives(
            "min",
            &["date:2024-01-02, date:2024-01-01"],
            "date:2024-01-01",
        );
        gives("max", &["()"], "()");
        fails("max", &["float:NaN, integer:1, u:one"], "FORG0001");
        fails("max", &["s:a, u:3"], "FORG0006");
        fails("max", &["duration:P1Y"], "FORG0006");
        fails("max", &["s:a, s:b", "s:urn:other"], "FOCH0002");
    }

    #[test]
    fn equal_values_count_once() {
        gives(
            "distinct-values",
            &["integer:1, double:1, decimal:1.0, s:1, u:1"],
            "integer:1, string:1",
        );
        gives("distinct-values", &["double:NaN, float:NaN"], "double:NaN");
        gives("distinct-values", &["double:0, double:-0"], "double:0");
        gives(
            "distinct-values",
            &["boolean:true, integer:1"],
            "boolean:true, integer:1",
        );
        gives(
            "distinct-values",
            &["dayTimeDuration:PT0S, yearMonthDuration:P0M"],
            "dayTimeDuration:PT0S",
        );
        fails("distinct-values", &["s:a", "s:urn:other"], "FOCH0002");
    }

    #[test]
    fn places_are_those_of_equal_values() {
        gives(
            "index-of",
            &["integer:10, s:20, u:20, double:10", "integer:10"],
            "integer:1, integer:4",
        );
        gives("index-of", &["s:20, u:20", "u:20"], "integer:1, integer:2");
        gives("index-of", &["double:NaN", "double:NaN"], "()");
        gives("index-of", &["date:2024-01-01", "s:a"], "()");
        fails("index-of", &["integer:1", "()"], "XPTY0004");
    }
}
