//! Nodes open and close: the order in which their facts are worked out.

use super::candidates::{Bytes, Candidate};
use super::frames::{MemoryId, stage};
use super::states::{Flags, State, StateId};
use super::truth::Truth;
use super::{Automaton, Node, limit_error};
use crate::circuit::{CandidateId, Circuit};
use crate::error::DocumentError;
use crate::events::{Span, StartTag, Symbol, expand_name};
use crate::plan::{Axis, FormulaId, NodeKind, TargetId};
use std::rc::Rc;

impl Automaton {
    pub(super) fn open_document(&mut self) {
        let symbol = self.symbols.document;
        if self.states.is_full() {
            self.states.clear(&mut []);
        }
        let state = self.states.root(&self.plan, &self.symbols);
        self.frames
            .push(state, symbol, self.states.state(state).flags, 0);
        let node = Node {
            kind: NodeKind::Document,
            name: b"",
            uri: b"",
            start: 0,
            scope: None,
        };
        self.open_facts(0, &node);
        self.open_rest(0);
        self.enter_circuit(symbol, &node, None, &[]);
        self.finish_attributes();
        self.open_candidate(0, &node, true);
        self.finish_circuit();
        self.frames.note_opened(0);
    }

    #[inline]
    pub(super) fn push(&mut self, symbol: Symbol) -> Flags {
        let top = self.frames.stack.len() - 1;
        let from = self.frames.stack[top].state;
        let mut state = self.states.next(from, symbol);
        if state.is_none() {
            state = self.build_state(from, symbol);
        }
        let flags = self.states.flags(state);
        self.frames
            .push(state, symbol, flags, self.values.len() as u32);
        flags
    }

    #[cold]
    fn build_state(&mut self, mut from: StateId, symbol: Symbol) -> StateId {
        if self.states.is_full() {
            let mut open: Vec<StateId> =
                self.frames.stack.iter().map(|frame| frame.state).collect();
            self.states.clear(&mut open);
            for (frame, state) in self.frames.stack.iter_mut().zip(open) {
                frame.state = state;
            }
            from = self.frames.stack[self.frames.stack.len() - 1].state;
        }
        self.states.build(&self.plan, &self.symbols, from, symbol)
    }

    /// Facts that the node's existence and name decide.
    fn open_facts(&mut self, depth: usize, node: &Node<'_>) {
        let state = self.state_at(depth);
        if state.flags.has(Flags::VALUE) {
            self.value_frames += 1;
        }
        let (fires, facts) = (
            self.state_at(depth).fires().len(),
            self.state_at(depth).facts.len(),
        );
        for index in 0..fires {
            let edge = self.state_at(depth).fires()[index];
            if self.plan.formula(edge).axis() == Axis::Descendant {
                self.climb_all(depth, edge);
            } else {
                self.assume(depth - 1, edge);
            }
        }
        for index in 0..facts {
            let fact = self.state_at(depth).facts[index];
            self.assume(depth, fact);
        }
        if !self.state_at(depth).computed.is_empty() {
            self.begin_operands(depth, node);
        }
        if !self.state_at(depth).claims.is_empty() {
            self.claim_operands(depth, node);
        }
        self.drain();
    }

    /// Assumes the negations of a list that hold at a node, and wakes those who wait for them.
    #[inline]
    fn assume_negations(&mut self, depth: usize, nots: impl Fn(&State) -> &[FormulaId]) {
        for index in 0..nots(self.state_at(depth)).len() {
            let not = nots(self.state_at(depth))[index];
            if self.truth(depth, not) == Truth::True {
                self.assume(depth, not);
            }
        }
        self.drain();
        if !self.frames.memory(depth).watches.is_empty() {
            self.wake_negations(depth);
        }
    }

    /// Facts that need the attributes, which are known now.
    fn open_rest(&mut self, depth: usize) {
        self.frames.stack[depth].stage |= stage::ATTRIBUTES;
        if !self.state_at(depth).computed.is_empty() {
            self.end_near_operands(depth);
        }
        self.assume_negations(depth, |state| &state.open_nots);
        // What waits here was let in before the attributes were known.
        if !self.frames.memory(depth).waiting.is_empty() {
            self.dirty = self.dirty.min(depth);
        }
    }

    /// Makes the node a candidate if a target selects it or may yet.
    ///
    /// `is_heard`: the circuit heard of the node and may want it as well.
    fn open_candidate(&mut self, depth: usize, node: &Node<'_>, is_heard: bool) -> CandidateId {
        let wants = |circuit: &Circuit| circuit.wants_candidate();
        let is_wanted = is_heard && self.circuit.as_ref().is_some_and(wants);
        let state = self.state_at(depth);
        let flags = state.flags;
        let is_asked = is_wanted || !state.plain.is_empty() || !state.segments.is_empty();
        if !is_asked || self.is_silent(node) {
            return CandidateId::NONE;
        }
        if flags.has(Flags::COUNT) && self.trace.is_none() && !is_wanted {
            for index in 0..self.state_at(depth).plain.len() {
                let target = self.state_at(depth).plain[index];
                self.tally(target, 0.0);
            }
            return CandidateId::NONE;
        }
        let reach = self.state_at(depth).reach.clone();
        let order = self.next_node;
        self.next_node += 1;
        let (reach, needs_bytes) = if is_wanted {
            self.widen_reach(&reach, flags.has(Flags::BYTES))
        } else {
            (reach, flags.has(Flags::BYTES))
        };
        let candidate = self.new_candidate(depth, node, order, reach, needs_bytes);
        self.frames.stack[depth].candidate = candidate;
        if is_wanted {
            self.candidates.hold(candidate);
            if let Some(circuit) = &mut self.circuit {
                circuit.attach(candidate);
            }
        }
        for index in 0..self.state_at(depth).plain.len() {
            let target = self.state_at(depth).plain[index];
            self.select(target, candidate);
        }
        for index in 0..self.state_at(depth).segments.len() {
            let segment = self.state_at(depth).segments[index];
            self.rise(segment, depth, candidate);
        }
        self.retire(candidate);
        if self.candidates[candidate].order == u64::MAX {
            CandidateId::NONE
        } else {
            candidate
        }
    }

    pub(super) fn new_candidate(
        &mut self,
        depth: usize,
        node: &Node<'_>,
        order: u64,
        reach: Rc<[TargetId]>,
        needs_bytes: bool,
    ) -> CandidateId {
        let name = self.expanded_name(node);
        if let Some(gate) = &mut self.gate {
            for &target in reach.iter() {
                if self.plan.target(target).0.has_nodes() {
                    gate.expect(target, order);
                }
            }
        }
        let scope = node.scope.cloned();
        let (kind, start, depth_word) = (node.kind, node.start, depth as u32);
        self.candidates.add(|reused| {
            let Some(old) = reused else {
                return Some(Candidate {
                    order,
                    kind,
                    name,
                    scope,
                    start,
                    end: start,
                    depth: depth_word,
                    is_open: true,
                    is_done: false,
                    references: 0,
                    undelivered: 0,
                    reach,
                    selected: Default::default(),
                    pending: Default::default(),
                    passed: Default::default(),
                    waits: Default::default(),
                    number: f64::NAN,
                    bytes: Bytes::InSource,
                    needs_bytes,
                    is_counted: false,
                    runs_for: Default::default(),
                    bound: Vec::new(),
                });
            };
            (old.order, old.kind, old.name, old.scope) = (order, kind, name, scope);
            (old.start, old.end, old.depth, old.reach) = (start, start, depth_word, reach);
            (old.is_open, old.is_done, old.number) = (true, false, f64::NAN);
            (old.needs_bytes, old.is_counted) = (needs_bytes, false);
            old.selected.clear();
            old.pending.clear();
            old.passed.clear();
            old.waits.clear();
            old.runs_for.clear();
            old.bound.clear();
            None
        })
    }

    /// `{uri}local`; neighbours mostly share it.
    fn expanded_name(&mut self, node: &Node<'_>) -> Rc<[u8]> {
        let local = node.local();
        let length = if node.uri.is_empty() {
            local.len()
        } else {
            local.len() + node.uri.len() + 2
        };
        let last = &self.last_name;
        let is_same = last.len() == length
            && last.ends_with(local)
            && (node.uri.is_empty() || &last[1..=node.uri.len()] == node.uri && last[0] == b'{');
        if !is_same {
            let mut name = Vec::with_capacity(length);
            expand_name(node.uri, local, &mut name);
            self.last_name = name.into();
        }
        self.last_name.clone()
    }

    pub(super) fn open_element(&mut self, tag: &StartTag<'_>) -> Result<(), DocumentError> {
        let depth = self.frames.stack.len() - 1;
        let node = Node {
            kind: NodeKind::Element,
            name: tag.name,
            uri: tag.uri,
            start: tag.span.start,
            scope: Some(tag.scope),
        };
        self.open_facts(depth, &node);
        // The element comes before its attributes in document order, yet its own candidate needs
        // their facts: its number is taken first.
        let order = self.next_node;
        self.next_node += 1;
        let ids = self.ids_of(tag);
        self.enter_circuit(tag.symbol, &node, None, &ids);
        let is_awaited = self.circuit.as_ref().is_some_and(|c| c.awaits_attributes());
        if is_awaited {
            self.visit_namespaces(tag)?;
        }
        if self.frames.stack[depth].flags.has(Flags::ATTRIBUTES) || is_awaited {
            self.visit_attributes(tag)?;
        }
        self.finish_attributes();
        self.open_rest(depth);
        let after = std::mem::replace(&mut self.next_node, order);
        self.open_candidate(depth, &node, true);
        self.next_node = after;
        self.finish_circuit();
        self.settle()?;
        self.frames.note_opened(depth);
        self.check_held(self.event_end)
    }

    fn visit_attributes(&mut self, tag: &StartTag<'_>) -> Result<(), DocumentError> {
        for attribute in tag.attributes.iter() {
            let node = Node {
                kind: NodeKind::Attribute,
                name: attribute.name,
                uri: attribute.uri,
                start: attribute.span.start,
                scope: None,
            };
            self.visit_leaf(attribute.symbol, &node, attribute.value, attribute.span.end)?;
        }
        Ok(())
    }

    /// A node without children: opens, has its value and closes at once.
    pub(super) fn visit_leaf(
        &mut self,
        symbol: Symbol,
        node: &Node<'_>,
        value: &[u8],
        end: u64,
    ) -> Result<(), DocumentError> {
        let flags = self.push(symbol);
        let is_heard = self.is_heard(symbol);
        if !flags.has(Flags::OPEN | Flags::CLOSE) && !is_heard {
            self.frames.pop();
            return Ok(());
        }
        let depth = self.frames.stack.len() - 1;
        self.open_facts(depth, node);
        self.open_rest(depth);
        if is_heard {
            self.enter_circuit(symbol, node, Some(value), &[]);
        }
        self.open_candidate(depth, node, is_heard);
        if let (true, Some(circuit)) = (is_heard, &mut self.circuit) {
            circuit.close(b"");
        }
        if flags.has(Flags::VALUE) {
            self.value_frames -= 1;
        }
        self.close_facts(depth, value);
        let candidate = self.frames.stack[depth].candidate;
        if candidate.is_some() {
            self.candidates[candidate].bytes = Bytes::Value(value.into());
            if flags.has(Flags::NUMBER) {
                self.candidates[candidate].number = crate::values::parse_number(value);
            }
        }
        self.close_frame(depth, end)
    }

    /// Facts that the node's value and its end decide.
    fn close_facts(&mut self, depth: usize, value: &[u8]) {
        if self.frames.stack[depth].flags.has(Flags::VALUE) {
            self.try_atoms(depth, value);
            // What holds has to be on record before what is not on record counts as false.
            self.drain();
            self.frames.stack[depth].stage |= stage::VALUE;
            self.answer_claims(depth, value);
        }
        self.drain();
        self.frames.stack[depth].stage |= stage::CLOSED;
        self.assume_negations(depth, |state| &state.close_nots);
        // Computed formulas come last: a condition of the node itself may pick their operands.
        if !self.state_at(depth).computed.is_empty() {
            self.end_operands(depth, value);
        }
        self.frames.stack[depth].stage |= stage::COMPUTED;
    }

    /// Completes the node's candidate and lets go of those that waited here.
    fn close_frame(&mut self, depth: usize, end: u64) -> Result<(), DocumentError> {
        let candidate = self.frames.stack[depth].candidate;
        if candidate.is_some() {
            self.complete(candidate, end)?;
        }
        if self.frames.stack[depth].memory != MemoryId::EMPTY {
            for (_, waiting) in std::mem::take(&mut self.frames.memory_mut(depth).waiting) {
                self.release_all(waiting.candidates);
            }
        }
        // What turned false here can only matter to nodes below, and those are closed.
        if self.dirty >= depth {
            self.dirty = usize::MAX;
        }
        if depth > 0 {
            self.frames.pop();
        }
        Ok(())
    }

    /// Closes the innermost node; the document node keeps its frame for the caller.
    pub(super) fn close_node(&mut self, end: u64) -> Result<(), DocumentError> {
        let depth = self.frames.stack.len() - 1;
        let frame = self.frames.stack[depth];
        let values = std::mem::take(&mut self.values);
        let value = &values[frame.value_from as usize..];
        let was_awaited = self.leave_circuit(value);
        self.close_facts(
            depth,
            if frame.flags.has(Flags::VALUE) {
                value
            } else {
                b""
            },
        );
        if frame.flags.has(Flags::NUMBER) && self.frames.stack[depth].candidate.is_some() {
            self.candidates[self.frames.stack[depth].candidate].number =
                crate::values::parse_number(value);
        }
        self.values = values;
        let awaited = u32::from(frame.flags.has(Flags::VALUE)) + u32::from(was_awaited);
        if awaited > 0 {
            self.value_frames -= awaited;
            if self.value_frames == 0 {
                self.values.clear();
            }
        }
        self.close_frame(depth, end)?;
        self.finish_circuit();
        self.settle()
    }

    pub(super) fn finish_text(&mut self) -> Result<(), DocumentError> {
        let Some(span) = self.text_span.take() else {
            return Ok(());
        };
        let text = std::mem::take(&mut self.text);
        self.event_end = span.end;
        let node = Node {
            kind: NodeKind::Text,
            name: b"",
            uri: b"",
            start: span.start,
            scope: None,
        };
        self.visit_leaf(self.symbols.text, &node, &text, span.end)?;
        self.text = text;
        self.text.clear();
        self.finish_circuit();
        self.settle()?;
        self.trace_event();
        Ok(())
    }

    #[inline]
    pub(super) fn trace_event(&mut self) {
        if let Some(trace) = &mut self.trace {
            trace.finish_event(self.event_end, &self.candidates);
        }
    }

    #[cold]
    pub(super) fn value_too_long(&self, span: Span) -> DocumentError {
        limit_error("text_bytes_max", self.limits.text_bytes_max, span.start)
    }
}
