//! Collects the witnesses of the documents that it listens to.

use super::conditions::{Lookup, Memory};
use super::evaluation::Witness;
use super::paths::Paths;
use super::symbols::Symbols;
use crate::document::{Collector, Needs};
use crate::ledger::Account;
use crate::limits::Limits;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// Paths that joins change between documents while sessions look them up at the ends of documents.
#[derive(Clone, Default)]
pub struct SharedPaths(Arc<RwLock<Paths>>);

impl SharedPaths {
    /// The paths, to look them up.
    pub fn read(&self) -> RwLockReadGuard<'_, Paths> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// The paths, to change them.
    pub fn write(&self) -> RwLockWriteGuard<'_, Paths> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PartialEq for SharedPaths {
    fn eq(&self, other: &SharedPaths) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// Keeps a document while it is read, and looks the paths up when it has ended.
pub struct Witnesses {
    /// Listens to the tokenizer.
    pub(crate) taken: Collector<Symbols>,
    memory: Memory,
    pub(crate) paths: SharedPaths,
    stream: Box<str>,
    /// How many steps of paths were looked up so far, those that led nowhere included.
    pub(crate) steps_taken: u64,
}

impl Witnesses {
    pub(crate) fn new(limits: Limits, paths: SharedPaths, account: Account) -> Witnesses {
        let needs = Needs {
            values: true,
            attributes: true,
            descriptions: true,
            source: false,
            bytes_max: Some(limits.buffer_bytes_max),
        };
        Witnesses {
            memory: Memory::new(account.fork()),
            taken: Collector::new(Symbols::default(), needs, account),
            paths,
            stream: "".into(),
            steps_taken: 0,
        }
    }

    /// Sees to it that symbols stay bounded; whether they are forgotten. To be called between
    /// documents.
    pub(crate) fn forget_symbols(&mut self) -> bool {
        self.taken.alphabet.forget_too_many()
    }

    /// Starts a document of a stream; whether a join reads that stream.
    pub(crate) fn begin(&mut self, stream: &str) -> bool {
        let paths = self.paths.read();
        self.stream = stream.into();
        self.taken.needs.source = paths.is_selected_from(stream);
        self.taken.bundle.clear();
        self.taken.begin();
        paths.roots(stream).next().is_some()
    }

    /// The witnesses of the document, which has ended.
    pub(crate) fn finish(&mut self, length: u64, has_entities: bool) -> Witness {
        self.taken.finish(length);
        let paths = self.paths.read();
        self.memory.begin(&mut self.taken, &paths.formulas.tests);
        let mut lookup = Lookup {
            paths: &paths,
            taken: &self.taken,
            memory: &mut self.memory,
        };
        let witness = lookup.witness(&self.stream, has_entities);
        self.steps_taken += self.memory.steps_taken;
        witness
    }
}
