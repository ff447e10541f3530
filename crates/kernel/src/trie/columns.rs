//! Which moves matter: those that some label path of a bundle can answer each have a column.

use super::names::Names;
use crate::document::Bundle;
use crate::plan::questions::Code;

/// Columns by code. Those of moves to children and attributes come first, then those of moves to
/// descendants, which alone are passed on from path to path.
#[derive(Debug)]
pub struct Columns {
    /// By code; 0 is the column that nothing answers.
    of: Vec<u16>,
    used: Vec<Code>,
    /// How many there are.
    pub width: usize,
    /// The first one of a move to descendants.
    pub deep_from: usize,
}

impl Columns {
    pub fn new(codes: usize) -> Self {
        Columns {
            of: vec![0; codes],
            used: Vec::new(),
            width: 1,
            deep_from: 1,
        }
    }

    /// Assigns columns to the moves of a bundle.
    pub fn assign(&mut self, bundle: &Bundle, names: &Names) {
        for code in self.used.drain(..) {
            self.of[code as usize] = 0;
        }
        self.width = 1;
        for is_deep in [false, true] {
            if is_deep {
                self.deep_from = self.width;
            }
            for path in &bundle.paths[1..] {
                let codes = names.codes(path.symbol);
                let codes = if is_deep { &codes.deep } else { &codes.near };
                for &code in codes {
                    if self.of[code as usize] == 0 {
                        self.of[code as usize] = self.width as u16;
                        self.used.push(code);
                        self.width += 1;
                    }
                }
            }
        }
    }

    #[inline(always)]
    pub fn of(&self, code: Code) -> u16 {
        self.of[code as usize]
    }
}
