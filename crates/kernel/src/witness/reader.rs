//! Bytes in, witnesses out.

use super::conditions::{Lookup, Memory};
use super::evaluation::Witness;
use super::paths::Paths;
use super::tree::Tree;
use crate::error::DocumentError;
use crate::limits::Limits;
use crate::tokenizer::Tokenizer;

/// Reads documents, one after the other, fed in pieces of any size. Paths may change between them.
pub struct Reader {
    tokenizer: Tokenizer,
    tree: Tree,
    memory: Memory,
    stream: Box<str>,
    steps_taken: u64,
}

impl Reader {
    /// A reader.
    pub fn new(limits: Limits) -> Reader {
        Reader {
            tokenizer: Tokenizer::new(limits),
            tree: Tree::new(limits),
            memory: Memory::default(),
            stream: "".into(),
            steps_taken: 0,
        }
    }

    /// Starts a document of a stream; `encoding` overrides what it says of itself.
    pub fn begin(
        &mut self,
        paths: &Paths,
        stream: &str,
        encoding: Option<&str>,
    ) -> Result<(), DocumentError> {
        self.stream = stream.into();
        if self.tree.symbols.forget_too_many() {
            self.tokenizer.forget_symbols();
        }
        self.tree.begin(paths.is_selected_from(stream));
        self.tokenizer.begin(encoding)
    }

    /// Reads the next bytes.
    pub fn feed(&mut self, chunk: &[u8]) -> Result<(), DocumentError> {
        self.tokenizer.feed(chunk, &mut self.tree)
    }

    /// Ends the document: its witnesses.
    pub fn finish(&mut self, paths: &Paths) -> Result<Witness, DocumentError> {
        self.tokenizer.finish(&mut self.tree)?;
        self.tree.finish();
        self.memory.begin(&mut self.tree, &paths.formulas.tests);
        let has_entities = !self.tokenizer.entities().is_empty();
        let mut lookup = Lookup {
            paths,
            tree: &self.tree,
            memory: &mut self.memory,
        };
        let witness = lookup.witness(&self.stream, has_entities);
        self.steps_taken += self.memory.steps_taken;
        Ok(witness)
    }

    /// How many steps of paths were looked up so far, those that led nowhere included.
    pub fn steps_taken(&self) -> u64 {
        self.steps_taken
    }
}
