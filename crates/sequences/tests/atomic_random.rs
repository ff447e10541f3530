//! Laws of atomic values, on random ones.

mod common;

#[path = "common/values.rs"]
mod values;

use std::cmp::Ordering;

use common::kind as named;
use penstock_sequences::atomic::{
    Atomic, AtomicType, Comparison, Operator, Untyped, arithmetic, compare_general, compare_values,
    key, order_keys, unify,
};
use proptest::prelude::*;
use values::{any_value, kind, of};

fn compare(comparison: Comparison, left: &Atomic, right: &Atomic) -> Option<bool> {
    compare_values(comparison, left, right).ok()
}

fn is_nan(value: &Atomic) -> bool {
    match value {
        Atomic::Double(number) => number.is_nan(),
        Atomic::Float(number) => number.is_nan(),
        _ => false,
    }
}

/// Whether `eq` is not transitive around this number, so that keys cannot follow it.
fn is_rough(value: &Atomic) -> bool {
    match value {
        Atomic::Float(number) => number.fract() != 0.0,
        Atomic::Double(number) => number.abs() >= 1e15 && number.is_finite(),
        Atomic::Integer(number) => number.unsigned_abs() >= 1_000_000_000_000_000,
        Atomic::Decimal(number) => number.normalize().mantissa().abs() >= 1_000_000_000_000_000,
        _ => false,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn text_denotes_the_value_it_was_made_from(value in any_value()) {
        if let Atomic::QName(_) = value {
            return Ok(()); // The text of a name does not hold its namespace.
        }
        let again = Atomic::parse(value.type_of(), &value.to_text()).unwrap();
        prop_assert_eq!(again.to_text(), value.to_text());
        prop_assert!(key(&again) == key(&value), "{:?} and {:?}", again, value);
    }

    #[test]
    fn casts_to_text_and_back_keep_the_value(value in any_value()) {
        for text in [AtomicType::String, AtomicType::UntypedAtomic] {
            let kind = value.type_of();
            match value.cast(text).unwrap().cast(kind) {
                Ok(again) => prop_assert_eq!(key(&again), key(&value)),
                Err(error) => prop_assert_eq!((kind, error.code), (AtomicType::QName, "XPTY0004")),
            }
        }
    }

    #[test]
    fn a_cast_value_has_the_type(value in any_value(), target in kind()) {
        match value.cast(target) {
            Ok(cast) => prop_assert_eq!(cast.type_of(), target),
            Err(error) => prop_assert!(
                ["XPTY0004", "FORG0001", "FOCA0001", "FOCA0002", "FOCA0003", "FODT0001", "FODT0002"]
                    .contains(&error.code),
                "{}", error
            ),
        }
    }

    #[test]
    fn integers_survive_the_way_through_decimals(number in any::<i64>()) {
        let decimal = Atomic::Integer(number).cast(AtomicType::Decimal).unwrap();
        let again = decimal.cast(AtomicType::Integer).unwrap();
        prop_assert_eq!(key(&again), key(&Atomic::Integer(number)));
        prop_assert_eq!(key(&decimal), key(&again));
    }

    #[test]
    fn decimals_become_the_nearest_double(text in "-?[0-9]{1,14}\\.[0-9]{1,14}") {
        let cast = Atomic::parse(AtomicType::Decimal, &text).unwrap().cast(AtomicType::Double);
        let expected: f64 = text.parse().unwrap();
        let Ok(Atomic::Double(number)) = cast else { panic!("{cast:?}") };
        prop_assert!(number == expected, "{} became {}", text, number);
    }

    #[test]
    fn comparisons_agree_with_one_another(left in any_value(), right in any_value()) {
        let of = |comparison| compare(comparison, &left, &right);
        prop_assert_eq!(of(Comparison::NotEqual), of(Comparison::Equal).map(|holds| !holds));
        for comparison in [Comparison::Equal, Comparison::Less, Comparison::LessOrEqual] {
            prop_assert_eq!(of(comparison), compare(comparison.mirrored(), &right, &left));
        }
        if let (Some(less), Some(equal)) = (of(Comparison::Less), of(Comparison::Equal)) {
            prop_assert_eq!(of(Comparison::LessOrEqual), Some(less || equal));
            if !is_nan(&left) && !is_nan(&right) {
                prop_assert_eq!(of(Comparison::GreaterOrEqual), Some(!less));
            }
        }
    }

    #[test]
    fn typed_values_compare_alike_in_both_ways(left in any_value(), right in any_value()) {
        let is_untyped = |value: &Atomic| value.type_of() == AtomicType::UntypedAtomic;
        prop_assume!(!is_untyped(&left) && !is_untyped(&right));
        for symbol in ["=", "!=", "<", "<=", ">", ">="] {
            let comparison = Comparison::from_symbol(symbol).unwrap();
            for untyped in [Untyped::Error, Untyped::False] {
                let general = compare_general(comparison, &left, &right, untyped);
                prop_assert_eq!(general, compare_values(comparison, &left, &right));
            }
        }
    }

    #[test]
    fn keys_agree_with_eq(left in any_value(), right in any_value()) {
        let is_exact = left.type_of() == right.type_of() || !(is_rough(&left) || is_rough(&right));
        prop_assume!(is_exact);
        let is_equal = compare(Comparison::Equal, &left, &right).unwrap_or(false)
            || (is_nan(&left) && is_nan(&right));
        prop_assert_eq!(key(&left) == key(&right), is_equal, "{:?} and {:?}", left, right);
    }

    #[test]
    fn keys_agree_with_eq_on_close_numbers(
        (left, right) in (-9..9_i64, 1..9_i64).prop_flat_map(|(over, under)| {
            let kinds = || prop::sample::select(vec!["integer", "decimal", "double"]);
            let quotient = arithmetic(
                Operator::Divide, &Atomic::Integer(over), &Atomic::Integer(under * 10)
            ).unwrap();
            let (first, second) = (quotient.clone(), quotient);
            (
                kinds().prop_map(move |name| first.cast(named(name)).unwrap()),
                kinds().prop_map(move |name| second.cast(named(name)).unwrap()),
            )
        })
    ) {
        prop_assume!(!is_rough(&left) && !is_rough(&right));
        let is_equal = compare(Comparison::Equal, &left, &right).unwrap();
        prop_assert_eq!(key(&left) == key(&right), is_equal, "{:?} and {:?}", left, right);
    }

    #[test]
    fn sorted_columns_have_a_total_order(
        mut column in prop::collection::vec(prop::option::weighted(0.9, any_value()), 3),
        is_empty_greatest in any::<bool>(),
    ) {
        check_order(&mut column, is_empty_greatest)?;
    }

    #[test]
    fn columns_of_numbers_have_a_total_order(
        mut column in prop::collection::vec(
            prop::sample::select(vec!["integer", "decimal", "float", "double"])
                .prop_flat_map(|name| of(named(name))),
            3,
        ).prop_map(|column| column.into_iter().map(Some).collect::<Vec<_>>()),
    ) {
        prop_assert!(unify(&mut column).is_ok());
        check_order(&mut column, false)?;
    }

    #[test]
    fn columns_of_one_type_have_a_total_order(
        mut column in kind().prop_flat_map(|kind| prop::collection::vec(
            prop::option::weighted(0.9, of(kind)), 3)),
        is_empty_greatest in any::<bool>(),
    ) {
        check_order(&mut column, is_empty_greatest)?;
    }

    #[test]
    fn what_is_added_can_be_subtracted(
        moment in prop_oneof![of(AtomicType::DateTime), of(AtomicType::Time)],
        duration in of(AtomicType::DayTimeDuration),
    ) {
        let later = arithmetic(Operator::Add, &moment, &duration).unwrap();
        let again = arithmetic(Operator::Subtract, &later, &duration).unwrap();
        prop_assert_eq!(again.to_text(), moment.to_text());
        let read = Atomic::parse(later.type_of(), &later.to_text()).unwrap();
        prop_assert_eq!(key(&later), key(&read));
        if let Atomic::DateTime(_) = moment {
            let difference = arithmetic(Operator::Subtract, &later, &moment).unwrap();
            prop_assert_eq!(difference.to_text(), duration.to_text());
        }
    }

    #[test]
    fn division_and_remainder_make_the_number(left in any::<i64>(), right in any::<i64>()) {
        prop_assume!(right != 0 && (left, right) != (i64::MIN, -1));
        for kind in [AtomicType::Integer, AtomicType::Decimal] {
            let cast = |number| Atomic::Integer(number).cast(kind).unwrap();
            let (left, right) = (cast(left), cast(right));
            let quotient = arithmetic(Operator::IntegerDivide, &left, &right).unwrap();
            let rest = arithmetic(Operator::Modulo, &left, &right).unwrap();
            let product = arithmetic(Operator::Multiply, &quotient, &right).unwrap();
            let sum = arithmetic(Operator::Add, &product, &rest).unwrap();
            prop_assert_eq!(key(&sum), key(&left));
        }
    }

    #[test]
    fn arithmetic_has_a_value_or_a_known_error(
        left in any_value(), right in any_value(), symbol in prop::sample::select(
            vec!["+", "-", "*", "div", "idiv", "mod"])
    ) {
        if let Err(error) = arithmetic(Operator::from_symbol(symbol).unwrap(), &left, &right) {
            prop_assert!(
                ["XPTY0004", "FORG0001", "FOAR0001", "FOAR0002", "FOCA0005", "FODT0001", "FODT0002"]
                    .contains(&error.code),
                "{}", error
            );
        }
    }
}

/// Check that the keys of a column, if they have a common type, are in a total order.
fn check_order(
    column: &mut [Option<Atomic>],
    is_empty_greatest: bool,
) -> std::result::Result<(), TestCaseError> {
    if let Err(error) = unify(column) {
        prop_assert_eq!(error.code, "XPTY0004");
        return Ok(());
    }
    let order = |a: usize, b: usize| {
        order_keys(column[a].as_ref(), column[b].as_ref(), is_empty_greatest).expect("one type")
    };
    for a in 0..column.len() {
        prop_assert_eq!(order(a, a), Ordering::Equal);
        for b in 0..column.len() {
            prop_assert_eq!(order(a, b), order(b, a).reverse());
            for c in 0..column.len() {
                if order(a, b).is_le() && order(b, c).is_le() {
                    prop_assert!(order(a, c).is_le(), "{:?}", column);
                }
            }
        }
    }
    Ok(())
}
