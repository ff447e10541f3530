//! From documents by entry to entries by document.

use crate::document::{DOCUMENTS_MAX, Docs};

/// By document: a bit for each entry that it has.
#[derive(Debug, Default)]
pub struct ByDocument {
    words: Vec<u32>,
    /// Words of a document.
    width: usize,
}

impl ByDocument {
    /// Turns the documents of entries round.
    pub fn fill(&mut self, entries: &[Docs]) {
        self.width = entries.len().div_ceil(DOCUMENTS_MAX);
        self.words.clear();
        self.words.resize(self.width * DOCUMENTS_MAX, 0);
        for (index, some) in entries.chunks(DOCUMENTS_MAX).enumerate() {
            let mut block = [0; DOCUMENTS_MAX];
            block[..some.len()].copy_from_slice(some);
            transpose(&mut block);
            for (document, &word) in block.iter().enumerate() {
                self.words[document * self.width + index] = word;
            }
        }
    }

    /// How many entries a document has.
    pub fn count(&self, document: usize) -> usize {
        let words = self.words(document).iter();
        words.map(|word| word.count_ones() as usize).sum()
    }

    /// Visits the entries of a document, in order.
    #[inline]
    pub fn each(&self, document: usize, mut visit: impl FnMut(usize)) {
        for (index, pair) in self.words(document).chunks(2).enumerate() {
            let high = pair.get(1).copied().unwrap_or(0);
            let mut rest = u64::from(pair[0]) | u64::from(high) << 32;
            while rest != 0 {
                visit(64 * index + rest.trailing_zeros() as usize);
                rest &= rest - 1;
            }
        }
    }

    fn words(&self, document: usize) -> &[u32] {
        &self.words[document * self.width..][..self.width]
    }
}

/// Turns a square of bits round its diagonal: squares of half the side change places, then those
/// in each of them.
fn transpose(block: &mut [u32; DOCUMENTS_MAX]) {
    let (mut side, mut mask) = (DOCUMENTS_MAX / 2, 0x0000_FFFF);
    while side > 0 {
        for upper in (0..DOCUMENTS_MAX).filter(|row| row & side == 0) {
            let moved = ((block[upper] >> side) ^ block[upper + side]) & mask;
            block[upper] ^= moved << side;
            block[upper + side] ^= moved;
        }
        side /= 2;
        mask ^= mask << side;
    }
}

#[cfg(test)]
mod tests {
    use super::ByDocument;

    #[test]
    fn every_document_finds_its_entries() {
        for count in [0, 1, 31, 32, 33, 64, 100] {
            let entries: Vec<u32> = (0..count)
                .map(|n: u32| n.wrapping_mul(0x9E37_79B9))
                .collect();
            let mut turned = ByDocument::default();
            turned.fill(&[u32::MAX; 40]);
            turned.fill(&entries);
            for document in 0..32 {
                let mut found = Vec::new();
                turned.each(document, |entry| found.push(entry));
                let has = |entry: &usize| entries[*entry] >> document & 1 == 1;
                let expected: Vec<usize> = (0..entries.len()).filter(has).collect();
                assert_eq!(found, expected);
                assert_eq!(turned.count(document), expected.len());
            }
        }
    }
}
