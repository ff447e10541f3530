//! Items one by one: what a consumer does not want is not computed.

use super::item::{Item, Sequence};
use super::run::{Flow, Focus, Out, Run, Stop, fail};
use crate::atomic::Atomic;
use crate::code::{Expr, ExprId, TypeCase};
use crate::tree::{Kind, NodeRef};

impl<'a> Run<'a> {
    /// Hands the items of an expression to a consumer, in order.
    pub fn each(&mut self, id: ExprId, focus: Focus<'_>, out: Out<'_, 'a>) -> Flow {
        if self.code.is_kept[id.index()] {
            let value = self.kept(id, focus)?;
            return self.emit(&value, out);
        }
        self.stream(id, focus, out)
    }

    /// The same, whether the value is kept or not.
    pub fn stream(&mut self, id: ExprId, focus: Focus<'_>, out: Out<'_, 'a>) -> Flow {
        match self.code.expr(id) {
            Expr::Constant(constant) => {
                let value = self.code.constants[*constant as usize].clone();
                out(self, Item::Atomic(value))
            }
            Expr::Step(step) => self.step(id, step, focus, out),
            Expr::Filter {
                base,
                predicates,
                lookup,
            } => self.filter(*base, predicates, *lookup, focus, out),
            Expr::Sequence(parts) => {
                for &part in parts {
                    self.each(part, focus, out)?;
                }
                Ok(())
            }
            Expr::Range(first, last) => self.range(*first, *last, focus, out),
            Expr::If(test, then, otherwise) => {
                let branch = if self.truth(*test, focus)? {
                    *then
                } else {
                    *otherwise
                };
                self.each(branch, focus, out)
            }
            Expr::Flwor(clauses, result) => {
                self.flwor(clauses, focus, &mut |run| run.each(*result, focus, out))
            }
            Expr::TypeSwitch(operand, cases) => {
                let result = self.choose(*operand, cases, focus)?;
                self.each(result, focus, out)
            }
            Expr::Each { base, body } => self.each_of(*base, *body, focus, out),
            _ => {
                let value = self.compute(id, focus)?;
                self.emit(&value, out)
            }
        }
    }

    /// Hands the items of a value to a consumer.
    pub fn emit(&mut self, value: &Sequence, out: Out<'_, 'a>) -> Flow {
        let items = value.as_slice();
        self.charge(items.len() as u64);
        items.iter().try_for_each(|item| out(self, item.clone()))
    }

    /// Hands nodes to a consumer.
    pub fn emit_nodes(&mut self, nodes: &[NodeRef], out: Out<'_, 'a>) -> Flow {
        self.charge(nodes.len() as u64);
        nodes
            .iter()
            .try_for_each(|&node| out(self, Item::Node(node)))
    }

    /// Whether there is an item.
    pub fn exists(&mut self, id: ExprId, focus: Focus<'_>) -> Flow<bool> {
        let mut is_there = false;
        let flow = self.each(id, focus, &mut |_, _| {
            is_there = true;
            Err(Stop::Enough)
        });
        until_enough(flow, is_there)?;
        Ok(is_there)
    }

    /// The result of the first case that a value fits, with the variable of the case bound.
    pub fn choose(
        &mut self,
        operand: ExprId,
        cases: &[TypeCase],
        focus: Focus<'_>,
    ) -> Flow<ExprId> {
        let value = self.value(operand, focus)?;
        for case in cases {
            if case
                .type_
                .is_none_or(|type_| self.is_instance(&value, type_))
            {
                if let Some(slot) = case.slot {
                    self.bind(slot, value);
                }
                return Ok(case.result);
            }
        }
        fail("XPTY0004", "no case of the type switch fits")
    }

    fn range(&mut self, first: ExprId, last: ExprId, focus: Focus<'_>, out: Out<'_, 'a>) -> Flow {
        let first = self.integer(first, focus)?;
        let last = self.integer(last, focus)?;
        let (Some(first), Some(last)) = (first, last) else {
            return Ok(());
        };
        for number in first..=last {
            self.charge(1);
            out(self, Item::Atomic(Atomic::Integer(number)))?;
        }
        Ok(())
    }

    /// `base/body`: nodes come in document order, atomic values as they are.
    fn each_of(&mut self, base: ExprId, body: ExprId, focus: Focus<'_>, out: Out<'_, 'a>) -> Flow {
        let value = self.value(base, focus)?;
        let size = value.len();
        let (mut nodes, mut atomics) = (Vec::new(), Vec::new());
        for (at, item) in value.as_slice().iter().enumerate() {
            let Item::Node(_) = item else {
                return fail(
                    "XPTY0019",
                    "the left side of `/` has an item that is no node",
                );
            };
            let inner = Focus {
                item: Some(item),
                position: at + 1,
                size,
            };
            self.charge(1);
            self.each(body, inner, &mut |_, item| {
                match item {
                    Item::Node(node) => nodes.push(node),
                    Item::Atomic(value) => atomics.push(value),
                }
                Ok(())
            })?;
        }
        if !nodes.is_empty() && !atomics.is_empty() {
            let reason = "the right side of `/` has both nodes and atomic values";
            return fail("XPTY0018", reason);
        }
        sort_nodes(&mut nodes);
        self.emit_nodes(&nodes, out)?;
        let mut values = atomics.into_iter().map(Item::Atomic);
        values.try_for_each(|item| out(self, item))
    }

    /// The nodes of an expression, in the order of its value.
    pub fn nodes(
        &mut self,
        id: ExprId,
        focus: Focus<'_>,
        code: &'static str,
    ) -> Flow<Vec<NodeRef>> {
        let mut nodes = Vec::new();
        self.each(id, focus, &mut |_, item| match item {
            Item::Node(node) => {
                nodes.push(node);
                Ok(())
            }
            Item::Atomic(value) => {
                let type_ = value.type_of();
                fail(
                    code,
                    format!("a node is expected here, not a value of type {type_}"),
                )
            }
        })?;
        Ok(nodes)
    }

    /// The root of the tree of the context item, which must be a document.
    pub fn root(&self, focus: Focus<'_>) -> Flow<NodeRef> {
        let node = match focus.item {
            Some(Item::Node(node)) => *node,
            Some(Item::Atomic(_)) => {
                return fail("XPTY0020", "`/` is used where the context item is no node");
            }
            // Functions have no context item; a path in them was one of the prolog.
            None => return self.document(0),
        };
        let tree = self.forest.tree(node);
        let root = tree.root(node.node);
        if tree.kind(root) != Kind::Document {
            return fail("XPDY0050", "`/` is used in a tree without a document node");
        }
        Ok(NodeRef {
            tree: node.tree,
            node: root,
        })
    }
}

/// Goes on after a consumer has stopped by its own will.
pub(super) fn until_enough(flow: Flow, is_own: bool) -> Flow {
    match flow {
        Err(Stop::Enough) if is_own => Ok(()),
        flow => flow,
    }
}

/// Brings nodes into document order, each once.
pub(super) fn sort_nodes(nodes: &mut Vec<NodeRef>) {
    if !nodes.is_sorted_by(|left, right| left < right) {
        nodes.sort_unstable();
        nodes.dedup();
    }
}
