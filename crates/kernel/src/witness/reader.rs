//! Bytes in, witnesses out.

use super::conditions::{Lookup, Memory};
use super::evaluation::Witness;
use super::paths::{FrozenPaths, Paths};
use super::tree::Tree;
use crate::error::DocumentError;
use crate::limits::Limits;
use crate::tokenizer::Tokenizer;

/// Reads documents, one after the other, fed in pieces of any size.
pub struct Reader {
    paths: FrozenPaths,
    tokenizer: Tokenizer,
    tree: Tree,
    memory: Memory,
    stream: Box<str>,
}

impl Reader {
    /// A reader for the paths as they are now.
    pub fn new(paths: &Paths, limits: Limits) -> Reader {
        let paths = paths.freeze();
        Reader {
            tokenizer: Tokenizer::new(limits),
            tree: Tree::new(paths.plan.clone(), limits),
            memory: Memory::default(),
            stream: "".into(),
            paths,
        }
    }

    /// Starts a document of a stream; `encoding` overrides what it says of itself.
    pub fn begin(&mut self, stream: &str, encoding: Option<&str>) -> Result<(), DocumentError> {
        self.stream = stream.into();
        let variables = &self.paths.stream(stream).variables;
        let is_selected =
            |variable: &super::VariableId| self.paths.variables[variable.0 as usize].is_selected;
        self.tree.begin(variables.iter().any(is_selected));
        self.tokenizer.begin(encoding)
    }

    /// Reads the next bytes.
    pub fn feed(&mut self, chunk: &[u8]) -> Result<(), DocumentError> {
        self.tokenizer.feed(chunk, &mut self.tree)
    }

    /// Ends the document: its witnesses.
    pub fn finish(&mut self) -> Result<Witness, DocumentError> {
        self.tokenizer.finish(&mut self.tree)?;
        self.tree.finish();
        self.memory.clear();
        let has_entities = !self.tokenizer.entities().is_empty();
        let mut lookup = Lookup {
            paths: &self.paths,
            tree: &self.tree,
            memory: &mut self.memory,
        };
        Ok(lookup.witness(self.paths.stream(&self.stream), has_entities))
    }
}
