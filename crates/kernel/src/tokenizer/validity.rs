//! Checking bytes before anything reads them: UTF-8, production Char, line ends.
//!
//! The scanner behind this never sees an invalid byte, and so never looks for one.

use super::characters::is_char;
use simdutf8::compat::from_utf8;

/// Why a piece of input is not usable to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flaw {
    /// It ends inside a character.
    Partial,
    /// It goes on with bytes that are not UTF-8.
    Malformed,
    /// It goes on with a character that XML does not allow.
    Forbidden(u32),
}

/// What is known about a piece of input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Checked {
    /// So many bytes are good.
    pub valid: usize,
    /// What follows them.
    pub flaw: Option<Flaw>,
    /// The good bytes contain neither `]` nor a carriage return.
    pub is_plain: bool,
}

/// Checks a piece of UTF-8.
pub(super) fn check(bytes: &[u8]) -> Checked {
    let summary = summarize(bytes);
    let is_plain = !summary.bracket && !summary.control;
    if !summary.high && !summary.control {
        return Checked {
            valid: bytes.len(),
            flaw: None,
            is_plain,
        };
    }
    let (mut valid, mut flaw) = match from_utf8(bytes) {
        Ok(_) => (bytes.len(), None),
        Err(error) if error.error_len().is_none() => (error.valid_up_to(), Some(Flaw::Partial)),
        Err(error) => (error.valid_up_to(), Some(Flaw::Malformed)),
    };
    if summary.control {
        let is_bad = |byte: &u8| *byte < 0x20 && !matches!(byte, b'\t' | b'\n' | b'\r');
        if let Some(at) = bytes[..valid].iter().position(is_bad) {
            (valid, flaw) = (at, Some(Flaw::Forbidden(bytes[at].into())));
        }
    }
    if summary.high
        && let Some((at, code)) = noncharacter(&bytes[..valid])
    {
        (valid, flaw) = (at, Some(Flaw::Forbidden(code)));
    }
    Checked {
        valid,
        flaw,
        is_plain,
    }
}

struct Summary {
    /// A byte above 0x7F.
    high: bool,
    /// A byte below 0x20 other than tab and line feed.
    control: bool,
    /// A `]`.
    bracket: bool,
}

fn summarize(bytes: &[u8]) -> Summary {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has just been found to have what the function is compiled for.
        return unsafe { summarize_wide(bytes) };
    }
    summarize_any(bytes)
}

/// The same with vectors of twice the width, where the processor has them.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn summarize_wide(bytes: &[u8]) -> Summary {
    summarize_any(bytes)
}

/// One branch-free pass that compilers turn into vector instructions.
#[inline(always)]
fn summarize_any(bytes: &[u8]) -> Summary {
    let (mut high, mut control, mut bracket) = (0_u8, 0_u8, 0_u8);
    let mut blocks = bytes.chunks_exact(64);
    let mut add = |byte: u8| {
        high |= byte;
        control |= u8::from(byte < 0x20) & u8::from(byte != b'\t') & u8::from(byte != b'\n');
        bracket |= u8::from(byte == b']');
    };
    for block in &mut blocks {
        for &byte in block {
            add(byte);
        }
    }
    blocks.remainder().iter().for_each(|byte| add(*byte));
    Summary {
        high: high > 0x7F,
        control: control != 0,
        bracket: bracket != 0,
    }
}

/// U+FFFE and U+FFFF, the only characters above U+001F that production Char leaves out.
fn noncharacter(bytes: &[u8]) -> Option<(usize, u32)> {
    memchr::memmem::find_iter(bytes, b"\xEF\xBF")
        .filter_map(|at| {
            bytes
                .get(at + 2)
                .map(|last| (at, 0xFFC0 + u32::from(last & 0x3F)))
        })
        .find(|(_, code)| !is_char(*code))
}

/// Counts line ends: `\n`, `\r\n` and a lone `\r` are one each.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Lines {
    /// Line ends so far.
    pub count: u64,
    after_return: bool,
}

impl From<u64> for Lines {
    fn from(count: u64) -> Lines {
        Lines {
            count,
            after_return: false,
        }
    }
}

impl Lines {
    /// Counts on over the next bytes.
    pub fn advance(&mut self, bytes: &[u8], is_plain: bool) {
        let Some(last) = bytes.last() else { return };
        self.count += memchr::memchr_iter(b'\n', bytes).count() as u64;
        if self.after_return && bytes[0] == b'\n' {
            self.count -= 1;
        }
        if !is_plain {
            let lone = |at: &usize| bytes.get(at + 1) != Some(&b'\n');
            self.count += memchr::memchr_iter(b'\r', bytes).filter(lone).count() as u64;
        }
        self.after_return = *last == b'\r';
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flaw(bytes: &[u8]) -> (usize, Option<Flaw>) {
        let checked = check(bytes);
        (checked.valid, checked.flaw)
    }

    #[test]
    fn the_first_flaw_is_found() {
        assert_eq!(flaw("aé漢😀".as_bytes()), (10, None));
        assert_eq!(flaw(b"ab\x01\xFF"), (2, Some(Flaw::Forbidden(1))));
        assert_eq!(flaw(b"ab\xFF\x01"), (2, Some(Flaw::Malformed)));
        assert_eq!(flaw(b"ab\xE2\x82"), (2, Some(Flaw::Partial)));
        assert_eq!(
            flaw(b"\xEF\xBF\xBD\xEF\xBF\xBE"),
            (3, Some(Flaw::Forbidden(0xFFFE)))
        );
        assert_eq!(flaw(b"\xEF\xBF"), (0, Some(Flaw::Partial)));
        assert_eq!(flaw(b"\xED\xA0\x80"), (0, Some(Flaw::Malformed)));
    }

    #[test]
    fn plain_means_no_bracket_and_no_return() {
        assert!(check("a\té\n".as_bytes()).is_plain);
        assert!(!check(b"a\r").is_plain && !check(b"a]").is_plain);
    }

    #[test]
    fn line_ends_are_counted_across_pieces() {
        for cut in 0..9 {
            let mut lines = Lines::default();
            let (head, tail) = b"a\r\nb\rc\n\n\r".split_at(cut);
            lines.advance(head, false);
            lines.advance(tail, false);
            assert_eq!(lines.count, 5, "{cut}");
        }
    }
}
