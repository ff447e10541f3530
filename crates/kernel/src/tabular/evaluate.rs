//! Expressions of XPath 1.0 over a tree that may still grow.
//!
//! What is evaluated is known or unknown, as in Kleene's logic: known means that nothing that may
//! follow in the document can change it. New nodes come behind all that are there, so the first
//! node of a set stays the first, even where more may follow.

use super::expressions::{Expr, ExprId};
use super::layout::Layout;
use crate::values::{Value, apply, compare_numbers, parse_number};
use crate::vocabulary::{Comparison, NamePart};
use penstock_sequences::names::Names;
use penstock_sequences::tree::{Axis, Kind, NodeId, Test, Tree, Walk};
use smallvec::{SmallVec, smallvec};

/// What may still become of a set of nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Extent {
    /// It stays as it is.
    Complete,
    /// Nodes may come behind those that are there.
    Growing,
    /// Nodes may come or go anywhere.
    Unsure,
}

/// Nodes in document order, each once.
#[derive(Debug)]
pub struct Set {
    pub nodes: SmallVec<[NodeId; 4]>,
    pub extent: Extent,
}

/// A context node, its position, and how many there are, if that is known.
#[derive(Clone, Copy, Debug)]
pub struct Focus {
    node: NodeId,
    position: usize,
    size: Option<usize>,
}

impl Focus {
    /// The only node.
    pub fn on(node: NodeId) -> Focus {
        Focus {
            node,
            position: 1,
            size: Some(1),
        }
    }
}

/// Evaluates the expressions of a table.
pub struct Evaluator<'a> {
    pub layout: &'a Layout,
    pub tree: &'a Tree,
    pub names: &'a Names,
    pub meter: &'a mut dyn FnMut(u64),
}

impl<'a> Evaluator<'a> {
    /// A set of nodes.
    pub fn set(&mut self, id: ExprId, focus: Focus) -> Set {
        let layout = self.layout;
        match &layout.exprs[id.index()] {
            Expr::Here => only(focus.node),
            Expr::Root => only(NodeId::ROOT),
            Expr::Step {
                base,
                axis,
                test,
                predicates,
            } => {
                let base = self.set(*base, focus);
                self.step(base, *axis, test, predicates)
            }
            Expr::Filter(base, predicates) => {
                let base = self.set(*base, focus);
                self.narrow(base, predicates)
            }
            Expr::Union(parts) => {
                let mut union = Set {
                    nodes: SmallVec::new(),
                    extent: Extent::Complete,
                };
                for &part in parts {
                    let part = self.set(part, focus);
                    union.extent = union.extent.max(part.extent);
                    union.nodes.extend(part.nodes);
                }
                sort(&mut union.nodes);
                union
            }
            // Reading has seen to it that sets stand where sets are asked for.
            _ => Set {
                nodes: SmallVec::new(),
                extent: Extent::Complete,
            },
        }
    }

    fn step(&mut self, base: Set, axis: Axis, test: &Test, predicates: &[ExprId]) -> Set {
        let mut reached = Set {
            nodes: SmallVec::new(),
            extent: base.extent,
        };
        // From nodes that are still to come, other axes lead to nodes that are there already.
        if base.extent == Extent::Growing && !leads_behind(axis) {
            reached.extent = Extent::Unsure;
        }
        for &node in &base.nodes {
            let along = self.along(node, axis, test);
            let along = self.narrow(along, predicates);
            reached.extent = reached.extent.max(along.extent);
            reached.nodes.extend(along.nodes);
        }
        sort(&mut reached.nodes);
        reached
    }

    /// The nodes along an axis, in its own order.
    fn along(&mut self, node: NodeId, axis: Axis, test: &Test) -> Set {
        let mut nodes = SmallVec::new();
        let mut walk = Walk::new(axis, self.tree, node);
        let mut visited = 1;
        while let Some(next) = walk.next(self.tree) {
            visited += 1;
            if test.accepts(self.tree, next, self.names) {
                nodes.push(next);
            }
        }
        (self.meter)(visited);
        let is_open = |node: Option<NodeId>| node.is_some_and(|node| self.tree.is_open(node));
        let may_grow = match axis {
            Axis::Child | Axis::Descendant | Axis::DescendantOrSelf => is_open(Some(node)),
            Axis::FollowingSibling => is_open(self.tree.parent(node)),
            Axis::Following => is_open(Some(NodeId::ROOT)),
            _ => false,
        };
        let extent = match may_grow {
            true => Extent::Growing,
            false => Extent::Complete,
        };
        Set { nodes, extent }
    }

    /// Those that pass predicates, one after the other.
    fn narrow(&mut self, mut set: Set, predicates: &[ExprId]) -> Set {
        for &predicate in predicates {
            let size = (set.extent == Extent::Complete).then_some(set.nodes.len());
            let mut passed = SmallVec::new();
            for (place, &node) in set.nodes.iter().enumerate() {
                let focus = Focus {
                    node,
                    position: place + 1,
                    size,
                };
                match self.truth(predicate, focus) {
                    Some(true) => passed.push(node),
                    Some(false) => {}
                    None => set.extent = Extent::Unsure,
                }
            }
            (self.meter)(set.nodes.len() as u64);
            set.nodes = passed;
        }
        set
    }

    /// The first node of a set, if it is known which one that is.
    pub fn first(&mut self, id: ExprId, focus: Focus) -> Option<Option<NodeId>> {
        let layout = self.layout;
        if let Some(chain) = &layout.chains[id.index()]
            && let Some(first) = self.first_of_chain(chain, focus.node)
        {
            return Some(Some(first));
        }
        let set = self.set(id, focus);
        match (set.nodes.first(), set.extent) {
            (_, Extent::Unsure) | (None, Extent::Growing) => None,
            (first, _) => Some(first.copied()),
        }
    }

    /// The string value of a node that is complete.
    pub fn text(&self, node: NodeId) -> Option<&'a [u8]> {
        (!self.tree.is_open(node)).then(|| self.tree.value(node))
    }

    fn number_of(&self, node: NodeId) -> Option<f64> {
        self.text(node).map(parse_number)
    }

    fn truth(&mut self, id: ExprId, focus: Focus) -> Option<bool> {
        self.value(id, focus).map(|value| value.boolean())
    }

    /// An atom, if it is known.
    pub fn value(&mut self, id: ExprId, focus: Focus) -> Option<Value<'a>> {
        let layout = self.layout;
        Some(match &layout.exprs[id.index()] {
            Expr::Text(text) => Value::Text((&**text).into()),
            Expr::Number(number) => Value::Number(*number),
            Expr::Boolean(value) => Value::Boolean(*value),
            Expr::Position => Value::Number(focus.position as f64),
            Expr::Last => Value::Number(focus.size? as f64),
            Expr::Call(op, arguments) => {
                let mut values: SmallVec<[Value<'a>; 3]> = SmallVec::new();
                for &argument in arguments {
                    values.push(self.value(argument, focus)?);
                }
                let value = apply(*op, values.len(), &|place| values[place].clone());
                if let Value::Text(text) = &value {
                    (self.meter)(text.len() as u64 / 64);
                }
                value
            }
            Expr::And(parts) => Value::Boolean(self.all(parts, focus, true)?),
            Expr::Or(parts) => Value::Boolean(!self.all(parts, focus, false)?),
            Expr::Not(part) => Value::Boolean(!self.truth(*part, focus)?),
            Expr::Exists(nodes) => Value::Boolean(self.first_or_none(*nodes, focus)?),
            Expr::Count(nodes) => Value::Number(self.complete(*nodes, focus)?.len() as f64),
            Expr::Sum(nodes) => {
                let nodes = self.complete(*nodes, focus)?;
                let mut sum = 0.0;
                for node in nodes {
                    sum += self.number_of(node)?;
                }
                Value::Number(sum)
            }
            Expr::String(nodes) => match self.first(*nodes, focus)? {
                Some(node) => Value::Text(String::from_utf8_lossy(self.text(node)?)),
                None => Value::Text("".into()),
            },
            Expr::Name(part, nodes) => match self.first(*nodes, focus)? {
                Some(node) => Value::Text(self.name(*part, node).into()),
                None => Value::Text("".into()),
            },
            Expr::CompareSome {
                operator,
                nodes,
                value,
                is_number,
            } => {
                let value = self.value(*value, focus)?;
                let set = self.set(*nodes, focus);
                Value::Boolean(self.compare_some(*operator, &set, value, *is_number)?)
            }
            Expr::ComparePairs(operator, left, right) => {
                let (left, right) = (self.set(*left, focus), self.set(*right, focus));
                Value::Boolean(self.compare_pairs(*operator, &left, &right)?)
            }
            // Reading has seen to it that atoms stand where atoms are asked for.
            _ => Value::Boolean(false),
        })
    }

    /// Whether all parts are `wanted`: known as soon as one is known not to be.
    fn all(&mut self, parts: &[ExprId], focus: Focus, wanted: bool) -> Option<bool> {
        let mut is_known = true;
        for &part in parts {
            match self.truth(part, focus) {
                Some(truth) if truth != wanted => return Some(false),
                Some(_) => {}
                None => is_known = false,
            }
        }
        is_known.then_some(true)
    }

    fn first_or_none(&mut self, nodes: ExprId, focus: Focus) -> Option<bool> {
        self.first(nodes, focus).map(|first| first.is_some())
    }

    /// The nodes of a set that stays as it is.
    fn complete(&mut self, nodes: ExprId, focus: Focus) -> Option<SmallVec<[NodeId; 4]>> {
        let set = self.set(nodes, focus);
        (set.extent == Extent::Complete).then_some(set.nodes)
    }

    /// All nodes of a set that stays as it is.
    pub fn all_nodes(&mut self, nodes: ExprId, focus: Focus) -> Option<SmallVec<[NodeId; 4]>> {
        self.complete(nodes, focus)
    }

    fn compare_some(
        &mut self,
        operator: Comparison,
        set: &Set,
        value: Value<'_>,
        is_number: bool,
    ) -> Option<bool> {
        if set.extent == Extent::Unsure {
            return None;
        }
        (self.meter)(set.nodes.len() as u64);
        let number = value.number();
        let text = value.text();
        let mut is_known = set.extent == Extent::Complete;
        for &node in &set.nodes {
            let Some(own) = self.text(node) else {
                is_known = false;
                continue;
            };
            let holds = match (is_number, operator) {
                (true, _) => compare_numbers(operator, parse_number(own), number),
                (false, Comparison::Ne) => own != text.as_bytes(),
                (false, _) => own == text.as_bytes(),
            };
            if holds {
                return Some(true);
            }
        }
        is_known.then_some(false)
    }

    fn compare_pairs(&mut self, operator: Comparison, left: &Set, right: &Set) -> Option<bool> {
        let extent = left.extent.max(right.extent);
        if extent == Extent::Unsure {
            return None;
        }
        let mut is_known = extent == Extent::Complete;
        for &one in &left.nodes {
            (self.meter)(right.nodes.len() as u64);
            let Some(one) = self.text(one) else {
                is_known = false;
                continue;
            };
            for &other in &right.nodes {
                let Some(other) = self.text(other) else {
                    is_known = false;
                    continue;
                };
                let holds = match operator {
                    Comparison::Eq => one == other,
                    Comparison::Ne => one != other,
                    _ => compare_numbers(operator, parse_number(one), parse_number(other)),
                };
                if holds {
                    return Some(true);
                }
            }
        }
        // One side that is empty for good decides; so does one that is known not to grow.
        let is_empty = |set: &Set| set.nodes.is_empty() && set.extent == Extent::Complete;
        (is_known || is_empty(left) || is_empty(right)).then_some(false)
    }

    fn name(&self, part: NamePart, node: NodeId) -> String {
        let name = self.tree.name(node);
        let has_uri = matches!(self.tree.kind(node), Kind::Element | Kind::Attribute);
        let local = self.names.text(self.names.local(name.name));
        match part {
            NamePart::Local => local.to_string(),
            NamePart::Uri if has_uri => self.names.text(self.names.uri(name.name)).to_string(),
            NamePart::Uri => String::new(),
            NamePart::Written if has_uri && !name.prefix.is_empty() => {
                format!("{}:{local}", self.names.text(name.prefix))
            }
            NamePart::Written => local.to_string(),
        }
    }
}

fn only(node: NodeId) -> Set {
    Set {
        nodes: smallvec![node],
        extent: Extent::Complete,
    }
}

/// Whether an axis leads from new nodes to new nodes alone.
fn leads_behind(axis: Axis) -> bool {
    matches!(
        axis,
        Axis::SelfNode
            | Axis::Child
            | Axis::Descendant
            | Axis::DescendantOrSelf
            | Axis::Attribute
            | Axis::FollowingSibling
            | Axis::Following
    )
}

fn sort(nodes: &mut SmallVec<[NodeId; 4]>) {
    if !nodes.is_sorted_by(|one, other| one < other) {
        nodes.sort_unstable();
        nodes.dedup();
    }
}
