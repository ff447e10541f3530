//! Reading one expression.

use super::TestId;
use super::bytes::{BadCode, Bytes, Read};
use super::expr::{Clause, Expr, For, NodeOrder, OrderKey, Slot, Step, TypeCase};
use super::node_function::{NodeFunction, takes_context};
use super::read::Tables;
use crate::atomic::{Comparison, Operator};
use crate::functions;
use crate::tree::Axis;

const AXES: [Axis; 12] = [
    Axis::SelfNode,
    Axis::Child,
    Axis::Descendant,
    Axis::DescendantOrSelf,
    Axis::Attribute,
    Axis::Parent,
    Axis::Ancestor,
    Axis::AncestorOrSelf,
    Axis::FollowingSibling,
    Axis::PrecedingSibling,
    Axis::Following,
    Axis::Preceding,
];
const OPERATORS: [&str; 6] = ["+", "-", "*", "div", "idiv", "mod"];
const COMPARISONS: [Comparison; 6] = [
    Comparison::Equal,
    Comparison::NotEqual,
    Comparison::Less,
    Comparison::LessOrEqual,
    Comparison::Greater,
    Comparison::GreaterOrEqual,
];
const NODE_ORDERS: [NodeOrder; 3] = [NodeOrder::Is, NodeOrder::Before, NodeOrder::After];

impl Tables {
    /// Reads an expression and adds it.
    pub(super) fn read_expr(&mut self, bytes: &mut Bytes<'_>) -> Read<()> {
        let code = bytes.word()?;
        let expr = match code {
            0..=9 => self.read_leaf(code, bytes)?,
            10..=16 => self.read_sequence(code, bytes)?,
            17..=23 => self.read_operator(code, bytes)?,
            24 => Expr::If(self.id(bytes)?, self.id(bytes)?, self.id(bytes)?),
            25 => self.read_flwor(bytes)?,
            26 => self.read_quantified(bytes)?,
            27 => Expr::OwnCall(bytes.word()?, self.ids(bytes)?),
            28 => self.read_call(bytes)?,
            29..=33 => self.read_typed(code, bytes)?,
            34..=40 => self.read_new(code, bytes)?,
            _ => return Err(BadCode("an unknown expression")),
        };
        let id = self.push_planned(expr);
        self.places.push(id);
        Ok(())
    }

    fn read_leaf(&self, code: u32, bytes: &mut Bytes<'_>) -> Read<Expr> {
        Ok(match code {
            0 => Expr::Constant(bytes.below(self.constants.len())?),
            1 => Expr::Variable(self.slot(bytes)?),
            2 => Expr::Item(self.slot(bytes)?),
            3 => Expr::Global(bytes.word()?),
            4 => Expr::Gathered(bytes.word()?),
            5 => Expr::Here,
            6 => Expr::Root,
            7 => Expr::Document(bytes.word()?),
            8 => Expr::Position,
            _ => Expr::Last,
        })
    }

    fn read_sequence(&self, code: u32, bytes: &mut Bytes<'_>) -> Read<Expr> {
        Ok(match code {
            10 => Expr::Sequence(self.ids(bytes)?),
            11 => Expr::Range(self.id(bytes)?, self.id(bytes)?),
            12 => Expr::Step(Step {
                base: self.id(bytes)?,
                axis: bytes.choice(&AXES)?,
                test: TestId(bytes.below(self.tests.len())?),
                predicates: self.ids(bytes)?,
                lookup: None,
            }),
            13 => Expr::Filter {
                base: self.id(bytes)?,
                predicates: self.ids(bytes)?,
                lookup: None,
            },
            14 => Expr::Union(self.ids(bytes)?),
            15 => Expr::Combine {
                is_except: bytes.flag()?,
                left: self.id(bytes)?,
                right: self.id(bytes)?,
            },
            _ => Expr::Each {
                base: self.id(bytes)?,
                body: self.id(bytes)?,
            },
        })
    }

    fn read_operator(&self, code: u32, bytes: &mut Bytes<'_>) -> Read<Expr> {
        Ok(match code {
            17 => {
                let symbol = bytes.choice(&OPERATORS)?;
                let operator = Operator::from_symbol(symbol);
                let operator = operator.ok_or(BadCode("an unknown operator"))?;
                Expr::Arithmetic(operator, self.id(bytes)?, self.id(bytes)?)
            }
            18 => Expr::Signed {
                is_negative: bytes.flag()?,
                operand: self.id(bytes)?,
            },
            19 => {
                let comparison = bytes.choice(&COMPARISONS)?;
                Expr::GeneralCompare(comparison, self.id(bytes)?, self.id(bytes)?)
            }
            20 => {
                let comparison = bytes.choice(&COMPARISONS)?;
                Expr::ValueCompare(comparison, self.id(bytes)?, self.id(bytes)?)
            }
            21 => {
                let order = bytes.choice(&NODE_ORDERS)?;
                Expr::NodeCompare(order, self.id(bytes)?, self.id(bytes)?)
            }
            22 => Expr::And(self.ids(bytes)?),
            _ => Expr::Or(self.ids(bytes)?),
        })
    }

    fn read_flwor(&self, bytes: &mut Bytes<'_>) -> Read<Expr> {
        let mut bound = Vec::new();
        let clauses = bytes.many(|bytes| {
            Ok(match bytes.below(5)? {
                0 => Clause::For(self.read_for(bytes, &mut bound)?),
                4 => Clause::For(For {
                    goes_on: true,
                    ..self.read_for(bytes, &mut bound)?
                }),
                1 => {
                    let slot = self.slot(bytes)?;
                    bound.push(slot);
                    Clause::Let {
                        slot,
                        source: self.id(bytes)?,
                        type_: self.optional_type(bytes)?,
                    }
                }
                2 => Clause::Where([self.id(bytes)?].into()),
                _ => {
                    let keys = bytes.many(|bytes| self.read_key(bytes))?;
                    Clause::OrderBy(keys.into(), bound.as_slice().into())
                }
            })
        })?;
        Ok(Expr::Flwor(clauses.into(), self.id(bytes)?))
    }

    fn read_for(&self, bytes: &mut Bytes<'_>, bound: &mut Vec<Slot>) -> Read<For> {
        let slot = self.slot(bytes)?;
        let source = self.id(bytes)?;
        let position = self.optional_slot(bytes)?;
        bound.push(slot);
        bound.extend(position);
        Ok(For {
            slot,
            source,
            position,
            goes_on: false,
            type_: self.optional_type(bytes)?,
            lookup: None,
        })
    }

    fn read_key(&self, bytes: &mut Bytes<'_>) -> Read<OrderKey> {
        Ok(OrderKey {
            key: self.id(bytes)?,
            is_descending: bytes.flag()?,
            is_empty_greatest: bytes.flag()?,
        })
    }

    fn read_quantified(&self, bytes: &mut Bytes<'_>) -> Read<Expr> {
        let is_every = bytes.flag()?;
        let bindings = bytes.many(|bytes| self.read_for(bytes, &mut Vec::new()))?;
        Ok(Expr::Quantified {
            is_every,
            bindings: bindings.into(),
            test: [self.id(bytes)?].into(),
        })
    }

    fn read_call(&mut self, bytes: &mut Bytes<'_>) -> Read<Expr> {
        let name: Box<str> = self.text(bytes)?.into();
        let mut arguments = self.ids(bytes)?.into_vec();
        if takes_context(&name, arguments.len()) {
            arguments.push(self.push(Expr::Here));
        }
        if let Some(function) = NodeFunction::find(&name, arguments.len()) {
            return Ok(Expr::NodeCall(function, arguments.into()));
        }
        let builtin = functions::find(&name, arguments.len());
        let builtin = builtin.ok_or(BadCode("an unknown function"))?;
        Ok(Expr::Call(builtin, arguments.into()))
    }

    fn read_typed(&self, code: u32, bytes: &mut Bytes<'_>) -> Read<Expr> {
        let operand = self.id(bytes)?;
        Ok(match code {
            29 => Expr::InstanceOf(operand, self.type_id(bytes)?),
            30 => Expr::TreatAs(operand, self.type_id(bytes)?),
            31 => Expr::CastAs {
                operand,
                target: self.atomic_type(bytes)?,
                is_optional: bytes.flag()?,
            },
            32 => Expr::CastableAs {
                operand,
                target: self.atomic_type(bytes)?,
                is_optional: bytes.flag()?,
            },
            _ => {
                let cases = bytes.many(|bytes| {
                    Ok(TypeCase {
                        type_: self.optional_type(bytes)?,
                        slot: self.optional_slot(bytes)?,
                        result: self.id(bytes)?,
                    })
                })?;
                if cases.last().is_none_or(|case| case.type_.is_some()) {
                    return Err(BadCode("a type switch has no default"));
                }
                Expr::TypeSwitch(operand, cases.into())
            }
        })
    }
}
