//! The rows of all subscriptions, each distinct one once, and the indexes over them.
//!
//! A row that comes or goes costs its own size. What nobody asks for any more is gone, and its
//! numbers are used again; records from before say so by their version.

use crate::codes::Kind;
use crate::pairs::{Pair, Pairs};
use crate::program::Row;
use crate::record::Record;
use crate::retention::Retention;
use crate::shape::Shape;
use crate::trie::{Path, Trie};
use penstock_kernel::counted::Counted;
use penstock_kernel::plan::SubscriptionId;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::hash::BuildHasher;
use std::sync::Arc;

penstock_kernel::ids! {
    /// A distinct row.
    StageId,
    /// A stream of documents.
    StreamId,
}

/// A distinct row and who asks for it.
#[derive(Clone, Debug, Default)]
pub struct Stage {
    /// All but variables and window.
    pub shape: Arc<Shape>,
    /// A variable for each slot.
    pub variables: Box<[u32]>,
    /// Subscriptions, each with the version from which on it sees documents. A chain's
    /// subscription is at each of its stages.
    pub subscriptions: SmallVec<[(SubscriptionId, u32); 1]>,
    /// The distances in time, right minus left, that it admits.
    pub distances: (i64, i64),
    /// In microseconds.
    pub window: i64,
    /// The variables of its partial matches, if it has any.
    pub output: Box<[u32]>,
    /// Number of its template.
    pub template: u32,
    /// Number of its shape.
    shape_number: u32,
}

impl Stage {
    fn hash(&self) -> u64 {
        let own = (self.template, self.shape_number, self.window);
        FxBuildHasher.hash_one((own, &self.variables, &self.output))
    }

    /// Whether two rows ask the same.
    fn is_same(&self, other: &Stage) -> bool {
        self.shape_number == other.shape_number
            && self.template == other.template
            && self.window == other.window
            && self.variables == other.variables
            && self.output == other.output
    }

    /// Whether its results are final.
    pub fn is_last(&self) -> bool {
        self.output.is_empty()
    }

    /// Whether two records that meet are enough for it to hold.
    pub fn is_positive(&self) -> bool {
        !matches!(self.shape.kind, None | Some(Kind::NotFollowedBy))
    }

    /// The variables that it joins.
    pub fn joined_pairs(&self) -> impl Iterator<Item = Pair> + '_ {
        let variable = |slot: u32| self.variables[slot as usize];
        let joins = self.shape.joins.iter();
        joins.map(move |&(left, right)| (variable(left), variable(right)))
    }

    /// The variables of the value join by which partners are looked for whose absence it reports.
    pub fn absent_pair(&self) -> Option<Pair> {
        let is_absence = self.shape.kind == Some(Kind::NotFollowedBy);
        self.joined_pairs().next().filter(|_| is_absence)
    }

    /// The variable that a record needs for a row of one block or of absence.
    fn waking_variable(&self) -> Option<u32> {
        // The last variable of the left tree: the deeper, the rarer.
        let last = (self.shape.left_count as usize).checked_sub(1)?;
        (!self.is_positive()).then(|| self.variables[last])
    }
}

/// A variable to look for among the records so far, and within which distances in time.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    /// The other variable.
    pub variable: u32,
    /// Right minus left.
    pub distances: (i64, i64),
}

/// What is known of a variable.
#[derive(Clone, Debug, Default)]
struct Variable {
    stream: StreamId,
    /// Variables on the left that it drives the search for, as the right one.
    lefts: SmallVec<[Access; 1]>,
    /// The same with sides exchanged.
    rights: SmallVec<[Access; 1]>,
    /// Rows of one block and rows of absence that a record which binds it may satisfy.
    waking: SmallVec<[StageId; 1]>,
    /// How many ask for records by its values.
    accesses: u32,
}

/// Rows interned, and the indexes over them.
#[derive(Default)]
pub struct Plan {
    shapes: Counted<Shape>,
    stages: Vec<Stage>,
    free: Vec<StageId>,
    /// Rows by their hashes.
    numbers: FxHashMap<u64, SmallVec<[StageId; 1]>>,
    row_count: usize,
    variables: Vec<Variable>,
    /// Stages of each subscription.
    rows: FxHashMap<SubscriptionId, SmallVec<[StageId; 1]>>,
    pairs: Pairs,
    trie: Trie,
    /// Positive rows that the trie does not have yet.
    pending: Vec<StageId>,
    /// How many positive rows the trie has.
    indexed: usize,
    /// Whether ranks are to be given anew.
    is_reranking: bool,
    is_changed: bool,
    pub(crate) retention: Retention,
}

impl Plan {
    /// Admits a variable of a stream.
    pub fn admit(&mut self, variable: u32, stream: StreamId) {
        let count = self.variables.len().max(variable as usize + 1);
        self.variables.resize(count, Variable::default());
        self.variables[variable as usize].stream = stream;
        self.pairs.admit(variable);
        self.retention.admit(variable, stream);
    }

    /// The stream of a variable.
    pub fn stream_of(&self, variable: u32) -> StreamId {
        self.variables[variable as usize].stream
    }

    /// One more than the highest variable.
    pub fn variable_count(&self) -> usize {
        self.variables.len()
    }

    /// Adds a row of a subscription, which sees documents from `version` on.
    pub fn add(&mut self, subscription: SubscriptionId, version: u32, row: Row) {
        let kind = row.shape.kind.unwrap_or(Kind::Meet);
        let (shape_number, _) = self.shapes.hold(row.shape);
        let stage = Stage {
            shape: self.shapes.shared(shape_number).unwrap_or_default(),
            variables: row.variables,
            subscriptions: SmallVec::new(),
            distances: kind.distances(row.window),
            window: row.window,
            output: row.output,
            template: row.template,
            shape_number,
        };
        let number = match self.number_of(&stage) {
            Some(number) => {
                // A stage holds its shape once, whoever asks for it.
                self.shapes.release(shape_number);
                number
            }
            None => self.add_stage(stage),
        };
        let subscriptions = &mut self.stages[number.index()].subscriptions;
        subscriptions.push((subscription, version));
        self.rows.entry(subscription).or_default().push(number);
        self.is_changed = true;
    }

    /// The numbers that new rows get, the last one first; after them come numbers that never were.
    pub fn vacant(&self) -> &[StageId] {
        &self.free
    }

    /// Says which numbers new rows get, the last one first.
    pub fn vacate(&mut self, numbers: &[StageId]) {
        let count = numbers.iter().map(|number| number.index() + 1).max();
        let count = self.stages.len().max(count.unwrap_or(0));
        self.stages.resize(count, Stage::default());
        let stages = &self.stages;
        let is_vacant = |number: &StageId| stages[number.index()].subscriptions.is_empty();
        self.free = numbers.iter().copied().filter(is_vacant).collect();
    }

    /// The number of a row that is there already.
    fn number_of(&self, stage: &Stage) -> Option<StageId> {
        let mut same_hash = self.numbers.get(&stage.hash())?.iter().copied();
        same_hash.find(|&number| self.stages[number.index()].is_same(stage))
    }

    fn add_stage(&mut self, stage: Stage) -> StageId {
        let number = self.free.pop().unwrap_or_else(|| {
            self.stages.push(Stage::default());
            StageId(self.stages.len() as u32 - 1)
        });
        self.numbers.entry(stage.hash()).or_default().push(number);
        self.row_count += 1;
        self.retention.add(number, &stage);
        if stage.is_positive() {
            for pair in stage.joined_pairs() {
                self.pairs.hold(pair);
            }
            self.pending.push(number);
        }
        if let Some(variable) = stage.waking_variable() {
            self.variables[variable as usize].waking.push(number);
        }
        if let Some((left, right)) = stage.absent_pair() {
            self.variables[left as usize].accesses += 1;
            self.variables[right as usize].accesses += 1;
        }
        self.stages[number.index()] = stage;
        number
    }

    /// Removes all rows of a subscription; returns whether there were any.
    pub fn remove(&mut self, subscription: SubscriptionId) -> bool {
        let rows = self.rows.remove(&subscription).unwrap_or_default();
        for &number in &rows {
            let subscriptions = &mut self.stages[number.index()].subscriptions;
            if let Some(at) = subscriptions
                .iter()
                .position(|(own, _)| *own == subscription)
            {
                subscriptions.swap_remove(at);
                if subscriptions.is_empty() {
                    self.remove_stage(number);
                }
            }
        }
        self.is_changed |= !rows.is_empty();
        !rows.is_empty()
    }

    fn remove_stage(&mut self, number: StageId) {
        let stage = std::mem::take(&mut self.stages[number.index()]);
        let hash = stage.hash();
        if let Some(same_hash) = self.numbers.get_mut(&hash) {
            same_hash.retain(|other| *other != number);
            if same_hash.is_empty() {
                self.numbers.remove(&hash);
            }
        }
        self.row_count -= 1;
        self.free.push(number);
        self.retention.remove(number, &stage);
        if stage.is_positive() {
            if let Some(at) = self.pending.iter().position(|&other| other == number) {
                self.pending.swap_remove(at);
            } else {
                let pairs: Vec<Pair> = stage.joined_pairs().collect();
                let path = self.path(number, &pairs, stage.distances);
                let stages = &self.stages;
                let distances = |row: StageId| stages[row.index()].distances;
                self.trie.remove(&path, &distances);
                self.indexed -= 1;
                self.update_access(&pairs, path.ranks[0]);
            }
            for pair in stage.joined_pairs() {
                self.pairs.release(pair);
            }
        }
        if let Some(variable) = stage.waking_variable() {
            let waking = &mut self.variables[variable as usize].waking;
            waking.retain(|other| *other != number);
        }
        if let Some((left, right)) = stage.absent_pair() {
            self.variables[left as usize].accesses -= 1;
            self.variables[right as usize].accesses -= 1;
        }
        self.shapes.release(stage.shape_number);
    }

    /// A row.
    #[inline]
    pub fn stage(&self, stage: StageId) -> &Stage {
        &self.stages[stage.index()]
    }

    /// The rows that somebody asks for.
    pub fn stages(&self) -> impl Iterator<Item = (StageId, &Stage)> {
        let numbered = self.stages.iter().zip((0..).map(StageId));
        numbered
            .filter(|(stage, _)| !stage.subscriptions.is_empty())
            .map(|(stage, number)| (number, stage))
    }

    /// The rows of a subscription.
    pub fn stages_of(&self, subscription: SubscriptionId) -> &[StageId] {
        let rows = self.rows.get(&subscription);
        rows.map_or(&[], |rows| rows.as_slice())
    }

    /// By variable: the first version that somebody sees who asks for it.
    pub fn seen_from(&self) -> Vec<u32> {
        let mut seen_from = vec![u32::MAX; self.variables.len()];
        for (_, stage) in self.stages() {
            let versions = stage.subscriptions.iter().map(|&(_, version)| version);
            let first = versions.min().unwrap_or(u32::MAX);
            for &variable in stage.variables.iter().chain(&stage.output) {
                let known = &mut seen_from[variable as usize];
                *known = first.min(*known);
            }
        }
        seen_from
    }

    /// Positive rows, for whoever takes one after the other.
    pub fn positive(&self) -> impl Iterator<Item = (StageId, &Stage)> {
        self.stages().filter(|(_, stage)| stage.is_positive())
    }

    /// How many distinct rows, shapes, pairs and nodes of the trie there are.
    pub fn sizes(&self) -> [usize; 4] {
        let rows = self.row_count;
        [rows, self.shapes.len(), self.pairs.len(), self.trie.len()]
    }

    /// Rows by their pairs.
    pub fn trie(&self) -> &Trie {
        &self.trie
    }

    /// The pairs that rows join.
    pub fn pairs(&self) -> &Pairs {
        &self.pairs
    }

    /// The same, to learn what is rare.
    pub fn pairs_mut(&mut self) -> &mut Pairs {
        &mut self.pairs
    }

    /// Variables that a variable drives the search for: on the left, as the right one, or the
    /// other way round.
    #[inline]
    pub fn access(&self, variable: u32, is_right: bool) -> &[Access] {
        let known = &self.variables[variable as usize];
        if is_right {
            &known.lefts
        } else {
            &known.rights
        }
    }

    /// Whether records are ever searched for by the values of a variable.
    pub fn is_accessed(&self, variable: u32) -> bool {
        self.variables[variable as usize].accesses > 0
    }

    /// The rows of one block and the rows of absence that a record may be the left side of.
    pub fn woken_by(&self, record: &Record<'_>) -> Vec<StageId> {
        let mut woken: Vec<StageId> = Vec::new();
        let mut last = None;
        for variable in record.variables() {
            if last.replace(variable) != Some(variable) {
                woken.extend_from_slice(&self.variables[variable as usize].waking);
            }
        }
        woken.sort_unstable();
        woken.dedup();
        woken
    }

    /// Brings the indexes up to date; returns whether rows changed.
    pub fn refresh(&mut self) -> bool {
        let mut retention = std::mem::take(&mut self.retention);
        retention.refresh(self);
        self.retention = retention;
        let is_rebuilding = self.is_reranking || self.pairs.is_worn();
        // Many rows are put in order first, which keeps the trie compact.
        if is_rebuilding || self.pending.len() > self.indexed {
            self.rebuild(is_rebuilding);
        }
        for number in std::mem::take(&mut self.pending) {
            let stage = &self.stages[number.index()];
            let pairs: Vec<Pair> = stage.joined_pairs().collect();
            let path = self.path(number, &pairs, stage.distances);
            self.trie.insert(&path);
            self.indexed += 1;
            self.update_access(&pairs, path.ranks[0]);
        }
        std::mem::take(&mut self.is_changed)
    }

    /// Ranks the pairs anew by how often they met, if that changes anything.
    pub fn rank(&mut self) {
        self.is_reranking |= self.pairs.would_change();
    }

    /// Fixes the ranks of pairs, the first of which is taken for the rarest. Other pairs follow.
    pub fn pin(&mut self, pairs: &[Pair]) {
        self.pairs.pin(pairs);
        self.is_reranking = true;
        self.is_changed = true;
    }

    fn path(&self, row: StageId, pairs: &[Pair], distances: (i64, i64)) -> Path {
        let known = self.pairs.ranks();
        let mut ranks: Vec<u32> = pairs.iter().map(|pair| known[pair]).collect();
        ranks.sort_unstable();
        ranks.dedup();
        Path {
            ranks,
            row,
            distances,
        }
    }

    /// Makes the indexes of positive rows anew.
    fn rebuild(&mut self, is_reranking: bool) {
        self.is_reranking = false;
        if is_reranking {
            self.pairs.rank();
        }
        for variable in &mut self.variables {
            variable.accesses -= (variable.lefts.len() + variable.rights.len()) as u32;
            variable.lefts.clear();
            variable.rights.clear();
        }
        let rows: Vec<(Vec<Pair>, Path)> = self
            .positive()
            .map(|(number, stage)| {
                let pairs: Vec<Pair> = stage.joined_pairs().collect();
                let path = self.path(number, &pairs, stage.distances);
                (pairs, path)
            })
            .collect();
        self.indexed = rows.len();
        self.pending.clear();
        self.trie = Trie::build(rows.iter().map(|row| row.1.clone()).collect());
        let mut driving = FxHashSet::default();
        for (pairs, path) in &rows {
            if driving.insert(path.ranks[0]) {
                self.update_access(pairs, path.ranks[0]);
            }
        }
    }

    /// Brings the access pair of a row up to date: whether it is one, and within which distances.
    fn update_access(&mut self, pairs: &[Pair], rank: u32) {
        let ranks = self.pairs.ranks();
        let access = pairs.iter().find(|pair| ranks.get(pair) == Some(&rank));
        let Some(&(left, right)) = access else {
            return;
        };
        let distances = self.trie.access(rank);
        self.variables[right as usize].set_access(true, left, distances);
        self.variables[left as usize].set_access(false, right, distances);
    }
}

impl Variable {
    /// Drives the search for another variable within these distances, or no more.
    fn set_access(&mut self, is_right: bool, variable: u32, distances: Option<(i64, i64)>) {
        let list = if is_right {
            &mut self.lefts
        } else {
            &mut self.rights
        };
        let place = list.iter().position(|access| access.variable == variable);
        match (place, distances) {
            (Some(at), Some(distances)) => list[at].distances = distances,
            (Some(at), None) => {
                list.swap_remove(at);
                self.accesses -= 1;
            }
            (None, Some(distances)) => {
                list.push(Access {
                    variable,
                    distances,
                });
                self.accesses += 1;
            }
            (None, None) => {}
        }
    }
}
