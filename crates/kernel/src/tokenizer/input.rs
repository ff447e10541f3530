//! From bytes to UTF-8: which encoding a document is in, and decoding it.

use super::encodings::{Family, label_encoding};
use encoding_rs::{DecoderResult, Encoding};

/// No XML declaration is longer; what is longer is read as UTF-8 and fails as such.
const HEAD_BYTES_MAX: usize = 4096;
const BLOCK_BYTES: usize = 32 << 10;

/// How decoding went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Status {
    /// Everything was read.
    Done,
    /// Something is left.
    More,
    /// The next bytes mean nothing in this encoding.
    Bad,
}

/// How bytes become UTF-8.
pub(super) enum Decoder {
    /// They are UTF-8, checked later.
    Utf8,
    /// They are UTF-8 if all are below 0x80.
    Ascii,
    /// Every byte is the character of its number.
    Latin1,
    /// Four bytes a character.
    Utf32 { is_little: bool, pending: Vec<u8> },
    /// Everything else.
    Table(Box<encoding_rs::Decoder>),
}

impl Decoder {
    fn table(encoding: &'static Encoding) -> Decoder {
        Decoder::Table(Box::new(encoding.new_decoder_without_bom_handling()))
    }

    fn of(family: Family) -> Decoder {
        match family {
            Family::Utf8 => Decoder::Utf8,
            Family::Ascii => Decoder::Ascii,
            Family::Latin1 => Decoder::Latin1,
            Family::Utf16 {
                is_little: Some(true),
            } => Decoder::table(encoding_rs::UTF_16LE),
            Family::Utf16 { .. } => Decoder::table(encoding_rs::UTF_16BE),
            Family::Utf32 { is_little } => Decoder::Utf32 {
                is_little: is_little == Some(true),
                pending: Vec::new(),
            },
            Family::Table(encoding) => Decoder::table(encoding),
        }
    }

    /// Decodes a part of `source` into `out`. Returns how much was read and how to go on.
    pub fn decode(&mut self, source: &[u8], out: &mut Vec<u8>, is_last: bool) -> (usize, Status) {
        let status = |read: usize| match read < source.len() {
            true => Status::More,
            false => Status::Done,
        };
        match self {
            Decoder::Utf8 | Decoder::Ascii => unreachable!("used as it stands"),
            Decoder::Latin1 => {
                let part = &source[..source.len().min(BLOCK_BYTES)];
                out.resize(part.len() * 2, 0);
                let written = encoding_rs::mem::convert_latin1_to_utf8(part, out);
                out.truncate(written);
                (part.len(), status(part.len()))
            }
            Decoder::Utf32 { is_little, pending } => {
                let part = &source[..source.len().min(BLOCK_BYTES)];
                if !decode_wide(part, *is_little, pending, out, is_last) {
                    return (part.len(), Status::Bad);
                }
                (part.len(), status(part.len()))
            }
            Decoder::Table(decoder) => {
                out.resize(BLOCK_BYTES, 0);
                let (result, read, written) =
                    decoder.decode_to_utf8_without_replacement(source, out, is_last);
                out.truncate(written);
                let status = match result {
                    DecoderResult::InputEmpty => Status::Done,
                    DecoderResult::OutputFull => Status::More,
                    DecoderResult::Malformed(..) => Status::Bad,
                };
                (read, status)
            }
        }
    }
}

/// Decodes UTF-32; false if a unit is no character.
fn decode_wide(
    part: &[u8],
    is_little: bool,
    pending: &mut Vec<u8>,
    out: &mut Vec<u8>,
    is_last: bool,
) -> bool {
    pending.extend_from_slice(part);
    let mut units = pending.chunks_exact(4);
    for unit in &mut units {
        let bytes = [unit[0], unit[1], unit[2], unit[3]];
        let code = if is_little {
            u32::from_le_bytes(bytes)
        } else {
            u32::from_be_bytes(bytes)
        };
        let Some(c) = char::from_u32(code) else {
            return false;
        };
        out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
    }
    let rest = units.remainder().to_vec();
    *pending = rest;
    !is_last || pending.is_empty()
}

/// Finds out the encoding of a document; `None` while more bytes are needed.
pub(super) fn detect(bytes: &[u8], external: Option<Family>, is_last: bool) -> Option<Detected> {
    if bytes.len() < 4 && !is_last {
        return None;
    }
    let by_bytes = match bytes {
        [0xFF, 0xFE, 0, 0, ..] | [0x3C, 0, 0, 0, ..] => Some(Family::Utf32 {
            is_little: Some(true),
        }),
        [0, 0, 0xFE, 0xFF, ..] | [0, 0, 0, 0x3C, ..] => Some(Family::Utf32 {
            is_little: Some(false),
        }),
        [0xFF, 0xFE, ..] | [0x3C, 0, ..] => Some(Family::Utf16 {
            is_little: Some(true),
        }),
        [0xFE, 0xFF, ..] | [0, 0x3C, ..] => Some(Family::Utf16 {
            is_little: Some(false),
        }),
        _ => None,
    };
    if let Some(external) = external {
        // A label without byte order leaves the order to the bytes.
        let family = match (external, by_bytes) {
            (Family::Utf16 { is_little: None }, Some(found @ Family::Utf16 { .. }))
            | (Family::Utf32 { is_little: None }, Some(found @ Family::Utf32 { .. })) => found,
            _ => external,
        };
        return Some(Detected {
            decoder: Decoder::of(family),
            promise: Promise::External,
        });
    }
    if let Some(family) = by_bytes {
        return Some(Detected {
            decoder: Decoder::of(family),
            promise: Promise::Bytes(family),
        });
    }
    if bytes.starts_with(b"\xEF\xBB\xBF") {
        let promise = Promise::Bytes(Family::Utf8);
        return Some(Detected {
            decoder: Decoder::Utf8,
            promise,
        });
    }
    let start = b"<?xml";
    let is_declared = bytes.starts_with(&start[..bytes.len().min(start.len())]);
    let head = &bytes[..bytes.len().min(HEAD_BYTES_MAX)];
    let end = memchr::memchr(b'>', head);
    if is_declared && end.is_none() && !is_last && bytes.len() < HEAD_BYTES_MAX {
        return None;
    }
    // Only a first look: the scanner reads the declaration again and refuses it if it is wrong,
    // its encoding unknown, or its encoding impossible for bytes that start like ASCII.
    let family = match end
        .filter(|_| is_declared)
        .and_then(|end| declared_label(&head[..end]))
    {
        Some(label) => match label_encoding(label) {
            None | Some(Family::Utf16 { .. } | Family::Utf32 { .. }) => Family::Utf8,
            Some(family) => family,
        },
        None => Family::Utf8,
    };
    Some(Detected {
        decoder: Decoder::of(family),
        promise: Promise::Label,
    })
}

/// How many bytes may be needed to find out the encoding.
pub(super) fn head_missing(head: &[u8]) -> usize {
    HEAD_BYTES_MAX - head.len().min(HEAD_BYTES_MAX)
}

/// The outcome of `detect`.
pub(super) struct Detected {
    /// Decodes the document.
    pub decoder: Decoder,
    /// Why it does.
    pub promise: Promise,
}

/// What decided the encoding, and so what a declared label may say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Promise {
    /// The caller: any label is ignored.
    External,
    /// The first bytes: a label must agree.
    Bytes(Family),
    /// The label itself, or the default: it must be known and like ASCII.
    Label,
}

fn declared_label(head: &[u8]) -> Option<&[u8]> {
    let at = memchr::memmem::find(head, b"encoding")? + b"encoding".len();
    let rest = head[at..]
        .trim_ascii_start()
        .strip_prefix(b"=")?
        .trim_ascii_start();
    let quote = *rest.first().filter(|byte| matches!(byte, b'"' | b'\''))?;
    let end = memchr::memchr(quote, &rest[1..])?;
    Some(&rest[1..=end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_declaration_is_waited_for() {
        let text = b"<?xml version='1.0' encoding = \"koi8-r\"?><a/>";
        assert!((0..40).all(|cut| detect(&text[..cut], None, false).is_none()));
        let detected = detect(text, None, false).expect("complete");
        assert!(matches!(detected.decoder, Decoder::Table(_)));
        assert_eq!(detected.promise, Promise::Label);
        assert!(detect(b"<a/>", None, false).is_some());
    }

    #[test]
    fn wide_characters_are_decoded_in_pieces() {
        let mut decoder = Decoder::of(Family::Utf32 {
            is_little: Some(false),
        });
        let (mut all, mut out) = (Vec::new(), Vec::new());
        for byte in b"\0\0\0\x3C\0\x01\xF6\x00" {
            assert_eq!(decoder.decode(&[*byte], &mut out, false), (1, Status::Done));
            all.append(&mut out);
        }
        assert_eq!(all, "<😀".as_bytes());
        assert_eq!(decoder.decode(b"\0\0\xD8\0", &mut out, true).1, Status::Bad);
    }
}
