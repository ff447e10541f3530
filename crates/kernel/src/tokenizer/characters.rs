//! Character classes of XML 1.0, fifth edition, and of namespaces in XML.

const NAME: u8 = 1;
const SPACE: u8 = 2;

/// Bytes above 0x7F count as name bytes here; `is_name` decides about their characters.
static CLASSES: [u8; 256] = classes();

const fn classes() -> [u8; 256] {
    let mut table = [0; 256];
    let mut i = 0;
    while i < 256 {
        let byte = i as u8;
        if byte.is_ascii_alphanumeric() || matches!(byte, b':' | b'_' | b'-' | b'.') || byte > 0x7F
        {
            table[i] |= NAME;
        }
        if matches!(byte, b' ' | b'\t' | b'\n' | b'\r') {
            table[i] |= SPACE;
        }
        i += 1;
    }
    table
}

/// May this byte be part of a name?
#[inline(always)]
pub(super) fn is_name_byte(byte: u8) -> bool {
    CLASSES[byte as usize] & NAME != 0
}

/// Production S.
#[inline(always)]
pub(super) fn is_space(byte: u8) -> bool {
    CLASSES[byte as usize] & SPACE != 0
}

/// The first position from `at` that is not white space.
#[inline(always)]
pub(super) fn skip_space(bytes: &[u8], mut at: usize) -> usize {
    while at < bytes.len() && is_space(bytes[at]) {
        at += 1;
    }
    at
}

/// The first position from `at` that cannot belong to a name.
#[inline(always)]
pub(super) fn name_end(bytes: &[u8], mut at: usize) -> usize {
    while at < bytes.len() && is_name_byte(bytes[at]) {
        at += 1;
    }
    at
}

/// Production Char.
pub(super) fn is_char(code: u32) -> bool {
    matches!(code, 0x9 | 0xA | 0xD | 0x20..=0xD7FF | 0xE000..=0xFFFD | 0x1_0000..=0x10_FFFF)
}

fn is_name_start_char(c: char) -> bool {
    matches!(c,
        ':' | '_' | 'A'..='Z' | 'a'..='z'
        | '\u{C0}'..='\u{D6}' | '\u{D8}'..='\u{F6}' | '\u{F8}'..='\u{2FF}'
        | '\u{370}'..='\u{37D}' | '\u{37F}'..='\u{1FFF}' | '\u{200C}'..='\u{200D}'
        | '\u{2070}'..='\u{218F}' | '\u{2C00}'..='\u{2FEF}' | '\u{3001}'..='\u{D7FF}'
        | '\u{F900}'..='\u{FDCF}' | '\u{FDF0}'..='\u{FFFD}' | '\u{10000}'..='\u{EFFFF}')
}

fn is_name_char(c: char) -> bool {
    is_name_start_char(c)
        || matches!(c,
            '-' | '.' | '0'..='9' | '\u{B7}' | '\u{300}'..='\u{36F}' | '\u{203F}'..='\u{2040}')
}

/// Production Nmtoken.
pub(super) fn is_token(bytes: &[u8]) -> bool {
    !bytes.is_empty() && std::str::from_utf8(bytes).is_ok_and(|text| text.chars().all(is_name_char))
}

/// Production Name.
pub(super) fn is_name(bytes: &[u8]) -> bool {
    is_token(bytes)
        && std::str::from_utf8(bytes).is_ok_and(|text| text.starts_with(is_name_start_char))
}

/// Production NCName: a name without colons.
pub(super) fn is_simple_name(bytes: &[u8]) -> bool {
    is_name(bytes) && !bytes.contains(&b':')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_the_fifth_edition() {
        for good in [
            "a",
            "_",
            ":",
            "a-1.b",
            "é漢",
            "a\u{B7}b",
            "\u{2C00}",
            "\u{10000}",
        ] {
            assert!(is_name(good.as_bytes()), "{good}");
        }
        for bad in [
            "",
            "1",
            "-a",
            ".",
            "\u{B7}",
            "\u{D7}",
            "a\u{F7}",
            "\u{37E}",
            "\u{F0000}",
        ] {
            assert!(!is_name(bad.as_bytes()), "{bad}");
        }
        assert!(is_token(b"1-") && !is_token(b""));
        assert!(!is_simple_name(b"a:b"));
    }

    #[test]
    fn characters_are_bounded() {
        assert!(is_char(0x9) && is_char(0x7F) && is_char(0xFFFD) && is_char(0x10_FFFF));
        assert!(!is_char(0) && !is_char(0xB) && !is_char(0xD800) && !is_char(0xFFFE));
    }
}
