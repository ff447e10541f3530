//! Which moves lead to a node, by its symbol.

use crate::document::Alphabet;
use crate::events::Symbol;
use crate::plan::questions::{Code, Image, Part, keyed_codes};
use crate::plan::{Axis, NodeKind, Plan, Symbols, TestId};
use rustc_hash::FxHashMap;
use std::sync::Arc;

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

/// The symbols met so far, and the codes of each.
pub struct Names {
    plan: Arc<Plan>,
    symbols: Symbols,
    by_move: FxHashMap<(u32, u32), Code>,
    by_symbol: Vec<Codes>,
    /// By code.
    axes: Vec<Axis>,
    is_keyed: Vec<bool>,
}

impl Names {
    pub fn new(plan: Arc<Plan>, image: Image<'_>) -> Self {
        let moves = image.part(Part::Codes).chunks_exact(2).enumerate();
        Names {
            symbols: Symbols::new(&plan),
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
            plan: plan.clone(),
        }
    }

    /// The axis of a move.
    #[inline]
    pub fn axis(&self, code: Code) -> Axis {
        self.axes[code as usize]
    }

    fn find(&self, symbol: Symbol) -> Codes {
        let class = self.symbols.class(symbol);
        let along = |axis: Axis| {
            let found = class.tests.iter();
            found.filter_map(move |&test| self.by_move.get(&(axis as u32, test.0)).copied())
        };
        let (near, deep): (Vec<Code>, Vec<Code>) = match class.kind {
            // Nothing leads to a document node.
            NodeKind::Document => Default::default(),
            NodeKind::Attribute => (along(Axis::Attribute).collect(), Vec::new()),
            _ => (
                along(Axis::Child).collect(),
                along(Axis::Descendant).collect(),
            ),
        };
        let is_keyed = |code: &&Code| self.is_keyed[**code as usize];
        let keyed = near.iter().chain(&deep).filter(is_keyed).copied().collect();
        Codes { near, deep, keyed }
    }

    /// Whether nodes of a symbol pass a test.
    #[inline]
    pub fn passes(&self, symbol: u32, test: TestId) -> bool {
        self.symbols.passes(Symbol(symbol), test)
    }

    /// The codes of a symbol.
    #[inline]
    pub fn codes(&self, symbol: u32) -> &Codes {
        &self.by_symbol[symbol as usize]
    }
}

impl Alphabet for Names {
    fn symbol(&mut self, kind: NodeKind, uri: &[u8], local: &[u8]) -> Symbol {
        let symbol = self.symbols.resolve(&self.plan, kind, uri, local);
        while self.by_symbol.len() <= symbol.index() {
            let codes = self.find(Symbol(self.by_symbol.len() as u32));
            self.by_symbol.push(codes);
        }
        symbol
    }

    #[inline]
    fn is_asked(&self, symbol: Symbol) -> bool {
        !self.symbols.class(symbol).tests.is_empty()
    }
}
