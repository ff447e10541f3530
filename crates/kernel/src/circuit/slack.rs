//! Ranges that move together: range-add over a sequence, and who crossed a bound by it.
//!
//! A sequence of entries, each a number known to lie between `low` and `high`. Deciding one member
//! of a group raises the low ends, or lowers the high ends, of a prefix or a suffix of the entries.
//! Every entry has two bounds at which somebody wants to be told; it is also told when its ends
//! meet. A tree over the distances finds those entries without looking at the others.
//!
//! The tree has as many leaves as there is room, whatever number that is: leaf `i` of `n` is node
//! `n + i`, and the parent of a node is half its number. So its nodes are no subtrees of neighbours
//! alone, but every entry is below the root, and a range is the same nodes in whatever order.

use super::ids::EntryId;
use crate::tables::{bytes_of, room_for};

/// Distances to the next thing that matters: the low end to its bound, the high end to its bound,
/// the ends to each other.
type Distances = [f64; 3];

const FAR: Distances = [f64::INFINITY; 3];

#[derive(Clone, Copy, Debug)]
struct Node {
    /// What the entries below have to add to their ends.
    low: f64,
    high: f64,
    nearest: Distances,
}

const EMPTY: Node = Node {
    low: 0.0,
    high: 0.0,
    nearest: FAR,
};

/// One entry: its ends without what is still to be added, and its bounds.
#[derive(Clone, Copy, Debug)]
struct Leaf<T> {
    item: T,
    low: f64,
    high: f64,
    low_at: f64,
    high_at: f64,
    is_over: bool,
}

/// Entries in order, by number. Numbers grow for ever; entries at the front that are over go.
#[derive(Debug)]
pub struct Slack<T> {
    leaves: Vec<Leaf<T>>,
    /// The inner nodes of the tree over `leaves`, its root at 1; as many as room for leaves.
    nodes: Vec<Node>,
    /// Entries that are gone from the front.
    gone: usize,
}

impl<T> Default for Slack<T> {
    fn default() -> Self {
        Slack {
            leaves: Vec::new(),
            nodes: Vec::new(),
            gone: 0,
        }
    }
}

impl<T: Copy> Slack<T> {
    /// The number that the next entry gets.
    pub fn next(&self) -> EntryId {
        self.entry(self.leaves.len())
    }

    fn entry(&self, place: usize) -> EntryId {
        EntryId((self.gone + place) as u32)
    }

    pub fn bytes(&self) -> usize {
        bytes_of(&self.leaves) + bytes_of(&self.nodes)
    }

    /// Adds an entry that nobody waits for yet.
    pub fn push(&mut self, item: T, low: f64, high: f64) -> EntryId {
        if self.leaves.len() == self.nodes.len() {
            self.make_room();
        }
        let at = self.leaves.len();
        let (above_low, above_high) = self.pending(at);
        self.leaves.push(Leaf {
            item,
            low: low - above_low,
            high: high - above_high,
            low_at: f64::INFINITY,
            high_at: f64::NEG_INFINITY,
            is_over: false,
        });
        self.update(at);
        self.entry(at)
    }

    /// The item of an entry; none once it is over.
    pub fn item(&self, entry: EntryId) -> Option<T> {
        let leaf = &self.leaves[entry.index() - self.gone];
        (!leaf.is_over).then_some(leaf.item)
    }

    /// The ends of an entry now.
    pub fn ends(&self, entry: EntryId) -> (f64, f64) {
        let at = entry.index() - self.gone;
        let (low, high) = self.pending(at);
        let leaf = &self.leaves[at];
        (leaf.low + low, leaf.high + high)
    }

    /// Makes `reached` return an entry once its low end reaches one bound or its high end the
    /// other.
    pub fn wait(&mut self, entry: EntryId, low_at: f64, high_at: f64) {
        let Some(at) = entry.index().checked_sub(self.gone) else {
            return;
        };
        let leaf = &mut self.leaves[at];
        (leaf.low_at, leaf.high_at) = (low_at, high_at);
        self.update(at);
    }

    /// Ends an entry.
    pub fn end(&mut self, entry: EntryId) {
        if let Some(at) = entry.index().checked_sub(self.gone) {
            self.leaves[at].is_over = true;
            self.update(at);
        }
    }

    /// Moves the ends of all entries before one.
    pub fn add_before(&mut self, entry: EntryId, low: f64, high: f64) {
        let until = entry.index().saturating_sub(self.gone);
        self.add(0, until, low, high);
    }

    /// Moves the ends of an entry and of all behind it.
    pub fn add_from(&mut self, entry: EntryId, low: f64, high: f64) {
        let from = entry.index().saturating_sub(self.gone);
        self.add(from, self.leaves.len(), low, high);
    }

    /// Moves the ends of the entries from one to before another.
    pub fn add_between(&mut self, from: EntryId, until: EntryId, low: f64, high: f64) {
        let place = |entry: EntryId| entry.index().saturating_sub(self.gone);
        let (from, until) = (place(from), place(until));
        self.add(from, until, low, high);
    }

    /// Takes off the last entry: what it stands for and its low end, or nothing if it was over.
    pub fn pop(&mut self) -> Option<(T, f64)> {
        let Some(at) = self.leaves.len().checked_sub(1) else {
            // It was over and is gone already; its number is free again.
            self.gone = self.gone.saturating_sub(1);
            return None;
        };
        let (above, _) = self.pending(at);
        let leaf = self.leaves.pop()?;
        self.update(at);
        (!leaf.is_over).then_some((leaf.item, leaf.low + above))
    }

    /// Sets the high end of an entry, whatever it was.
    pub fn set_high(&mut self, entry: EntryId, high: f64) {
        let at = entry.index() - self.gone;
        let (_, above) = self.pending(at);
        self.leaves[at].high = high - above;
        self.update(at);
    }

    /// The entries that are not gone.
    pub fn entries(&self) -> impl DoubleEndedIterator<Item = EntryId> + use<T> {
        (self.gone as u32..self.next().0).map(EntryId)
    }

    /// An entry that is at one of its bounds, or whose ends meet.
    pub fn reached(&self) -> Option<EntryId> {
        let is_near = |nearest: &Distances| nearest.iter().any(|&distance| distance <= 0.0);
        if self.leaves.is_empty() || !is_near(&self.nodes[1].nearest) {
            return None;
        }
        let room = self.nodes.len();
        let (mut at, mut low, mut high) = (1, 0.0, 0.0);
        while at < room {
            (low, high) = (low + self.nodes[at].low, high + self.nodes[at].high);
            let left = shifted(&self.nearest(2 * at), low, high);
            at = if is_near(&left) { 2 * at } else { 2 * at + 1 };
        }
        Some(self.entry(at - room))
    }

    fn nearest(&self, node: usize) -> Distances {
        let room = self.nodes.len();
        if node < room {
            return self.nodes[node].nearest;
        }
        match self.leaves.get(node - room) {
            Some(leaf) if !leaf.is_over => leaf.distances(),
            _ => FAR,
        }
    }

    /// What is still to be added to an entry.
    fn pending(&self, at: usize) -> (f64, f64) {
        let (mut low, mut high) = (0.0, 0.0);
        let mut node = (at + self.nodes.len()) / 2;
        while node > 0 {
            low += self.nodes[node].low;
            high += self.nodes[node].high;
            node /= 2;
        }
        (low, high)
    }

    /// Works out the distances above an entry anew.
    fn update(&mut self, at: usize) {
        let mut node = (at + self.nodes.len()) / 2;
        while node > 0 {
            self.renew(node);
            node /= 2;
        }
    }

    fn renew(&mut self, node: usize) {
        let (left, right) = (self.nearest(2 * node), self.nearest(2 * node + 1));
        let nearer = std::array::from_fn(|index| left[index].min(right[index]));
        let Node { low, high, .. } = self.nodes[node];
        self.nodes[node].nearest = shifted(&nearer, low, high);
    }

    fn add(&mut self, from: usize, until: usize, low: f64, high: f64) {
        if from >= until {
            return;
        }
        let room = self.nodes.len();
        let (mut left, mut right) = (from + room, until + room);
        while left < right {
            if left & 1 == 1 {
                self.move_node(left, low, high);
                left += 1;
            }
            if right & 1 == 1 {
                right -= 1;
                self.move_node(right, low, high);
            }
            (left, right) = (left / 2, right / 2);
        }
        self.update(from);
        self.update(until - 1);
    }

    fn move_node(&mut self, node: usize, low: f64, high: f64) {
        let room = self.nodes.len();
        if node < room {
            let node = &mut self.nodes[node];
            (node.low, node.high) = (node.low + low, node.high + high);
            node.nearest = shifted(&node.nearest, low, high);
        } else {
            let leaf = &mut self.leaves[node - room];
            (leaf.low, leaf.high) = (leaf.low + low, leaf.high + high);
        }
    }

    /// Drops what is over at the front, or makes more room.
    fn make_room(&mut self) {
        self.push_down();
        let over = self.leaves.iter().take_while(|leaf| leaf.is_over).count();
        self.leaves.drain(..over);
        self.gone += over;
        let count = self.leaves.len();
        let room = room_for(count, size_of::<Leaf<T>>() + size_of::<Node>());
        self.leaves.shrink_to(room);
        self.leaves.reserve_exact(room - count);
        self.nodes.clear();
        self.nodes.shrink_to(room);
        self.nodes.reserve_exact(room);
        self.nodes.resize(room, EMPTY);
        for node in (1..room).rev() {
            self.renew(node);
        }
    }

    /// Adds to all entries what is still to be added to them.
    fn push_down(&mut self) {
        let room = self.nodes.len();
        for at in 1..room {
            let Node { low, high, .. } = self.nodes[at];
            for child in [2 * at, 2 * at + 1] {
                if child < room {
                    let node = &mut self.nodes[child];
                    (node.low, node.high) = (node.low + low, node.high + high);
                } else if let Some(leaf) = self.leaves.get_mut(child - room) {
                    (leaf.low, leaf.high) = (leaf.low + low, leaf.high + high);
                }
            }
        }
    }
}

impl<T> Leaf<T> {
    fn distances(&self) -> Distances {
        [
            self.low_at - self.low,
            self.high - self.high_at,
            self.high - self.low,
        ]
    }
}

fn shifted(distances: &Distances, low: f64, high: f64) -> Distances {
    [
        distances[0] - low,
        distances[1] + high,
        distances[2] + high - low,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the tree stands for: plain arrays.
    #[derive(Default)]
    struct Plain(Vec<(f64, f64, f64, f64, bool)>);

    impl Plain {
        fn reached(&self) -> Vec<EntryId> {
            let near =
                |e: &(f64, f64, f64, f64, bool)| !e.4 && (e.0 >= e.2 || e.1 <= e.3 || e.0 >= e.1);
            let all = self.0.iter().enumerate();
            all.filter(|(_, e)| near(e))
                .map(|(at, _)| EntryId(at as u32))
                .collect()
        }
    }

    #[test]
    fn numbers_of_entries_that_are_gone_are_free_again() {
        let mut slack = Slack::<u32>::default();
        for item in 0..9 {
            let entry = slack.push(item, 0.0, f64::INFINITY);
            slack.end(entry);
        }
        for _ in 0..8 {
            assert_eq!(slack.pop(), None);
        }
        assert_eq!(slack.push(9, 0.0, f64::INFINITY), EntryId(1));
        slack.add_before(EntryId(2), 1.0, 0.0);
        assert_eq!(slack.pop(), Some((9, 1.0)));
        assert_eq!(slack.next(), EntryId(1));
    }

    #[test]
    fn entries_are_told_as_plain_arrays_say() {
        let mut seed = 7_u64;
        let mut random = move |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) % below
        };
        for _ in 0..300 {
            let (mut slack, mut plain) = (Slack::<()>::default(), Plain::default());
            for _ in 0..120 {
                let count = plain.0.len() as u64;
                let pick = EntryId(random(count.max(1)) as u32);
                match random(6) {
                    0 | 1 => {
                        let high = if random(3) == 0 { f64::INFINITY } else { 40.0 };
                        slack.push((), 1.0, high);
                        plain
                            .0
                            .push((1.0, high, f64::INFINITY, f64::NEG_INFINITY, false));
                    }
                    2 if count > 0 => {
                        let (low, high) = (random(20) as f64, 20.0 - random(20) as f64);
                        slack.wait(pick, low, high);
                        (plain.0[pick.index()].2, plain.0[pick.index()].3) = (low, high);
                    }
                    3 => {
                        slack.add_before(pick, 1.0, 0.0);
                        plain
                            .0
                            .iter_mut()
                            .take(pick.index())
                            .for_each(|e| e.0 += 1.0);
                    }
                    4 => {
                        slack.add_from(pick, 0.0, -1.0);
                        plain
                            .0
                            .iter_mut()
                            .skip(pick.index())
                            .for_each(|e| e.1 -= 1.0);
                    }
                    _ => {}
                }
                let mut reached = Vec::new();
                while let Some(entry) = slack.reached() {
                    let (low, high) = slack.ends(entry);
                    let known = plain.0[entry.index()];
                    assert_eq!((low, high), (known.0, known.1));
                    slack.end(entry);
                    reached.push(entry);
                }
                reached.sort_unstable();
                assert_eq!(reached, plain.reached());
                reached
                    .iter()
                    .for_each(|&entry| plain.0[entry.index()].4 = true);
            }
        }
    }
}
