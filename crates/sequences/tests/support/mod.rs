//! Code and documents made by hand, for tests.

#![allow(dead_code)]

pub mod builder;
pub mod document;

use builder::Builder;
use penstock_sequences::atomic::{Atomic, AtomicType, Moment};
use penstock_sequences::code::Code;
use penstock_sequences::error::Error;
use penstock_sequences::eval::{Evaluation, Settings};
use penstock_sequences::tree::Forest;
use std::rc::Rc;

/// A point in time.
pub fn now() -> Moment {
    match Atomic::string("2024-05-01T12:00:00Z").cast(AtomicType::DateTime) {
        Ok(Atomic::DateTime(moment)) => moment,
        other => panic!("{other:?} is no moment"),
    }
}

/// Settings that fit the stack of a test.
pub fn settings() -> Settings {
    Settings {
        recursion_max: 200,
        is_empty_dropped: true,
        has_messages: true,
        now: now(),
    }
}

/// The rows of an expression over a document, each as `kind value`.
pub fn rows(builder: &Builder, body: u32, document: &str) -> Result<Vec<String>, Error> {
    let mut forest = Forest::default();
    document::read(document, &mut forest);
    let code = Code::read(&builder.code(body), &mut forest.names).expect("the code is right");
    let mut evaluation = Evaluation::new(Rc::new(code), settings());
    let mut rows = Vec::new();
    evaluation.rows(0, None, &mut forest, &mut |_| {}, &mut |row| {
        rows.push(format!(
            "{} {}",
            row.kind,
            String::from_utf8_lossy(row.value)
        ));
    })?;
    Ok(rows)
}

/// How many steps the evaluation of an expression takes.
pub fn steps(builder: &Builder, body: u32, document: &str) -> u64 {
    let mut forest = Forest::default();
    document::read(document, &mut forest);
    let code = Code::read(&builder.code(body), &mut forest.names).expect("the code is right");
    let mut evaluation = Evaluation::new(Rc::new(code), settings());
    let mut steps = 0;
    let rows = evaluation.rows(
        0,
        None,
        &mut forest,
        &mut |count| steps += count,
        &mut |_| {},
    );
    rows.expect("there is a value");
    steps
}

/// The only row of an expression without its kind, or the code of its error.
pub fn value(builder: &Builder, body: u32, document: &str) -> String {
    match rows(builder, body, document) {
        Ok(rows) => {
            let values = rows.iter().filter_map(|row| row.split_once(' '));
            values.map(|(_, value)| value).collect::<Vec<_>>().join("|")
        }
        Err(error) => error.code.to_string(),
    }
}
