//! Regular expressions: `matches`, `replace`, `tokenize`.
//!
//! Patterns are written as XPath says. `syntax` checks and translates them for the library, `cache`
//! keeps what was compiled, and `searching` counts the work: one search takes time linear in the
//! text, but many matches may read the same text again and again.

mod blocks;
mod cache;
mod classes;
mod replacement;
mod searching;
mod syntax;

pub(super) use cache::Patterns;
use searching::Pattern;

use super::{
    BOOLEAN, Builtin, Call, STRING, Values, empty, made::Made, many, one, optional, text_at, value,
};
use crate::atomic::Atomic;
use crate::error::{Error, Result};
use std::rc::Rc;

pub(super) static BUILTINS: &[Builtin] = &[
    Builtin::new(
        "matches",
        &[optional(STRING), one(STRING), one(STRING)],
        one(BOOLEAN),
        matches,
    )
    .requires(2),
    Builtin::new(
        "replace",
        &[optional(STRING), one(STRING), one(STRING), one(STRING)],
        one(STRING),
        replace,
    )
    .requires(3),
    Builtin::new(
        "tokenize",
        &[optional(STRING), one(STRING), one(STRING)],
        many(STRING),
        tokenize,
    )
    .requires(2),
];

fn matches(call: &mut Call<'_>) -> Result<Values> {
    let pattern = pattern(call, 2)?;
    let is_match = pattern.is_match(text_at(call.arguments, 0), call.meter)?;
    value(Atomic::Boolean(is_match))
}

fn replace(call: &mut Call<'_>) -> Result<Values> {
    let pattern = pattern(call, 3)?;
    check_progress(&pattern, call.text(1))?;
    let parts = replacement::read(call.text(2), pattern.groups())?;
    let text = text_at(call.arguments, 0);
    let mut replaced = Made::new(call.meter);
    let mut rest = 0;
    while let Some(place) = pattern.find(text, rest, replaced.meter())? {
        replaced.push_str(&text[rest..place.0]);
        let captures = replacement::has_groups(&parts)
            .then(|| pattern.captures(text, place, replaced.meter()));
        replaced.meter()(1 + parts.len() as u64);
        replacement::write(&parts, text, place, captures.as_ref(), &mut replaced);
        rest = place.1;
    }
    replaced.push_str(&text[rest..]);
    replaced.finish()
}

fn tokenize(call: &mut Call<'_>) -> Result<Values> {
    let pattern = pattern(call, 2)?;
    check_progress(&pattern, call.text(1))?;
    let text = text_at(call.arguments, 0);
    if text.is_empty() {
        return empty();
    }
    let mut tokens = Values::new();
    let mut rest = 0;
    while let Some((start, end)) = pattern.find(text, rest, call.meter)? {
        (call.meter)(2 + (start - rest) as u64 / 32);
        tokens.push(Atomic::string(&text[rest..start]));
        rest = end;
    }
    tokens.push(Atomic::string(&text[rest..]));
    Ok(tokens)
}

/// The pattern of a call, whose flags are the argument at a place.
fn pattern(call: &mut Call<'_>, flags: usize) -> Result<Rc<Pattern>> {
    let patterns = &call.environment.patterns;
    let [pattern, flags] = [1, flags].map(|place| text_at(call.arguments, place));
    patterns.get(pattern, flags, call.meter)
}

/// A pattern that matches no characters at all would match everywhere.
fn check_progress(pattern: &Pattern, written: &str) -> Result<()> {
    if pattern.is_empty_matched {
        let reason = format!("the pattern `{written}` matches a string of no characters");
        return Err(Error::new("FORX0003", reason));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::functions::testing::{fails, gives, says};

    #[test]
    fn flags_change_what_a_pattern_means() {
        let text = "s:The river rises\nover the old Gate:\nopen it";
        for (pattern, flags, expected) in [
            ("s:river.*Gate", "s:", "false"),
            ("s:river.*Gate", "s:s", "true"),
            ("s:^over.*Gate:$", "s:", "false"),
            ("s:^over.*Gate:$", "s:m", "true"),
            ("s:gATE", "s:", "false"),
            ("s:gATE", "s:i", "true"),
            ("s:the old", "s:x", "false"),
            ("s:the\\ old", "s:", "error"),
            ("s:t h e[ ]o l d", "s:x", "true"),
        ] {
            match expected {
                "error" => fails("matches", &[text, pattern, flags], "FORX0002"),
                _ => {
                    let expected = format!("boolean:{expected}");
                    gives("matches", &[text, pattern, flags], &expected);
                }
            }
        }
        fails("matches", &["s:a", "s:a", "s:p"], "FORX0001");
        fails("matches", &["s:a", "()"], "XPTY0004");
        gives("matches", &["()", "s:a"], "boolean:false");
    }

    #[test]
    fn the_end_is_the_end_of_the_text() {
        gives("matches", &["s:a\n", "s:a$"], "boolean:false");
        gives("matches", &["s:a\nb", "s:a$", "s:m"], "boolean:true");
        gives("matches", &["s:abracadabra", "s:^a.*a$"], "boolean:true");
        gives("matches", &["s:abracadabra", "s:^bra"], "boolean:false");
    }

    #[test]
    fn matches_are_replaced() {
        says("replace", &["s:abracadabra", "s:bra", "s:*"], "a*cada*");
        says("replace", &["s:abracadabra", "s:a.*a", "s:*"], "*");
        says("replace", &["s:abracadabra", "s:a.*?a", "s:*"], "*c*bra");
        says("replace", &["s:abracadabra", "s:a", "s:"], "brcdbr");
        says(
            "replace",
            &["s:abracadabra", "s:a(.)", "s:a$1$1"],
            "abbraccaddabbra",
        );
        says("replace", &["s:AAAA", "s:A+?", "s:b"], "bbbb");
        says(
            "replace",
            &["s:darted", "s:^(.*?)d(.*)$", "s:$1c$2"],
            "carted",
        );
        says(
            "replace",
            &["s:abcd", "s:(ab)|(a)", "s:[1=$1][2=$2]"],
            "[1=ab][2=]cd",
        );
        says("replace", &["()", "s:a", "s:b"], "");
        fails("replace", &["s:abracadabra", "s:.*?", "s:$1"], "FORX0003");
    }

    #[test]
    fn text_is_split_at_matches() {
        gives(
            "tokenize",
            &["s:The cat", "s:\\s+"],
            "string:The, string:cat",
        );
        gives(
            "tokenize",
            &["s:1,15,,24,", "s:,"],
            "string:1, string:15, string:, string:24, string:",
        );
        gives("tokenize", &["s:,1", "s:,"], "string:, string:1");
        gives("tokenize", &["s:", "s:,"], "()");
        gives("tokenize", &["()", "s:,"], "()");
        gives("tokenize", &["s:abc", "s:,"], "string:abc");
        gives(
            "tokenize",
            &["s:a<br>b<BR>c", "s:<br>", "s:i"],
            "string:a, string:b, string:c",
        );
        fails("tokenize", &["s:abba", "s:.?"], "FORX0003");
    }
}
