//! Entity declarations.

use super::cursor::Cursor;
use crate::error::DocumentError;
use crate::tokenizer::codes;
use crate::tokenizer::content::normalize_lines;
use crate::tokenizer::entities::{Declared, Entity};
use crate::tokenizer::faults::malformed;
use crate::tokenizer::references::{Reference, parse_reference};
use crate::tokenizer::scanner::Core;
use std::rc::Rc;

impl Core {
    /// Reads a declaration from after `<!ENTITY`.
    pub(super) fn read_entity(&mut self, cursor: &mut Cursor<'_>) -> Result<(), DocumentError> {
        cursor.need_space()?;
        // `% name` declares a parameter entity, `%name;` would refer to one.
        let is_parameter = cursor.peek() == Some(b'%')
            && cursor
                .bytes
                .get(cursor.at + 1)
                .is_some_and(u8::is_ascii_whitespace);
        if is_parameter {
            cursor.at += 1;
            cursor.need_space()?;
        }
        let name = cursor.simple_name()?;
        cursor.need_space()?;
        let declared = match cursor.peek() {
            Some(b'"' | b'\'') => {
                let start = cursor.offset();
                let literal = cursor.literal()?;
                let text = self.entity_text(literal, start, cursor.is_entity)?;
                Declared::Internal(Rc::new(Entity::new(name, text)))
            }
            _ => {
                cursor.external_id(false)?;
                let is_spaced = cursor.space();
                if !is_parameter && is_spaced && cursor.eat(b"NDATA") {
                    cursor.need_space()?;
                    cursor.simple_name()?;
                    Declared::Unparsed
                } else {
                    Declared::External
                }
            }
        };
        cursor.close()?;
        if self.doctype.is_kept() {
            let table = match is_parameter {
                true => &mut self.doctype.parameters,
                false => &mut self.doctype.entities,
            };
            // The first declaration of an entity counts.
            table.entry(name.into()).or_insert(declared);
        }
        Ok(())
    }

    /// The replacement text: character references resolved, references to entities kept.
    fn entity_text(
        &self,
        literal: &[u8],
        start: u64,
        is_entity: bool,
    ) -> Result<Vec<u8>, DocumentError> {
        let mut lines = Vec::new();
        let literal = if is_entity {
            literal
        } else {
            normalize_lines(literal, &mut lines);
            &lines
        };
        let mut text = Vec::with_capacity(literal.len());
        let mut at = 0;
        while let Some(length) = memchr::memchr2(b'&', b'%', &literal[at..]) {
            let mark = at + length;
            text.extend_from_slice(&literal[at..mark]);
            if literal[mark] == b'%' {
                let reason = "`%` stands in the value of an entity of the internal subset";
                return Err(malformed(codes::MISPLACED_PARAMETER, start, reason));
            }
            let Some((reference, end)) = parse_reference(literal, mark, start, &self.limits)?
            else {
                let reason = "a reference is cut off by the end of its literal";
                return Err(malformed(codes::BAD_REFERENCE, start, reason));
            };
            match reference {
                // `&lt;` stays a reference here; `&#60;` does not.
                Reference::Character(c) if literal[mark + 1] == b'#' => {
                    text.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                }
                _ => text.extend_from_slice(&literal[mark..end]),
            }
            at = end;
        }
        text.extend_from_slice(&literal[at..]);
        Ok(text)
    }
}
