//! Start and end tags.

use super::attributes::{RawAttribute, recycle};
use super::characters::skip_space;
use super::codes;
use super::extent::Token;
use super::faults::{SEVERAL, found, limit, malformed, quote};
use super::names::{Bound, NameId, Previous, name_at};
use super::namespaces::{PrefixId, UriId};
use super::scanner::{Core, Halt, Open, Phase, Source};
use crate::error::DocumentError;
use crate::events::{Attribute, Handler, Span, StartTag};

/// Memory for the parts of a start tag, reused from tag to tag.
#[derive(Default)]
pub(super) struct TagParts {
    pub attributes: Vec<RawAttribute>,
    /// Normalised values that differ from their source.
    pub values: Vec<u8>,
    /// An attribute declares a namespace.
    pub has_declaration: bool,
    /// Declarations of the tag.
    pub declared: Vec<(PrefixId, UriId)>,
    /// For finding duplicates among many attributes.
    pub keys: Vec<(u64, u32)>,
    /// What the handler gets.
    pub list: Vec<Attribute<'static>>,
}

impl Core {
    #[inline(always)]
    pub(super) fn start_tag<H: Handler>(
        &mut self,
        source: &Source<'_>,
        at: usize,
        handler: &mut H,
    ) -> Result<usize, Halt> {
        let bytes = source.bytes;
        let name = match self.names.guess_element(self.previous, bytes, at + 1) {
            Some(name) => name,
            None => match self.element_name(source, at + 1)? {
                Some(name) => name,
                None => return Err(Halt::more()),
            },
        };
        let after = at + 1 + self.names.get(name).bytes.len();
        if bytes[after] == b'>' && self.doctype.attributes.is_empty() {
            let span = source.span(at, after + 1);
            self.open_element(name, false, span)?;
            let uri = self.bind_element(name, span.start, handler)?;
            let tag = StartTag {
                symbol: self.names.get(name).element.symbol,
                name: &self.names.get(name).bytes,
                uri: self.spaces.uri_bytes(uri),
                span,
                attributes: &[],
                scope: self.spaces.scope(),
                id: None,
            };
            handler.start(&tag)?;
            return Ok(after + 1);
        }
        self.full_tag(source, at, name, after, handler)
    }

    /// The name of an element that is not the expected one.
    fn element_name(
        &mut self,
        source: &Source<'_>,
        at: usize,
    ) -> Result<Option<NameId>, DocumentError> {
        if self.names.is_full() || self.spaces.is_full() {
            self.compact();
        }
        let Some(bytes) = name_at(source.bytes, at) else {
            return Ok(None);
        };
        if bytes.is_empty() {
            let what = found(source.bytes, at);
            let reason = format!("`<` is followed by {what}, not by a name");
            return Err(malformed(codes::BAD_TAG, source.offset(at), reason));
        }
        let name = self.checked_name(bytes, source.offset(at))?;
        self.names.learn_element(self.previous, name);
        Ok(Some(name))
    }

    /// The number of a qualified name within the limits.
    pub(super) fn checked_name(
        &mut self,
        bytes: &[u8],
        start: u64,
    ) -> Result<NameId, DocumentError> {
        if bytes.len() as u64 > self.limits.name_bytes_max {
            return Err(limit("name_bytes_max", start, self.limits.name_bytes_max));
        }
        self.names.intern(bytes, &mut self.spaces).ok_or_else(|| {
            let reason = format!("`{}` is not a qualified name", quote(bytes));
            malformed(codes::BAD_NAME, start, reason)
        })
    }

    /// Pushes an element on the stack of open ones.
    #[inline(always)]
    fn open_element(
        &mut self,
        name: NameId,
        is_scope: bool,
        span: Span,
    ) -> Result<(), DocumentError> {
        if self.open.is_empty() {
            self.open_root(name, span)?;
        }
        if self.open.len() as u64 >= self.limits.depth_max {
            return Err(limit("depth_max", span.start, self.limits.depth_max));
        }
        self.open.push(Open { name, is_scope });
        self.previous = Previous {
            name,
            is_end: false,
        };
        Ok(())
    }

    #[cold]
    fn open_root(&mut self, name: NameId, span: Span) -> Result<(), DocumentError> {
        if self.phase == Phase::Epilog {
            let name = quote(&self.names.get(name).bytes);
            let reason = format!("<{name}> stands after the root element; {SEVERAL}");
            return Err(malformed(codes::SECOND_ROOT, span.start, reason));
        }
        self.phase = Phase::Root;
        Ok(())
    }

    /// The namespace of an element name; its symbol is in the table afterwards.
    #[inline(always)]
    fn bind_element<H: Handler>(
        &mut self,
        id: NameId,
        start: u64,
        handler: &mut H,
    ) -> Result<UriId, DocumentError> {
        let name = self.names.get_mut(id);
        let uri = self.spaces.resolve(name.prefix);
        if name.element.uri != uri || uri == UriId::UNBOUND {
            if uri == UriId::UNBOUND {
                return Err(self.undeclared(id, start));
            }
            let symbol = handler.element_symbol(self.spaces.uri_bytes(uri), name.local());
            name.element = Bound { uri, symbol };
        }
        Ok(uri)
    }

    #[cold]
    pub(super) fn undeclared(&self, id: NameId, start: u64) -> DocumentError {
        let name = self.names.get(id);
        let prefix = quote(self.spaces.prefix_bytes(name.prefix));
        let reason = format!(
            "prefix `{prefix}` of `{}` is not declared",
            quote(&name.bytes)
        );
        malformed(codes::UNDECLARED_PREFIX, start, reason)
    }

    /// A tag with white space, attributes or `/` after its name.
    fn full_tag<H: Handler>(
        &mut self,
        source: &Source<'_>,
        at: usize,
        name: NameId,
        after: usize,
        handler: &mut H,
    ) -> Result<usize, Halt> {
        let Some((end, is_empty)) = self.parse_attributes(source, name, after)? else {
            return Err(Halt::more());
        };
        let span = source.span(at, end);
        self.check_length(span.start, end - at, Token::Tag)?;
        if !self.doctype.attributes.is_empty() {
            self.apply_declared(source, name, span)?;
        }
        let is_scope = self.declare_namespaces(source)?;
        self.open_element(name, is_scope, span)?;
        let uri = self.bind_element(name, span.start, handler)?;
        self.bind_attributes(handler)?;
        let mut list = recycle(std::mem::take(&mut self.parts.list));
        self.list_attributes(source, &mut list);
        let declared = self
            .doctype
            .attributes
            .get(&*self.names.get(name).bytes)
            .and_then(|declared| declared.id());
        let id = declared.and_then(|id| list.iter().find(|attribute| attribute.name == id));
        let tag = StartTag {
            symbol: self.names.get(name).element.symbol,
            name: &self.names.get(name).bytes,
            uri: self.spaces.uri_bytes(uri),
            span,
            attributes: &list,
            scope: self.spaces.scope(),
            id: id.map(|attribute| attribute.value),
        };
        handler.start(&tag)?;
        self.parts.list = recycle(list);
        if is_empty {
            self.close_element(span, handler)?;
        }
        Ok(end)
    }

    #[inline(always)]
    pub(super) fn end_tag<H: Handler>(
        &mut self,
        source: &Source<'_>,
        at: usize,
        handler: &mut H,
    ) -> Result<usize, Halt> {
        let bytes = source.bytes;
        if self.open.len() > self.floor {
            let name = self.names.get(self.open[self.open.len() - 1].name);
            if name.stands_at(bytes, at + 2) {
                let after = at + 2 + name.bytes.len();
                if bytes[after] == b'>' {
                    self.close_element(source.span(at, after + 1), handler)?;
                    return Ok(after + 1);
                }
                return self.spaced_end_tag(source, at, after, handler);
            }
        }
        self.wrong_end_tag(source, at)
    }

    /// An end tag with something after its name.
    #[cold]
    fn spaced_end_tag<H: Handler>(
        &mut self,
        source: &Source<'_>,
        at: usize,
        after: usize,
        handler: &mut H,
    ) -> Result<usize, Halt> {
        let close = skip_space(source.bytes, after);
        match source.bytes.get(close) {
            None => Err(Halt::more()),
            Some(b'>') => {
                let span = source.span(at, close + 1);
                self.check_length(span.start, close + 1 - at, Token::Tag)?;
                self.close_element(span, handler)?;
                Ok(close + 1)
            }
            Some(_) => {
                let what = found(source.bytes, close);
                let reason = format!("{what} stands in an end tag");
                Err(malformed(codes::BAD_TAG, source.offset(close), reason).into())
            }
        }
    }

    /// An end tag that closes nothing, or is cut off.
    #[cold]
    fn wrong_end_tag(&self, source: &Source<'_>, at: usize) -> Result<usize, Halt> {
        let Some(name) = name_at(source.bytes, at + 2) else {
            return Err(Halt::more());
        };
        let start = source.offset(at);
        if name.is_empty() {
            let what = found(source.bytes, at + 2);
            let reason = format!("`</` is followed by {what}, not by a name");
            return Err(malformed(codes::BAD_TAG, start, reason).into());
        }
        let name = quote(name);
        let reason = match self.open.last() {
            None => format!("</{name}> closes nothing"),
            Some(_) if self.open.len() <= self.floor => {
                format!("</{name}> closes an element from outside its entity")
            }
            Some(open) => {
                format!(
                    "</{name}> closes <{}>",
                    quote(&self.names.get(open.name).bytes)
                )
            }
        };
        Err(malformed(codes::MISMATCHED_TAG, start, reason).into())
    }

    #[inline(always)]
    fn close_element<H: Handler>(
        &mut self,
        span: Span,
        handler: &mut H,
    ) -> Result<(), DocumentError> {
        handler.end(span)?;
        if let Some(open) = self.open.pop() {
            self.previous = Previous {
                name: open.name,
                is_end: true,
            };
            if open.is_scope {
                self.spaces.leave();
            }
            if self.open.is_empty() {
                self.phase = Phase::Epilog;
            }
        }
        Ok(())
    }
}
