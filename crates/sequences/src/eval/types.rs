//! Sequence types, conversions and casts.

use super::item::{Item, Sequence};
use super::run::{Flow, Focus, Run, fail};
use crate::atomic::AtomicType;
use crate::code::{ExprId, ItemType, Occurrence, SequenceType, TypeId};
use crate::functions::{self, Kind, Parameter, Values};

impl<'a> Run<'a> {
    fn type_(&self, id: TypeId) -> &'a SequenceType {
        &self.code.types[id.0 as usize]
    }

    /// Whether a value is of a type.
    pub fn is_instance(&self, value: &Sequence, type_: TypeId) -> bool {
        let type_ = self.type_(type_);
        let items = value.as_slice();
        type_.occurrence.accepts(items.len())
            && items.iter().all(|item| self.is_item(item, &type_.item))
    }

    fn is_item(&self, item: &Item, type_: &ItemType) -> bool {
        match (item, type_) {
            (_, ItemType::Item) => true,
            (Item::Node(node), ItemType::Node(test)) => {
                test.accepts(self.forest.tree(*node), node.node, &self.forest.names)
            }
            (Item::Atomic(value), ItemType::Atomic(type_)) => value.type_of().derives_from(*type_),
            _ => false,
        }
    }

    /// Sees to it that a value is of a type.
    pub fn check(&self, value: &Sequence, type_: TypeId, code: &'static str) -> Flow {
        if self.is_instance(value, type_) {
            return Ok(());
        }
        let wanted = describe(self.type_(type_));
        let found = match value.as_slice() {
            [] => "no item".into(),
            [Item::Atomic(value)] => format!("a value of type {}", value.type_of()),
            [Item::Node(_)] => "another node".into(),
            items => format!("{} items", items.len()),
        };
        fail(code, format!("{wanted} is expected here, not {found}"))
    }

    /// The value of an argument or of a function, by the function conversion rules.
    pub fn convert(&self, value: Sequence, id: TypeId) -> Flow<Sequence> {
        let type_ = self.type_(id);
        let (ItemType::Atomic(target), false) = (&type_.item, type_.occurrence == Occurrence::None)
        else {
            self.check(&value, id, "XPTY0004")?;
            return Ok(value);
        };
        if self.is_instance(&value, id) {
            return Ok(value);
        }
        self.owe(value.len() as u64);
        let items = value.as_slice().iter();
        let values: Values = items.map(|item| self.atomize(item)).collect();
        let parameter = Parameter {
            kind: Kind::Type(*target),
            occurrence: match type_.occurrence {
                Occurrence::One => functions::Occurrence::One,
                Occurrence::Optional => functions::Occurrence::Optional,
                Occurrence::Some => functions::Occurrence::Some,
                Occurrence::Any | Occurrence::None => functions::Occurrence::Many,
            },
        };
        let values = functions::convert(values, &parameter)?;
        Ok(values.into_iter().collect())
    }

    /// `cast as`
    pub fn cast(
        &mut self,
        operand: ExprId,
        target: AtomicType,
        is_optional: bool,
        focus: Focus<'_>,
    ) -> Flow<Sequence> {
        match self.atom(operand, focus)? {
            Some(value) => Ok(Sequence::atomic(value.cast(target)?)),
            None if is_optional => Ok(Sequence::Empty),
            None => fail("XPTY0004", format!("an empty sequence is cast as {target}")),
        }
    }

    /// `castable as`
    pub fn is_castable(
        &mut self,
        operand: ExprId,
        target: AtomicType,
        is_optional: bool,
        focus: Focus<'_>,
    ) -> Flow<bool> {
        let values = self.atoms(operand, focus)?;
        Ok(match values.as_slice() {
            [] => is_optional,
            [value] => value.is_castable(target),
            _ => false,
        })
    }
}

/// A sequence type in words.
fn describe(type_: &SequenceType) -> String {
    let item = match &type_.item {
        ItemType::Item => "item()".into(),
        ItemType::Node(test) => match test.kind {
            None => "node()".to_string(),
            Some(kind) => format!("{}()", super::write::kind_name(kind)),
        },
        ItemType::Atomic(type_) => type_.to_string(),
    };
    match type_.occurrence {
        Occurrence::One => item,
        Occurrence::Optional => item + "?",
        Occurrence::Any => item + "*",
        Occurrence::Some => item + "+",
        Occurrence::None => "empty-sequence()".into(),
    }
}
