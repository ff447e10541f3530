//! Between the automaton and the circuit: the automaton tells it of nodes, and carries out what it
//! decides.

use super::candidates::Pending;
use super::{Automaton, Node};
use crate::circuit::{Action, Atom, CandidateId, Opening};
use crate::error::DocumentError;
use crate::events::{StartTag, Symbol};
use crate::plan::{NodeKind, Output, TargetId};
use crate::rows::Bindings;
use crate::values::Value;
use smallvec::SmallVec;
use std::rc::Rc;

const XML: (&[u8], &[u8]) = (b"xml", b"http://www.w3.org/XML/1998/namespace");

impl Automaton {
    /// Whether expressions have to hear of nodes of a symbol.
    #[inline]
    pub(super) fn is_heard(&mut self, symbol: Symbol) -> bool {
        match &mut self.circuit {
            Some(circuit) => circuit.concerns(symbol, &self.symbols),
            None => false,
        }
    }

    /// Whether no expression needs an element that opens. If so, the circuit has its frame.
    #[inline]
    pub(super) fn passes_circuit(&mut self, symbol: Symbol, start: u64) -> bool {
        match &mut self.circuit {
            Some(circuit) => start >= self.silent_until && circuit.open_idle(symbol, &self.symbols),
            None => true,
        }
    }

    /// Whether no expression needs the end of the innermost node. If so, it has left the circuit
    /// then.
    #[inline]
    pub(super) fn leaves_circuit(&mut self) -> bool {
        match &mut self.circuit {
            Some(circuit) => circuit.close_idle(&self.symbols),
            None => true,
        }
    }

    /// Opens a node in the circuit; `value` is there for nodes without content.
    #[inline]
    pub(super) fn enter_circuit(
        &mut self,
        symbol: Symbol,
        node: &Node<'_>,
        value: Option<&[u8]>,
        ids: &[Box<str>],
    ) {
        let is_silent = self.is_silent(node);
        if let Some(circuit) = &mut self.circuit {
            let opening = Opening {
                symbol,
                kind: node.kind,
                name: node.name,
                uri: node.uri,
                value,
                ids,
                is_silent,
            };
            circuit.open(&opening, &self.symbols);
        }
    }

    /// The ids of an element, where expressions use ids: the one that the document declares,
    /// and `xml:id`.
    pub(super) fn ids_of(&self, tag: &StartTag<'_>) -> SmallVec<[Box<str>; 2]> {
        if !self.circuit.as_ref().is_some_and(|c| c.uses_ids()) {
            return SmallVec::new();
        }
        let named = tag.attributes.iter().filter(|a| a.name == b"xml:id");
        let values = tag.id.into_iter().chain(named.map(|a| a.value));
        let texts = values.filter_map(|value| std::str::from_utf8(value).ok());
        texts.map(|text| text.trim_matches(' ').into()).collect()
    }

    /// The namespaces in scope, as nodes of the element.
    pub(super) fn visit_namespaces(&mut self, tag: &StartTag<'_>) -> Result<(), DocumentError> {
        if !self.circuit.as_ref().is_some_and(|c| c.uses_namespaces()) {
            return Ok(());
        }
        let declared = tag.scope.declarations();
        let listed = declared.iter().map(|(prefix, uri)| (&**prefix, &**uri));
        for (prefix, uri) in listed.chain([XML]) {
            let symbol = self.symbol(NodeKind::Namespace, b"", prefix);
            let node = Node {
                kind: NodeKind::Namespace,
                name: prefix,
                uri: b"",
                start: tag.span.start,
                scope: None,
            };
            self.visit_leaf(symbol, &node, uri, tag.span.end)?;
        }
        Ok(())
    }

    pub(super) fn finish_attributes(&mut self) {
        if let Some(circuit) = &mut self.circuit {
            circuit.finish_attributes();
            self.value_frames += u32::from(circuit.wants_value());
        }
    }

    /// Closes the innermost node in the circuit; whether that awaited its value.
    pub(super) fn leave_circuit(&mut self, value: &[u8]) -> bool {
        let Some(circuit) = &mut self.circuit else {
            return false;
        };
        let is_awaited = circuit.wants_value();
        circuit.close(if is_awaited { value } else { b"" });
        is_awaited
    }

    /// Ends an event of the circuit and carries out what it decided.
    #[inline]
    pub(super) fn finish_circuit(&mut self) {
        let Some(circuit) = &mut self.circuit else {
            return;
        };
        circuit.finish_event();
        if !circuit.actions.is_empty() {
            let actions = std::mem::take(&mut circuit.actions);
            self.act(actions);
        }
    }

    fn act(&mut self, mut actions: Vec<Action>) {
        for action in actions.drain(..) {
            match action {
                Action::Select { target, candidate } => self.select(target, candidate),
                Action::Release { candidate } => self.release(candidate),
                Action::Tally { target, number } => self.tally(target, number),
                Action::Bind {
                    target,
                    candidate,
                    values,
                } => self.bind(target, candidate, values.into()),
                Action::Answer { target, atom } => {
                    let value = match atom {
                        Atom::Truth(truth) => Value::Boolean(truth),
                        Atom::Number(number) => Value::Number(number),
                        Atom::Text(text) => Value::Text(text.to_string().into()),
                        Atom::Nothing => continue,
                    };
                    let is_filter =
                        matches!(self.plan.target(target).0, Output::SelectFilter { .. });
                    if !is_filter || value.boolean() {
                        self.answers.push((target, value));
                    }
                }
            }
        }
        if let Some(circuit) = &mut self.circuit {
            circuit.actions = actions;
        }
    }

    /// The targets of a candidate that expressions may select as well, and whether it needs bytes.
    pub(super) fn widen_reach(
        &self,
        reach: &Rc<[TargetId]>,
        needs_bytes: bool,
    ) -> (Rc<[TargetId]>, bool) {
        let Some(circuit) = &self.circuit else {
            return (reach.clone(), needs_bytes);
        };
        let output = |target: &TargetId| self.plan.target(*target).0;
        let more = circuit.targets().iter().copied();
        let more = more.filter(|target| output(target).has_nodes());
        let all: Rc<[TargetId]> = reach.iter().copied().chain(more).collect();
        let has_bytes = all.iter().any(|target| output(target).has_bytes());
        (all, needs_bytes || has_bytes)
    }

    /// Whether a result waits for the values beside it.
    pub(super) fn awaits_values(&self, item: &Pending, candidate: CandidateId) -> bool {
        let Output::Select { beside, .. } = self.plan.target(item.target).0 else {
            return false;
        };
        beside.is_some() && self.bindings_of(item.target, candidate).is_none()
    }

    pub(super) fn bindings_of(&self, target: TargetId, candidate: CandidateId) -> Option<Bindings> {
        let bound = self.candidates[candidate].bound.iter();
        let own = bound.filter(|(t, _)| *t == target);
        own.map(|(_, values)| values.clone()).next()
    }

    /// The values beside a result are known: it is complete, if its node is.
    fn bind(&mut self, target: TargetId, candidate: CandidateId, values: Bindings) {
        let entry = &mut self.candidates[candidate];
        entry.bound.push((target, values));
        if entry.is_open {
            return;
        }
        let pending = std::mem::take(&mut entry.pending);
        for item in pending {
            if item.target == target {
                self.write_node(candidate, item);
            } else {
                self.candidates[candidate].pending.push(item);
            }
        }
        self.retire(candidate);
    }

    /// Bytes that the circuit keeps.
    pub(super) fn circuit_bytes(&self) -> u64 {
        self.circuit.as_ref().map_or(0, |c| c.kept_bytes())
    }
}
