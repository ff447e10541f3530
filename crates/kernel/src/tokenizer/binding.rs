//! The names of a start tag's attributes bound to namespaces, and compared with each other.

use super::attributes::RawAttribute;
use super::codes;
use super::faults::{malformed, quote};
use super::names::{Bound, Role};
use super::namespaces::{PrefixId, UriId};
use super::scanner::{Core, Source};
use crate::error::DocumentError;
use crate::events::{Attribute, Handler};

/// Up to so many attributes are compared with each other; more are sorted.
const COMPARED_MAX: usize = 8;

impl Core {
    /// Enters the namespaces that this tag declares, if any.
    #[inline]
    pub(super) fn declare_namespaces(
        &mut self,
        source: &Source<'_>,
    ) -> Result<bool, DocumentError> {
        if !self.parts.has_declaration {
            return Ok(false);
        }
        let mut declared = std::mem::take(&mut self.parts.declared);
        declared.clear();
        for index in 0..self.parts.attributes.len() {
            let attribute = self.parts.attributes[index];
            if let Role::Declaration(prefix) = self.names.get(attribute.name).role {
                let value = if attribute.is_normalized {
                    &self.parts.values[attribute.from..attribute.to]
                } else {
                    &source.bytes[attribute.from..attribute.to]
                };
                let uri = self.spaces.uri(value);
                self.check_declaration(prefix, uri, attribute.span.start)?;
                declared.push((prefix, uri));
            }
        }
        self.spaces.enter(&declared);
        self.parts.declared = declared;
        Ok(true)
    }

    fn check_declaration(
        &self,
        prefix: PrefixId,
        uri: UriId,
        start: u64,
    ) -> Result<(), DocumentError> {
        let name = || quote(self.spaces.prefix_bytes(prefix));
        let is_reserved = matches!(uri, UriId::XML | UriId::XMLNS)
            || matches!(prefix, PrefixId::XML | PrefixId::XMLNS);
        if is_reserved && (prefix, uri) != (PrefixId::XML, UriId::XML) {
            let uri = quote(self.spaces.uri_bytes(uri));
            let reason = format!("prefix `{}` may not be bound to `{uri}`", name());
            return Err(malformed(codes::RESERVED_NAMESPACE, start, reason));
        }
        if uri == UriId::NONE && prefix != PrefixId::DEFAULT {
            let reason = format!("prefix `{}` is bound to an empty namespace name", name());
            return Err(malformed(codes::UNDECLARED_NAMESPACE, start, reason));
        }
        Ok(())
    }

    /// Finds namespaces and symbols of the attributes and refuses duplicates.
    #[inline]
    pub(super) fn bind_attributes<H: Handler>(
        &mut self,
        handler: &mut H,
    ) -> Result<(), DocumentError> {
        for index in 0..self.parts.attributes.len() {
            let RawAttribute { name: id, span, .. } = self.parts.attributes[index];
            let name = self.names.get_mut(id);
            let uri = match name.role {
                Role::Declaration(_) => UriId::XMLNS,
                Role::Attribute if name.local_start == 0 => UriId::NONE,
                Role::Attribute => self.spaces.resolve(name.prefix),
            };
            if uri == UriId::UNBOUND {
                return Err(self.undeclared(id, span.start));
            }
            if name.attribute.uri != uri {
                let symbol = match name.role {
                    Role::Attribute => {
                        handler.attribute_symbol(self.spaces.uri_bytes(uri), name.local())
                    }
                    Role::Declaration(_) => Default::default(),
                };
                name.attribute = Bound { uri, symbol };
            }
            self.parts.attributes[index].uri = uri;
        }
        self.check_duplicates()
    }

    fn check_duplicates(&mut self) -> Result<(), DocumentError> {
        let attributes = &self.parts.attributes;
        if attributes.len() < 2 {
            return Ok(());
        }
        // `xmlns` has the local name `xmlns` and no prefix, so it equals no prefix declaration
        // but `xmlns:xmlns`, which is refused anyway.
        let key = |attribute: &RawAttribute| {
            let local = self.names.get(attribute.name).local;
            (u64::from(attribute.uri.0) << 32) | u64::from(local.0)
        };
        let keys = &mut self.parts.keys;
        keys.clear();
        keys.extend(
            attributes
                .iter()
                .zip(0..)
                .map(|(attribute, index)| (key(attribute), index)),
        );
        let twice = if keys.len() <= COMPARED_MAX {
            let is_seen =
                |index: &usize| keys[..*index].iter().any(|(key, _)| *key == keys[*index].0);
            (1..keys.len()).find(is_seen)
        } else {
            keys.sort_unstable();
            let equal = keys.windows(2).filter(|pair| pair[0].0 == pair[1].0);
            equal.map(|pair| pair[1].1 as usize).min()
        };
        match twice {
            None => Ok(()),
            Some(index) => {
                let RawAttribute { name, span, .. } = attributes[index];
                let name = quote(&self.names.get(name).bytes);
                let reason = format!("attribute `{name}` is given twice");
                Err(malformed(codes::DUPLICATE_ATTRIBUTE, span.start, reason))
            }
        }
    }

    /// What the handler gets: everything but declarations of namespaces.
    #[inline]
    pub(super) fn list_attributes<'a>(
        &'a self,
        source: &Source<'a>,
        list: &mut Vec<Attribute<'a>>,
    ) {
        for raw in &self.parts.attributes {
            let name = self.names.get(raw.name);
            if raw.uri == UriId::XMLNS {
                continue;
            }
            let value = if raw.is_normalized {
                &self.parts.values[raw.from..raw.to]
            } else {
                &source.bytes[raw.from..raw.to]
            };
            list.push(Attribute {
                symbol: name.attribute.symbol,
                name: &name.bytes,
                uri: self.spaces.uri_bytes(raw.uri),
                value,
                span: raw.span,
            });
        }
    }
}
