//! Sets of nodes, each with the time at which it is certain that the way so far leads to it.

use super::document::{Document, NEVER};
use super::names::Names;
use super::question::Code;
use super::sets::Sets;
use crate::plan::Axis;
use rustc_hash::FxHashMap;
use std::rc::Rc;

const UNKNOWN: u32 = u32::MAX;

/// A node and a time.
pub type Timed = (u32, u32);

/// The sets of nodes met in one document.
pub struct NodeSets {
    sets: Sets<Timed>,
    next: FxHashMap<(u32, Code), u32>,
    /// By set of paths: its set of nodes, or `UNKNOWN`.
    of_paths: Vec<u32>,
    answers: FxHashMap<Code, Rc<[u32]>>,
    /// Nodes of each path, in document order, behind each other; where each path's start.
    of_path: Vec<u32>,
    path_from: Vec<u32>,
    /// Times by node, `NEVER` but while a set is looked at.
    times: Vec<u32>,
}

impl NodeSets {
    pub fn new() -> Self {
        NodeSets {
            sets: Sets::new(),
            next: FxHashMap::default(),
            of_paths: Vec::new(),
            answers: FxHashMap::default(),
            of_path: Vec::new(),
            path_from: Vec::new(),
            times: Vec::new(),
        }
    }

    /// Forgets the document before.
    pub fn clear(&mut self) {
        self.sets.clear();
        self.next.clear();
        self.of_paths.clear();
        self.answers.clear();
        self.path_from.clear();
    }

    #[inline]
    pub fn get(&self, set: u32) -> &[Timed] {
        self.sets.get(set)
    }

    /// How many sets there are.
    pub fn count(&self) -> usize {
        self.sets.len()
    }

    pub fn intern(&mut self, items: &[Timed]) -> u32 {
        self.sets.intern(items).0
    }

    /// When the first node of a list is certain.
    pub fn earliest(items: &[Timed]) -> u32 {
        items.iter().map(|&(_, time)| time).min().unwrap_or(NEVER)
    }

    /// The nodes of a set of paths, certain from their birth.
    pub fn of_paths(
        &mut self,
        document: &Document,
        set: u32,
        paths: impl Iterator<Item = u32>,
    ) -> u32 {
        let index = set as usize;
        if self.of_paths.len() <= index {
            self.of_paths.resize(index + 1, UNKNOWN);
        }
        if self.of_paths[index] != UNKNOWN {
            return self.of_paths[index];
        }
        let nodes = self.nodes_of(document, paths);
        let born = |&node: &u32| (node, document.nodes[node as usize].born);
        let items: Vec<Timed> = nodes.iter().map(born).collect();
        let found = self.intern(&items);
        self.of_paths[index] = found;
        found
    }

    /// The nodes of paths, in document order.
    pub fn nodes_of(&mut self, document: &Document, paths: impl Iterator<Item = u32>) -> Vec<u32> {
        if self.path_from.is_empty() {
            self.group_by_path(document);
        }
        let mut nodes = Vec::new();
        let mut runs = 0;
        for path in paths {
            let (from, to) = (
                self.path_from[path as usize],
                self.path_from[path as usize + 1],
            );
            nodes.extend_from_slice(&self.of_path[from as usize..to as usize]);
            runs += 1;
        }
        if runs > 1 {
            nodes.sort_unstable();
        }
        nodes
    }

    fn group_by_path(&mut self, document: &Document) {
        let mut from = 0;
        for path in &document.paths {
            self.path_from.push(from);
            from += path.count;
        }
        self.path_from.push(from);
        let mut at = self.path_from.clone();
        self.of_path.clear();
        self.of_path.resize(document.nodes.len(), 0);
        for (number, node) in document.nodes.iter().enumerate() {
            let place = &mut at[node.path as usize];
            self.of_path[*place as usize] = number as u32;
            *place += 1;
        }
        if self.times.len() < document.nodes.len() {
            self.times.resize(document.nodes.len(), NEVER);
        }
    }

    /// The nodes that answer a move, in document order.
    pub fn answers(&mut self, document: &Document, names: &Names, code: Code) -> Rc<[u32]> {
        if let Some(known) = self.answers.get(&code) {
            return known.clone();
        }
        let has_code = |&(_, path): &(usize, &super::document::Path)| {
            let codes = names.codes(path.symbol);
            codes.near.contains(&code) || codes.deep.contains(&code)
        };
        let paths = document.paths.iter().enumerate().skip(1);
        let paths = paths.filter(has_code).map(|(number, _)| number as u32);
        let found: Rc<[u32]> = self.nodes_of(document, paths).into();
        self.answers.insert(code, found.clone());
        found
    }

    /// Where a move leads from a set.
    pub fn follow(
        &mut self,
        document: &Document,
        names: &Names,
        set: u32,
        code: Code,
        axis: Axis,
    ) -> u32 {
        if let Some(&known) = self.next.get(&(set, code)) {
            return known;
        }
        let answers = self.answers(document, names, code);
        let found = if axis == Axis::Descendant {
            below(document, self.sets.get(set), &answers)
        } else {
            self.children(document, set, &answers)
        };
        let to = self.intern(&found);
        self.next.insert((set, code), to);
        to
    }

    fn children(&mut self, document: &Document, set: u32, answers: &[u32]) -> Vec<Timed> {
        let items = self.sets.get(set);
        let last = |&(node, _): &Timed| document.nodes[node as usize].last;
        let (Some(first), Some(end)) = (items.first(), items.iter().map(last).max()) else {
            return Vec::new();
        };
        for &(node, time) in items {
            self.times[node as usize] = time;
        }
        let from = answers.partition_point(|&node| node <= first.0);
        let mut found = Vec::new();
        for &node in answers[from..].iter().take_while(|&&node| node <= end) {
            let entry = &document.nodes[node as usize];
            let time = self.times[entry.parent as usize];
            if time != NEVER {
                found.push((node, time.max(entry.born)));
            }
        }
        for &(node, _) in items {
            self.times[node as usize] = NEVER;
        }
        found
    }
}

/// The answers below some item; certain when the first item above it is, and it is born.
fn below(document: &Document, items: &[Timed], answers: &[u32]) -> Vec<Timed> {
    let mut found = Vec::new();
    let Some(&(first, _)) = items.first() else {
        return found;
    };
    // The items that are open at the node under way, each with the best time of those above it.
    let mut open: Vec<(u32, u32)> = Vec::new();
    let mut rest = items;
    let from = answers.partition_point(|&node| node <= first);
    for &node in &answers[from..] {
        while let Some((&(item, time), further)) = rest.split_first() {
            if item >= node {
                break;
            }
            close_before(&mut open, item);
            let best = open.last().map_or(time, |&(_, above)| time.min(above));
            open.push((document.nodes[item as usize].last, best));
            rest = further;
        }
        close_before(&mut open, node);
        if let Some(&(_, best)) = open.last() {
            found.push((node, best.max(document.nodes[node as usize].born)));
        } else if rest.is_empty() {
            break;
        }
    }
    found
}

fn close_before(open: &mut Vec<(u32, u32)>, node: u32) {
    while open.last().is_some_and(|&(last, _)| last < node) {
        open.pop();
    }
}
