//! Values in tests are written `type:text`; `u` is untyped, `s` a string.

#![allow(dead_code, reason = "each test file uses a part")]

use penstock_sequences::atomic::{Atomic, AtomicType};
use penstock_sequences::error::Result;

/// The type that a test names.
pub fn kind(name: &str) -> AtomicType {
    match name {
        "u" => AtomicType::UntypedAtomic,
        "s" => AtomicType::String,
        _ => AtomicType::from_name(name).expect(name),
    }
}

/// The value that a test writes, or why there is none.
pub fn parse(written: &str) -> Result<Atomic> {
    let (name, text) = written.split_once(':').expect("a type");
    Atomic::parse(kind(name), text)
}

/// The value that a test writes.
pub fn atomic(written: &str) -> Atomic {
    parse(written).expect(written)
}

/// A value as tests write it, or the code of an error.
pub fn show(result: Result<Atomic>) -> String {
    match result {
        Ok(value) => format!("{}:{}", value.type_of().name(), value.to_text()),
        Err(error) => error.code.to_owned(),
    }
}
