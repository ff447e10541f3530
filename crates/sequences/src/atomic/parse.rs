//! From text to atomic values: the lexical forms of XML Schema.

mod duration;
mod moment;
mod numbers;

use std::rc::Rc;

use super::{Atomic, AtomicType, QName};
use crate::error::{Error, Result};

/// Characters of a value that an error shows.
const SHOWN_MAX: usize = 40;

impl Atomic {
    /// The value of a type that a text denotes. White space around it does not count.
    ///
    /// A QName is written `prefix:local`, behind `{namespace name}` if it has one.
    ///
    /// # Errors
    ///
    /// FORG0001 if the text denotes no value of the type. FOCA0001, FOCA0003, FODT0001 or FODT0002
    /// if it denotes one that is out of range.
    pub fn parse(target: AtomicType, text: &str) -> Result<Self> {
        let trimmed = trim(text);
        match target {
            AtomicType::String => Ok(Atomic::string(text)),
            AtomicType::UntypedAtomic => Ok(Atomic::untyped(text)),
            AtomicType::AnyUri => Ok(Atomic::AnyUri(collapse(trimmed))),
            AtomicType::Boolean => match trimmed {
                "true" | "1" => Ok(Atomic::Boolean(true)),
                "false" | "0" => Ok(Atomic::Boolean(false)),
                _ => Err(malformed(target, text)),
            },
            AtomicType::Integer => numbers::integer(trimmed).map(Atomic::Integer),
            AtomicType::Decimal => numbers::decimal(trimmed).map(Atomic::Decimal),
            AtomicType::Float => numbers::float(trimmed).map(Atomic::Float),
            AtomicType::Double => numbers::double(trimmed).map(Atomic::Double),
            AtomicType::QName => name(trimmed).map(|name| Atomic::QName(Rc::new(name))),
            AtomicType::Date => moment::date(trimmed).map(Atomic::Date),
            AtomicType::Time => moment::time(trimmed).map(Atomic::Time),
            AtomicType::DateTime => moment::date_time(trimmed).map(Atomic::DateTime),
            AtomicType::Duration | AtomicType::DayTimeDuration | AtomicType::YearMonthDuration => {
                duration::duration(target, trimmed)
            }
            AtomicType::AnyAtomic => Err(Error::new(
                "XPST0080",
                "xs:anyAtomicType is abstract; name the type that is meant",
            )),
        }
    }
}

/// Text without the white space of XML around it.
pub(super) fn trim(text: &str) -> &str {
    text.trim_matches([' ', '\t', '\n', '\r'])
}

/// Text with every run of white space made one space.
fn collapse(trimmed: &str) -> Rc<str> {
    let is_space = |c| matches!(c, ' ' | '\t' | '\n' | '\r');
    if !trimmed.contains(is_space) {
        return trimmed.into();
    }
    let words: Vec<&str> = trimmed
        .split(is_space)
        .filter(|word| !word.is_empty())
        .collect();
    words.join(" ").into()
}

fn name(text: &str) -> Result<QName> {
    let braced = text.strip_prefix('{').and_then(|rest| rest.split_once('}'));
    let (uri, written) = braced.unwrap_or(("", text));
    let (prefix, local) = written.split_once(':').unwrap_or(("", written));
    let is_complete = is_ncname(local) && (prefix.is_empty() || is_ncname(prefix));
    if !is_complete || (prefix.is_empty() && written.starts_with(':')) {
        return Err(malformed(AtomicType::QName, text));
    }
    Ok(QName {
        prefix: prefix.into(),
        uri: uri.into(),
        local: local.into(),
    })
}

/// Whether a text is a name without a colon.
pub(crate) fn is_ncname(text: &str) -> bool {
    let mut characters = text.chars();
    characters.next().is_some_and(is_name_start) && characters.all(is_name_part)
}

fn is_name_start(c: char) -> bool {
    matches!(c,
        'A'..='Z' | '_' | 'a'..='z' | '\u{C0}'..='\u{D6}' | '\u{D8}'..='\u{F6}'
        | '\u{F8}'..='\u{2FF}' | '\u{370}'..='\u{37D}' | '\u{37F}'..='\u{1FFF}'
        | '\u{200C}'..='\u{200D}' | '\u{2070}'..='\u{218F}' | '\u{2C00}'..='\u{2FEF}'
        | '\u{3001}'..='\u{D7FF}' | '\u{F900}'..='\u{FDCF}' | '\u{FDF0}'..='\u{FFFD}'
        | '\u{10000}'..='\u{EFFFF}')
}

fn is_name_part(c: char) -> bool {
    is_name_start(c)
        || matches!(c,
            '-' | '.' | '0'..='9' | '\u{B7}' | '\u{300}'..='\u{36F}' | '\u{203F}'..='\u{2040}')
}

/// The error of a text that denotes no value of a type.
pub(super) fn malformed(target: AtomicType, text: &str) -> Error {
    let shown: String = text.chars().take(SHOWN_MAX).collect();
    let more = if shown.len() < text.len() { "…" } else { "" };
    Error::new(
        "FORG0001",
        format!("`{shown}{more}` is not a valid {target}"),
    )
}
