//! The rows of all subscriptions, each distinct one once.

use crate::codes::Kind;
use crate::program::{ProgramError, Row};
use crate::record::Record;
use crate::shape::Shape;
use crate::trie::{Path, Trie};
use rustc_hash::{FxHashMap, FxHashSet};

/// A distinct row and who asks for it.
#[derive(Clone, Debug)]
pub struct Stage {
    /// Number of its template.
    pub template: u32,
    /// Number of its shape.
    pub shape: u32,
    /// A variable for each slot.
    pub variables: Box<[u32]>,
    /// In microseconds.
    pub window: i64,
    /// The distances in time, right minus left, that it admits.
    pub distances: (i64, i64),
    /// The variables of its partial matches, if it has any.
    pub output: Box<[u32]>,
    /// Subscriptions, each with the version from which on it sees documents. A chain's
    /// subscription is at each of its stages.
    pub subscriptions: Vec<(u32, u32)>,
}

impl Stage {
    /// Whether its results are final.
    pub fn is_last(&self) -> bool {
        self.output.is_empty()
    }
}

/// What is known of a variable.
#[derive(Clone, Copy, Debug)]
pub struct VariableUse {
    /// The stream it is bound in.
    pub stream: u32,
}

/// A pair of variables that some row joins, and how often its values met so far.
#[derive(Clone, Copy, Debug)]
struct Pair {
    left: u32,
    right: u32,
    weight: u64,
}

/// Rows interned, and the indexes over them.
#[derive(Default)]
pub struct Plan {
    shapes: Vec<Shape>,
    shape_numbers: FxHashMap<Shape, u32>,
    stages: Vec<Stage>,
    stage_numbers: FxHashMap<Row, u32>,
    variables: Vec<VariableUse>,
    /// Stages of each subscription.
    rows: FxHashMap<u32, Vec<u32>>,
    pairs: Vec<Pair>,
    /// (left variable, right variable) to the place in `pairs`.
    pair_numbers: FxHashMap<(u32, u32), u32>,
    /// Pairs as they were ranked last.
    order: Vec<u32>,
    /// Pairs whose ranks are fixed, the first ones; None where ranks follow what is learnt.
    pinned: Option<Vec<u32>>,
    indexes: Indexes,
    is_stale: bool,
}

/// What is derived from the rows, made anew when they change.
#[derive(Default)]
pub struct Indexes {
    /// Positive rows by their pairs.
    pub trie: Trie,
    /// (left variable, right variable) to the rank of the pair.
    pub ranks: FxHashMap<(u32, u32), u32>,
    /// For each variable: variables on the left that it drives the search for, as the right one.
    pub lefts: Vec<Vec<Access>>,
    /// The same with sides exchanged.
    pub rights: Vec<Vec<Access>>,
    /// Rows of one block and rows of absence, by a variable that a document needs for them.
    pub waking: Vec<Vec<u32>>,
    /// Positive rows, for whoever takes one after the other.
    pub positive: Vec<u32>,
    /// By variable, whether records are ever searched for by its values.
    pub accessed: Vec<bool>,
}

/// A variable to look for among the records so far, and within which distances in time.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    /// The other variable.
    pub variable: u32,
    /// Right minus left.
    pub distances: (i64, i64),
}

impl Plan {
    /// Admits a variable of a stream; returns its number.
    pub fn variable(&mut self, stream: u32) -> u32 {
        self.variables.push(VariableUse { stream });
        self.is_stale = true;
        self.variables.len() as u32 - 1
    }

    /// The stream of a variable.
    pub fn stream_of(&self, variable: u32) -> u32 {
        self.variables[variable as usize].stream
    }

    /// How many variables there are.
    pub fn variable_count(&self) -> usize {
        self.variables.len()
    }

    /// Adds a row of a subscription, which sees documents from `version` on.
    pub fn add(
        &mut self,
        subscription: u32,
        version: u32,
        words: &[u32],
    ) -> Result<(), ProgramError> {
        let row = Row::read(words, self.variables.len())?;
        let stage = match self.stage_numbers.get(&row) {
            Some(&stage) => stage,
            None => self.add_stage(row),
        };
        self.stages[stage as usize]
            .subscriptions
            .push((subscription, version));
        self.rows.entry(subscription).or_default().push(stage);
        self.is_stale = true;
        Ok(())
    }

    fn add_stage(&mut self, row: Row) -> u32 {
        let number = self.stages.len() as u32;
        let shape = match self.shape_numbers.get(&row.shape) {
            Some(&shape) => shape,
            None => {
                self.shapes.push(row.shape.clone());
                self.shape_numbers
                    .insert(row.shape.clone(), self.shapes.len() as u32 - 1);
                self.shapes.len() as u32 - 1
            }
        };
        let kind = row.shape.kind.unwrap_or(Kind::Meet);
        self.stages.push(Stage {
            template: row.template,
            shape,
            variables: row.variables.clone(),
            window: row.window,
            distances: kind.distances(row.window),
            output: row.output.clone(),
            subscriptions: Vec::new(),
        });
        self.stage_numbers.insert(row, number);
        number
    }

    /// Removes all rows of a subscription; what nobody asks for any more is found no more.
    pub fn remove(&mut self, subscription: u32) {
        for stage in self.rows.remove(&subscription).unwrap_or_default() {
            let subscriptions = &mut self.stages[stage as usize].subscriptions;
            if let Some(at) = subscriptions.iter().position(|one| one.0 == subscription) {
                subscriptions.swap_remove(at);
            }
        }
        self.is_stale = true;
    }

    /// A row.
    #[inline]
    pub fn stage(&self, stage: u32) -> &Stage {
        &self.stages[stage as usize]
    }

    /// A row's shape.
    #[inline]
    pub fn shape(&self, stage: &Stage) -> &Shape {
        &self.shapes[stage.shape as usize]
    }

    /// The rows that somebody asks for.
    pub fn stages(&self) -> impl Iterator<Item = (u32, &Stage)> {
        let numbered = self.stages.iter().enumerate();
        numbered
            .filter(|(_, stage)| !stage.subscriptions.is_empty())
            .map(|(number, stage)| (number as u32, stage))
    }

    /// How many distinct rows and shapes there are.
    pub fn sizes(&self) -> (usize, usize) {
        (self.stages().count(), self.shapes.len())
    }

    /// The indexes, made anew if rows changed.
    pub fn indexes(&self) -> &Indexes {
        &self.indexes
    }

    /// The rows of one block and the rows of absence that a record may be the left side of.
    pub fn woken_by(&self, record: &Record<'_>) -> Vec<u32> {
        let mut woken: Vec<u32> = Vec::new();
        for variable in record.variables() {
            woken.extend_from_slice(&self.indexes.waking[variable as usize]);
        }
        woken.sort_unstable();
        woken.dedup();
        woken
    }

    /// Makes the indexes anew if rows changed; returns whether they had.
    pub fn refresh(&mut self) -> bool {
        let was_stale = std::mem::take(&mut self.is_stale);
        if was_stale {
            self.build();
        }
        was_stale
    }

    /// Notes how many records the values of a variable met at one.
    pub fn note(&mut self, left: u32, right: u32, met: u64) {
        if let Some(&pair) = self.pair_numbers.get(&(left, right)) {
            self.pairs[pair as usize].weight += met;
        }
    }

    /// The pairs of variables that rows join.
    pub fn pairs(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.pairs.iter().map(|pair| (pair.left, pair.right))
    }

    /// Ranks the pairs anew by how often they met.
    pub fn rank(&mut self) {
        self.is_stale |= self.order_pairs() != self.order;
    }

    /// Fixes the ranks of pairs, the first of which is taken for the rarest. Other pairs follow.
    pub fn pin(&mut self, pairs: &[(u32, u32)]) {
        let numbers = pairs.iter().map(|&(left, right)| self.pair(left, right));
        self.pinned = Some(numbers.collect());
        self.is_stale = true;
    }

    /// Whether ranks are fixed.
    pub fn is_pinned(&self) -> bool {
        self.pinned.is_some()
    }

    /// The pairs as they are ranked now.
    pub fn ranked(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        let pairs = self.order.iter().map(|&pair| self.pairs[pair as usize]);
        pairs.map(|pair| (pair.left, pair.right))
    }

    fn pair(&mut self, left: u32, right: u32) -> u32 {
        let next = self.pairs.len() as u32;
        *self.pair_numbers.entry((left, right)).or_insert_with(|| {
            self.pairs.push(Pair {
                left,
                right,
                weight: 0,
            });
            next
        })
    }

    /// Makes the indexes anew the next time.
    pub fn touch(&mut self) {
        self.is_stale = true;
    }

    /// The pairs, rarest first. Only magnitudes count: the trie is not built anew for less.
    fn order_pairs(&self) -> Vec<u32> {
        let mut order = self.pinned.clone().unwrap_or_default();
        let first: FxHashSet<u32> = order.iter().copied().collect();
        let mut others: Vec<u32> = (0..self.pairs.len() as u32)
            .filter(|pair| !first.contains(pair))
            .collect();
        others.sort_by_key(|&pair| {
            let weight = self.pairs[pair as usize].weight;
            (weight.checked_ilog2().map_or(0, |log| log + 1), pair)
        });
        order.extend(others);
        order
    }

    fn build(&mut self) {
        let joined: Vec<(u32, Vec<(u32, u32)>)> = self
            .stages()
            .filter(|(_, stage)| is_positive(self.shape(stage)))
            .map(|(number, stage)| (number, joined_pairs(self.shape(stage), stage)))
            .collect();
        for &(left, right) in joined.iter().flat_map(|(_, pairs)| pairs) {
            self.pair(left, right);
        }
        self.order = self.order_pairs();
        let order = &self.order;
        let ranked = order.iter().zip(0u32..).map(|(&pair, rank)| {
            let pair = self.pairs[pair as usize];
            ((pair.left, pair.right), rank)
        });
        let ranks: FxHashMap<(u32, u32), u32> = ranked.collect();
        let paths = joined.iter().map(|(row, pairs)| {
            let mut path: Vec<u32> = pairs.iter().map(|pair| ranks[pair]).collect();
            path.sort_unstable();
            path.dedup();
            Path {
                ranks: path,
                row: *row,
                distances: self.stages[*row as usize].distances,
            }
        });
        let trie = Trie::build(paths.collect());
        let (mut lefts, mut rights) = (
            vec![Vec::new(); self.variables.len()],
            vec![Vec::new(); self.variables.len()],
        );
        let mut accessed = vec![false; self.variables.len()];
        for (rank, distances) in trie.access() {
            let pair = self.pairs[order[rank as usize] as usize];
            accessed[pair.left as usize] = true;
            accessed[pair.right as usize] = true;
            lefts[pair.right as usize].push(Access {
                variable: pair.left,
                distances,
            });
            rights[pair.left as usize].push(Access {
                variable: pair.right,
                distances,
            });
        }
        let mut waking = vec![Vec::new(); self.variables.len()];
        for (number, stage) in self.stages() {
            let shape = self.shape(stage);
            if !is_positive(shape) {
                // The last variable of the left tree: the deeper, the rarer.
                waking[stage.variables[shape.left_count as usize - 1] as usize].push(number);
            }
            if let Some((left, right)) = absent_pair(shape, stage) {
                accessed[left as usize] = true;
                accessed[right as usize] = true;
            }
        }
        let positive = joined.iter().map(|(row, _)| *row).collect();
        self.indexes = Indexes {
            trie,
            ranks,
            lefts,
            rights,
            waking,
            positive,
            accessed,
        };
    }
}

/// Whether two records that meet are enough for a row to hold.
fn is_positive(shape: &Shape) -> bool {
    !matches!(shape.kind, None | Some(Kind::NotFollowedBy))
}

/// The variables of the value join by which partners are looked for whose absence a row reports.
pub fn absent_pair(shape: &Shape, stage: &Stage) -> Option<(u32, u32)> {
    let pair = joined_pairs(shape, stage).first().copied();
    pair.filter(|_| shape.kind == Some(Kind::NotFollowedBy))
}

/// The variables that a row joins.
pub fn joined_pairs(shape: &Shape, stage: &Stage) -> Vec<(u32, u32)> {
    let variable = |slot: u32| stage.variables[slot as usize];
    shape
        .joins
        .iter()
        .map(|&(left, right)| (variable(left), variable(right)))
        .collect()
}
