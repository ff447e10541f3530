//! Names that are computed.

use super::node_calls::XML;
use super::run::{Flow, Focus, Run, fail};
use crate::atomic::Atomic;
use crate::code::NewName;
use crate::names::{QName, StringId};

/// Whether text is a name without a colon.
pub(super) fn is_ncname(text: &str) -> bool {
    crate::atomic::is_ncname(text)
}

/// Prefix and local name of a lexical QName; None if it is none.
pub(super) fn split(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_matches([' ', '\t', '\r', '\n']);
    match text.split_once(':') {
        Some((prefix, local)) => (is_ncname(prefix) && is_ncname(local)).then_some((prefix, local)),
        None => is_ncname(text).then_some(("", text)),
    }
}

impl Run<'_> {
    /// The name of a constructed element or attribute.
    pub fn new_name(
        &mut self,
        name: NewName,
        scope: &[(StringId, StringId)],
        is_attribute: bool,
        focus: Focus<'_>,
    ) -> Flow<QName> {
        let id = match name {
            NewName::Known(name) => return Ok(name),
            NewName::Computed(id) => id,
        };
        let Some(value) = self.atom(id, focus)? else {
            return fail("XPTY0004", "a constructor has no name");
        };
        let name = match &value {
            Atomic::QName(name) => {
                let names = &mut self.forest.names;
                names.qname(
                    name.prefix.as_bytes(),
                    name.uri.as_bytes(),
                    name.local.as_bytes(),
                )
            }
            Atomic::String(text) | Atomic::UntypedAtomic(text) => {
                self.resolve(text, scope, is_attribute)?
            }
            other => {
                let type_ = other.type_of();
                return fail("XPTY0004", format!("a value of type {type_} is no name"));
            }
        };
        if is_attribute {
            self.check_attribute_name(name)?;
        }
        Ok(name)
    }

    fn resolve(
        &mut self,
        text: &str,
        scope: &[(StringId, StringId)],
        is_attribute: bool,
    ) -> Flow<QName> {
        let Some((prefix, local)) = split(text) else {
            return fail("XQDY0074", format!("{text:?} is not a name"));
        };
        let names = &mut self.forest.names;
        let (prefix, local) = (names.string(prefix), names.string(local));
        let uri = if prefix.is_empty() && is_attribute {
            StringId::EMPTY
        } else {
            let declared = scope.iter().find(|(known, _)| *known == prefix);
            match declared {
                Some((_, uri)) => *uri,
                None if prefix.is_empty() => StringId::EMPTY,
                None if **names.text(prefix) == *"xml" => names.string(XML),
                None => {
                    return fail(
                        "XQDY0074",
                        format!("the prefix of {text:?} is not declared"),
                    );
                }
            }
        };
        Ok(QName {
            name: names.expanded(uri, local),
            prefix,
        })
    }

    fn check_attribute_name(&self, name: QName) -> Flow {
        let names = &self.forest.names;
        let uri = names.text(names.uri(name.name));
        let is_declaration = **uri == *"http://www.w3.org/2000/xmlns/"
            || uri.is_empty() && **names.text(names.local(name.name)) == *"xmlns";
        if is_declaration {
            return fail(
                "XQDY0044",
                "an attribute must not be a namespace declaration",
            );
        }
        Ok(())
    }
}
