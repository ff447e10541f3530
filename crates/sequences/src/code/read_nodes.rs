//! Reading constructors.

use super::bytes::{Bytes, Read};
use super::expr::{Declared, Expr, NewAttribute, NewElement, NewName};
use super::read::Tables;
use crate::names::{QName, StringId};

impl Tables {
    pub(super) fn read_new(&self, code: u32, bytes: &mut Bytes<'_>) -> Read<Expr> {
        Ok(match code {
            34 => Expr::Characters(bytes.below(self.texts.len())?),
            35 => Expr::NewElement(NewElement {
                name: self.read_new_name(bytes)?,
                namespaces: self.declared(bytes)?,
                content: self.ids(bytes)?,
                scope: self.declared(bytes)?,
            }),
            36 => Expr::NewAttribute(NewAttribute {
                name: self.read_new_name(bytes)?,
                value: self.ids(bytes)?,
                scope: self.declared(bytes)?,
            }),
            37 => Expr::NewText(self.id(bytes)?),
            38 => Expr::NewComment(self.id(bytes)?),
            39 => Expr::NewInstruction(self.read_new_name(bytes)?, self.id(bytes)?),
            _ => Expr::NewDocument(self.id(bytes)?),
        })
    }

    fn read_new_name(&self, bytes: &mut Bytes<'_>) -> Read<NewName> {
        Ok(if bytes.flag()? {
            NewName::Computed(self.id(bytes)?)
        } else {
            NewName::Known(self.known_name(bytes)?)
        })
    }

    fn known_name(&self, bytes: &mut Bytes<'_>) -> Read<QName> {
        Ok(self.names[bytes.below(self.names.len())? as usize])
    }

    fn declared(&self, bytes: &mut Bytes<'_>) -> Read<Declared> {
        let pair = |bytes: &mut Bytes<'_>| -> Read<(StringId, StringId)> {
            Ok((self.string(bytes)?, self.string(bytes)?))
        };
        Ok(bytes.many(pair)?.into())
    }
}
