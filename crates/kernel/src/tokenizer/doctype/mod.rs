//! The document type declaration and its internal subset.
//!
//! Everything is checked; entities and attribute lists are kept. The external subset and external
//! parameter entities are never read.

mod attributes;
mod cursor;
mod elements;
mod entities;

use super::codes;
use super::entities::{Declared, Entity};
use super::faults::{limit, malformed, quote};
use super::markup::check_instruction;
use super::scanner::Core;
use crate::error::DocumentError;
use cursor::Cursor;
use std::collections::HashMap;
use std::rc::Rc;

pub(super) use attributes::ElementAttributes;

/// What a document says about its type.
#[derive(Default)]
pub(super) struct Doctype {
    pub entities: HashMap<Box<[u8]>, Declared>,
    /// By element name.
    pub attributes: HashMap<Box<[u8]>, Rc<ElementAttributes>>,
    pub is_standalone: bool,
    /// The declaration has been seen.
    pub is_declared: bool,
    parameters: HashMap<Box<[u8]>, Declared>,
    has_external_subset: bool,
    has_parameter_references: bool,
    /// A parameter entity was not read: what follows may depend on it (XML 1.0 §5.1).
    is_unread: bool,
}

impl Doctype {
    /// May an entity be declared where we do not read?
    pub fn may_declare_elsewhere(&self) -> bool {
        (self.has_external_subset || self.has_parameter_references) && !self.is_standalone
    }

    /// Do declarations still count?
    fn is_kept(&self) -> bool {
        !self.is_unread || self.is_standalone
    }
}

/// What stands between two declarations, or what came out of one.
enum Item {
    Declaration,
    /// The end of the bytes.
    End,
    /// `]`.
    Close,
    /// A parameter entity to be read in its place.
    Parameter(Rc<Entity>),
}

impl Core {
    /// Reads `<!DOCTYPE …>`.
    pub(super) fn read_doctype(&mut self, bytes: &[u8], start: u64) -> Result<(), DocumentError> {
        let mut cursor = Cursor::new(bytes, b"<!DOCTYPE".len(), start, &self.limits);
        cursor.code = codes::BAD_DOCTYPE;
        cursor.need_space()?;
        cursor.name()?;
        let is_spaced = cursor.space();
        if matches!(cursor.peek(), Some(b'S' | b'P')) {
            if !is_spaced {
                return Err(cursor.fault("white space"));
            }
            cursor.external_id(false)?;
            self.doctype.has_external_subset = true;
            cursor.space();
        }
        if cursor.eat(b"[") {
            self.read_subset(&mut cursor)?;
            cursor.code = codes::BAD_DOCTYPE;
            cursor.space();
        }
        cursor.need(b">")?;
        if cursor.peek().is_some() {
            return Err(cursor.fault("the end of the declaration"));
        }
        Ok(())
    }

    /// Reads declarations up to the closing bracket. Parameter entities are read on a stack; each
    /// has to consist of whole declarations.
    fn read_subset(&mut self, cursor: &mut Cursor<'_>) -> Result<(), DocumentError> {
        let mut stack: Vec<(Rc<Entity>, usize)> = Vec::new();
        let mut reference = cursor.offset();
        loop {
            let item = match stack.last_mut() {
                None => {
                    cursor.space();
                    reference = cursor.offset();
                    self.read_item(cursor)?
                }
                Some((entity, at)) => {
                    let entity = entity.clone();
                    let mut inner = Cursor::entity(&entity.text, *at, reference, &self.limits);
                    let item = self.read_item(&mut inner)?;
                    *at = inner.at;
                    item
                }
            };
            match item {
                Item::Declaration => {}
                Item::Close if stack.is_empty() => return Ok(()),
                Item::End if !stack.is_empty() => drop(stack.pop()),
                Item::Close | Item::End => {
                    let reason = "the internal subset ends in the wrong place";
                    return Err(malformed(codes::BAD_DOCTYPE, reference, reason));
                }
                Item::Parameter(entity) => {
                    if stack.iter().any(|(open, _)| Rc::ptr_eq(open, &entity)) {
                        let reason = format!("entity `%{};` contains itself", quote(&entity.name));
                        return Err(malformed(codes::RECURSIVE_ENTITY, reference, reason));
                    }
                    self.include(&entity, reference)?;
                    stack.push((entity, 0));
                    if stack.len() as u64 > self.limits.entity_depth_max {
                        let max = self.limits.entity_depth_max;
                        return Err(limit("entity_depth_max", reference, max));
                    }
                }
            }
        }
    }

    fn read_item(&mut self, cursor: &mut Cursor<'_>) -> Result<Item, DocumentError> {
        cursor.code = codes::BAD_DOCTYPE;
        cursor.space();
        match cursor.peek() {
            None => return Ok(Item::End),
            Some(b']') => {
                cursor.at += 1;
                return Ok(Item::Close);
            }
            Some(b'%') => return self.read_parameter(cursor),
            Some(_) => {}
        }
        if cursor.eat(b"<!--") {
            cursor.comment()?;
        } else if cursor.eat(b"<?") {
            let start = cursor.offset();
            let body = cursor.until(b"?>", "the end of a processing instruction")?;
            check_instruction(body, start, self.limits.name_bytes_max)?;
        } else if cursor.eat(b"<!ELEMENT") {
            cursor.code = codes::BAD_ELEMENT_DECLARATION;
            elements::read(cursor)?;
        } else if cursor.eat(b"<!ATTLIST") {
            cursor.code = codes::BAD_ATTLIST_DECLARATION;
            self.read_attlist(cursor)?;
        } else if cursor.eat(b"<!ENTITY") {
            cursor.code = codes::BAD_ENTITY_DECLARATION;
            self.read_entity(cursor)?;
        } else if cursor.eat(b"<!NOTATION") {
            cursor.code = codes::BAD_NOTATION_DECLARATION;
            cursor.need_space()?;
            cursor.simple_name()?;
            cursor.need_space()?;
            cursor.external_id(true)?;
            cursor.close()?;
        } else {
            return Err(cursor.fault("a declaration"));
        }
        Ok(Item::Declaration)
    }

    /// A parameter entity reference between declarations.
    fn read_parameter(&mut self, cursor: &mut Cursor<'_>) -> Result<Item, DocumentError> {
        let start = cursor.offset();
        cursor.at += 1;
        let name = cursor.simple_name()?;
        cursor.need(b";")?;
        self.doctype.has_parameter_references = true;
        match self.doctype.parameters.get(name) {
            Some(Declared::Internal(entity)) => Ok(Item::Parameter(entity.clone())),
            None if self.doctype.is_standalone => {
                let reason = format!("entity `%{};` is not declared", quote(name));
                Err(malformed(codes::UNDECLARED_ENTITY, start, reason))
            }
            _ => {
                self.doctype.is_unread = true;
                Ok(Item::Declaration)
            }
        }
    }
}
