//! The pairs of variables that rows join, and which of them are rare.
//!
//! A pair has a *rank*, and rarer ones have lower ranks. Ranks are ordered by pins, then by the
//! magnitude of what was learnt, then by age. A new pair gets its rank at once and no other rank
//! changes; what was learnt since counts when all are ranked anew.

use penstock_kernel::counted::Counted;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// A left and a right variable.
pub type Pair = (u32, u32);

/// Bits of a rank that tell pairs of one magnitude apart; those above them are the magnitude.
const AGE_BITS: u32 = 26;

/// The pairs of all rows.
#[derive(Default)]
pub struct Pairs {
    pairs: Counted<Pair>,
    /// By pair: how often its values met so far.
    weights: Vec<u64>,
    ranks: FxHashMap<Pair, u32>,
    /// Ranks that are fixed; None where all follow what is learnt.
    pinned: Option<FxHashMap<Pair, u32>>,
    /// By variable, as the right one: the left ones. The other way round as well.
    lefts: Vec<SmallVec<[u32; 1]>>,
    rights: Vec<SmallVec<[u32; 1]>>,
    next_age: u32,
}

impl Pairs {
    /// Makes room for a variable.
    pub fn admit(&mut self, variable: u32) {
        let count = self.lefts.len().max(variable as usize + 1);
        self.lefts.resize(count, SmallVec::new());
        self.rights.resize(count, SmallVec::new());
    }

    /// Holds a pair once more.
    pub fn hold(&mut self, pair: Pair) {
        let (id, is_new) = self.pairs.hold(pair);
        if is_new {
            self.weights.resize(self.pairs.ids_end(), 0);
            self.weights[id as usize] = 0;
            self.lefts[pair.1 as usize].push(pair.0);
            self.rights[pair.0 as usize].push(pair.1);
            let rank = self.next_rank(pair, 0);
            self.ranks.insert(pair, rank);
        }
    }

    /// Gives up a pair once.
    pub fn release(&mut self, pair: Pair) {
        let gone = self.pairs.id(&pair).and_then(|id| self.pairs.release(id));
        if gone.is_some() {
            self.ranks.remove(&pair);
            self.lefts[pair.1 as usize].retain(|left| *left != pair.0);
            self.rights[pair.0 as usize].retain(|right| *right != pair.1);
        }
    }

    /// By pair its rank: only pairs that some row joins have one.
    pub fn ranks(&self) -> &FxHashMap<Pair, u32> {
        &self.ranks
    }

    /// How many pairs there are.
    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Notes for each pair how many values met of those of a variable and another: `count` says
    /// how many did.
    pub fn learn(&mut self, variable: u32, count: impl Fn(u32) -> u64) {
        for &left in &self.lefts[variable as usize] {
            if let Some(id) = self.pairs.id(&(left, variable)) {
                self.weights[id as usize] += count(left);
            }
        }
        for &right in &self.rights[variable as usize] {
            if let Some(id) = self.pairs.id(&(variable, right)) {
                self.weights[id as usize] += count(right);
            }
        }
    }

    /// The pairs as they are ranked now.
    pub fn ranked(&self) -> Vec<Pair> {
        let mut pairs: Vec<(u32, Pair)> = self.ranks.iter().map(|(&p, &rank)| (rank, p)).collect();
        pairs.sort_unstable();
        pairs.into_iter().map(|(_, pair)| pair).collect()
    }

    /// Whether ages run out; then all are to be ranked anew.
    pub fn is_worn(&self) -> bool {
        self.next_age >> AGE_BITS != 0
    }

    /// Whether ranks would differ if all were ranked anew.
    pub fn would_change(&self) -> bool {
        let order = self.ranked();
        let magnitudes = order.iter().map(|&pair| self.magnitude(pair));
        let pinned = self.pinned.as_ref();
        let loose = order
            .iter()
            .zip(magnitudes)
            .filter(|(pair, _)| pinned.is_none_or(|pinned| !pinned.contains_key(pair)));
        !loose.is_sorted_by_key(|(_, magnitude)| magnitude)
    }

    /// Ranks all pairs anew.
    pub fn rank(&mut self) {
        let mut pairs = self.ranked();
        // The sort is stable: pairs of one magnitude stay in order of age.
        pairs.sort_by_key(|&pair| self.magnitude(pair));
        self.next_age = 0;
        for pair in pairs {
            let rank = self.next_rank(pair, self.magnitude(pair));
            self.ranks.insert(pair, rank);
        }
    }

    /// Fixes the ranks of pairs, the first of which is taken for the rarest. Other pairs follow.
    pub fn pin(&mut self, pairs: &[Pair]) {
        let mut pinned = FxHashMap::default();
        for &pair in pairs {
            let next = pinned.len() as u32;
            pinned.entry(pair).or_insert(next);
        }
        self.pinned = Some(pinned);
    }

    /// Whether ranks are fixed.
    pub fn is_pinned(&self) -> bool {
        self.pinned.is_some()
    }

    /// Only magnitudes count: ranks do not change for less.
    fn magnitude(&self, pair: Pair) -> u32 {
        let weight = self
            .pairs
            .id(&pair)
            .map_or(0, |id| self.weights[id as usize]);
        weight.checked_ilog2().map_or(0, |log| (log + 1).min(62))
    }

    fn next_rank(&mut self, pair: Pair, magnitude: u32) -> u32 {
        let pinned = self.pinned.as_ref().and_then(|pinned| pinned.get(&pair));
        if let Some(&rank) = pinned {
            return rank;
        }
        self.next_age += 1;
        (magnitude + 1) << AGE_BITS | (self.next_age & ((1 << AGE_BITS) - 1))
    }
}
