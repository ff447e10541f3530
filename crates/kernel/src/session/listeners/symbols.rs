//! A name's symbols for all listeners, under one number.

use crate::events::Symbol;
use rustc_hash::FxHashMap;

/// Rows of symbols, one for each listener. Plans bound their number, since names that no plan can
/// tell apart share a row; witnesses tell all names apart and bound it themselves.
#[derive(Default)]
pub(super) struct SymbolTable {
    rows: FxHashMap<Box<[Symbol]>, Symbol>,
    flat: Vec<Symbol>,
}

impl SymbolTable {
    /// The symbol that stands for a row.
    pub fn intern(&mut self, row: Vec<Symbol>) -> Symbol {
        let next = Symbol(self.rows.len() as u32);
        let id = *self.rows.entry(row.clone().into()).or_insert(next);
        if id == next {
            self.flat.extend_from_slice(&row);
        }
        id
    }

    /// The symbol of a name for the listener at one of `places` places.
    #[inline]
    pub fn symbol(&self, shared: Symbol, place: usize, places: usize) -> Symbol {
        self.flat[shared.index() * places + place]
    }

    pub fn clear(&mut self) {
        self.rows.clear();
        self.flat.clear();
    }
}
