//! Encoding labels.

use super::input::Promise;
use encoding_rs::Encoding;

/// What a label stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    /// UTF-8.
    Utf8,
    /// Bytes below 0x80.
    Ascii,
    /// ISO-8859-1 proper, which web browsers read as Windows-1252 and XML does not.
    Latin1,
    /// With the byte order, if the label has one.
    Utf16 { is_little: Option<bool> },
    /// See above.
    Utf32 { is_little: Option<bool> },
    /// Decoded by a table.
    Table(&'static Encoding),
}

/// The family of a label; `None` if the label is not known.
pub(super) fn label_encoding(label: &[u8]) -> Option<Family> {
    let lower = label.trim_ascii().to_ascii_lowercase();
    Some(match lower.as_slice() {
        b"utf-16" | b"iso-10646-ucs-2" | b"ucs-2" => Family::Utf16 { is_little: None },
        b"utf-16le" => Family::Utf16 {
            is_little: Some(true),
        },
        b"utf-16be" => Family::Utf16 {
            is_little: Some(false),
        },
        b"utf-32" | b"iso-10646-ucs-4" | b"ucs-4" => Family::Utf32 { is_little: None },
        b"utf-32le" => Family::Utf32 {
            is_little: Some(true),
        },
        b"utf-32be" => Family::Utf32 {
            is_little: Some(false),
        },
        b"ascii" | b"us-ascii" | b"ansi_x3.4-1968" | b"iso646-us" => Family::Ascii,
        b"windows-1252" | b"cp1252" | b"x-cp1252" => Family::Table(encoding_rs::WINDOWS_1252),
        _ => match Encoding::for_label_no_replacement(&lower)? {
            found if found == encoding_rs::UTF_8 => Family::Utf8,
            // All other labels of this table are names of ISO-8859-1.
            found if found == encoding_rs::WINDOWS_1252 => Family::Latin1,
            found => Family::Table(found),
        },
    })
}

/// What is wrong with a declared label, given how the encoding was found out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Objection {
    /// Nobody knows it.
    Unknown,
    /// The bytes are in another encoding.
    Conflict,
}

impl Promise {
    /// Compares the declared label with what decided the encoding.
    pub fn check(self, label: &[u8]) -> Result<(), Objection> {
        if self == Promise::External {
            return Ok(());
        }
        let declared = label_encoding(label).ok_or(Objection::Unknown)?;
        let agrees = match (self, declared) {
            (Promise::Bytes(Family::Utf16 { is_little }), Family::Utf16 { is_little: said })
            | (Promise::Bytes(Family::Utf32 { is_little }), Family::Utf32 { is_little: said }) => {
                said.is_none() || said == is_little
            }
            (_, Family::Utf16 { .. } | Family::Utf32 { .. }) => false,
            // A UTF-8 byte order mark wins over the label of any encoding like ASCII.
            (Promise::Bytes(found), _) => found == Family::Utf8,
            _ => true,
        };
        if agrees {
            Ok(())
        } else {
            Err(Objection::Conflict)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_of_latin_1_and_of_its_web_reading_differ() {
        assert_eq!(label_encoding(b"ISO-8859-1"), Some(Family::Latin1));
        assert_eq!(label_encoding(b"latin1"), Some(Family::Latin1));
        assert!(matches!(
            label_encoding(b"Windows-1252"),
            Some(Family::Table(_))
        ));
        assert_eq!(label_encoding(b"US-ASCII"), Some(Family::Ascii));
        assert_eq!(label_encoding(b"X-NOT"), None);
        assert_eq!(label_encoding(b"hz-gb-2312"), None);
    }

    #[test]
    fn a_label_must_agree_with_the_bytes() {
        let little = Promise::Bytes(Family::Utf16 {
            is_little: Some(true),
        });
        assert_eq!(little.check(b"UTF-16"), Ok(()));
        assert_eq!(little.check(b"UTF-16BE"), Err(Objection::Conflict));
        assert_eq!(little.check(b"UTF-8"), Err(Objection::Conflict));
        assert_eq!(Promise::Label.check(b"utf-16"), Err(Objection::Conflict));
        assert_eq!(Promise::Label.check(b"nope"), Err(Objection::Unknown));
        assert_eq!(Promise::External.check(b"nope"), Ok(()));
        assert_eq!(Promise::Bytes(Family::Utf8).check(b"iso-8859-1"), Ok(()));
        assert_eq!(
            Promise::Bytes(Family::Utf8).check(b"utf-16"),
            Err(Objection::Conflict)
        );
    }
}
