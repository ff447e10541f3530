//! Functions that make text: joining, case, white space, code points, normal forms.

use rustc_hash::FxHashMap;
use unicode_normalization::UnicodeNormalization;

use super::{
    ANY, BOOLEAN, Builtin, Call, INTEGER, STRING, Values, empty, made, made::Made, many, one,
    optional, string, text_at, value,
};
use crate::atomic::Atomic;
use crate::error::{Error, Result};

const JOINED: Builtin = Builtin::new(
    "concat",
    &[optional(ANY), optional(ANY)],
    one(STRING),
    concatenate,
);

pub(super) static BUILTINS: &[Builtin] = &[
    Builtin {
        is_variadic: true,
        ..JOINED
    },
    Builtin::new(
        "string-join",
        &[many(STRING), one(STRING)],
        one(STRING),
        join,
    ),
    Builtin::new(
        "codepoints-to-string",
        &[many(INTEGER)],
        one(STRING),
        from_codepoints,
    ),
    Builtin::new(
        "string-to-codepoints",
        &[optional(STRING)],
        many(INTEGER),
        |call| {
            let codepoints = text_at(call.arguments, 0).chars();
            let numbers = codepoints.map(|c| Atomic::Integer(i64::from(u32::from(c))));
            made::values(numbers, call.meter)
        },
    ),
    Builtin::new(
        "compare",
        &[optional(STRING), optional(STRING), one(STRING)],
        optional(INTEGER),
        compare,
    )
    .requires(2),
    Builtin::new(
        "codepoint-equal",
        &[optional(STRING), optional(STRING)],
        optional(BOOLEAN),
        |call| match (call.optional_text(0), call.optional_text(1)) {
            (Some(left), Some(right)) => value(Atomic::Boolean(left == right)),
            _ => empty(),
        },
    ),
    Builtin::new("string-length", &[optional(STRING)], one(INTEGER), |call| {
        let length = call.text(0).chars().count();
        value(Atomic::Integer(i64::try_from(length).unwrap_or(i64::MAX)))
    }),
    Builtin::new(
        "normalize-space",
        &[optional(STRING)],
        one(STRING),
        |call| string(normalize_space(call.text(0))),
    ),
    Builtin::new(
        "normalize-unicode",
        &[optional(STRING), one(STRING)],
        one(STRING),
        normalize,
    )
    .requires(1),
    Builtin::new("upper-case", &[optional(STRING)], one(STRING), |call| {
        let text = text_at(call.arguments, 0);
        made::characters(text.chars().flat_map(char::to_uppercase), call.meter)
    }),
    Builtin::new("lower-case", &[optional(STRING)], one(STRING), |call| {
        string(call.text(0).to_lowercase())
    }),
    Builtin::new(
        "translate",
        &[optional(STRING), one(STRING), one(STRING)],
        one(STRING),
        translate,
    ),
];

fn concatenate(call: &mut Call<'_>) -> Result<Values> {
    let mut made = Made::new(call.meter);
    for argument in call.arguments.iter().flatten() {
        made.push_value(argument);
    }
    made.finish()
}

fn join(call: &mut Call<'_>) -> Result<Values> {
    let separator = text_at(call.arguments, 1);
    let mut made = Made::new(call.meter);
    for (place, part) in call.arguments[0].iter().enumerate() {
        if place > 0 {
            made.push_str(separator);
        }
        made.push_value(part);
    }
    made.finish()
}

fn from_codepoints(call: &mut Call<'_>) -> Result<Values> {
    let mut text = String::new();
    for codepoint in &call.arguments[0] {
        let Atomic::Integer(codepoint) = codepoint else {
            continue;
        };
        let character = u32::try_from(*codepoint).ok().and_then(char::from_u32);
        match character.filter(|c| is_xml(*c)) {
            Some(character) => text.push(character),
            None => {
                let reason = format!("{codepoint} is not the code point of a character of XML");
                return Err(Error::new("FOCH0001", reason));
            }
        }
    }
    string(text)
}

/// Whether a document may hold a character.
fn is_xml(c: char) -> bool {
    !matches!(c, '\0'..='\u{8}' | '\u{B}' | '\u{C}' | '\u{E}'..='\u{1F}' | '\u{FFFE}' | '\u{FFFF}')
}

fn compare(call: &mut Call<'_>) -> Result<Values> {
    call.check_collation(2)?;
    match (call.optional_text(0), call.optional_text(1)) {
        (Some(left), Some(right)) => value(Atomic::Integer(left.cmp(right) as i64)),
        _ => empty(),
    }
}

fn normalize_space(text: &str) -> String {
    let mut normal = String::with_capacity(text.len());
    for word in text
        .split([' ', '\t', '\n', '\r'])
        .filter(|word| !word.is_empty())
    {
        if !normal.is_empty() {
            normal.push(' ');
        }
        normal.push_str(word);
    }
    normal
}

fn normalize(call: &mut Call<'_>) -> Result<Values> {
    let text = text_at(call.arguments, 0);
    let form = call
        .optional_text(1)
        .unwrap_or("NFC")
        .trim()
        .to_ascii_uppercase();
    match form.as_str() {
        "" => string(text),
        "NFC" => made::characters(text.nfc(), call.meter),
        "NFD" => made::characters(text.nfd(), call.meter),
        "NFKC" => made::characters(text.nfkc(), call.meter),
        "NFKD" => made::characters(text.nfkd(), call.meter),
        _ => Err(Error::new(
            "FOCH0003",
            format!("`{form}` is not a supported normal form; NFC, NFD, NFKC and NFKD are"),
        )),
    }
}

/// The text with characters of one list replaced by those at the same places of another.
fn translate(call: &mut Call<'_>) -> Result<Values> {
    let [text, from, to] = [0, 1, 2].map(|place| text_at(call.arguments, place));
    let mut table = FxHashMap::default();
    let mut targets = to.chars();
    for source in from.chars() {
        // The first occurrence counts, but every one takes a target.
        let target = targets.next();
        table.entry(source).or_insert(target);
    }
    let translated = text.chars();
    let translated = translated.filter_map(|c| table.get(&c).copied().unwrap_or(Some(c)));
    made::characters(translated, call.meter)
}

#[cfg(test)]
mod tests {
    use crate::functions::testing::{fails, gives, says};

    #[test]
    fn values_are_joined_as_text() {
        says(
            "concat",
            &["s:a", "()", "integer:1", "double:1e6"],
            "a11.0E6",
        );
        says("concat", &["()", "()"], "");
        says("string-join", &["s:a, s:b", "s:-"], "a-b");
        says("string-join", &["()", "s:-"], "");
        says("string-join", &["s:, s:", "s:-"], "-");
        fails("string-join", &["s:a", "()"], "XPTY0004");
        fails("string-join", &["integer:1", "s:"], "XPTY0004");
    }

    #[test]
    fn code_points_are_characters() {
        gives(
            "string-to-codepoints",
            &["s:aé𐀁"],
            "integer:97, integer:233, integer:65537",
        );
        gives("string-to-codepoints", &["()"], "()");
        says("codepoints-to-string", &["integer:97, integer:65537"], "a𐀁");
        says("codepoints-to-string", &["()"], "");
        for wrong in [
            "integer:0",
            "integer:-1",
            "integer:55296",
            "integer:65535",
            "integer:1114112",
        ] {
            fails("codepoints-to-string", &[wrong], "FOCH0001");
        }
        gives("string-length", &["s:aé𐀁"], "integer:3");
        gives("string-length", &["()"], "integer:0");
    }

    #[test]
    fn text_is_compared_by_code_points() {
        gives("compare", &["s:a", "s:b"], "integer:-1");
        gives("compare", &["s:\u{FFFD}", "s:\u{10000}"], "integer:-1");
        gives("compare", &["s:b", "s:b"], "integer:0");
        gives("compare", &["s:b", "()"], "()");
        fails("compare", &["s:b", "s:b", "s:urn:other"], "FOCH0002");
        gives("codepoint-equal", &["s:a", "s:a"], "boolean:true");
        gives("codepoint-equal", &["()", "s:a"], "()");
    }

    #[test]
    fn only_the_white_space_of_xml_is_collapsed() {
        says("normalize-space", &["s: \t a \n\r b\u{A0} "], "a b\u{A0}");
        says("normalize-space", &["()"], "");
    }

    #[test]
    fn normal_forms_are_those_of_unicode() {
        says("normalize-unicode", &["s:e\u{301}"], "é");
        says("normalize-unicode", &["s:é", "s: nfd "], "e\u{301}");
        says("normalize-unicode", &["s:ﬁ", "s:NFKC"], "fi");
        says("normalize-unicode", &["s:e\u{301}", "s:"], "e\u{301}");
        fails(
            "normalize-unicode",
            &["s:a", "s:FULLY-NORMALIZED"],
            "FOCH0003",
        );
    }

    #[test]
    fn case_is_that_of_unicode() {
        says("upper-case", &["s:straße"], "STRASSE");
        says("lower-case", &["s:ÀB"], "àb");
        says("upper-case", &["()"], "");
    }

    #[test]
    fn characters_are_replaced_or_removed() {
        says("translate", &["s:bar", "s:abc", "s:ABC"], "BAr");
        says("translate", &["s:--aaa--", "s:abc-", "s:ABC"], "AAA");
        says("translate", &["s:abc", "s:aa", "s:xy"], "xbc");
        says("translate", &["s:abc", "s:", "s:xy"], "abc");
        says("translate", &["()", "s:a", "s:b"], "");
    }
}
