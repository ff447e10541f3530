//! Nodes by something that their label paths tell of them.

use super::bundle::Bundle;

/// The nodes of a bundle by key, in document order. A key is a number of whatever sort; a path may
/// have several, or none. The lists lie behind each other, and the memory serves the next bundle.
#[derive(Debug, Default)]
pub struct Lists {
    /// By key: its place in `ends`, 0 if no node has it.
    places: Vec<u32>,
    used: Vec<u32>,
    /// Where lists end; the first entry is where the first one starts.
    ends: Vec<u32>,
    nodes: Vec<u32>,
}

impl Lists {
    /// Forgets the bundle before.
    pub fn clear(&mut self) {
        for key in self.used.drain(..) {
            self.places[key as usize] = 0;
        }
        self.ends.clear();
    }

    /// Whether they were filled since they were cleared.
    #[inline]
    pub fn is_filled(&self) -> bool {
        !self.ends.is_empty()
    }

    /// The keys that some node has.
    pub fn keys(&self) -> &[u32] {
        &self.used
    }

    /// The nodes that have a key.
    #[inline]
    pub fn of(&self, key: u32) -> &[u32] {
        match self.places.get(key as usize) {
            None | Some(0) => &[],
            Some(&place) => {
                let (from, to) = (self.ends[place as usize - 1], self.ends[place as usize]);
                &self.nodes[from as usize..to as usize]
            }
        }
    }

    /// Lists the nodes of a bundle by the keys of their paths.
    #[inline(never)]
    pub fn fill<K: Iterator<Item = u32>>(&mut self, bundle: &Bundle, keys: impl Fn(u32) -> K) {
        // Counted first, so that every node goes straight to its place.
        self.ends.push(0);
        for (path, number) in bundle.paths.iter().zip(0..) {
            for key in keys(number) {
                if self.places.len() <= key as usize {
                    self.places.resize(key as usize + 1, 0);
                }
                let place = &mut self.places[key as usize];
                if *place == 0 {
                    *place = self.ends.len() as u32;
                    self.used.push(key);
                    self.ends.push(0);
                }
                self.ends[*place as usize] += path.count;
            }
        }
        let mut total = 0;
        for count in &mut self.ends {
            total += std::mem::replace(count, total);
        }
        self.nodes.clear();
        self.nodes.resize(total as usize, 0);
        // Lists end where they start, and grow.
        for (node, number) in bundle.nodes.iter().zip(0..) {
            for key in keys(node.path) {
                let end = &mut self.ends[self.places[key as usize] as usize];
                self.nodes[*end as usize] = number;
                *end += 1;
            }
        }
    }
}

/// The nodes of a list behind one node, up to another.
#[inline]
pub fn between(list: &[u32], node: u32, last: u32) -> &[u32] {
    let from = list.partition_point(|&other| other <= node);
    let rest = &list[from..];
    &rest[..rest.partition_point(|&other| other <= last)]
}

/// Sorts what lies behind a place of a list, and keeps each once.
pub fn sort_from<T: Ord + Copy>(list: &mut Vec<T>, from: usize) {
    list[from..].sort_unstable();
    let mut kept = from;
    for index in from..list.len() {
        if kept == from || list[index] != list[kept - 1] {
            list[kept] = list[index];
            kept += 1;
        }
    }
    list.truncate(kept);
}
