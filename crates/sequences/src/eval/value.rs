//! Values of expressions as a whole.

use super::item::{Item, Sequence};
use super::run::{Flow, Focus, Run, Stop, fail};
use super::stream::{sort_nodes, until_enough};
use crate::atomic::{Atomic, AtomicType, Operator, arithmetic, negate};
use crate::code::{Expr, ExprId, NodeOrder};
use crate::functions::{self, Kind, Occurrence, Parameter};
use crate::tree::NodeRef;

impl<'a> Run<'a> {
    /// The value of an expression.
    pub fn value(&mut self, id: ExprId, focus: Focus<'_>) -> Flow<Sequence> {
        if self.code.is_kept[id.index()] {
            return self.kept(id, focus);
        }
        self.compute(id, focus)
    }

    /// The value of an expression, whether it is kept or not.
    pub fn compute(&mut self, id: ExprId, focus: Focus<'_>) -> Flow<Sequence> {
        self.charge(1);
        let code = self.code;
        Ok(match code.expr(id) {
            Expr::Constant(constant) => {
                Sequence::atomic(code.constants[*constant as usize].clone())
            }
            Expr::Variable(slot) | Expr::Item(slot) => self.variable(*slot).value.clone(),
            Expr::Global(global) => self.global(*global)?,
            Expr::Gathered(part) => {
                let gathered = self.state.gathered.get(*part as usize);
                gathered.cloned().unwrap_or(Ok(Sequence::Empty))?
            }
            Expr::Here => Sequence::One(self.here(focus)?.clone()),
            Expr::Root => Sequence::node(self.root(focus)?),
            Expr::Document(document) => Sequence::node(self.document(*document)?),
            Expr::Position => self.place(focus, focus.position)?,
            Expr::Last => self.place(focus, focus.size)?,
            Expr::Union(parts) => self.union(parts, focus)?,
            Expr::Combine {
                is_except,
                left,
                right,
            } => self.combine(*is_except, *left, *right, focus)?,
            Expr::Arithmetic(operator, left, right) => {
                let operands = (self.atom(*left, focus)?, self.atom(*right, focus)?);
                calculate(*operator, operands)?
            }
            Expr::Signed {
                is_negative,
                operand,
            } => self.signed(*is_negative, *operand, focus)?,
            Expr::ValueCompare(comparison, left, right) => {
                let holds = self.compare_values(*comparison, *left, *right, focus)?;
                holds.map_or(Sequence::Empty, Sequence::boolean)
            }
            Expr::NodeCompare(order, left, right) => {
                let holds = self.compare_nodes(*order, *left, *right, focus)?;
                holds.map_or(Sequence::Empty, Sequence::boolean)
            }
            Expr::GeneralCompare(..)
            | Expr::And(_)
            | Expr::Or(_)
            | Expr::Quantified { .. }
            | Expr::InstanceOf(..)
            | Expr::CastableAs { .. } => Sequence::boolean(self.decide(id, focus)?),
            Expr::OwnCall(function, arguments) => self.own_call(*function, arguments, focus)?,
            Expr::NodeCall(function, arguments) => self.node_call(*function, arguments, focus)?,
            Expr::Call(builtin, arguments) => self.call(builtin, arguments, focus)?,
            Expr::TreatAs(operand, type_) => {
                let value = self.value(*operand, focus)?;
                self.check(&value, *type_, "XPDY0050")?;
                value
            }
            Expr::CastAs {
                operand,
                target,
                is_optional,
            } => self.cast(*operand, *target, *is_optional, focus)?,
            Expr::Characters(text) => {
                Sequence::atomic(Atomic::string(&*code.texts[*text as usize]))
            }
            Expr::NewElement(_)
            | Expr::NewAttribute(_)
            | Expr::NewText(_)
            | Expr::NewComment(_)
            | Expr::NewInstruction(..)
            | Expr::NewDocument(_) => self.construct(id, focus)?,
            Expr::Step(_)
            | Expr::Filter { .. }
            | Expr::Sequence(_)
            | Expr::Range(..)
            | Expr::If(..)
            | Expr::Flwor(..)
            | Expr::TypeSwitch(..)
            | Expr::Each { .. } => self.collect(id, focus)?,
        })
    }

    fn collect(&mut self, id: ExprId, focus: Focus<'_>) -> Flow<Sequence> {
        let mut items = Sequence::Empty;
        self.stream(id, focus, &mut |_, item| {
            items.push(item);
            Ok(())
        })?;
        Ok(items)
    }

    pub fn here<'f>(&self, focus: Focus<'f>) -> Flow<&'f Item> {
        match focus.item {
            Some(item) => Ok(item),
            None => fail("XPDY0002", "there is no context item here"),
        }
    }

    fn place(&self, focus: Focus<'_>, number: usize) -> Flow<Sequence> {
        self.here(focus)?;
        Ok(Sequence::atomic(Atomic::Integer(number as i64)))
    }

    fn signed(&mut self, is_negative: bool, operand: ExprId, focus: Focus<'_>) -> Flow<Sequence> {
        let Some(value) = self.atom(operand, focus)? else {
            return Ok(Sequence::Empty);
        };
        let negated = negate(&value)?;
        let result = if is_negative {
            negated
        } else {
            // An untyped value becomes a number either way.
            negate(&negated)?
        };
        Ok(Sequence::atomic(result))
    }

    fn union(&mut self, parts: &[ExprId], focus: Focus<'_>) -> Flow<Sequence> {
        let mut nodes = Vec::new();
        for &part in parts {
            nodes.append(&mut self.nodes(part, focus, "XPTY0004")?);
        }
        sort_nodes(&mut nodes);
        Ok(nodes.into_iter().collect())
    }

    fn combine(
        &mut self,
        is_except: bool,
        left: ExprId,
        right: ExprId,
        focus: Focus<'_>,
    ) -> Flow<Sequence> {
        let mut nodes = self.nodes(left, focus, "XPTY0004")?;
        let mut others = self.nodes(right, focus, "XPTY0004")?;
        sort_nodes(&mut nodes);
        sort_nodes(&mut others);
        nodes.retain(|node| others.binary_search(node).is_ok() != is_except);
        Ok(nodes.into_iter().collect())
    }

    fn compare_nodes(
        &mut self,
        order: NodeOrder,
        left: ExprId,
        right: ExprId,
        focus: Focus<'_>,
    ) -> Flow<Option<bool>> {
        let left = self.optional_item(left, focus)?;
        let right = self.optional_item(right, focus)?;
        let (left, right) = match (left, right) {
            (None, _) | (_, None) => return Ok(None),
            (Some(Item::Node(left)), Some(Item::Node(right))) => (left, right),
            _ => return fail("XPTY0004", "nodes are compared here, not atomic values"),
        };
        Ok(Some(match order {
            NodeOrder::Is => left == right,
            NodeOrder::Before => left < right,
            NodeOrder::After => left > right,
        }))
    }

    /// One node or none.
    pub fn optional_node(&mut self, id: ExprId, focus: Focus<'_>) -> Flow<Option<NodeRef>> {
        let nodes = self.nodes(id, focus, "XPTY0004")?;
        if nodes.len() > 1 {
            return fail("XPTY0004", "one node is expected here, not several");
        }
        Ok(nodes.first().copied())
    }

    /// One atomic value or none.
    pub fn atom(&mut self, id: ExprId, focus: Focus<'_>) -> Flow<Option<Atomic>> {
        if let Expr::Constant(constant) = self.code.expr(id) {
            return Ok(Some(self.code.constants[*constant as usize].clone()));
        }
        let item = self.optional_item(id, focus)?;
        Ok(item.map(|item| match item {
            Item::Atomic(value) => value,
            node => self.atomize(&node),
        }))
    }

    /// One item or none, where an operator takes no more.
    pub fn optional_item(&mut self, id: ExprId, focus: Focus<'_>) -> Flow<Option<Item>> {
        let mut first = None;
        let mut is_several = false;
        let flow = self.each(id, focus, &mut |_, item| {
            if first.is_some() {
                is_several = true;
                return Err(Stop::Enough);
            }
            first = Some(item);
            Ok(())
        });
        until_enough(flow, is_several)?;
        if is_several {
            return fail("XPTY0004", "one item is expected here, not several");
        }
        Ok(first)
    }

    /// An integer or none, as the function conversion rules make it.
    pub fn integer(&mut self, id: ExprId, focus: Focus<'_>) -> Flow<Option<i64>> {
        let parameter = Parameter {
            kind: Kind::Type(AtomicType::Integer),
            occurrence: Occurrence::Optional,
        };
        let value = self.atom(id, focus)?.into_iter().collect();
        let value = functions::convert(value, &parameter)?;
        Ok(value.first().and_then(|value| match value {
            Atomic::Integer(number) => Some(*number),
            _ => None,
        }))
    }
}

/// The value of an arithmetic operator; empty if an operand is.
fn calculate(operator: Operator, operands: (Option<Atomic>, Option<Atomic>)) -> Flow<Sequence> {
    match operands {
        (Some(left), Some(right)) => Ok(Sequence::atomic(arithmetic(operator, &left, &right)?)),
        _ => Ok(Sequence::Empty),
    }
}
