//! Rows by the variable pairs that they join: a trie over sorted pairs.
//!
//! A row can hold in two records only if all its pairs meet there. Its pairs, the rarest first, are
//! a path in the trie; rows that begin with the same pairs share that part of the path. For two
//! records the walk goes down along the pairs that met and nowhere else, so it visits what some
//! subset of them spells, whatever the number of rows. The pairs at the root are the *access*
//! pairs: only these drive the search for records to meet, all others are looked at afterwards.

use crate::meetings::Met;
use crate::plan::StageId;
use smallvec::SmallVec;

/// Distances in time that no row admits.
const NEVER: (i64, i64) = (i64::MAX, i64::MIN);

/// Rows below one prefix of pairs.
#[derive(Clone, Debug)]
struct Node {
    /// Further pairs by their ranks, and the nodes that they lead to.
    edges: Vec<(u32, u32)>,
    /// Rows with exactly these pairs.
    rows: SmallVec<[StageId; 2]>,
    /// Least and largest distance in time that some row here or below admits.
    distances: (i64, i64),
}

impl Default for Node {
    fn default() -> Self {
        Node {
            edges: Vec::new(),
            rows: SmallVec::new(),
            distances: NEVER,
        }
    }
}

/// A row of a trie.
#[derive(Clone, Debug)]
pub struct Path {
    /// The ranks of its pairs, ascending; there is one at least.
    pub ranks: Vec<u32>,
    /// The row.
    pub row: StageId,
    /// The distances in time that it admits.
    pub distances: (i64, i64),
}

/// The trie.
#[derive(Clone, Debug)]
pub struct Trie {
    /// The first one is the root.
    nodes: Vec<Node>,
    free: Vec<u32>,
}

impl Default for Trie {
    fn default() -> Self {
        Trie {
            nodes: vec![Node::default()],
            free: Vec::new(),
        }
    }
}

impl Trie {
    /// Builds a trie; ranks count the pairs from the rarest on.
    pub fn build(mut paths: Vec<Path>) -> Trie {
        // Neighbours in the trie become neighbours in memory.
        paths.sort_unstable_by(|one, two| (&one.ranks, one.row).cmp(&(&two.ranks, two.row)));
        let mut trie = Trie::default();
        for path in &paths {
            trie.insert(path);
        }
        trie
    }

    /// Adds a row.
    pub fn insert(&mut self, path: &Path) {
        let mut at = 0;
        for &rank in &path.ranks {
            at = match self.nodes[at]
                .edges
                .binary_search_by_key(&rank, |edge| edge.0)
            {
                Ok(place) => self.nodes[at].edges[place].1 as usize,
                Err(place) => {
                    let child = self.new_node();
                    self.nodes[at].edges.insert(place, (rank, child));
                    child as usize
                }
            };
            let node = &mut self.nodes[at];
            node.distances = both(node.distances, path.distances);
        }
        self.nodes[at].rows.push(path.row);
    }

    /// Removes a row; `distances` says what the others admit.
    pub fn remove(&mut self, path: &Path, distances: &impl Fn(StageId) -> (i64, i64)) {
        let mut way = vec![0];
        for &rank in &path.ranks {
            let Some(child) = self.child(way[way.len() - 1], rank) else {
                return;
            };
            way.push(child);
        }
        let last = way[way.len() - 1];
        self.nodes[last].rows.retain(|row| *row != path.row);
        for depth in (1..way.len()).rev() {
            let (above, at) = (way[depth - 1], way[depth]);
            if self.nodes[at].rows.is_empty() && self.nodes[at].edges.is_empty() {
                self.nodes[at] = Node::default();
                self.free.push(at as u32);
                let edges = &mut self.nodes[above].edges;
                edges.retain(|edge| edge.1 as usize != at);
            } else {
                self.narrow(at, path, distances);
            }
        }
    }

    /// Takes back what a row that is gone admitted at a node, if no other row admits it.
    fn narrow(&mut self, at: usize, gone: &Path, distances: &impl Fn(StageId) -> (i64, i64)) {
        let node = &self.nodes[at];
        if node.distances.0 < gone.distances.0 && node.distances.1 > gone.distances.1 {
            return;
        }
        let below = node.edges.iter();
        let below = below.map(|edge| self.nodes[edge.1 as usize].distances);
        let here = node.rows.iter().map(|&row| distances(row));
        self.nodes[at].distances = below.chain(here).fold(NEVER, both);
    }

    fn child(&self, at: usize, rank: u32) -> Option<usize> {
        let edges = &self.nodes[at].edges;
        let place = edges.binary_search_by_key(&rank, |edge| edge.0).ok()?;
        Some(edges[place].1 as usize)
    }

    fn new_node(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.nodes.push(Node::default());
            self.nodes.len() as u32 - 1
        })
    }

    /// The distances in time that the rows of an access pair admit; None if no row has it.
    pub fn access(&self, rank: u32) -> Option<(i64, i64)> {
        Some(self.nodes[self.child(0, rank)?].distances)
    }

    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.nodes.len() - self.free.len()
    }

    /// Calls `found` with every row whose pairs are all among `met` (in order), whose access pair
    /// is this bucket's and that may admit the distance in time.
    pub fn walk(&self, met: &[Met], distance: i64, found: &mut impl FnMut(StageId)) {
        self.walk_edges(&self.nodes[0], met, distance, &Met::is_own, found);
    }

    fn walk_from(&self, node: &Node, met: &[Met], distance: i64, found: &mut impl FnMut(StageId)) {
        if distance < node.distances.0 || distance > node.distances.1 {
            return;
        }
        for &row in &node.rows {
            found(row);
        }
        self.walk_edges(node, met, distance, &|_| true, found);
    }

    fn walk_edges(
        &self,
        node: &Node,
        met: &[Met],
        distance: i64,
        is_taken: &impl Fn(Met) -> bool,
        found: &mut impl FnMut(StageId),
    ) {
        let mut edges = node.edges.as_slice();
        for (at, one) in met.iter().enumerate() {
            // Few pairs meet and a node may have many edges: search, do not scan.
            edges = &edges[edges.partition_point(|edge| edge.0 < one.rank())..];
            let Some(&(next, child)) = edges.first() else {
                return;
            };
            if next == one.rank() && is_taken(*one) {
                self.walk_from(&self.nodes[child as usize], &met[at + 1..], distance, found);
            }
        }
    }
}

/// The distances that either admits.
fn both(one: (i64, i64), two: (i64, i64)) -> (i64, i64) {
    (one.0.min(two.0), one.1.max(two.1))
}

#[cfg(test)]
mod tests {
    use super::{Met, Path, StageId, Trie};

    fn met(ranks: &[u32]) -> Vec<Met> {
        ranks.iter().map(|&rank| Met::new(rank, 0, true)).collect()
    }

    fn path(ranks: &[u32], row: u32) -> Path {
        Path {
            ranks: ranks.to_vec(),
            row: StageId(row),
            distances: (-10, 10),
        }
    }

    #[test]
    fn rows_are_found_by_subsets_of_what_met() {
        let trie = Trie::build(vec![
            path(&[1, 4], 0),
            path(&[1], 1),
            path(&[2, 3], 2),
            path(&[1, 3, 4], 3),
        ]);
        let rows = |ranks: &[u32]| {
            let mut rows = Vec::new();
            trie.walk(&met(ranks), 0, &mut |row| rows.push(row.0));
            rows.sort_unstable();
            rows
        };
        assert_eq!(rows(&[1, 4]), [0, 1]);
        assert_eq!(rows(&[1, 2, 3, 4]), [0, 1, 2, 3]);
        assert_eq!(rows(&[3, 4]), []);
        assert_eq!(rows(&[]), []);
    }

    #[test]
    fn rows_are_found_in_the_bucket_of_their_access_pair() {
        let trie = Trie::build(vec![path(&[1, 4], 0), path(&[4], 1)]);
        let rows = |is_own: [bool; 2]| {
            let mut rows = Vec::new();
            let met = [Met::new(1, 0, is_own[0]), Met::new(4, 1, is_own[1])];
            trie.walk(&met, 0, &mut |row| rows.push(row.0));
            rows
        };
        assert_eq!(rows([true, false]), [0]);
        assert_eq!(rows([false, true]), [1]);
        assert_eq!(rows([false, false]), []);
    }

    #[test]
    fn rows_outside_of_their_time_are_not_visited() {
        let mut late = path(&[1], 0);
        late.distances = (1, 5);
        let trie = Trie::build(vec![late]);
        let count = |distance| {
            let mut count = 0;
            trie.walk(&met(&[1]), distance, &mut |_| count += 1);
            count
        };
        assert_eq!((count(0), count(1), count(5), count(6)), (0, 1, 1, 0));
    }

    #[test]
    fn what_is_removed_leaves_nothing_behind() {
        let paths = [
            path(&[1, 4], 0),
            path(&[1], 1),
            path(&[2, 3], 2),
            Path {
                distances: (-50, 50),
                ..path(&[1, 4, 6], 3)
            },
        ];
        let distances = |row: StageId| paths[row.index()].distances;
        let mut trie = Trie::default();
        for path in &paths {
            trie.insert(path);
        }
        assert_eq!((trie.len(), trie.access(1)), (6, Some((-50, 50))));
        trie.remove(&paths[3], &distances);
        assert_eq!((trie.len(), trie.access(1)), (5, Some((-10, 10))));
        trie.remove(&paths[1], &distances);
        let mut rows = Vec::new();
        trie.walk(&met(&[1, 2, 3, 4]), 0, &mut |row| rows.push(row.0));
        assert_eq!(rows, [0, 2]);
        trie.remove(&paths[0], &distances);
        trie.remove(&paths[2], &distances);
        assert_eq!((trie.len(), trie.access(1)), (1, None));
        trie.insert(&paths[2]);
        assert_eq!(trie.nodes.len(), 6, "places are used again");
    }
}
