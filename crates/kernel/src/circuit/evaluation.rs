//! Atoms at a node become wires.

use super::Circuit;
use super::cells::{Atom, Wire};
use super::frames::{Spot, Target, Wired};
use super::routes::{Leaf, Need, Source};
use super::sinks::{FirstPart, SinkKind};
use crate::plan::{Axis, Comparison, NONE, Op, PartKind};
use std::rc::Rc;

/// Position and size of the list in which a predicate is tried; 1 outside any predicate.
#[derive(Clone, Debug, Default)]
pub struct Focus {
    pub position: Option<Wire>,
    pub last: Option<Wire>,
}

impl Circuit {
    pub(super) fn is_document(&self, spot: Spot) -> bool {
        spot == Spot::Opening && self.frames.len() == 1
    }

    /// The value of an atom at a node.
    pub(super) fn evaluate(&mut self, part: u32, spot: Spot, focus: &Focus) -> Wire {
        let nature = self.routes.nature(part);
        if nature.is_constant || nature.has_focus() {
            return self.evaluate_fresh(part, spot, focus);
        }
        let need = Need::Atom(part);
        if nature.is_absolute() && !self.is_document(spot) {
            return self.at_root(need);
        }
        if let Some(known) = self.wired(need, spot) {
            return known;
        }
        let wire = self.evaluate_fresh(part, spot, focus);
        self.memo.push((need, wire.clone()));
        wire
    }

    fn at_root(&self, need: Need) -> Wire {
        match self.root.get(&need) {
            Some(Wired::Wire(wire)) => self.cells.resolve(wire),
            _ => Wire::FALSE,
        }
    }

    /// What was wired at the node already. Of a remembered node everything was.
    pub(super) fn wired(&self, need: Need, spot: Spot) -> Option<Wire> {
        let found = match spot {
            Spot::Opening => self.memo.iter().find(|(n, _)| *n == need).map(|(_, w)| w),
            Spot::Late(info) => {
                let wired = self.infos[info].wired.iter().find(|(n, _)| *n == need);
                match wired {
                    Some((_, Wired::Wire(wire))) => Some(wire),
                    _ => {
                        debug_assert!(false, "{need:?} was not wired in time");
                        return Some(Wire::FALSE);
                    }
                }
            }
        };
        found.map(|wire| self.cells.resolve(wire))
    }

    fn evaluate_fresh(&mut self, part: u32, spot: Spot, focus: &Focus) -> Wire {
        if let Some(spec) = self.routes.folded(part) {
            return self.fold_along(spec);
        }
        let plan = self.plan.clone();
        let (kind, words) = plan.part(part);
        match kind {
            PartKind::Text => {
                let text = std::str::from_utf8(plan.string(words[0])).unwrap_or("");
                Wire::Known(Atom::Text(text.into()))
            }
            PartKind::Number => Wire::Known(Atom::Number(plan.number(words[0]))),
            PartKind::Boolean => Wire::Known(Atom::Truth(words[0] != 0)),
            PartKind::Call => {
                let args: Vec<Wire> = words[1..]
                    .iter()
                    .map(|&word| self.evaluate(word, spot, focus))
                    .collect();
                self.apply(Op::from_code(words[0]).unwrap_or(Op::ToBoolean), &args)
            }
            PartKind::And => {
                let mut wires = Vec::with_capacity(words.len());
                for &word in words {
                    let wire = self.evaluate(word, spot, focus);
                    if wire.is_false() {
                        return wire;
                    }
                    wires.push(wire);
                }
                self.all(&wires)
            }
            PartKind::Or => {
                let mut wires = Vec::with_capacity(words.len());
                for &word in words {
                    let wire = self.evaluate(word, spot, focus);
                    if wire.is_true() {
                        return wire;
                    }
                    wires.push(wire);
                }
                self.any(&wires)
            }
            PartKind::Not => {
                let wire = self.evaluate(words[0], spot, focus);
                self.not(&wire)
            }
            PartKind::Position => focus.position.clone().unwrap_or(ONE),
            PartKind::Last => focus.last.clone().unwrap_or(ONE),
            PartKind::Exists => self.exists(words[0], spot),
            PartKind::CompareSome => self.compare_some(part, spot, focus),
            PartKind::ComparePairs => {
                if let Some(shared) = self.routes.shared(part) {
                    return self.compare_shared(&shared, words[2 - shared.side], spot);
                }
                let op = Comparison::from_code(words[0]).unwrap_or(Comparison::Eq);
                self.compare_pairs(op, words[1], words[2], spot)
            }
            PartKind::Count => {
                if let Some((spec, axis)) = self.routes.counted(part) {
                    return self.count_along(spec, axis);
                }
                let count = self.count(0.0, &[], 1);
                let sink = self.add_sink(SinkKind::Count, count);
                self.collect_merged(words[0], spot, Target::Sink(sink), Wire::TRUE);
                self.cells.resolve(&Wire::Cell(count))
            }
            PartKind::Above => self.above(words[0], words[1], words[2]),
            PartKind::Sum => self.gather(SinkKind::Sum, words[0], spot),
            PartKind::Strings => self.gather(SinkKind::Strings, words[0], spot),
            PartKind::String => self.first(words[0], spot, FirstPart::Text),
            PartKind::Name => self.first(words[1], spot, FirstPart::Name(words[0])),
            _ => Wire::FALSE,
        }
    }

    /// An atom at the parent of the opening node, or a constant where that fails a test.
    fn above(&mut self, test: u32, atom: u32, otherwise: u32) -> Wire {
        let depth = self.frames.len() - 1;
        if depth == 0 || !self.passes(depth - 1, test) {
            return self.evaluate(otherwise, Spot::Opening, &Focus::default());
        }
        let parent = Spot::Late(self.frames[depth - 1].info);
        self.evaluate(atom, parent, &Focus::default())
    }

    /// Whether a set has a node.
    fn exists(&mut self, set: u32, spot: Spot) -> Wire {
        let (source, route) = self.routes.truth_of(set);
        match source {
            Source::Set(_) => {
                let or = self.open_or(1);
                self.collect(set, spot, Target::Any(or), Wire::TRUE);
                self.or_close(or);
                self.cells.resolve(&Wire::Cell(or))
            }
            _ if route == NONE => Wire::TRUE,
            _ => self.truth(route, spot),
        }
    }

    /// Whether a route from the node leads to what its leaf asks for.
    pub(super) fn truth(&mut self, route: u32, spot: Spot) -> Wire {
        let need = Need::Truth(route);
        if let Some(known) = self.wired(need, spot) {
            return known;
        }
        let wire = self.truth_along(route);
        self.memo.push((need, wire.clone()));
        wire
    }

    /// The truth of a route from the opening node: the end of a chain where there is one.
    fn truth_along(&mut self, route: u32) -> Wire {
        let step = &self.table[route as usize];
        let (axis, test) = (step.axis, step.test);
        if !step.is_listed() {
            match axis {
                Axis::FollowingSibling => return self.truth_beside(route),
                Axis::Following => return self.truth_following(route),
                Axis::PrecedingSibling | Axis::Preceding => return self.truth_behind(route),
                Axis::Ancestor => return self.truth_above(route),
                Axis::AncestorOrSelf => {
                    let above = self.truth_above(route);
                    if above.is_true() || !self.passes(self.frames.len() - 1, test) {
                        return above;
                    }
                    let own = self.truth_of_member(route, Spot::Opening);
                    return self.any(&[own, above]);
                }
                _ => {}
            }
        }
        let or = self.open_or(1);
        self.spread(route, Target::Any(or), Wire::TRUE);
        self.or_close(or);
        self.cells.resolve(&Wire::Cell(or))
    }

    fn compare_some(&mut self, part: u32, spot: Spot, focus: &Focus) -> Wire {
        let plan = self.plan.clone();
        let (_, words) = plan.part(part);
        let op = Comparison::from_code(words[0]).unwrap_or(Comparison::Eq);
        if self.routes.nature(words[2]).is_constant {
            let (source, route) = self.routes.truth_of(part);
            if !matches!(source, Source::Set(_)) {
                return match self.routes.leaf_of(&plan, part) {
                    Some(leaf) if route == NONE => self.leaf(leaf, spot),
                    _ => self.truth(route, spot),
                };
            }
        }
        let value = self.evaluate(words[2], spot, focus);
        let or = self.open_or(1);
        let sink = self.add_sink(SinkKind::Compare { op, value }, or);
        self.collect_merged(words[1], spot, Target::Sink(sink), Wire::TRUE);
        self.cells.resolve(&Wire::Cell(or))
    }

    /// What a leaf asks of a node.
    pub(super) fn leaf(&mut self, leaf: Leaf, spot: Spot) -> Wire {
        let Leaf::Compare { op, constant, .. } = leaf else {
            return Wire::TRUE;
        };
        let value = self.value_of(spot);
        let constant = self.evaluate(constant, spot, &Focus::default());
        self.apply(comparison(op), &[value, constant])
    }

    /// The string value of a node.
    pub(super) fn value_of(&mut self, spot: Spot) -> Wire {
        match spot {
            Spot::Late(info) => match &self.infos[info].value {
                Some(value) => self.cells.resolve(value),
                None => {
                    debug_assert!(false, "a value was not wired in time");
                    Wire::Known(Atom::Text("".into()))
                }
            },
            Spot::Opening => {
                if let Some(value) = &self.opening_value {
                    return Wire::Known(Atom::Text(value.clone()));
                }
                if let Some(known) = self.wired(Need::Value, spot) {
                    return known;
                }
                let cell = self.cells.add(super::cells::Kind::Value);
                let depth = self.frames.len() - 1;
                self.extras[depth].on_value.push(cell);
                self.extras[depth].is_used = true;
                self.memo.push((Need::Value, Wire::Cell(cell)));
                Wire::Cell(cell)
            }
        }
    }

    /// A part of the name of a node: 1 as written, 2 local, 3 namespace.
    pub(super) fn name_of(&self, part: u32, spot: Spot) -> Rc<str> {
        let (kind, name, uri) = match spot {
            Spot::Late(info) => {
                let info = &self.infos[info];
                (info.kind, info.name.clone(), info.uri.clone())
            }
            Spot::Opening => {
                let frame = &self.frames[self.frames.len() - 1];
                let (name, uri) = self.opening_name.clone();
                (frame.kind, name, uri)
            }
        };
        let colon =
            memchr::memchr(b':', &name).filter(|_| kind != crate::plan::NodeKind::Instruction);
        let bytes: &[u8] = match (part, colon) {
            (3, _) => &uri,
            (2, Some(colon)) => &name[colon + 1..],
            _ => &name,
        };
        std::str::from_utf8(bytes).unwrap_or("").into()
    }
}

const ONE: Wire = Wire::Known(Atom::Number(1.0));

/// The operator of a comparison.
pub(super) fn comparison(op: Comparison) -> Op {
    match op {
        Comparison::Eq => Op::Eq,
        Comparison::Ne => Op::Ne,
        Comparison::Lt => Op::Lt,
        Comparison::Le => Op::Le,
        Comparison::Gt => Op::Gt,
        Comparison::Ge => Op::Ge,
    }
}
