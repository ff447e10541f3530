//! A name's symbols for all listeners, under one number.

use rustc_hash::FxHashMap;

/// Rows of symbols, one for each listener. Plans bound their number, since names that no plan can
/// tell apart share a row; witnesses tell all names apart and bound it themselves.
#[derive(Default)]
pub(super) struct SymbolTable {
    rows: FxHashMap<Box<[u32]>, u32>,
    flat: Vec<u32>,
}

impl SymbolTable {
    /// The number of a row.
    pub fn intern(&mut self, row: Vec<u32>) -> u32 {
        let next = self.rows.len() as u32;
        let id = *self.rows.entry(row.clone().into()).or_insert(next);
        if id == next {
            self.flat.extend_from_slice(&row);
        }
        id
    }

    /// The symbol of a name for the listener at one of `places` places.
    #[inline]
    pub fn symbol(&self, id: u32, place: usize, places: usize) -> u32 {
        self.flat[id as usize * places + place]
    }

    pub fn clear(&mut self) {
        self.rows.clear();
        self.flat.clear();
    }
}
