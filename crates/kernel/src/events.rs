//! The contract between the tokenizer and whoever listens to it.

use crate::error::DocumentError;
use crate::vocabulary::NodeKind;
use std::rc::Rc;

/// A byte range of the decoded input, `start..end`.
///
/// Offsets count UTF-8 bytes of the decoded input from the start of the document, a BOM included;
/// for UTF-8 input these are source bytes. Whatever comes from an internal entity carries the
/// range of the outermost reference; a defaulted attribute carries that of its start tag.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// First byte.
    pub start: u64,
    /// One past the last byte.
    pub end: u64,
}

crate::ids::ids! {
    /// The listener's number for an expanded name; 0 is a name nobody asked about.
    Symbol,
}

/// A prefix and the namespace name it is bound to.
pub type Declared = (Box<[u8]>, Box<[u8]>);
/// Those that are in force somewhere.
pub type Declarations = Vec<Declared>;

/// Namespace declarations in scope: a chain of the elements that declared any.
#[derive(Debug, Default)]
pub struct Scope {
    /// The scope around this one.
    pub outer: Option<Rc<Scope>>,
    /// `(prefix, uri)`; an empty prefix is the default namespace, an empty uri undeclares it.
    pub declared: Box<[Declared]>,
}

impl Scope {
    /// The declarations in force: inner ones hide outer ones, an undeclared default is left out.
    pub fn declarations(&self) -> Declarations {
        let chain = std::iter::successors(Some(self), |scope| scope.outer.as_deref());
        let mut found: Vec<&Declared> = chain.flat_map(|scope| scope.declared.iter()).collect();
        // Of equal prefixes the innermost stays first.
        found.sort_by(|one, other| one.0.cmp(&other.0));
        found.dedup_by(|next, first| next.0 == first.0);
        found.retain(|(_, uri)| !uri.is_empty());
        found.into_iter().cloned().collect()
    }
}

// A chain may be as deep as the document, and dropping it must not use up the machine's stack.
impl Drop for Scope {
    fn drop(&mut self) {
        let mut outer = self.outer.take();
        while let Some(mut scope) = outer.and_then(Rc::into_inner) {
            outer = scope.outer.take();
        }
    }
}

/// One attribute, its value normalised and its references resolved. Declarations of namespaces
/// are not attributes and never appear here.
#[derive(Clone, Copy, Debug)]
pub struct Attribute<'a> {
    /// From `Handler::attribute_symbol`.
    pub symbol: Symbol,
    /// The name as written.
    pub name: &'a [u8],
    /// The namespace name; empty without a prefix.
    pub uri: &'a [u8],
    /// The normalised value.
    pub value: &'a [u8],
    /// From the first byte of the name to just past the closing quote.
    pub span: Span,
}

/// A start tag, complete with its attributes.
#[derive(Clone, Copy, Debug)]
pub struct StartTag<'a> {
    /// From `Handler::element_symbol`.
    pub symbol: Symbol,
    /// The name as written.
    pub name: &'a [u8],
    /// The namespace name; empty for none.
    pub uri: &'a [u8],
    /// From `<` to just past `>`.
    pub span: Span,
    /// In order of appearance, defaults last.
    pub attributes: &'a [Attribute<'a>],
    /// Declarations in scope at this element, its own included.
    pub scope: &'a Rc<Scope>,
    /// The value of the attribute that the document declares to be the element's id.
    pub id: Option<&'a [u8]>,
}

/// The local part of a name as written. The target of an instruction is a name without namespaces.
pub fn local_name(kind: NodeKind, name: &[u8]) -> &[u8] {
    let colon = match kind {
        NodeKind::Instruction => None,
        _ => memchr::memchr(b':', name),
    };
    colon.map_or(name, |at| &name[at + 1..])
}

/// Appends a name as `{uri}local`.
pub fn expand_name(uri: &[u8], local: &[u8], out: &mut Vec<u8>) {
    if !uri.is_empty() {
        out.push(b'{');
        out.extend_from_slice(uri);
        out.push(b'}');
    }
    out.extend_from_slice(local);
}

/// Listens to one document at a time.
///
/// `Err` from any call ends the document; the tokenizer fills in line and path.
pub trait Handler {
    /// The next block of decoded input, `start` its offset. Blocks follow each other without gaps
    /// or overlap, and every event's span ends at or before the end of the blocks seen so far.
    /// For UTF-8 a block is the caller's own piece, bytes that turn out malformed included.
    fn block(&mut self, _bytes: &[u8], _start: u64) {}
    /// The current block goes away. Markup of events to come starts at `unread` or later.
    fn block_end(&mut self, _unread: u64) -> Result<(), DocumentError> {
        Ok(())
    }
    /// The symbol of an element name. The tokenizer keeps the answer for a name while its namespace
    /// stays the same, until `Tokenizer::forget_symbols`; it may ask again.
    fn element_symbol(&mut self, uri: &[u8], local: &[u8]) -> Symbol;
    /// The same for an attribute name.
    fn attribute_symbol(&mut self, uri: &[u8], local: &[u8]) -> Symbol;
    /// A start tag. `<a/>` gives a start and an end with the same span.
    fn start(&mut self, tag: &StartTag<'_>) -> Result<(), DocumentError>;
    /// The end tag of the innermost open element.
    fn end(&mut self, span: Span) -> Result<(), DocumentError>;
    /// A piece of character data, references resolved, line ends normalised, never empty. Pieces
    /// between two other events belong to one text node; a CDATA section's span includes its
    /// markup. White space outside the root element is not reported.
    fn text(&mut self, value: &[u8], span: Span) -> Result<(), DocumentError>;
    /// An empty CDATA section or a reference to an empty entity: no characters, but it occupies
    /// `span` between two pieces of one text node. Ignored by most.
    fn empty_text(&mut self, _span: Span) -> Result<(), DocumentError> {
        Ok(())
    }
    /// A comment, prolog and epilog included, those of the document type declaration excluded.
    fn comment(&mut self, value: &[u8], span: Span) -> Result<(), DocumentError>;
    /// A processing instruction, like comments. The XML declaration is none.
    fn instruction(&mut self, target: &[u8], value: &[u8], span: Span)
    -> Result<(), DocumentError>;
}
