//! Character classes: `[a-z-[aeiou]]`, `\d`, `\p{Lu}`.

use super::blocks;
use super::syntax::{DEPTH_MAX, Read, Reader, push_literal};

/// The categories of Unicode that patterns name.
const CATEGORIES: [&str; 36] = [
    "L", "Lu", "Ll", "Lt", "Lm", "Lo", "M", "Mn", "Mc", "Me", "N", "Nd", "Nl", "No", "P", "Pc",
    "Pd", "Ps", "Pe", "Pi", "Pf", "Po", "Z", "Zs", "Zl", "Zp", "S", "Sm", "Sc", "Sk", "So", "C",
    "Cc", "Cf", "Co", "Cn",
];
/// First characters of names, and all characters of names, as XML 1.0 says.
const NAME_START: &str = r":A-Z_a-z\xC0-\xD6\xD8-\xF6\xF8-\x{2FF}\x{370}-\x{37D}\x{37F}-\x{1FFF}\x{200C}-\x{200D}\x{2070}-\x{218F}\x{2C00}-\x{2FEF}\x{3001}-\x{D7FF}\x{F900}-\x{FDCF}\x{FDF0}-\x{FFFD}\x{10000}-\x{EFFFF}";
const NAME_FURTHER: &str = r"\-.0-9\xB7\x{300}-\x{36F}\x{203F}-\x{2040}";

/// What a backslash and the characters behind it stand for.
pub(super) enum Escape {
    /// One character.
    Character(char),
    /// A class, in the syntax of the library; it may stand in another class.
    Class(String),
}

/// Read an escape, behind its backslash.
pub(super) fn escape(reader: &mut Reader<'_>) -> Read<Escape> {
    let character = reader.rest.next().ok_or("a `\\` escapes nothing")?;
    let is_negative = character.is_ascii_uppercase();
    let class = match character {
        'n' => return Ok(Escape::Character('\n')),
        'r' => return Ok(Escape::Character('\r')),
        't' => return Ok(Escape::Character('\t')),
        '\\' | '|' | '.' | '?' | '*' | '+' | '(' | ')' | '{' | '}' | '-' | '[' | ']' | '^'
        | '$' => {
            return Ok(Escape::Character(character));
        }
        's' | 'S' => r" \t\n\r".to_owned(),
        'd' | 'D' => r"\p{Nd}".to_owned(),
        // `\w` is everything but punctuation, separators and what is no character.
        'w' => r"^\p{P}\p{Z}\p{C}".to_owned(),
        'W' => return Ok(Escape::Class(r"[\p{P}\p{Z}\p{C}]".to_owned())),
        'i' | 'I' => NAME_START.to_owned(),
        'c' | 'C' => format!("{NAME_START}{NAME_FURTHER}"),
        'p' | 'P' => property(reader)?,
        _ => return Err("a `\\` stands before a character that needs none"),
    };
    Ok(Escape::Class(format!(
        "[{}{class}]",
        if is_negative { "^" } else { "" }
    )))
}

/// `{Lu}` or `{IsGreek}`, as what stands in a class.
fn property(reader: &mut Reader<'_>) -> Read<String> {
    if reader.rest.next() != Some('{') {
        return Err("a property has no name in braces");
    }
    let mut name = String::new();
    loop {
        match reader.rest.next() {
            Some('}') => break,
            Some(character) => name.push(character),
            None => return Err("a property is not closed"),
        }
    }
    if let Some(block) = name.strip_prefix("Is") {
        let ranges = blocks::ranges(block).ok_or("a block is not known")?;
        if ranges.is_empty() {
            return Ok("a&&b".to_owned());
        }
        let write = |(first, last): &(u32, u32)| format!("\\x{{{first:X}}}-\\x{{{last:X}}}");
        return Ok(ranges.iter().map(write).collect());
    }
    if !CATEGORIES.contains(&name.as_str()) {
        return Err("a category is not known");
    }
    Ok(format!("\\p{{{name}}}"))
}

/// One member of a class.
enum Member {
    Character(char),
    Class(String),
}

/// Read a class, behind its opening bracket, and write its translation.
pub(super) fn class(reader: &mut Reader<'_>, depth: usize) -> Read<()> {
    if depth > DEPTH_MAX {
        return Err("classes lie too deep in one another");
    }
    let is_negative = reader.rest.next_if_eq(&'^').is_some();
    reader.out.push_str(if is_negative { "[[^" } else { "[[" });
    let mut is_first = true;
    loop {
        match reader.rest.peek().copied() {
            None => return Err("a class is not closed"),
            Some(']') if is_first => return Err("a class is empty"),
            Some(']') => {
                reader.rest.next();
                reader.out.push_str("]]");
                return Ok(());
            }
            Some('-') if !is_first && is_followed_by(reader, '[') => {
                reader.rest.next();
                reader.rest.next();
                return subtraction(reader, depth);
            }
            Some(_) => range(reader, is_first)?,
        }
        is_first = false;
    }
}

/// Whether the character behind the next one is this one.
fn is_followed_by(reader: &Reader<'_>, expected: char) -> bool {
    reader.rest.clone().nth(1) == Some(expected)
}

/// The class that is taken away from the one before, which ends behind it.
fn subtraction(reader: &mut Reader<'_>, depth: usize) -> Read<()> {
    reader.out.push_str("]--");
    class(reader, depth + 1)?;
    if reader.rest.next() != Some(']') {
        return Err("a class goes on behind what is subtracted");
    }
    reader.out.push(']');
    Ok(())
}

/// One character, a range of them, or an escape.
fn range(reader: &mut Reader<'_>, is_first: bool) -> Read<()> {
    let first = match member(reader, is_first)? {
        Member::Class(class) => {
            reader.out.push_str(&class);
            return Ok(());
        }
        Member::Character(character) => character,
    };
    push_literal(first, &mut reader.out);
    let is_range = reader.rest.peek() == Some(&'-')
        && !is_followed_by(reader, ']')
        && !is_followed_by(reader, '[');
    if !is_range {
        return Ok(());
    }
    reader.rest.next();
    match member(reader, false)? {
        Member::Character(last) if first <= last => {
            reader.out.push('-');
            push_literal(last, &mut reader.out);
            Ok(())
        }
        Member::Character(_) => Err("a range of characters has its ends exchanged"),
        Member::Class(_) => Err("a range of characters ends in a class"),
    }
}

fn member(reader: &mut Reader<'_>, is_first: bool) -> Read<Member> {
    match reader.rest.next() {
        Some('\\') => Ok(match escape(reader)? {
            Escape::Character(character) => Member::Character(character),
            Escape::Class(class) => Member::Class(class),
        }),
        Some('[') => Err("a `[` in a class has to be escaped"),
        // A hyphen stands for itself at the beginning or the end of a class.
        Some('-') if !is_first && reader.rest.peek() != Some(&']') => {
            Err("a `-` in a class has to be escaped")
        }
        Some(character) => Ok(Member::Character(character)),
        None => Err("a class is not closed"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::cache::Patterns;
    use super::*;

    #[track_caller]
    fn check(pattern: &str, flags: &str, inside: &str, outside: &str) {
        let regex = Patterns::default()
            .get(&format!("^{pattern}$"), flags, &mut |_| ())
            .unwrap();
        let is_match = |character: char| {
            let found = regex.is_match(&character.to_string(), &mut |_| ());
            found.unwrap()
        };
        for character in inside.chars() {
            assert!(is_match(character), "{character:?} in {pattern}");
        }
        for character in outside.chars() {
            assert!(!is_match(character), "{character:?} not in {pattern}");
        }
    }

    #[test]
    fn classes_hold_characters_ranges_and_escapes() {
        check("[a-c]", "", "abc", "dA-");
        check("[^a-c]", "", "d\nA", "abc");
        check("[-a]", "", "-a", "b");
        check("[a-]", "", "-a", "b");
        check("[^-a]", "", "b", "-a");
        check("[a^]", "", "a^", "b");
        check("[\\d\\-x]", "", "0٣-x", "a");
        check("[^\\s\\d]", "", "a\u{A0}", " \t1");
        check("[&&~#]", "", "&~#", "a-");
        check("[+--]", "", "+,-", "*.");
        check("[\\]\\[]", "", "[]", "\\");
        check("[ -~]", "", " a~", "\u{7F}");
    }

    #[test]
    fn classes_are_subtracted() {
        check("[a-z-[aeiou]]", "", "bcd", "aeiou-");
        check("[^a-c-[xy]]", "", "d-", "abcxy");
        check("[\\w-[\\d-[5]]]", "", "a5", "46");
        check("[A-Z-[OI]]", "i", "aBz", "oiOI");
    }

    #[test]
    fn classes_of_letters_are_those_of_unicode() {
        check("\\d", "", "0٣", "aⅫ");
        check("\\D", "", "aⅫ", "0٣");
        check("\\w", "", "aé1$+", " .-\u{0}_");
        check("\\W", "", " .-_", "aé1$");
        check("\\s", "", " \t\n\r", "\u{A0}a");
        check("\\S", "", "\u{A0}a", " \t");
        check("\\i", "", "a_:é", "1-. ");
        check("\\I", "", "1-. ", "a_:");
        check("\\c", "", "a_:1-.·", " /");
        check("\\C", "", " /", "a1-");
        check("\\p{Lu}", "", "AÉ", "aé1");
        check("\\P{Lu}", "", "aé1", "AÉ");
        check("\\p{Lu}", "i", "A", "a");
        check("[\\p{L}\\p{Nd}]", "", "a1", "-");
        check("\\P{Sk}", "", "a", "^`");
    }

    #[test]
    fn every_category_and_block_is_known_to_the_library() {
        for name in CATEGORIES
            .iter()
            .map(|name| (*name).to_owned())
            .chain(blocks::names())
        {
            for pattern in [format!("\\p{{{name}}}"), format!("[a\\P{{{name}}}]")] {
                assert!(
                    Patterns::default().get(&pattern, "", &mut |_| ()).is_ok(),
                    "{pattern}"
                );
            }
        }
        check("\\p{IsGreek}", "", "αΩ", "aд");
        check("\\P{IsBasicLatin}", "", "é", "a\u{7F}");
        check("\\p{IsPrivateUse}", "", "\u{E000}\u{F8FF}", "a");
    }

    #[test]
    fn malformed_classes_are_errors() {
        for pattern in [
            "[]",
            "[^]",
            "[a",
            "[a-",
            "[z-a]",
            "[a-\\d]",
            "[a[b]]",
            "[a-c-e]",
            "[a-[b]c]",
            "[a-[b]",
            "[a-[]]",
            "[\\q]",
            "\\p",
            "\\pL",
            "\\p{L",
            "\\p{}",
            "\\p{Xx}",
            "\\p{IsNone}",
            "\\p{Cs}",
            "\\p{Greek}",
            "\\p{Is}",
            "[a--b]",
        ] {
            let error = Patterns::default()
                .get(pattern, "", &mut |_| ())
                .err()
                .unwrap();
            assert_eq!(error.code, "FORX0002", "{pattern}");
        }
    }
}
