//! Conditions of all queries, each distinct part once.

use crate::query::{Condition, Constant, Kind, Operator, Path, TestId};
use rustc_hash::FxHashMap;

/// A path from nodes of one test, and what its values are compared as; None asks whether it leads
/// somewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Predicate {
    /// What the bound nodes pass.
    pub test: TestId,
    /// The path, by its number.
    pub path: u32,
    /// What values are compared as.
    pub kind: Option<Kind>,
}

/// A part of a condition; others and predicates are numbers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Formula {
    /// Always.
    True,
    /// Some value compares with a constant.
    Compare {
        /// The path of the values.
        predicate: u32,
        /// How they are compared.
        operator: Operator,
        /// A number among the texts or the numbers, as the predicate's kind says.
        constant: u32,
    },
    /// The path of a predicate leads somewhere.
    Exists {
        /// The predicate.
        predicate: u32,
    },
    /// All hold.
    And(Box<[u32]>),
    /// Some holds.
    Or(Box<[u32]>),
    /// It does not hold.
    Not(u32),
}

/// The number of the formula that always holds.
pub const TRUE: u32 = 0;

/// Formulas, and what they are made of.
#[derive(Debug)]
pub struct Formulas {
    /// The formulas, by number.
    pub all: Vec<Formula>,
    ids: FxHashMap<Formula, u32>,
    /// The paths, by number.
    pub paths: Vec<Path>,
    path_ids: FxHashMap<Path, u32>,
    /// The predicates, by number.
    pub predicates: Vec<Predicate>,
    predicate_ids: FxHashMap<Predicate, u32>,
    /// Constants that are text, by number.
    pub texts: Vec<Box<[u8]>>,
    /// Their numbers.
    pub text_ids: FxHashMap<Box<[u8]>, u32>,
    /// Constants that are numbers.
    pub numbers: Vec<f64>,
    /// Numbers by their keys.
    pub number_ids: FxHashMap<u64, u32>,
}

impl Default for Formulas {
    fn default() -> Self {
        let mut formulas = Formulas {
            all: Vec::new(),
            ids: FxHashMap::default(),
            paths: Vec::new(),
            path_ids: FxHashMap::default(),
            predicates: Vec::new(),
            predicate_ids: FxHashMap::default(),
            texts: Vec::new(),
            text_ids: FxHashMap::default(),
            numbers: Vec::new(),
            number_ids: FxHashMap::default(),
        };
        formulas.intern(Formula::True);
        formulas
    }
}

impl Formulas {
    fn intern(&mut self, formula: Formula) -> u32 {
        if let Some(&id) = self.ids.get(&formula) {
            return id;
        }
        let id = self.all.len() as u32;
        self.ids.insert(formula.clone(), id);
        self.all.push(formula);
        id
    }

    /// The number of a path.
    pub fn path(&mut self, path: &Path) -> u32 {
        if let Some(&id) = self.path_ids.get(path) {
            return id;
        }
        let id = self.paths.len() as u32;
        self.paths.push(path.clone());
        self.path_ids.insert(path.clone(), id);
        id
    }

    fn predicate(&mut self, test: TestId, path: &Path, kind: Option<Kind>) -> u32 {
        let path = self.path(path);
        let predicate = Predicate { test, path, kind };
        let next = self.predicates.len() as u32;
        let id = *self.predicate_ids.entry(predicate).or_insert(next);
        if id == next {
            self.predicates.push(predicate);
        }
        id
    }

    fn constant(&mut self, constant: &Constant) -> Option<u32> {
        match constant {
            Constant::Text(text) => {
                if let Some(&id) = self.text_ids.get(text) {
                    return Some(id);
                }
                let id = self.texts.len() as u32;
                self.texts.push(text.clone());
                self.text_ids.insert(text.clone(), id);
                Some(id)
            }
            Constant::Number(number) => {
                let next = self.numbers.len() as u32;
                let key = Constant::number_key(*number)?;
                let id = *self.number_ids.entry(key).or_insert(next);
                if id == next {
                    self.numbers.push(*number);
                }
                Some(id)
            }
        }
    }

    /// The parts of a condition at nodes of a test, all of which hold where it does, in the order
    /// in which they are decided.
    pub fn conjuncts(&mut self, test: TestId, condition: &Condition) -> Vec<u32> {
        match condition {
            Condition::True => Vec::new(),
            Condition::And(parts) => {
                let parts = parts.iter();
                parts.flat_map(|part| self.conjuncts(test, part)).collect()
            }
            other => vec![self.of(test, other)],
        }
    }

    /// The number of the formula that all of some hold.
    pub fn all_of(&mut self, parts: Vec<u32>) -> u32 {
        match *parts {
            [] => TRUE,
            [only] => only,
            _ => self.intern(Formula::And(parts.into())),
        }
    }

    /// The number of a condition at nodes of a test.
    pub fn of(&mut self, test: TestId, condition: &Condition) -> u32 {
        let formula = match condition {
            Condition::True => return TRUE,
            Condition::And(_) => {
                let parts = self.conjuncts(test, condition);
                return self.all_of(parts);
            }
            Condition::Or(parts) => {
                let parts = parts.iter().map(|part| self.of(test, part));
                Formula::Or(parts.collect())
            }
            Condition::Not(inner) => Formula::Not(self.of(test, inner)),
            Condition::Exists(path) => Formula::Exists {
                predicate: self.predicate(test, path, None),
            },
            Condition::Compare(path, kind, operator, constant) => {
                let predicate = self.predicate(test, path, Some(*kind));
                match self.constant(constant) {
                    Some(constant) => Formula::Compare {
                        predicate,
                        operator: *operator,
                        constant,
                    },
                    // Nothing compares with what is no number, but for `!=`. Nobody writes it.
                    None => Formula::Not(TRUE),
                }
            }
        };
        self.intern(formula)
    }

    /// Marks the predicates that a formula asks about.
    pub fn each_predicate(&self, formula: u32, each: &mut impl FnMut(u32)) {
        match &self.all[formula as usize] {
            Formula::True => {}
            Formula::Compare { predicate, .. } | Formula::Exists { predicate } => each(*predicate),
            Formula::And(parts) | Formula::Or(parts) => {
                parts
                    .iter()
                    .for_each(|&part| self.each_predicate(part, each));
            }
            Formula::Not(inner) => self.each_predicate(*inner, each),
        }
    }
}
