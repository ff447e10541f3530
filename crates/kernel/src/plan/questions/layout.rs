//! Lays questions out as an image: sorted, so that common beginnings are one way in the trie.

use super::image::{FIGURES, Figure, HALF_MARK, HEAD, MARK, PARTS, Part};
use super::keys::{self, Key};
use super::question::{ChainId, Question, Questions, Relation, Step};
use crate::tables::Table;

/// The image of questions; `numbers` are those of the plan.
pub fn lay_out(questions: Questions, numbers: &[f64]) -> Vec<u32> {
    let mut parts: [Vec<u32>; PARTS] = Default::default();
    for &(axis, test) in questions.codes.iter() {
        parts[Part::Codes as usize].extend([axis as u32, test.0]);
    }
    let mut chain_places = Table::default();
    let chains = &mut parts[Part::Chains as usize];
    for chain in questions.chains.iter() {
        chain_places.push(chains.len() as u32);
        chains.push(chain.len() as u32);
        chains.extend(chain.iter().map(|&code| u32::from(code)));
    }
    let mut figures = vec![0; FIGURES];
    figures[Figure::EqualBytesMax as usize] = questions.equal_bytes_max;
    figures[Figure::NeedsValues as usize] = u32::from(questions.needs_values);
    figures[Figure::Distinct as usize] = questions.distinct;
    parts[Part::Figures as usize] = figures;
    let kinds = [
        (
            questions.filters,
            Part::Filters,
            Part::FilterAskers,
            Part::FilterKeys,
        ),
        (
            questions.queries,
            Part::Queries,
            Part::QueryAskers,
            Part::QueryKeys,
        ),
    ];
    for (mut asked, stream, askers, keys) in kinds {
        let is_asked = !asked.is_empty();
        let keyed = keys::take_keyed(&mut asked, &questions.chains);
        sort(&mut asked);
        let mut trie = Trie {
            numbers,
            chain_places: &chain_places,
            stream: Vec::new(),
            blocks: std::mem::take(&mut parts[Part::Blocks as usize]),
            askers: Vec::new(),
            lists: std::mem::take(&mut parts[Part::Lists as usize]),
        };
        if is_asked {
            trie.record(&asked, 0);
        }
        let records: Vec<(Key, u32)> = keyed
            .into_iter()
            .map(|(key, mut asked)| {
                sort(&mut asked);
                (key, trie.record(&asked, 0))
            })
            .collect();
        parts[keys as usize] = keys::lay_out(&records);
        parts[Part::Blocks as usize] = trie.blocks;
        parts[Part::Lists as usize] = trie.lists;
        parts[stream as usize] = pack(&trie.stream);
        parts[askers as usize] = trie.askers;
    }
    finish(&parts)
}

fn sort(asked: &mut [Question]) {
    asked.sort_unstable_by(|a, b| a.steps.cmp(&b.steps));
}

fn finish(parts: &[Vec<u32>; PARTS]) -> Vec<u32> {
    let mut words = vec![0; HEAD];
    for (index, part) in parts.iter().enumerate() {
        words[2 * index] = words.len() as u32;
        words[2 * index + 1] = part.len() as u32;
        words.extend_from_slice(part);
    }
    words
}

/// Half words in the machine's order, as the reader casts them.
fn pack(halves: &[u16]) -> Vec<u32> {
    let pair = |pair: &[u16]| {
        let low = pair[0].to_ne_bytes();
        let high = pair.get(1).copied().unwrap_or(0).to_ne_bytes();
        u32::from_ne_bytes([low[0], low[1], high[0], high[1]])
    };
    halves.chunks(2).map(pair).collect()
}

/// A trie under construction.
struct Trie<'a> {
    numbers: &'a [f64],
    chain_places: &'a Table<ChainId, u32>,
    stream: Vec<u16>,
    blocks: Vec<u32>,
    askers: Vec<u32>,
    lists: Vec<u32>,
}

impl Trie<'_> {
    /// Writes the record of questions that agree in their first `depth` steps.
    fn record(&mut self, asked: &[Question], depth: usize) -> u32 {
        let own = asked.iter().take_while(|q| q.steps.len() == depth).count();
        let runs: Vec<&[Question]> = asked[own..]
            .chunk_by(|a, b| a.steps[depth] == b.steps[depth])
            .collect();
        // Steps are sorted by kind: moves first.
        let moves = runs
            .iter()
            .take_while(|run| matches!(run[0].steps[depth], Step::Move(_)))
            .count();
        let (moves, conditions) = runs.split_at(moves);
        let (leaves, inner): (Vec<&&[Question]>, Vec<_>) =
            moves.iter().partition(|run| ends(run, depth + 1));
        // Most ways end where nobody else goes; a record for each would be most of the walk.
        let (pairs, inner): (Vec<&&[Question]>, Vec<_>) =
            inner.into_iter().partition(|run| is_pair(run, depth));

        let start = self.stream.len();
        let mark = |claim: bool| if claim { HALF_MARK } else { 0 };
        self.stream.push(leaves.len() as u16 | mark(own > 0));
        self.stream
            .push(inner.len() as u16 | mark(!conditions.is_empty()));
        self.stream.push(pairs.len() as u16);
        let number = self.askers.len() as u32;
        self.stream.extend(halves(number));
        if own > 0 {
            self.question(&asked[..own]);
        }
        for leaf in &leaves {
            self.stream.push(code(leaf[0].steps[depth]));
            self.question(leaf);
        }
        for pair in &pairs {
            let steps = &pair[0].steps;
            self.stream
                .extend([code(steps[depth]), code(steps[depth + 1])]);
            self.question(pair);
        }
        let jumps = self.stream.len();
        for run in &inner {
            self.stream.extend([code(run[0].steps[depth]), 0, 0]);
        }
        let block = self.stream.len();
        if !conditions.is_empty() {
            self.stream.extend([0, 0]);
        }
        for (index, run) in inner.iter().enumerate() {
            let to = self.record(run, depth + 1);
            let at = jumps + 3 * index + 1;
            self.stream[at..at + 2].copy_from_slice(&halves(to));
        }
        if !conditions.is_empty() {
            let at = self.conditions(conditions, depth);
            self.stream[block..block + 2].copy_from_slice(&halves(at));
        }
        start as u32
    }

    /// Writes the conditions of a record.
    fn conditions(&mut self, runs: &[&[Question]], depth: usize) -> u32 {
        let kind = |run: &&[Question]| match run[0].steps[depth] {
            Step::Value {
                relation, chain, ..
            } => Some((relation, chain)),
            _ => None,
        };
        let groups: Vec<&[&[Question]]> = runs.chunk_by(|a, b| kind(a) == kind(b)).collect();
        let others = groups
            .last()
            .filter(|group| kind(&group[0]).is_none())
            .map_or(&[][..], |group| *group);
        let groups = &groups[..groups.len() - usize::from(!others.is_empty())];

        let at = self.blocks.len();
        self.blocks
            .extend([groups.len() as u32, others.len() as u32]);
        let heads = self.blocks.len();
        self.blocks
            .resize(heads + 4 * groups.len() + 2 * others.len(), 0);
        for (index, group) in groups.iter().enumerate() {
            if let Some((relation, chain)) = kind(&group[0]) {
                let place = self.group(group, relation, depth);
                let chain = self.chain_places[chain];
                let head = [relation as u32, chain, group.len() as u32, place];
                self.blocks[heads + 4 * index..heads + 4 * index + 4].copy_from_slice(&head);
            }
        }
        for (index, run) in others.iter().enumerate() {
            if let Step::Holds(formula) = run[0].steps[depth] {
                let to = self.to(run, depth + 1);
                let entry = heads + 4 * groups.len() + 2 * index;
                self.blocks[entry..entry + 2].copy_from_slice(&[formula.0, to]);
            }
        }
        at as u32
    }

    fn group(&mut self, runs: &[&[Question]], relation: Relation, depth: usize) -> u32 {
        let constant = |run: &[Question]| match run[0].steps[depth] {
            Step::Value { constant, .. } => constant,
            _ => 0,
        };
        let mut runs = runs.to_vec();
        if !matches!(relation, Relation::Equal | Relation::Differs) {
            let value = |run: &[Question]| self.numbers[constant(run) as usize];
            runs.sort_by(|a, b| value(a).total_cmp(&value(b)));
        }
        let to: Vec<u32> = runs.iter().map(|run| self.to(run, depth + 1)).collect();
        let place = self.blocks.len();
        self.blocks.extend(runs.iter().map(|run| constant(run)));
        self.blocks.extend(to);
        place as u32
    }

    /// The record of questions, or the question itself if nothing follows.
    fn to(&mut self, asked: &[Question], depth: usize) -> u32 {
        if ends(asked, depth) {
            MARK | self.question(asked)
        } else {
            self.record(asked, depth)
        }
    }

    /// Numbers a question; all who ask it share the number.
    fn question(&mut self, asked: &[Question]) -> u32 {
        let number = self.askers.len() as u32;
        if let [only] = asked {
            self.askers.push(only.asker);
        } else {
            let mut askers: Vec<u32> = asked.iter().map(|question| question.asker).collect();
            askers.sort_unstable();
            self.askers.push(MARK | self.lists.len() as u32);
            self.lists.push(askers.len() as u32);
            self.lists.extend(askers);
        }
        number
    }
}

/// Whether all questions of a run end here; sorted, the last one is the longest.
fn ends(asked: &[Question], depth: usize) -> bool {
    asked.last().is_some_and(|last| last.steps.len() == depth)
}

/// Whether all questions of a run are one that ends with the second move from here.
fn is_pair(asked: &[Question], depth: usize) -> bool {
    let steps = &asked[0].steps;
    ends(asked, depth + 2)
        && steps.len() == depth + 2
        && matches!(steps[depth + 1], Step::Move(_))
        && asked[asked.len() - 1].steps == *steps
}

fn code(step: Step) -> u16 {
    match step {
        Step::Move(code) => code,
        _ => 0,
    }
}

fn halves(word: u32) -> [u16; 2] {
    [word as u16, (word >> 16) as u16]
}
