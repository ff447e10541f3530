//! Atoms at a node become wires.

use super::Circuit;
use super::cells::{Atom, Wire};
use super::frames::{Spot, Target, Wired};
use super::ids::RouteId;
use super::routes::{Leaf, Need, Source};
use super::sinks::{FirstPart, SinkKind};
use crate::plan::{Axis, CompareSome, Comparison, NamePart, NodeKind, Op, Part, PartId, TestId};
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
    pub(super) fn evaluate(&mut self, part: PartId, spot: Spot, focus: &Focus) -> Wire {
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
        self.memo.insert(need, wire.clone());
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
        let wire = match spot {
            Spot::Opening => self.memo.get(need),
            Spot::Late(info) => match self.infos[info].wired.get(need) {
                Some(Wired::Wire(wire)) => Some(wire),
                _ => {
                    debug_assert!(false, "{need:?} was not wired in time");
                    return Some(Wire::FALSE);
                }
            },
        };
        wire.map(|wire| self.cells.resolve(wire))
    }

    fn evaluate_fresh(&mut self, part: PartId, spot: Spot, focus: &Focus) -> Wire {
        if let Some(spec) = self.routes.folded(part) {
            return self.fold_along(spec);
        }
        let plan = self.plan.clone();
        match plan.part(part) {
            Part::Text(string) => {
                let text = std::str::from_utf8(plan.string(string)).unwrap_or("");
                Wire::Known(Atom::Text(text.into()))
            }
            Part::Number(number) => Wire::Known(Atom::Number(plan.number(number))),
            Part::Boolean(truth) => Wire::Known(Atom::Truth(truth)),
            Part::Call(op, args) => {
                let args: Vec<Wire> = args
                    .iter()
                    .map(|&arg| self.evaluate(arg, spot, focus))
                    .collect();
                self.apply(op, &args)
            }
            Part::And(parts) => match self.evaluate_until(parts, false, spot, focus) {
                Ok(wires) => self.all(&wires),
                Err(decided) => decided,
            },
            Part::Or(parts) => match self.evaluate_until(parts, true, spot, focus) {
                Ok(wires) => self.any(&wires),
                Err(decided) => decided,
            },
            Part::Not(part) => {
                let wire = self.evaluate(part, spot, focus);
                self.not(&wire)
            }
            Part::Position => focus.position.clone().unwrap_or(ONE),
            Part::Last => focus.last.clone().unwrap_or(ONE),
            Part::Exists(set) => self.exists(set, spot),
            Part::CompareSome(compare) => self.compare_some(part, &compare, spot, focus),
            Part::ComparePairs(op, sets) => match self.routes.shared(part) {
                Some(shared) => self.compare_shared(&shared, sets[1 - shared.side], spot),
                None => self.compare_pairs(op, sets, spot),
            },
            Part::Count(set) => {
                if let Some((spec, axis)) = self.routes.counted(part) {
                    return self.count_along(spec, axis);
                }
                let count = self.count(0.0, &[], 1);
                let sink = self.add_sink(SinkKind::Count, count);
                self.collect_merged(set, spot, Target::Sink(sink), Wire::TRUE);
                self.cells.resolve(&Wire::Cell(count))
            }
            Part::Above {
                test,
                atom,
                otherwise,
            } => self.above(test, atom, otherwise),
            Part::Sum(set) => self.gather(SinkKind::Sum, set, spot),
            Part::Strings(set) => self.gather(SinkKind::Strings, set, spot),
            Part::List(set) => self.gather(SinkKind::List, set, spot),
            Part::String(set) => self.first(set, spot, FirstPart::Text),
            Part::Name(name, set) => self.first(set, spot, FirstPart::Name(name)),
            _ => Wire::FALSE,
        }
    }

    /// The values of atoms at a node, or the one that is known to be `decisive` for all of them.
    fn evaluate_until(
        &mut self,
        parts: &[PartId],
        decisive: bool,
        spot: Spot,
        focus: &Focus,
    ) -> Result<Vec<Wire>, Wire> {
        let mut wires = Vec::with_capacity(parts.len());
        for &part in parts {
            let wire = self.evaluate(part, spot, focus);
            if matches!(wire, Wire::Known(Atom::Truth(truth)) if truth == decisive) {
                return Err(wire);
            }
            wires.push(wire);
        }
        Ok(wires)
    }

    /// An atom at the parent of the opening node, or a constant where that fails a test.
    fn above(&mut self, test: TestId, atom: PartId, otherwise: PartId) -> Wire {
        let depth = self.frames.len() - 1;
        if depth == 0 || !self.passes(depth - 1, test) {
            return self.evaluate(otherwise, Spot::Opening, &Focus::default());
        }
        let parent = Spot::Late(self.frames[depth - 1].info);
        self.evaluate(atom, parent, &Focus::default())
    }

    /// Whether a set has a node.
    fn exists(&mut self, set: PartId, spot: Spot) -> Wire {
        let (source, route) = self.routes.planned(set).truth;
        match source {
            Source::Set(_) => {
                let or = self.open_or(1);
                self.collect(set, spot, Target::Any(or), Wire::TRUE);
                self.or_close(or);
                self.cells.resolve(&Wire::Cell(or))
            }
            _ if route.is_none() => Wire::TRUE,
            _ => self.truth(route, spot),
        }
    }

    /// Whether a route from the node reaches a node that its leaf accepts.
    pub(super) fn truth(&mut self, route: RouteId, spot: Spot) -> Wire {
        let need = Need::Truth(route);
        if let Some(known) = self.wired(need, spot) {
            return known;
        }
        let wire = self.truth_along(route);
        self.memo.insert(need, wire.clone());
        wire
    }

    /// The truth of a route from the opening node: the end of a chain where there is one.
    fn truth_along(&mut self, route: RouteId) -> Wire {
        let step = &self.table[route];
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

    fn compare_some(
        &mut self,
        part: PartId,
        compare: &CompareSome,
        spot: Spot,
        focus: &Focus,
    ) -> Wire {
        if let Some(leaf) = self.routes.leaf_of(compare) {
            match self.routes.planned(part).truth {
                (Source::Set(_), _) => {}
                (_, RouteId::NONE) => return self.leaf(leaf, spot),
                (_, route) => return self.truth(route, spot),
            }
        }
        let value = self.evaluate(compare.atom, spot, focus);
        let or = self.open_or(1);
        let op = compare.op;
        let sink = self.add_sink(SinkKind::Compare { op, value }, or);
        self.collect_merged(compare.set, spot, Target::Sink(sink), Wire::TRUE);
        self.cells.resolve(&Wire::Cell(or))
    }

    /// Whether a leaf accepts a node.
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
                self.extra_of(depth).on_value.push(cell);
                self.memo.insert(Need::Value, Wire::Cell(cell));
                Wire::Cell(cell)
            }
        }
    }

    /// A part of the name of a node.
    pub(super) fn name_of(&self, part: NamePart, spot: Spot) -> Rc<str> {
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
        let colon = memchr::memchr(b':', &name).filter(|_| kind != NodeKind::Instruction);
        let bytes: &[u8] = match (part, colon) {
            (NamePart::Uri, _) => &uri,
            (NamePart::Local, Some(colon)) => &name[colon + 1..],
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
