//! Location steps and predicates.

use super::item::{Item, Sequence};
use super::run::{Flow, Focus, Out, Run, fail};
use super::stream::sort_nodes;
use crate::atomic::Atomic;
use crate::code::{Expr, ExprId, LookupId, Order, Step, Truth};
use crate::tree::{NodeRef, Walk};
use smallvec::SmallVec;

/// How many items have reached each predicate.
type Places = SmallVec<[usize; 2]>;

impl<'a> Run<'a> {
    /// The nodes that a step reaches, in document order, each once.
    pub fn step(&mut self, id: ExprId, step: &'a Step, focus: Focus<'_>, out: Out<'_, 'a>) -> Flow {
        if let Some(lookup) = step.lookup
            && let Some(nodes) = self.looked_up(lookup, &step.predicates[1..], focus)?
        {
            return self.emit(&nodes, out);
        }
        if let Some(node) = self.single_node(step.base, focus)
            && !step.axis.is_reverse()
        {
            return self.step_from(step, node, out);
        }
        // XQuery tells the context item from other values.
        let code = match self.code.expr(step.base) {
            Expr::Here => "XPTY0020",
            _ => "XPTY0019",
        };
        if self.code.facts(id).order != Order::Unknown {
            return self.each(step.base, focus, &mut |run, item| {
                let node = step_base(&item, code)?;
                run.step_from(step, node, out)
            });
        }
        let mut nodes = Vec::new();
        self.each(step.base, focus, &mut |run, item| {
            let node = step_base(&item, code)?;
            run.step_from(step, node, &mut |_, item| {
                if let Item::Node(node) = item {
                    nodes.push(node);
                }
                Ok(())
            })
        })?;
        sort_nodes(&mut nodes);
        self.emit_nodes(&nodes, out)
    }

    /// The node that is the value of a simple expression.
    fn single_node(&self, id: ExprId, focus: Focus<'_>) -> Option<NodeRef> {
        let item = match self.code.expr(id) {
            Expr::Item(slot) => match &self.variable(*slot).value {
                Sequence::One(item) => item,
                _ => return None,
            },
            Expr::Here => focus.item?,
            Expr::Document(document) => return self.document(*document).ok(),
            _ => return None,
        };
        match item {
            Item::Node(node) => Some(*node),
            Item::Atomic(_) => None,
        }
    }

    /// The nodes that a step reaches from one node, in the order of its axis.
    fn step_from(&mut self, step: &'a Step, node: NodeRef, out: Out<'_, 'a>) -> Flow {
        let test = &self.code.tests[step.test.0 as usize];
        let tree = node.tree as usize;
        let mut walk = Walk::new(step.axis, &self.forest.trees[tree], node.node);
        let mut next = |run: &mut Self| {
            let forest = &*run.forest;
            let trees = &forest.trees[tree];
            let mut steps = 1;
            let found = loop {
                match walk.next(trees) {
                    Some(found) if test.accepts(trees, found, &forest.names) => break Some(found),
                    Some(_) => steps += 1,
                    None => break None,
                }
            };
            run.charge(steps);
            found.map(|found| NodeRef {
                tree: node.tree,
                node: found,
            })
        };
        if step.predicates.is_empty() {
            while let Some(found) = next(self) {
                out(self, Item::Node(found))?;
            }
            return Ok(());
        }
        if self.needs_size(&step.predicates) {
            let items = std::iter::from_fn(|| next(self).map(Item::Node)).collect();
            return self.narrow(items, &step.predicates, out);
        }
        let mut places = Places::from_elem(0, step.predicates.len());
        while let Some(found) = next(self) {
            let item = Item::Node(found);
            if self.accepts(&item, &step.predicates, &mut places)? {
                out(self, item)?;
            }
            if self.is_over(&step.predicates, &places) {
                break;
            }
        }
        Ok(())
    }

    /// The items of a base that pass predicates.
    pub fn filter(
        &mut self,
        base: ExprId,
        predicates: &'a [ExprId],
        lookup: Option<LookupId>,
        focus: Focus<'_>,
        out: Out<'_, 'a>,
    ) -> Flow {
        if let Some(lookup) = lookup
            && let Some(items) = self.looked_up(lookup, &[], focus)?
        {
            return self.narrow(items.as_slice().to_vec(), &predicates[1..], out);
        }
        if self.needs_size(predicates) {
            let items = self.value(base, focus)?;
            return self.narrow(items.as_slice().to_vec(), predicates, out);
        }
        let mut places = Places::from_elem(0, predicates.len());
        let mut is_over = false;
        let flow = self.each(base, focus, &mut |run, item| {
            if run.accepts(&item, predicates, &mut places)? {
                out(run, item)?;
            }
            is_over = run.is_over(predicates, &places);
            if is_over {
                return Err(super::run::Stop::Enough);
            }
            Ok(())
        });
        super::stream::until_enough(flow, is_over)
    }

    fn needs_size(&self, predicates: &[ExprId]) -> bool {
        predicates.iter().any(|&id| self.code.facts(id).is_last)
    }

    /// Whether no further item can pass: a predicate asks for a place that was reached.
    fn is_over(&self, predicates: &[ExprId], places: &Places) -> bool {
        let mut reached = predicates.iter().zip(places);
        reached.any(|(&id, &place)| match self.code.facts(id).truth {
            Truth::Place(wanted) => place as i64 >= wanted,
            _ => false,
        })
    }

    /// Whether an item passes predicates none of which asks for the number of items.
    fn accepts(&mut self, item: &Item, predicates: &[ExprId], places: &mut Places) -> Flow<bool> {
        for (&predicate, place) in predicates.iter().zip(places) {
            *place += 1;
            let inner = Focus {
                item: Some(item),
                position: *place,
                size: 0,
            };
            if !self.passes(predicate, inner)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Applies predicates one after the other to all items, and hands on what is left.
    fn narrow(&mut self, mut items: Vec<Item>, predicates: &[ExprId], out: Out<'_, 'a>) -> Flow {
        for &predicate in predicates {
            let size = items.len();
            let mut kept = Vec::new();
            for (at, item) in items.into_iter().enumerate() {
                let inner = Focus {
                    item: Some(&item),
                    position: at + 1,
                    size,
                };
                self.charge(1);
                if self.passes(predicate, inner)? {
                    kept.push(item);
                }
            }
            items = kept;
        }
        items.into_iter().try_for_each(|item| out(self, item))
    }

    /// Whether a predicate holds for the context item.
    fn passes(&mut self, predicate: ExprId, focus: Focus<'_>) -> Flow<bool> {
        match self.code.facts(predicate).truth {
            Truth::Boolean => self.truth(predicate, focus),
            Truth::Place(place) => Ok(place == focus.position as i64),
            Truth::Unknown => {
                let value = self.value(predicate, focus)?;
                match &value {
                    Sequence::One(Item::Atomic(number)) if number.type_of().is_numeric() => {
                        let position = Atomic::Integer(focus.position as i64);
                        let equal = crate::atomic::Comparison::Equal;
                        Ok(crate::atomic::compare_values(equal, number, &position)?)
                    }
                    _ => self.truth_of(&value),
                }
            }
        }
    }
}

/// The node that a step begins at.
fn step_base(item: &Item, code: &'static str) -> Flow<NodeRef> {
    match item {
        Item::Node(node) => Ok(*node),
        Item::Atomic(value) => {
            let type_ = value.type_of();
            let reason = format!("a step begins at a node, not at a value of type {type_}");
            fail(code, reason)
        }
    }
}
