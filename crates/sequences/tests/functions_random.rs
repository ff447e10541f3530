//! Every function with random arguments: a value of its type or a known error, never a panic.

mod common;

#[path = "common/values.rs"]
mod values;

use common::atomic;
use penstock_sequences::atomic::Atomic;
use penstock_sequences::error::Result;
use penstock_sequences::functions::{
    Builtin, Call, Environment, Kind, Occurrence, Parameter, Values, all, convert, find,
};
use proptest::prelude::*;
use values::{any_value, of};

fn call(builtin: &'static Builtin, arguments: Vec<Values>) -> Result<Values> {
    let Atomic::DateTime(now) = atomic("dateTime:2024-05-06T07:08:09Z") else {
        unreachable!()
    };
    let converted = arguments
        .into_iter()
        .enumerate()
        .map(|(place, values)| convert(values, builtin.parameter(place).expect("a parameter")));
    let mut arguments = converted.collect::<Result<Vec<_>>>()?;
    let environment = Environment::new(now);
    (builtin.call)(&mut Call {
        builtin,
        arguments: &mut arguments,
        environment: &environment,
        meter: &mut |_| (),
    })
}

/// Values that a parameter takes, most of the time.
fn argument(parameter: Parameter) -> BoxedStrategy<Values> {
    let value = match parameter.kind {
        Kind::Type(kind) if kind.name() != "anyAtomicType" => {
            prop_oneof![8 => of(kind), 1 => any_value()].boxed()
        }
        _ => any_value().boxed(),
    };
    let count = match parameter.occurrence {
        Occurrence::One => 1..=1,
        Occurrence::Optional => 0..=1,
        Occurrence::Many => 0..=4,
        Occurrence::Some => 1..=4,
    };
    prop::collection::vec(value, count)
        .prop_map(Values::from_vec)
        .boxed()
}

fn any_call() -> impl Strategy<Value = (&'static str, Vec<Values>)> {
    let builtins: Vec<&'static Builtin> = all().collect();
    prop::sample::select(
        builtins
            .iter()
            .map(|builtin| builtin.name)
            .collect::<Vec<_>>(),
    )
    .prop_flat_map(|name| {
        let builtin = all().find(|builtin| builtin.name == name).expect(name);
        let arguments: Vec<_> = builtin
            .parameters
            .iter()
            .map(|parameter| argument(*parameter))
            .collect();
        (
            Just(name),
            arguments,
            builtin.required..=builtin.parameters.len(),
        )
    })
    .prop_map(|(name, mut arguments, arity)| {
        arguments.truncate(arity);
        (name, arguments)
    })
}

fn one(value: Atomic) -> Values {
    Values::from_iter([value])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8000))]

    #[test]
    fn results_have_the_type_that_the_table_says((name, arguments) in any_call()) {
        let builtin = find(name, arguments.len()).unwrap();
        match call(builtin, arguments) {
            Ok(values) => {
                prop_assert!(builtin.result.occurrence.allows(values.len()));
                for value in &values {
                    let fits = match builtin.result.kind {
                        Kind::Type(kind) => value.type_of().derives_from(kind),
                        Kind::Numeric => value.type_of().is_numeric(),
                    };
                    prop_assert!(fits, "{:?}", value);
                }
            }
            Err(error) => {
                let is_known = error.code.starts_with("FO") || error.code == "XPTY0004";
                prop_assert!(is_known && error.code.len() == 8, "{}", error);
                prop_assert!(!error.reason.is_empty() && !error.reason.ends_with('.'));
            }
        }
    }
}

/// The pieces that patterns are put together from, valid and not.
const PIECES: [&str; 44] = [
    "a",
    "b",
    "é",
    "1",
    " ",
    "-",
    ".",
    "^",
    "$",
    "|",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "*",
    "+",
    "?",
    "{2}",
    "{1,2}",
    "{0,}",
    "\\",
    "\\d",
    "\\W",
    "\\i",
    "\\C",
    "\\s",
    "\\p{L}",
    "\\P{IsGreek}",
    "\\n",
    "[a-c]",
    "[^a]",
    "[a-z-[b]]",
    "(a|b)",
    "(b)*",
    "\\1",
    "&&",
    "~~",
    "--",
    "#",
    "(?",
    "\\Q",
    ",",
];

fn pattern() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(PIECES.to_vec()), 0..8).prop_map(|it| it.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn tokens_and_matches_make_the_text(text in "[ab1 é\\-]{0,8}", pattern in pattern(),
                                        flags in "[smix]{0,2}") {
        let arguments = |extra: Option<&str>| {
            let mut arguments = vec![one(Atomic::string(&*text)), one(Atomic::string(&*pattern))];
            arguments.extend(extra.map(|extra| one(Atomic::string(extra))));
            arguments.push(one(Atomic::string(&*flags)));
            arguments
        };
        let matches = call(find("matches", 3).unwrap(), arguments(None));
        let tokens = call(find("tokenize", 3).unwrap(), arguments(None));
        let same = call(find("replace", 4).unwrap(), arguments(Some("$0")));
        match matches {
            Err(error) => {
                prop_assert_eq!(error.code, "FORX0002");
                prop_assert_eq!(tokens.unwrap_err(), error.clone());
                prop_assert_eq!(same.unwrap_err(), error);
            }
            Ok(found) => {
                let is_found = matches!(found[0], Atomic::Boolean(true));
                match (tokens, same) {
                    (Ok(tokens), Ok(same)) => {
                        prop_assert_eq!(same[0].to_text(), text.clone());
                        prop_assert!(text.is_empty() || (tokens.len() > 1) == is_found);
                    }
                    (Err(tokens), Err(same)) => {
                        prop_assert_eq!((tokens.code, same.code), ("FORX0003", "FORX0003"));
                    }
                    other => prop_assert!(false, "{:?}", other),
                }
            }
        }
    }
}
