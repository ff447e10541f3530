//! Rows by the variable pairs that they join: a trie over sorted pairs.
//!
//! A row can hold in two records only if all its pairs meet there. Its pairs, the rarest first, are
//! a path in the trie; rows that begin with the same pairs share that part of the path. For two
//! records the walk goes down along the pairs that met and nowhere else, so it visits what some
//! subset of them spells, whatever the number of rows. The pairs at the root are the *access*
//! pairs: only these drive the search for records to meet, all others are looked at afterwards.

use crate::meetings::Met;
use std::ops::Range;

/// Rows below one prefix of pairs.
#[derive(Clone, Debug)]
struct Node {
    /// Further pairs: range of `edges`.
    edges: Range<u32>,
    /// Rows with exactly these pairs: range of `rows`.
    rows: Range<u32>,
    /// Least and largest distance in time that some row here or below admits.
    distances: (i64, i64),
}

/// A row to be put into a trie.
#[derive(Clone, Debug)]
pub struct Path {
    /// The ranks of its pairs, ascending.
    pub ranks: Vec<u32>,
    /// The row.
    pub row: u32,
    /// The distances in time that it admits.
    pub distances: (i64, i64),
}

/// The trie.
#[derive(Clone, Debug, Default)]
pub struct Trie {
    nodes: Vec<Node>,
    edges: Vec<(u32, u32)>,
    rows: Vec<u32>,
}

impl Trie {
    /// Builds a trie; ranks count the pairs from the rarest on.
    pub fn build(mut paths: Vec<Path>) -> Trie {
        paths.sort_unstable_by(|one, two| (&one.ranks, one.row).cmp(&(&two.ranks, two.row)));
        let mut trie = Trie::default();
        trie.add(&paths, 0);
        trie
    }

    /// Adds a node for paths that agree in their first `depth` ranks.
    fn add(&mut self, paths: &[Path], depth: usize) -> u32 {
        let number = self.nodes.len() as u32;
        let ends = paths.partition_point(|path| path.ranks.len() == depth);
        let first_row = self.rows.len() as u32;
        self.rows.extend(paths[..ends].iter().map(|path| path.row));
        let low = paths.iter().map(|path| path.distances.0).min().unwrap_or(0);
        let high = paths
            .iter()
            .map(|path| path.distances.1)
            .max()
            .unwrap_or(-1);
        self.nodes.push(Node {
            edges: 0..0,
            rows: first_row..self.rows.len() as u32,
            distances: (low, high),
        });
        let further = paths[ends..].chunk_by(|one, two| one.ranks[depth] == two.ranks[depth]);
        let edges: Vec<(u32, u32)> = further
            .map(|group| (group[0].ranks[depth], self.add(group, depth + 1)))
            .collect();
        let first_edge = self.edges.len() as u32;
        self.edges.extend(edges);
        self.nodes[number as usize].edges = first_edge..self.edges.len() as u32;
        number
    }

    /// The access pairs: rank, and the distances in time that their rows admit.
    pub fn access(&self) -> impl Iterator<Item = (u32, (i64, i64))> + '_ {
        let edges = self
            .nodes
            .first()
            .map_or(&[][..], |root| self.edges_of(root));
        edges
            .iter()
            .map(|&(rank, node)| (rank, self.nodes[node as usize].distances))
    }

    fn edges_of(&self, node: &Node) -> &[(u32, u32)] {
        &self.edges[node.edges.start as usize..node.edges.end as usize]
    }

    /// Calls `found` with every row whose pairs are all among `met` (in order), whose access pair
    /// is this bucket's and that may admit the distance in time.
    pub fn walk(&self, met: &[Met], distance: i64, found: &mut impl FnMut(u32)) {
        if let Some(root) = self.nodes.first() {
            self.walk_edges(root, met, distance, &Met::is_own, found);
        }
    }

    fn walk_from(&self, node: &Node, met: &[Met], distance: i64, found: &mut impl FnMut(u32)) {
        if distance < node.distances.0 || distance > node.distances.1 {
            return;
        }
        for &row in &self.rows[node.rows.start as usize..node.rows.end as usize] {
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
        found: &mut impl FnMut(u32),
    ) {
        let mut edges = self.edges_of(node);
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

#[cfg(test)]
mod tests {
    use super::{Met, Path, Trie};

    fn met(ranks: &[u32]) -> Vec<Met> {
        ranks.iter().map(|&rank| Met::new(rank, 0, true)).collect()
    }

    fn path(ranks: &[u32], row: u32) -> Path {
        Path {
            ranks: ranks.to_vec(),
            row,
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
            trie.walk(&met(ranks), 0, &mut |row| rows.push(row));
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
            trie.walk(&met, 0, &mut |row| rows.push(row));
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
}
