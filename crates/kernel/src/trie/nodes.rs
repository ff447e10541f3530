//! Sets of nodes, each with the time at which it is certain that the way so far leads to it.

use super::names::Names;
use super::paths::{Paths, Sight};
use super::sets::Sets;
use crate::document::{Bundle, Earliest, Lists, NEVER, Node, Timed, between};
use crate::plan::Axis;
use crate::plan::questions::{Code, MARK};
use rustc_hash::FxHashMap;

const UNKNOWN: u32 = u32::MAX;
/// So many items of sets are kept at once.
const ITEMS_MAX: usize = 1 << 23;
/// Fewer items than this are sorted.
const GATHERED_MIN: usize = 16;

/// The sets of nodes met in a bundle.
#[derive(Default)]
pub struct NodeSets {
    sets: Sets<Timed>,
    /// By set, as far as somebody asked.
    earliest: Vec<Option<Earliest>>,
    next: FxHashMap<(u32, Code), u32>,
    /// By set of paths, by end, and by answer, cell or set: the set of nodes, or `UNKNOWN`.
    of_sets: Vec<u32>,
    of_ends: Vec<u32>,
    of_answers: [Vec<u32>; 2],
    /// Nodes by the codes of the moves that lead to them, and by path.
    answers: Lists,
    of_path: Lists,
    /// Times by node, `NEVER` but while a set is looked at.
    times: Vec<u32>,
    bits: Vec<u64>,
    scratch: Vec<Timed>,
    /// Items that were gone through, and that nobody has paid for yet.
    pub unpaid: usize,
}

impl NodeSets {
    /// Forgets the bundle before.
    pub fn clear(&mut self) {
        self.sets.clear();
        self.earliest.clear();
        self.next.clear();
        self.of_sets.clear();
        self.of_ends.clear();
        self.of_answers.iter_mut().for_each(Vec::clear);
        self.answers.clear();
        self.of_path.clear();
    }

    #[inline]
    pub fn get(&self, set: u32) -> &[Timed] {
        self.sets.get(set)
    }

    /// How many sets there are.
    pub fn count(&self) -> usize {
        self.sets.len()
    }

    /// Whether sets have more items than may be kept.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.sets.item_count() > ITEMS_MAX
    }

    pub fn intern(&mut self, items: &[Timed]) -> u32 {
        self.sets.intern(items).0
    }

    /// When the first node of a set is certain, and which documents have some.
    #[inline]
    pub fn earliest(&mut self, bundle: &Bundle, set: u32) -> Earliest {
        if self.earliest.len() <= set as usize {
            self.earliest.resize(self.sets.len(), None);
        }
        let known = &mut self.earliest[set as usize];
        *known.get_or_insert_with(|| bundle.earliest_of(self.sets.get(set)))
    }

    /// The nodes of a set of paths, certain from their birth.
    #[inline]
    pub fn of_set<S: Sight>(&mut self, bundle: &Bundle, paths: &Paths<S>, set: u32) -> u32 {
        if let Some(known) = look_up(&mut self.of_sets, set) {
            return known;
        }
        let found = self.intern_nodes(bundle, paths.numbers(set));
        self.of_sets[set as usize] = found;
        found
    }

    /// The nodes of the paths of an answer, certain from their birth.
    #[inline]
    pub fn of_answer<S: Sight>(
        &mut self,
        bundle: &Bundle,
        paths: &mut Paths<S>,
        answer: u32,
    ) -> u32 {
        let known = &mut self.of_answers[usize::from(answer & MARK != 0)];
        if let Some(known) = look_up(known, answer & !MARK) {
            return known;
        }
        let found = self.of_end(bundle, paths, answer);
        self.of_answers[usize::from(answer & MARK != 0)][(answer & !MARK) as usize] = found;
        found
    }

    /// Many answers are the same paths, and listing their nodes takes longer than telling that.
    #[inline(never)]
    fn of_end<S: Sight>(&mut self, bundle: &Bundle, paths: &mut Paths<S>, answer: u32) -> u32 {
        let end = paths.end(answer);
        if let Some(known) = look_up(&mut self.of_ends, end) {
            return known;
        }
        let found = self.intern_nodes(bundle, paths.end_numbers(end));
        self.of_ends[end as usize] = found;
        found
    }

    #[inline(never)]
    fn intern_nodes(&mut self, bundle: &Bundle, paths: impl Iterator<Item = u32>) -> u32 {
        let mut items = std::mem::take(&mut self.scratch);
        self.list_nodes(bundle, paths, &mut items);
        let found = self.intern(&items);
        self.scratch = items;
        found
    }

    /// Lists the nodes of paths, certain from their birth, in document order.
    pub fn list_nodes(
        &mut self,
        bundle: &Bundle,
        paths: impl Iterator<Item = u32>,
        items: &mut Vec<Timed>,
    ) {
        if !self.of_path.is_filled() {
            self.of_path.fill(bundle, std::iter::once);
        }
        items.clear();
        for path in paths {
            let born = |&node: &u32| (node, bundle.nodes[node as usize].born);
            items.extend(self.of_path.of(path).iter().map(born));
        }
        self.gather(items);
    }

    /// Brings items into document order, each node once with its earliest time.
    pub fn gather(&mut self, items: &mut Vec<Timed>) {
        self.unpaid += items.len();
        let Some(high) = items.iter().map(|item| item.0).max() else {
            return;
        };
        let words = high as usize / u64::BITS as usize + 1;
        if items.is_sorted() {
            items.dedup_by_key(|item| item.0);
        } else if items.len() < GATHERED_MIN || items.len() < words {
            items.sort_unstable();
            items.dedup_by_key(|item| item.0);
        } else {
            self.gather_by_bits(items, words);
        }
    }

    /// The same by a bit for each node, where these are not many more than the items.
    fn gather_by_bits(&mut self, items: &mut Vec<Timed>, words: usize) {
        let nodes = words * u64::BITS as usize;
        if self.times.len() < nodes {
            self.times.resize(nodes, NEVER);
        }
        self.bits.clear();
        self.bits.resize(words, 0);
        for (node, time) in items.drain(..) {
            let known = &mut self.times[node as usize];
            *known = time.min(*known);
            self.bits[(node / u64::BITS) as usize] |= 1 << (node % u64::BITS);
        }
        for (index, &word) in self.bits.iter().enumerate() {
            let mut rest = word;
            while rest != 0 {
                let node = index as u32 * u64::BITS + rest.trailing_zeros();
                let time = std::mem::replace(&mut self.times[node as usize], NEVER);
                items.push((node, time));
                rest &= rest - 1;
            }
        }
    }

    /// The nodes that answer a move, in document order.
    #[inline]
    pub fn answers(&mut self, bundle: &Bundle, names: &Names, code: Code) -> &[u32] {
        self.fill_answers(bundle, names);
        self.answers.of(code.into())
    }

    #[inline]
    fn fill_answers(&mut self, bundle: &Bundle, names: &Names) {
        if !self.answers.is_filled() {
            let codes = |path: u32| names.codes(bundle.paths[path as usize].symbol).all();
            self.answers.fill(bundle, |path| codes(path).map(u32::from));
        }
    }

    /// Where a move leads from a set.
    pub fn follow(&mut self, bundle: &Bundle, names: &Names, set: u32, code: Code) -> u32 {
        if let Some(&known) = self.next.get(&(set, code)) {
            return known;
        }
        let mut found = std::mem::take(&mut self.scratch);
        found.clear();
        if names.axis(code) == Axis::Descendant {
            self.fill_answers(bundle, names);
            let (items, answers) = (self.sets.get(set), self.answers.of(code.into()));
            self.unpaid += items.len() + answers.len();
            below(bundle, items, answers, &mut found);
        } else {
            self.each_child(bundle, names, set, code, |number, node, time| {
                found.push((number, time.max(node.born)));
            });
        }
        let to = self.intern(&found);
        self.scratch = found;
        self.next.insert((set, code), to);
        to
    }

    /// Visits the answers to a move whose parents are in a set, with the times of these.
    pub fn each_child(
        &mut self,
        bundle: &Bundle,
        names: &Names,
        set: u32,
        code: Code,
        mut visit: impl FnMut(u32, &Node, u32),
    ) {
        self.fill_answers(bundle, names);
        let (items, answers) = (self.sets.get(set), self.answers.of(code.into()));
        let nodes = &bundle.nodes;
        if let [(parent, time)] = *items {
            let answers = between(answers, parent, nodes[parent as usize].last);
            self.unpaid += answers.len();
            for &answer in answers {
                let node = &nodes[answer as usize];
                if node.parent == parent {
                    visit(answer, node, time);
                }
            }
            return;
        }
        let last = |&(node, _): &Timed| nodes[node as usize].last;
        let (Some(first), Some(end)) = (items.first(), items.iter().map(last).max()) else {
            return;
        };
        let answers = between(answers, first.0, end);
        self.unpaid += items.len() + answers.len();
        if answers.is_empty() {
            return;
        }
        if self.times.len() < nodes.len() {
            self.times.resize(nodes.len(), NEVER);
        }
        for &(node, time) in items {
            self.times[node as usize] = time;
        }
        for &answer in answers {
            let node = &nodes[answer as usize];
            let time = self.times[node.parent as usize];
            if time != NEVER {
                visit(answer, node, time);
            }
        }
        for &(node, _) in items {
            self.times[node as usize] = NEVER;
        }
    }
}

#[inline]
fn look_up(known: &mut Vec<u32>, index: u32) -> Option<u32> {
    if known.len() <= index as usize {
        known.resize(index as usize + 1, UNKNOWN);
    }
    let found = known[index as usize];
    (found != UNKNOWN).then_some(found)
}

/// The answers below some item; certain when the first item above it is, and it is born.
fn below(bundle: &Bundle, items: &[Timed], answers: &[u32], found: &mut Vec<Timed>) {
    let Some(&(first, _)) = items.first() else {
        return;
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
            open.push((bundle.nodes[item as usize].last, best));
            rest = further;
        }
        close_before(&mut open, node);
        if let Some(&(_, best)) = open.last() {
            found.push((node, best.max(bundle.nodes[node as usize].born)));
        } else if rest.is_empty() {
            break;
        }
    }
}

fn close_before(open: &mut Vec<(u32, u32)>, node: u32) {
    while open.last().is_some_and(|&(last, _)| last < node) {
        open.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::{NodeSets, Timed};

    #[test]
    fn many_items_are_gathered_like_few() {
        let mut sets = NodeSets::default();
        for count in [0, 3, 40, 400] {
            let item = |n: u32| ((n * 37) % 101, 1 + (n * 53) % 17);
            let items: Vec<Timed> = (0..count).map(item).collect();
            let mut sorted = items.clone();
            sorted.sort_unstable();
            sorted.dedup_by_key(|item| item.0);
            // Twice: what the first leaves behind must not be seen by the second.
            for _ in 0..2 {
                let mut gathered = items.clone();
                sets.gather(&mut gathered);
                assert_eq!(gathered, sorted);
            }
        }
    }
}
