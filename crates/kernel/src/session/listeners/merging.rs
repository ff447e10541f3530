//! The rows of several automata, put together event by event.
//!
//! So neither the cutting of the input nor the number of tiers changes what a subscription gets, or
//! when.

use super::{Listeners, Runner};
use crate::message::Messages;
use crate::rows::Rows;

impl Listeners {
    /// Ends an event: what each automaton has finished in it comes before the next event's. One
    /// alone has no turns to take.
    #[inline]
    pub(super) fn note(&mut self) {
        if self.automata > 1 {
            self.note_runs();
        }
    }

    fn note_runs(&mut self) {
        let mut runs = std::mem::take(&mut self.runs);
        for (place, runner) in self.runners() {
            let count = runner.automaton.row_count();
            if count != runner.noted {
                runs.push((place, count - runner.noted));
                runner.noted = count;
            }
        }
        self.runs = runs;
    }

    /// Whether the rows of the active automata are those of one, without a change.
    fn is_direct(&self) -> bool {
        let mut active = self.list.iter().filter(|listener| listener.is_active);
        self.automata == 1
            && active
                .find_map(|listener| listener.engine.runner())
                .is_some_and(|runner| runner.tier.is_plain())
    }

    /// Puts the rows together that the automata have finished; those of one alone stay with it as
    /// long as nobody asks for them.
    pub fn collect(&mut self) {
        if self.automata > 0 && !self.is_direct() {
            let mut rows = std::mem::take(&mut self.rows);
            self.merge(&mut rows);
            self.rows = rows;
        }
        // Those of messages come behind the others of the same piece of input.
        if self.has_messages() {
            self.gather();
        }
    }

    fn has_messages(&self) -> bool {
        self.messages().any(|messages| messages.row_sizes().0 > 0)
    }

    /// Puts all rows together.
    pub fn gather(&mut self) {
        let is_empty = |runner: &Runner| runner.automaton.row_count() == 0;
        if self.automata().all(is_empty) && !self.has_messages() {
            return;
        }
        let fresh = self.take_fresh();
        if self.rows.count() == 0 {
            self.rows = fresh;
        } else {
            self.rows.append(fresh);
        }
    }

    /// The rows that automata have finished since they were put together last.
    pub fn take_fresh(&mut self) -> Rows {
        let mut rows = self.take_fresh_of_automata();
        for messages in self.messages_mut().map(Messages::take_rows) {
            rows.append(messages);
        }
        rows
    }

    fn take_fresh_of_automata(&mut self) -> Rows {
        let mut rows = Rows::default();
        if self.is_direct() {
            let runner = self.runners().next();
            return runner.map_or(rows, |(_, runner)| runner.automaton.take_rows());
        }
        self.merge(&mut rows);
        rows
    }

    /// How many rows there are, and how many bytes their values have.
    pub fn row_sizes(&self) -> (usize, usize) {
        let rows = self.automata().map(|runner| {
            let automaton = &runner.automaton;
            (automaton.row_count(), automaton.value_bytes())
        });
        let rows = rows.chain(self.messages().map(Messages::row_sizes));
        let own = (self.rows.count(), self.rows.value_bytes());
        rows.fold(own, |sum, (count, bytes)| (sum.0 + count, sum.1 + bytes))
    }

    fn merge(&mut self, rows: &mut Rows) {
        self.note_runs();
        if self.runs.is_empty() {
            return;
        }
        // By place; those who are no automata have nothing.
        let mut taken: Vec<Rows> = Vec::new();
        for (place, runner) in self.runners() {
            taken.resize_with(place, Rows::default);
            taken.push(runner.automaton.take_rows());
            runner.noted = 0;
        }
        let scopes: Vec<i32> = taken.iter().map(|own| rows.add_scopes(own)).collect();
        let mut bindings: Vec<_> = taken
            .iter_mut()
            .map(|own| std::mem::take(&mut own.bindings).into_iter().peekable())
            .collect();
        let mut next = vec![0; taken.len()];
        for (place, count) in self.runs.drain(..) {
            let Some(runner) = self.list[place].engine.runner() else {
                continue;
            };
            for row in next[place]..next[place] + count {
                let own = taken[place].subscription[row];
                let values = bindings[place].next_if(|values| values.row as usize == row);
                if let Some(subscription) = runner.tier.number(own) {
                    rows.append_row(&taken[place], row, subscription, scopes[place]);
                    rows.append_beside(values);
                }
            }
            next[place] += count;
        }
    }
}
