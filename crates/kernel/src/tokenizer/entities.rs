//! Entities: what a reference stands for, and reading an entity's text in its place.

use super::codes;
use super::faults::{limit, malformed, quote};
use super::references::{Reference, parse_reference};
use super::scanner::{Core, Source, Stop};
use crate::error::DocumentError;
use crate::events::{Handler, Span};
use std::rc::Rc;

/// An internal entity.
#[derive(Debug)]
pub(super) struct Entity {
    pub name: Box<[u8]>,
    /// The replacement text: character references resolved, the others not.
    pub text: Box<[u8]>,
    /// The text contains `<`, `&` or `]]>` and has to be read as markup.
    pub has_markup: bool,
}

impl Entity {
    pub fn new(name: &[u8], text: Vec<u8>) -> Self {
        let has_markup = text.iter().any(|byte| matches!(byte, b'<' | b'&'))
            || memchr::memmem::find(&text, b"]]>").is_some();
        Entity {
            name: name.into(),
            text: text.into(),
            has_markup,
        }
    }
}

/// What an entity declaration gave a name to.
#[derive(Clone, Debug)]
pub(super) enum Declared {
    /// Text.
    Internal(Rc<Entity>),
    /// Another resource, never read.
    External,
    /// Data that is not XML.
    Unparsed,
}

/// What a reference leads to.
pub(super) enum Target {
    Entity(Rc<Entity>),
    /// Nothing: the entity, or the declaration it may have, is in another resource.
    Unread,
}

/// An entity being read in content.
pub(super) struct Frame {
    entity: Rc<Entity>,
    at: usize,
    outer_floor: usize,
}

impl Core {
    /// Finds what a reference in content leads to.
    pub(super) fn target(&self, name: &[u8], start: u64) -> Result<Target, DocumentError> {
        match self.doctype.entities.get(name) {
            Some(Declared::Internal(entity)) => Ok(Target::Entity(entity.clone())),
            Some(Declared::External) => Ok(Target::Unread),
            Some(Declared::Unparsed) => {
                let reason = format!("`&{};` refers to an unparsed entity", quote(name));
                Err(malformed(codes::FORBIDDEN_ENTITY, start, reason))
            }
            None if self.doctype.may_declare_elsewhere() => Ok(Target::Unread),
            None => {
                let reason = format!("entity `{}` is not declared", quote(name));
                Err(malformed(codes::UNDECLARED_ENTITY, start, reason))
            }
        }
    }

    /// Counts the use of an entity against the limits.
    pub(super) fn include(&mut self, entity: &Entity, start: u64) -> Result<(), DocumentError> {
        self.entity_bytes += entity.text.len() as u64;
        if self.entity_bytes > self.limits.entity_bytes_max {
            return Err(limit(
                "entity_bytes_max",
                start,
                self.limits.entity_bytes_max,
            ));
        }
        self.check_entity_depth(self.frames.len() + 1, start)
    }

    fn check_entity_depth(&self, depth: usize, start: u64) -> Result<(), DocumentError> {
        if depth as u64 > self.limits.entity_depth_max {
            return Err(limit(
                "entity_depth_max",
                start,
                self.limits.entity_depth_max,
            ));
        }
        Ok(())
    }

    /// Reads an entity's text as content, and that of the entities it refers to, on a stack of
    /// our own: nothing about a document may use up the machine's.
    pub(super) fn expand<H: Handler>(
        &mut self,
        entity: Rc<Entity>,
        outer: Span,
        handler: &mut H,
    ) -> Result<(), DocumentError> {
        self.push_frame(entity, outer)?;
        while let Some(frame) = self.frames.last() {
            let entity = frame.entity.clone();
            let source = Source {
                bytes: &entity.text,
                base: 0,
                is_plain: false,
                outer: Some(outer),
            };
            let mut at = frame.at;
            match self.scan(&source, &mut at, handler).map_err(|halt| *halt.0) {
                Err(Stop::Enter(next, inner, _)) => {
                    if let Some(frame) = self.frames.last_mut() {
                        frame.at = next;
                    }
                    self.push_frame(inner, outer)?;
                    continue;
                }
                Err(Stop::Fault(fault)) => return Err(fault),
                Ok(()) | Err(Stop::More) => {}
            }
            let is_complete = at == entity.text.len() && self.cdata.is_none();
            if !is_complete || self.open.len() != self.floor {
                let name = quote(&entity.name);
                let reason = format!("entity `{name}` is not well-formed by itself");
                return Err(malformed(codes::UNBALANCED_ENTITY, outer.start, reason));
            }
            if let Some(frame) = self.frames.pop() {
                self.floor = frame.outer_floor;
            }
        }
        Ok(())
    }

    fn push_frame(&mut self, entity: Rc<Entity>, outer: Span) -> Result<(), DocumentError> {
        if self
            .frames
            .iter()
            .any(|frame| Rc::ptr_eq(&frame.entity, &entity))
        {
            return Err(recursive(&entity, outer.start));
        }
        self.frames.push(Frame {
            entity,
            at: 0,
            outer_floor: self.floor,
        });
        self.floor = self.open.len();
        Ok(())
    }

    /// Adds a normalised attribute value to `out`: references resolved, white space as spaces.
    /// `start` is the byte for errors; `is_entity` tells that line ends are normalised already.
    pub(super) fn append_value(
        &mut self,
        value: &[u8],
        start: u64,
        is_entity: bool,
        out: &mut Vec<u8>,
    ) -> Result<(), DocumentError> {
        let mut frames: Vec<(Rc<Entity>, usize)> = Vec::new();
        let from = out.len();
        let mut entered = self.append_part(value, 0, start, is_entity, out)?;
        let mut resume = 0;
        loop {
            if (out.len() - from) as u64 > self.limits.attribute_bytes_max {
                return Err(limit(
                    "attribute_bytes_max",
                    start,
                    self.limits.attribute_bytes_max,
                ));
            }
            if let Some((next, entity)) = entered {
                match frames.last_mut() {
                    Some(frame) => frame.1 = next,
                    None => resume = next,
                }
                if frames.iter().any(|(open, _)| Rc::ptr_eq(open, &entity)) {
                    return Err(recursive(&entity, start));
                }
                frames.push((entity, 0));
                self.check_entity_depth(self.frames.len() + frames.len(), start)?;
            } else if frames.pop().is_none() {
                return Ok(());
            }
            entered = match frames.last() {
                Some((entity, at)) => {
                    let entity = entity.clone();
                    self.append_part(&entity.text, *at, start, true, out)?
                }
                None => self.append_part(value, resume, start, is_entity, out)?,
            };
        }
    }

    /// Adds a value up to its end or to the first entity that has to be read.
    fn append_part(
        &mut self,
        value: &[u8],
        from: usize,
        start: u64,
        is_entity: bool,
        out: &mut Vec<u8>,
    ) -> Result<Option<(usize, Rc<Entity>)>, DocumentError> {
        let mut at = from;
        while at < value.len() {
            let plain = value[at..]
                .iter()
                .position(|byte| *byte < 0x20 || matches!(byte, b'<' | b'&'));
            let end = plain.map_or(value.len(), |length| at + length);
            out.extend_from_slice(&value[at..end]);
            at = end + 1;
            match value.get(end) {
                None => break,
                Some(b'<') => return Err(markup_in_value(start)),
                Some(b'&') => {
                    let parsed = parse_reference(value, end, start, &self.limits)?;
                    let Some((reference, next)) = parsed else {
                        let reason = "a reference is cut off by the end of its value";
                        return Err(malformed(codes::BAD_REFERENCE, start, reason));
                    };
                    at = next;
                    match reference {
                        Reference::Character(c) => {
                            out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                        }
                        Reference::Entity(name) => {
                            if let Some(entity) = self.value_target(name, start)? {
                                self.include(&entity, start)?;
                                return Ok(Some((next, entity)));
                            }
                        }
                    }
                }
                Some(b'\r') if !is_entity && value.get(at) == Some(&b'\n') => {}
                Some(_) => out.push(b' '),
            }
        }
        Ok(None)
    }

    fn value_target(&self, name: &[u8], start: u64) -> Result<Option<Rc<Entity>>, DocumentError> {
        if let Some(Declared::External) = self.doctype.entities.get(name) {
            let reason = format!(
                "`&{};` refers to an external entity in an attribute value",
                quote(name)
            );
            return Err(malformed(codes::FORBIDDEN_ENTITY, start, reason));
        }
        Ok(match self.target(name, start)? {
            Target::Entity(entity) => Some(entity),
            Target::Unread => None,
        })
    }
}

fn recursive(entity: &Entity, start: u64) -> DocumentError {
    let reason = format!("entity `{}` contains itself", quote(&entity.name));
    malformed(codes::RECURSIVE_ENTITY, start, reason)
}

pub(super) fn markup_in_value(start: u64) -> DocumentError {
    malformed(
        codes::MARKUP_IN_VALUE,
        start,
        "`<` stands in an attribute value",
    )
}
