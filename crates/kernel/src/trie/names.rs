//! Which moves lead to a node, by its symbol.

use crate::events::Symbol;
use crate::plan::questions::{Code, Image, Part, keyed_codes};
use crate::plan::{Axis, NodeKind, Symbols};
use rustc_hash::FxHashMap;

/// The moves that lead to a node of a symbol: from its parent, and from any node above it.
#[derive(Debug, Default)]
pub struct Codes {
    pub near: Vec<Code>,
    pub deep: Vec<Code>,
    /// Those of both that keys ask for.
    pub keyed: Vec<Code>,
}

impl Codes {
    /// Both.
    pub fn all(&self) -> impl Iterator<Item = Code> + '_ {
        self.near.iter().chain(&self.deep).copied()
    }
}

/// The codes of all symbols met so far.
#[derive(Debug)]
pub struct Names {
    by_move: FxHashMap<(u32, u32), Code>,
    by_symbol: Vec<Codes>,
    /// By code.
    axes: Vec<Axis>,
    is_keyed: Vec<bool>,
}

impl Names {
    pub fn new(image: Image<'_>) -> Self {
        let moves = image.part(Part::Codes).chunks_exact(2).enumerate();
        Names {
            by_move: moves
                .map(|(code, pair)| ((pair[0], pair[1]), code as Code))
                .collect(),
            by_symbol: Vec::new(),
            is_keyed: keyed_codes(image),
            axes: image
                .part(Part::Codes)
                .chunks_exact(2)
                .map(|pair| Axis::from_code(pair[0]).unwrap_or(Axis::Child))
                .collect(),
        }
    }

    /// The axis of a move.
    #[inline]
    pub fn axis(&self, code: Code) -> Axis {
        self.axes[code as usize]
    }

    /// Makes sure of the codes of every symbol up to this one.
    pub fn admit(&mut self, symbols: &Symbols, symbol: Symbol) {
        while self.by_symbol.len() <= symbol.index() {
            let mut codes = self.find(symbols, Symbol(self.by_symbol.len() as u32));
            codes.keyed = codes
                .all()
                .filter(|&code| self.is_keyed[code as usize])
                .collect();
            self.by_symbol.push(codes);
        }
    }

    fn find(&self, symbols: &Symbols, symbol: Symbol) -> Codes {
        let class = symbols.class(symbol);
        let along = |axis: Axis| {
            let found = class.tests.iter();
            found.filter_map(move |&test| self.by_move.get(&(axis as u32, test.0)).copied())
        };
        if class.kind == NodeKind::Attribute {
            return Codes {
                near: along(Axis::Attribute).collect(),
                ..Codes::default()
            };
        }
        Codes {
            near: along(Axis::Child).collect(),
            deep: along(Axis::Descendant).collect(),
            keyed: Vec::new(),
        }
    }

    /// The codes of a symbol that was admitted.
    #[inline]
    pub fn codes(&self, symbol: u32) -> &Codes {
        &self.by_symbol[symbol as usize]
    }
}
