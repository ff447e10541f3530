//! A name's symbols in all tiers, under one number.

use rustc_hash::FxHashMap;

/// Rows of symbols, one for each tier. Their number is bounded by the plans: names that no plan
/// can tell apart share a row.
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

    /// The symbol of a name in one of `tiers` tiers.
    #[inline]
    pub fn symbol(&self, id: u32, tier: usize, tiers: usize) -> u32 {
        self.flat[id as usize * tiers + tier]
    }

    pub fn clear(&mut self) {
        self.rows.clear();
        self.flat.clear();
    }
}
