//! One operator of one subscription, as the planning side writes it: a list of words.
//!
//! `kind, template, window (low, high), left tree, right tree, joins, terms, kept, output`. A tree is a count,
//! then the variables, then the parents (NONE for the top; parents come first). Joins are a count
//! and pairs (left place, right place); terms a count and (slot, operator, slot); kept a count and
//! slots; output a count and variables: none, or one for the match and one for each kept slot.
//! A slot is a place of the left tree, or that tree's size plus a place of the right tree.

use crate::codes::{Kind, NONE};
use crate::shape::{Shape, Term};
use penstock_kernel::plan::{Comparison, ProgramError, Read};

/// A row, read and checked. Its template says which rows one conjunctive query answers; the value
/// joins of such rows correspond, in order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Row {
    /// The number of its template, the caller's to give.
    pub template: u32,
    /// All but variables and window.
    pub shape: Shape,
    /// A variable for each slot.
    pub variables: Box<[u32]>,
    /// In microseconds.
    pub window: i64,
    /// The variables of the partial matches that it makes; none for the last row.
    pub output: Box<[u32]>,
}

/// More slots than this in one row are refused.
const SLOTS_MAX: usize = 4096;

struct Reader<'a> {
    rest: &'a [u32],
}

impl<'a> Reader<'a> {
    fn word(&mut self) -> Read<u32> {
        let (&word, rest) = self
            .rest
            .split_first()
            .ok_or(ProgramError("it ends early"))?;
        self.rest = rest;
        Ok(word)
    }

    fn words(&mut self, count: usize) -> Read<&'a [u32]> {
        if count > self.rest.len() {
            return Err(ProgramError("it ends early"));
        }
        let (words, rest) = self.rest.split_at(count);
        self.rest = rest;
        Ok(words)
    }

    fn below(&mut self, bound: usize) -> Read<u32> {
        let word = self.word()?;
        if (word as usize) < bound {
            Ok(word)
        } else {
            Err(ProgramError("a slot is out of range"))
        }
    }

    fn count(&mut self) -> Read<usize> {
        let count = self.word()? as usize;
        if count > SLOTS_MAX {
            Err(ProgramError("it is too large"))
        } else {
            Ok(count)
        }
    }
}

impl Row {
    /// Reads a row; `variable_count` and `template_count` bound what it names.
    pub fn read(words: &[u32], variable_count: usize, template_count: usize) -> Read<Row> {
        let mut r = Reader { rest: words };
        let kind = match r.word()? {
            4 => None,
            code => Some(Kind::from_code(code).ok_or(ProgramError("an unknown operator"))?),
        };
        let template = r.below(template_count)?;
        let window = (u64::from(r.word()?) | u64::from(r.word()?) << 32) as i64;
        if window < 0 {
            return Err(ProgramError("a window is negative"));
        }
        let (mut variables, mut parents) = (Vec::new(), Vec::new());
        let left = read_tree(&mut r, &mut variables, &mut parents)?;
        let right = read_tree(&mut r, &mut variables, &mut parents)?;
        if left == 0 || (right == 0) != kind.is_none() {
            return Err(ProgramError("a side is missing"));
        }
        if variables
            .iter()
            .any(|&variable| variable as usize >= variable_count)
        {
            return Err(ProgramError("an unknown variable"));
        }
        let slots = variables.len();
        let mut joins = Vec::new();
        for _ in 0..r.count()? {
            joins.push((r.below(left)?, left as u32 + r.below(right)?));
        }
        if joins.is_empty() != kind.is_none() {
            return Err(ProgramError("no value joins"));
        }
        let mut terms = Vec::new();
        for _ in 0..r.count()? {
            let one = r.below(slots)?;
            let operator =
                Comparison::from_code(r.word()?).ok_or(ProgramError("an unknown operator"))?;
            terms.push(Term {
                left: one,
                operator,
                right: r.below(slots)?,
            });
        }
        let kept_bound = if kind == Some(Kind::NotFollowedBy) {
            left
        } else {
            slots
        };
        let kept = (0..r.count()?)
            .map(|_| r.below(kept_bound))
            .collect::<Read<Vec<u32>>>()?;
        let output: Box<[u32]> = {
            let count = r.count()?;
            r.words(count)?.into()
        };
        if !output.is_empty() && output.len() != kept.len() + 1 {
            return Err(ProgramError("its output does not fit what it keeps"));
        }
        if output
            .iter()
            .any(|&variable| variable as usize >= variable_count)
            || !r.rest.is_empty()
        {
            return Err(ProgramError("something follows its end"));
        }
        let shape = Shape::new(
            kind,
            left as u32,
            parents.into(),
            joins.into(),
            terms.into(),
            kept.into(),
        );
        Ok(Row {
            template,
            shape,
            variables: variables.into(),
            window,
            output,
        })
    }
}

/// Reads a tree; returns its size. Parents become slots.
fn read_tree(r: &mut Reader<'_>, variables: &mut Vec<u32>, parents: &mut Vec<u32>) -> Read<usize> {
    let (count, first) = (r.count()?, variables.len() as u32);
    variables.extend_from_slice(r.words(count)?);
    for (place, &parent) in r.words(count)?.iter().enumerate() {
        if parent != NONE && parent as usize >= place {
            return Err(ProgramError("a parent comes after its child"));
        }
        parents.push(if parent == NONE { NONE } else { first + parent });
    }
    Ok(count)
}
