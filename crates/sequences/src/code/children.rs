//! The parts of an expression, and how often and with which context item each is evaluated.

use super::expr::{Clause, Expr, ExprId, For, NewName, Slot};

/// How a part is evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Once, with the context item of the whole.
    Once,
    /// Any number of times, with the context item of the whole.
    Looped,
    /// Any number of times, with context items of its own.
    Inner,
}

impl Expr {
    /// Visits the parts in order.
    pub(super) fn children(&self, visit: &mut dyn FnMut(ExprId, Role)) {
        let mut all = |ids: &[ExprId], role| ids.iter().for_each(|&id| visit(id, role));
        match self {
            Expr::Sequence(parts)
            | Expr::Union(parts)
            | Expr::And(parts)
            | Expr::Or(parts)
            | Expr::OwnCall(_, parts)
            | Expr::NodeCall(_, parts)
            | Expr::Call(_, parts) => all(parts, Role::Once),
            Expr::Range(left, right)
            | Expr::Combine { left, right, .. }
            | Expr::Arithmetic(_, left, right)
            | Expr::GeneralCompare(_, left, right)
            | Expr::ValueCompare(_, left, right)
            | Expr::NodeCompare(_, left, right) => all(&[*left, *right], Role::Once),
            Expr::Signed { operand, .. }
            | Expr::InstanceOf(operand, _)
            | Expr::TreatAs(operand, _)
            | Expr::CastAs { operand, .. }
            | Expr::CastableAs { operand, .. }
            | Expr::NewText(operand)
            | Expr::NewComment(operand)
            | Expr::NewDocument(operand) => all(&[*operand], Role::Once),
            Expr::If(test, then, otherwise) => all(&[*test, *then, *otherwise], Role::Once),
            Expr::Step(step) => {
                all(&[step.base], Role::Once);
                all(&step.predicates, Role::Inner);
            }
            Expr::Filter {
                base, predicates, ..
            } => {
                all(&[*base], Role::Once);
                all(predicates, Role::Inner);
            }
            Expr::Each { base, body } => {
                all(&[*base], Role::Once);
                all(&[*body], Role::Inner);
            }
            Expr::TypeSwitch(operand, cases) => {
                all(&[*operand], Role::Once);
                let results: Vec<ExprId> = cases.iter().map(|case| case.result).collect();
                all(&results, Role::Once);
            }
            Expr::Flwor(clauses, result) => {
                let role = clause_parts(clauses, &mut all);
                all(&[*result], role);
            }
            Expr::Quantified { bindings, test, .. } => {
                let mut role = Role::Once;
                for binding in bindings {
                    role = for_parts(binding, role, &mut all);
                }
                all(test, role);
            }
            Expr::NewElement(new) => {
                name_part(new.name, &mut all);
                all(&new.content, Role::Once);
            }
            Expr::NewAttribute(new) => {
                name_part(new.name, &mut all);
                all(&new.value, Role::Once);
            }
            Expr::NewInstruction(name, value) => {
                name_part(*name, &mut all);
                all(&[*value], Role::Once);
            }
            Expr::Constant(_)
            | Expr::Variable(_)
            | Expr::Item(_)
            | Expr::Global(_)
            | Expr::Gathered(_)
            | Expr::Here
            | Expr::Root
            | Expr::Document(_)
            | Expr::Position
            | Expr::Last
            | Expr::Characters(_) => {}
        }
    }

    /// Visits the variables that the expression binds.
    pub(super) fn bound(&self, visit: &mut dyn FnMut(Slot)) {
        let slots = |clause: &For| [Some(clause.slot), clause.position];
        match self {
            Expr::Flwor(clauses, _) => {
                for clause in clauses {
                    match clause {
                        Clause::For(clause) => {
                            slots(clause).into_iter().flatten().for_each(&mut *visit)
                        }
                        Clause::Let { slot, .. } => visit(*slot),
                        Clause::Where(_) | Clause::OrderBy(..) => {}
                    }
                }
            }
            Expr::Quantified { bindings, .. } => {
                bindings.iter().flat_map(slots).flatten().for_each(visit);
            }
            Expr::TypeSwitch(_, cases) => cases.iter().filter_map(|case| case.slot).for_each(visit),
            _ => {}
        }
    }
}

/// Visits the parts of clauses, and returns how often what follows them is evaluated.
fn clause_parts(clauses: &[Clause], all: &mut impl FnMut(&[ExprId], Role)) -> Role {
    let mut role = Role::Once;
    for clause in clauses {
        match clause {
            Clause::For(clause) => {
                role = for_parts(clause, role, all);
            }
            Clause::Let { source, .. } => all(&[*source], role),
            Clause::Where(test) => all(test, role),
            Clause::OrderBy(keys, _) => keys.iter().for_each(|key| all(&[key.key], role)),
        }
    }
    role
}

fn for_parts(clause: &For, role: Role, all: &mut impl FnMut(&[ExprId], Role)) -> Role {
    all(&[clause.source], role);
    if let Some((_, condition)) = clause.lookup {
        all(&[condition], Role::Looped);
    }
    Role::Looped
}

fn name_part(name: NewName, all: &mut impl FnMut(&[ExprId], Role)) {
    if let NewName::Computed(id) = name {
        all(&[id], Role::Once);
    }
}
