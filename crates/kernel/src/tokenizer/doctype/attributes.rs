//! Attribute list declarations: types and defaults.

use super::cursor::Cursor;
use crate::error::DocumentError;
use crate::tokenizer::attributes::collapse_spaces;
use crate::tokenizer::characters::{is_name, is_token};
use crate::tokenizer::codes;
use crate::tokenizer::faults::{malformed, quote};
use crate::tokenizer::scanner::Core;
use std::collections::HashMap;
use std::rc::Rc;

/// What is declared about one attribute.
#[derive(Clone, Debug)]
pub(crate) struct DeclaredAttribute {
    /// Of a type other than CDATA: its value is a list of tokens.
    pub is_tokenized: bool,
    /// Of type ID.
    pub is_id: bool,
    /// Normalised.
    default: Option<Box<[u8]>>,
}

/// What is declared about the attributes of one element, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct ElementAttributes {
    list: Vec<(Box<[u8]>, DeclaredAttribute)>,
    index: HashMap<Box<[u8]>, usize>,
}

impl ElementAttributes {
    pub fn get(&self, name: &[u8]) -> Option<&DeclaredAttribute> {
        self.index.get(name).map(|at| &self.list[*at].1)
    }

    /// Names and default values.
    pub fn defaults(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        self.list
            .iter()
            .filter_map(|(name, declared)| Some((&**name, declared.default.as_deref()?)))
    }

    /// The name of the attribute of type ID.
    pub fn id(&self) -> Option<&[u8]> {
        self.list
            .iter()
            .find(|(_, declared)| declared.is_id)
            .map(|(name, _)| &**name)
    }

    /// The first declaration of an attribute counts.
    fn add(&mut self, name: &[u8], declared: DeclaredAttribute) {
        if !self.index.contains_key(name) {
            self.index.insert(name.into(), self.list.len());
            self.list.push((name.into(), declared));
        }
    }
}

const TYPES: [&[u8]; 8] = [
    b"CDATA",
    b"IDREFS",
    b"IDREF",
    b"ID",
    b"ENTITIES",
    b"ENTITY",
    b"NMTOKENS",
    b"NMTOKEN",
];

impl Core {
    /// Reads a declaration from after `<!ATTLIST`.
    pub(super) fn read_attlist(&mut self, cursor: &mut Cursor<'_>) -> Result<(), DocumentError> {
        cursor.need_space()?;
        let element = cursor.name()?;
        let mut attributes = self.doctype.attributes.remove(element).unwrap_or_default();
        loop {
            let is_spaced = cursor.space();
            if cursor.eat(b">") {
                break;
            }
            if !is_spaced {
                return Err(cursor.fault("white space"));
            }
            let name = cursor.name()?;
            let declared = self.read_attribute(cursor)?;
            if self.doctype.is_kept() {
                Rc::make_mut(&mut attributes).add(name, declared);
            }
        }
        if !attributes.list.is_empty() {
            self.doctype.attributes.insert(element.into(), attributes);
        }
        Ok(())
    }

    /// Type and default of one attribute.
    fn read_attribute(
        &mut self,
        cursor: &mut Cursor<'_>,
    ) -> Result<DeclaredAttribute, DocumentError> {
        cursor.need_space()?;
        let kind = read_type(cursor)?;
        let is_tokenized = kind != b"CDATA";
        cursor.need_space()?;
        let default = if cursor.eat(b"#REQUIRED") || cursor.eat(b"#IMPLIED") {
            None
        } else {
            if cursor.eat(b"#FIXED") {
                cursor.need_space()?;
            }
            let start = cursor.offset();
            let literal = cursor.literal()?;
            let mut value = Vec::new();
            self.append_value(literal, start, cursor.is_entity, &mut value)?;
            if is_tokenized {
                collapse_spaces(&mut value, 0);
            }
            Some(value.into())
        };
        Ok(DeclaredAttribute {
            is_tokenized,
            is_id: kind == b"ID",
            default,
        })
    }
}

/// The name of a type; empty for a list of the values allowed.
fn read_type<'a>(cursor: &mut Cursor<'a>) -> Result<&'a [u8], DocumentError> {
    let is_notation = cursor.eat(b"NOTATION");
    if is_notation {
        cursor.need_space()?;
    }
    if is_notation || cursor.peek() == Some(b'(') {
        read_values(cursor, is_notation)?;
        return Ok(b"");
    }
    match TYPES.iter().find(|kind| cursor.eat(kind)) {
        Some(kind) => Ok(kind),
        None => Err(cursor.fault("an attribute type")),
    }
}

/// `(a | b)`: names of notations, or tokens.
fn read_values(cursor: &mut Cursor<'_>, is_notation: bool) -> Result<(), DocumentError> {
    cursor.need(b"(")?;
    loop {
        cursor.space();
        let start = cursor.offset();
        let token = cursor.token()?;
        let is_good = if is_notation {
            is_name(token)
        } else {
            is_token(token)
        };
        if !is_good {
            let reason = format!("`{}` is no value of an attribute type", quote(token));
            return Err(malformed(codes::BAD_NAME, start, reason));
        }
        cursor.space();
        if cursor.eat(b")") {
            return Ok(());
        }
        cursor.need(b"|")?;
    }
}
