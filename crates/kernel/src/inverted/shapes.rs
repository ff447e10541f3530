//! Walks remembered by shape: documents with the same label paths, met in the same order, go the
//! same ways until conditions come in.

use super::document::Document;
use super::paths::First;
use super::walk::Walked;
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::{Hash, Hasher};
use std::rc::Rc;

const BYTES_MAX: usize = 16 << 20;
const SEEN_MAX: usize = 1 << 16;

/// A walk, and the label paths that it is good for.
#[derive(Debug)]
pub struct Shape {
    /// Parent and symbol of each path.
    key: Box<[(u32, u32)]>,
    pub questions: Box<[u32]>,
    pub firsts: Box<[First]>,
    /// Blocks of conditions, each with the places of its set of paths.
    pub blocks: Box<[(u32, Box<[u32]>)]>,
}

/// The shapes kept. A hash only says where to look; the paths themselves are compared.
#[derive(Debug, Default)]
pub struct Shapes {
    kept: FxHashMap<u64, Rc<Shape>>,
    /// Hashes of shapes met once: most documents of an irregular feed never come again, and
    /// their walks are not worth a copy.
    seen: FxHashMap<u64, ()>,
    bytes: usize,
    pub hits: u64,
}

impl Shapes {
    /// The walk of a document like this one.
    pub fn find(&mut self, document: &Document) -> Result<Rc<Shape>, u64> {
        let hash = hash(document);
        match self.kept.get(&hash) {
            Some(shape) if is_same(&shape.key, document) => {
                self.hits += 1;
                Ok(shape.clone())
            }
            _ => Err(hash),
        }
    }

    /// Keeps a walk if its shape was met before.
    pub fn keep(
        &mut self,
        hash: u64,
        document: &Document,
        walked: &Walked,
        places: impl Fn(u32) -> Box<[u32]>,
    ) {
        if self.seen.insert(hash, ()).is_none() {
            if self.seen.len() > SEEN_MAX {
                self.seen.clear();
            }
            return;
        }
        let bytes =
            8 * document.paths.len() + 6 * walked.questions().len() + 64 * walked.blocks.len();
        if self.bytes + bytes > BYTES_MAX {
            self.kept.clear();
            self.bytes = 0;
        }
        self.bytes += bytes;
        let shape = Shape {
            key: pairs(document).collect(),
            questions: walked.questions().into(),
            firsts: walked.firsts().into(),
            blocks: walked
                .blocks
                .iter()
                .map(|&(block, set)| (block, places(set)))
                .collect(),
        };
        self.kept.insert(hash, Rc::new(shape));
    }
}

fn pairs(document: &Document) -> impl ExactSizeIterator<Item = (u32, u32)> + '_ {
    document.paths.iter().map(|path| (path.parent, path.symbol))
}

fn is_same(key: &[(u32, u32)], document: &Document) -> bool {
    key.len() == document.paths.len() && key.iter().copied().eq(pairs(document))
}

fn hash(document: &Document) -> u64 {
    let mut hasher = FxHasher::default();
    for pair in pairs(document) {
        pair.hash(&mut hasher);
    }
    hasher.finish()
}
