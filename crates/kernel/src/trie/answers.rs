//! Which nodes answer each move: one list by code for the whole document.

use super::names::Names;
use crate::document::Bundle;
use crate::plan::questions::Code;

/// The nodes of a document by the moves that lead to them, in document order. The lists lie
/// behind each other, and the memory serves the next document.
#[derive(Debug, Default)]
pub struct Answers {
    /// By code: one more than its place in `from`, 0 if no node answers it.
    places: Vec<u32>,
    used: Vec<Code>,
    /// Where lists start; the last entry is where they end.
    from: Vec<u32>,
    nodes: Vec<u32>,
}

impl Answers {
    /// Forgets the document before.
    pub fn clear(&mut self) {
        for code in self.used.drain(..) {
            self.places[code as usize] = 0;
        }
        self.from.clear();
    }

    /// The nodes that answer a move; `fill` comes first.
    #[inline]
    pub fn of(&self, code: Code) -> &[u32] {
        match self.places.get(code as usize) {
            None | Some(0) => &[],
            Some(&place) => {
                let (from, to) = (self.from[place as usize - 1], self.from[place as usize]);
                &self.nodes[from as usize..to as usize]
            }
        }
    }

    /// Makes sure of the lists of a document.
    #[inline]
    pub fn fill(&mut self, bundle: &Bundle, names: &Names) {
        if self.from.is_empty() {
            self.list(bundle, names);
        }
    }

    #[inline(never)]
    fn list(&mut self, bundle: &Bundle, names: &Names) {
        // Counted first, so that every node goes straight to its place.
        for path in &bundle.paths[1..] {
            for code in names.codes(path.symbol).all() {
                if self.places.len() <= code as usize {
                    self.places.resize(code as usize + 1, 0);
                }
                if self.places[code as usize] == 0 {
                    self.used.push(code);
                    self.from.push(0);
                    self.places[code as usize] = self.from.len() as u32;
                }
                self.from[self.places[code as usize] as usize - 1] += path.count;
            }
        }
        let mut total = 0;
        for count in &mut self.from {
            total += std::mem::replace(count, total);
        }
        self.from.push(total);
        self.nodes.clear();
        self.nodes.resize(total as usize, 0);
        let mut next = self.from.clone();
        for (number, node) in bundle.nodes.iter().enumerate() {
            // Document nodes answer nothing.
            if node.path == 0 {
                continue;
            }
            let symbol = bundle.paths[node.path as usize].symbol;
            for code in names.codes(symbol).all() {
                let at = &mut next[self.places[code as usize] as usize - 1];
                self.nodes[*at as usize] = number as u32;
                *at += 1;
            }
        }
    }
}
