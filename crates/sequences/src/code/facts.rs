//! What is known about an expression before it is evaluated.

use super::children::Role;
use super::expr::{Clause, Expr, ExprId, Slot, Step};
use super::node_function::NodeFunction;
use super::read::Tables;
use crate::atomic::{Atomic, AtomicType};
use crate::functions::{Kind, Occurrence};
use crate::tree::{Axis, NameTest};
use std::rc::Rc;

/// How many items there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Amount {
    /// Exactly one.
    One,
    /// At most one.
    Optional,
    /// Any number.
    Many,
}

/// How nodes are ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Order {
    /// In document order, each once, none inside another.
    Flat,
    /// In document order, each once.
    Sorted,
    /// Nothing is known.
    Unknown,
}

/// What an expression means as a predicate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Truth {
    /// Its effective boolean value: it is never a number.
    Boolean,
    /// The item at this place.
    Place(i64),
    /// Depends on its value.
    Unknown,
}

/// What is known about an expression.
#[derive(Clone, Debug)]
pub struct Facts {
    /// The variables that its value depends on, sorted.
    pub free: Rc<[Slot]>,
    /// Whether it depends on the context item, its position or their number.
    pub is_focused: bool,
    /// Whether it depends on the position of the context item, or on the number of items.
    pub is_positional: bool,
    /// Whether it depends on the number of items.
    pub is_last: bool,
    /// Whether it depends on the tree of the context item.
    pub is_rooted: bool,
    /// Whether it may construct nodes, so that each evaluation gives other ones.
    pub is_fresh: bool,
    /// How many items it has.
    pub amount: Amount,
    /// How its nodes are ordered.
    pub order: Order,
    /// What it means as a predicate.
    pub truth: Truth,
    /// How deeply it is nested.
    pub depth: u32,
    /// One more than the largest slot that it mentions.
    pub frame: usize,
}

impl Facts {
    /// Whether its value is the same wherever and whenever it is evaluated.
    pub fn is_closed(&self) -> bool {
        self.free.is_empty() && !self.is_focused && !self.is_fresh
    }

    /// Whether it depends on a variable.
    pub fn depends_on(&self, slot: Slot) -> bool {
        self.free.binary_search(&slot).is_ok()
    }
}

/// The facts of an expression whose parts are known.
pub(super) fn facts_of(expr: &Expr, tables: &Tables) -> Facts {
    let mut facts = Facts {
        free: Rc::new([]),
        is_focused: matches!(expr, Expr::Here | Expr::Position | Expr::Last),
        is_positional: matches!(expr, Expr::Position | Expr::Last),
        is_last: matches!(expr, Expr::Last),
        is_rooted: matches!(expr, Expr::Root),
        is_fresh: is_fresh(expr),
        amount: amount(expr, tables),
        order: order(expr, tables),
        truth: truth(expr, tables),
        depth: 0,
        frame: 0,
    };
    let mut free = Vec::new();
    if let Expr::Variable(slot) | Expr::Item(slot) = expr {
        free.push(*slot);
    }
    expr.children(&mut |id, role| {
        let part = tables.facts(id);
        free.extend_from_slice(&part.free);
        if role != Role::Inner {
            facts.is_focused |= part.is_focused;
            facts.is_positional |= part.is_positional;
            facts.is_last |= part.is_last;
        }
        facts.is_rooted |= part.is_rooted;
        facts.is_fresh |= part.is_fresh;
        facts.depth = facts.depth.max(part.depth + 1);
        facts.frame = facts.frame.max(part.frame);
    });
    free.sort_unstable();
    free.dedup();
    let largest = free.last().map_or(0, |slot| slot.0 as usize + 1);
    facts.frame = facts.frame.max(largest);
    expr.bound(&mut |slot| {
        free.retain(|known| *known != slot);
        facts.frame = facts.frame.max(slot.0 as usize + 1);
    });
    facts.free = free.into();
    facts
}

// A function that a query declares may construct nodes; which ones do is not worth finding out.
fn is_fresh(expr: &Expr) -> bool {
    matches!(
        expr,
        Expr::NewElement(_)
            | Expr::NewAttribute(_)
            | Expr::NewText(_)
            | Expr::NewComment(_)
            | Expr::NewInstruction(..)
            | Expr::NewDocument(_)
            | Expr::OwnCall(..)
    )
}

fn amount(expr: &Expr, tables: &Tables) -> Amount {
    let of = |id: ExprId| tables.facts(id).amount;
    match expr {
        Expr::Constant(_)
        | Expr::Item(_)
        | Expr::Here
        | Expr::Root
        | Expr::Document(_)
        | Expr::Position
        | Expr::Last
        | Expr::GeneralCompare(..)
        | Expr::And(_)
        | Expr::Or(_)
        | Expr::Quantified { .. }
        | Expr::InstanceOf(..)
        | Expr::CastableAs { .. }
        | Expr::Characters(_)
        | Expr::NewElement(_)
        | Expr::NewAttribute(_)
        | Expr::NewComment(_)
        | Expr::NewInstruction(..)
        | Expr::NewDocument(_) => Amount::One,
        Expr::Arithmetic(..)
        | Expr::Signed { .. }
        | Expr::ValueCompare(..)
        | Expr::NodeCompare(..)
        | Expr::CastAs { .. }
        | Expr::NewText(_) => Amount::Optional,
        Expr::If(_, then, otherwise) => of(*then).max(of(*otherwise)),
        Expr::TreatAs(operand, _) => of(*operand),
        Expr::Step(step) => step_amount(step, tables),
        Expr::Filter {
            base, predicates, ..
        } => {
            let is_place = predicates.iter().any(|&id| is_place(id, tables));
            if of(*base) != Amount::Many || is_place {
                Amount::Optional
            } else {
                Amount::Many
            }
        }
        Expr::Flwor(clauses, result) => {
            clauses
                .iter()
                .fold(of(*result), |amount, clause| match clause {
                    Clause::For(_) => Amount::Many,
                    Clause::Where(_) => amount.max(Amount::Optional),
                    _ => amount,
                })
        }
        Expr::NodeCall(function, _) => function_amount(*function),
        Expr::Call(builtin, _) => match builtin.result.occurrence {
            Occurrence::One => Amount::One,
            Occurrence::Optional => Amount::Optional,
            _ => Amount::Many,
        },
        _ => Amount::Many,
    }
}

fn function_amount(function: NodeFunction) -> Amount {
    use NodeFunction as F;
    match function {
        F::Data
        | F::Id
        | F::InScopePrefixes
        | F::InsertBefore
        | F::OneOrMore
        | F::Remove
        | F::Reverse
        | F::Subsequence
        | F::Trace
        | F::Unordered => Amount::Many,
        F::BaseUri
        | F::DocumentUri
        | F::NamespaceUriForPrefix
        | F::Nilled
        | F::NodeName
        | F::ResolveQName
        | F::Root
        | F::ZeroOrOne => Amount::Optional,
        _ => Amount::One,
    }
}

fn is_place(id: ExprId, tables: &Tables) -> bool {
    matches!(tables.facts(id).truth, Truth::Place(_))
}

fn step_amount(step: &Step, tables: &Tables) -> Amount {
    let is_single = match step.axis {
        Axis::SelfNode | Axis::Parent => true,
        Axis::Attribute => matches!(tables.test(step.test).name, NameTest::Is(_)),
        _ => step.predicates.iter().any(|&id| is_place(id, tables)),
    };
    if is_single && tables.facts(step.base).amount != Amount::Many {
        Amount::Optional
    } else {
        Amount::Many
    }
}

fn order(expr: &Expr, tables: &Tables) -> Order {
    match expr {
        Expr::Step(step) => step_order(step, tables),
        Expr::Filter { base, .. } => tables.facts(*base).order,
        Expr::Union(_) | Expr::Combine { .. } => Order::Sorted,
        _ if amount(expr, tables) != Amount::Many => Order::Flat,
        _ => Order::Unknown,
    }
}

fn step_order(step: &Step, tables: &Tables) -> Order {
    let base = tables.facts(step.base);
    let is_single = base.amount != Amount::Many;
    match step.axis {
        Axis::SelfNode => base.order,
        Axis::Attribute if base.order <= Order::Sorted => Order::Flat,
        Axis::Child if base.order == Order::Flat => Order::Flat,
        Axis::Descendant | Axis::DescendantOrSelf if base.order == Order::Flat => Order::Sorted,
        Axis::Parent | Axis::FollowingSibling if is_single => Order::Flat,
        Axis::Following if is_single => Order::Sorted,
        _ => Order::Unknown,
    }
}

fn truth(expr: &Expr, tables: &Tables) -> Truth {
    match expr {
        Expr::GeneralCompare(..)
        | Expr::ValueCompare(..)
        | Expr::NodeCompare(..)
        | Expr::And(_)
        | Expr::Or(_)
        | Expr::Quantified { .. }
        | Expr::InstanceOf(..)
        | Expr::CastableAs { .. }
        | Expr::Step(_)
        | Expr::Union(_)
        | Expr::Combine { .. }
        | Expr::Root
        | Expr::Document(_) => Truth::Boolean,
        Expr::NodeCall(function, _) if function.is_boolean() => Truth::Boolean,
        Expr::Call(builtin, _) if builtin.result.kind == Kind::Type(AtomicType::Boolean) => {
            Truth::Boolean
        }
        Expr::Filter { base, .. } => match tables.facts(*base).truth {
            Truth::Boolean => Truth::Boolean,
            _ => Truth::Unknown,
        },
        Expr::Constant(constant) => match tables.constant(*constant) {
            Atomic::Integer(place) => Truth::Place(*place),
            _ => Truth::Unknown,
        },
        _ => Truth::Unknown,
    }
}
