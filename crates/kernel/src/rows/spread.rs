//! Puts what was found in bulk among the rows, each document's behind its others.

use super::columns::{Beside, Rows};
use super::matches::Matches;
use super::selections::{Rest, Selections};
use crate::events::Declarations;
use std::iter::Peekable;
use std::vec::IntoIter;

/// So many matches of a document come in a part of their own.
const MATCHES_MIN: usize = 1 << 10;
/// A part ends when its values have so many bytes.
const VALUE_BYTES_MAX: usize = 16 << 20;

/// What a document gave in bulk, by its place among that of its kind.
#[derive(Clone, Copy)]
enum Run {
    Matches(usize),
    Selections(usize),
}

/// Rows in parts, none of them in bulk.
pub struct Parts {
    /// The rows that stand for themselves; those before `next` are in earlier parts.
    single: Rows,
    next: usize,
    beside: Peekable<IntoIter<Beside>>,
    matches: Matches,
    selections: Selections,
    /// What is in bulk, each behind how many of the single rows.
    runs: IntoIter<(usize, Run)>,
    /// What the last part left of the selections of a document.
    rest: Option<Rest>,
    /// Whether many matches come in parts of their own.
    has_matches_apart: bool,
    /// Declarations of the single rows, then those of the selections.
    scopes: Vec<Declarations>,
    first_scope: i32,
    rows_max: usize,
}

impl Rows {
    /// The same rows, none of them in bulk.
    pub fn spread(self) -> Rows {
        self.parts(usize::MAX).next().unwrap_or_default()
    }

    /// The same in parts of about `rows_max` rows at most, but for rows that stand for themselves.
    pub fn spread_parts(self, rows_max: usize) -> Parts {
        let parts = self.parts(rows_max);
        Parts {
            has_matches_apart: false,
            ..parts
        }
    }

    /// The same in parts: a part ends as soon as it has `rows_max` rows. Many matches come in parts
    /// of their own, of which only `document`, `subscription`, `kind` and `decided_at` are filled: the
    /// rest is the same in all their rows.
    pub fn parts(mut self, rows_max: usize) -> Parts {
        let matches = std::mem::take(&mut self.matches);
        let mut selections = std::mem::take(&mut self.selections);
        let matched = matches.places().enumerate();
        let matched = matched.map(|(run, at)| ((at, run + 1), Run::Matches(run)));
        let selected = selections.places().enumerate();
        let selected = selected.map(|(run, behind)| (behind, Run::Selections(run)));
        let mut runs: Vec<((usize, usize), Run)> = matched.chain(selected).collect();
        // Stable, since the selections of a document come behind its matches.
        runs.sort_by_key(|run| run.0);
        let runs: Vec<_> = runs
            .into_iter()
            .map(|(place, run)| (place.0, run))
            .collect();
        let mut scopes = std::mem::take(&mut self.scopes);
        let first_scope = scopes.len() as i32;
        scopes.extend(selections.take_scopes());
        Parts {
            next: 0,
            beside: std::mem::take(&mut self.bindings).into_iter().peekable(),
            single: self,
            matches,
            selections,
            runs: runs.into_iter(),
            rest: None,
            has_matches_apart: rows_max < usize::MAX,
            scopes,
            first_scope,
            rows_max,
        }
    }
}

impl Parts {
    /// A part of matches alone, if many of them come next.
    fn next_matches(&mut self) -> Rows {
        let mut part = Rows::default();
        while let Some(&(at, Run::Matches(run))) = self.runs.as_slice().first()
            && at == self.next
            && part.len() < self.rows_max
            && self.matches.range(run).len() >= MATCHES_MIN
        {
            self.matches.fill_run(run, &mut part);
            self.runs.next();
        }
        part
    }

    /// Appends the single rows up to a place.
    fn append_single(&mut self, end: usize, part: &mut Rows) {
        for row in self.next..end {
            part.append_row(&self.single, row, self.single.subscription[row], 0);
            let values = self.beside.next_if(|values| values.row as usize == row);
            part.append_beside(values);
        }
        self.next = end;
    }

    /// Gives a part the declarations that it refers to.
    fn add_scopes(&self, part: &mut Rows) {
        let mut places = vec![-1; self.scopes.len()];
        for scope in part.scope.iter_mut().filter(|scope| **scope >= 0) {
            let place = &mut places[*scope as usize];
            if *place < 0 {
                *place = part.scopes.len() as i32;
                part.scopes.push(self.scopes[*scope as usize].clone());
            }
            *scope = *place;
        }
    }
}

impl Iterator for Parts {
    type Item = Rows;

    fn next(&mut self) -> Option<Rows> {
        if self.next == 0 && self.runs.len() == 0 && !self.single.is_empty() {
            let mut rows = std::mem::take(&mut self.single);
            rows.bindings.extend(&mut self.beside);
            rows.scopes = std::mem::take(&mut self.scopes);
            return Some(rows);
        }
        let is_whole = self.rows_max == usize::MAX;
        if self.has_matches_apart && self.rest.is_none() {
            let part = self.next_matches();
            if !part.is_empty() {
                return Some(part);
            }
        }
        let mut part = Rows::default();
        let rows_max = self.rows_max;
        let is_enough = |part: &Rows| {
            part.len() >= rows_max || (!is_whole && part.value.bytes.len() >= VALUE_BYTES_MAX)
        };
        while !is_enough(&part) {
            if let Some(rest) = self.rest.take() {
                let selections = &self.selections;
                self.rest = selections.spread_some(rest, self.first_scope, is_enough, &mut part);
                continue;
            }
            let Some((at, run)) = self.runs.next() else {
                self.append_single(self.single.len(), &mut part);
                break;
            };
            self.append_single(at, &mut part);
            match run {
                Run::Matches(run) => self.matches.spread_run(run, &mut part),
                Run::Selections(run) => self.rest = Some(self.selections.rest_of(run)),
            }
        }
        if is_whole {
            part.scopes = std::mem::take(&mut self.scopes);
        } else if !self.scopes.is_empty() {
            self.add_scopes(&mut part);
        }
        (!part.is_empty()).then_some(part)
    }
}
