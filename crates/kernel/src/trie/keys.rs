//! The tries of constants that a bundle's values lead to.

use super::Trie;
use crate::document::NEVER;
use crate::plan::questions::{Code, Image, Part};

impl Trie {
    /// Lists the tries that the bundle has to be asked: the open one, and those of its values.
    pub(super) fn find_roots(&mut self, image: Image<'_>, part: Part) {
        self.roots.clear();
        self.roots.push(0);
        let keys = image.part(part);
        if keys.is_empty() {
            return;
        }
        for number in 0..self.taken.bundle.nodes.len() {
            let node = &self.taken.bundle.nodes[number];
            let symbol = self.taken.bundle.paths[node.path as usize].symbol;
            if node.closed == NEVER || self.taken.alphabet.codes(symbol).keyed.is_empty() {
                continue;
            }
            let string = self.string_of(number as u32);
            if string >= keys[0] {
                continue;
            }
            let place = 1 + string as usize;
            let pairs = &keys[keys[place] as usize..keys[place + 1] as usize];
            for pair in pairs.chunks_exact(2) {
                if self
                    .taken
                    .alphabet
                    .codes(symbol)
                    .keyed
                    .contains(&(pair[0] as Code))
                {
                    self.roots.push(pair[1]);
                }
            }
        }
        self.roots.sort_unstable();
        self.roots.dedup();
    }
}
