//! Writing items: as bytes, as rows, or as the nodes of a new tree.
//!
//! The writer holds the rules for the content of constructed elements: attributes come first and
//! have different names, atomic values are separated by spaces, and namespaces are declared where
//! the output does not have them yet.

mod copy;
pub mod markup;
mod namespaces;
mod rows;

pub use copy::serialize;
pub use rows::Row;
pub(super) use rows::kind_name;

use super::run::{Flow, fail};
use crate::atomic::Atomic;
use crate::names::{NameId, Names, QName, StringId};
use crate::scope::Scope;
use crate::tree::{NodeRef, Span, Tree};
use std::rc::Rc;

/// Where the output goes.
pub(super) enum Target<'w> {
    /// One text.
    Bytes(Vec<u8>),
    /// A row for each item; the bytes are those of an element that is not complete.
    Rows(Vec<u8>, &'w mut dyn FnMut(Row<'_>)),
    /// A new tree.
    Tree(Box<Tree>),
}

/// So many names are compared in one step of work.
const NAMES_OF_STEP: usize = 16;

/// Prefixes and namespace names.
type Declared = Rc<[(StringId, StringId)]>;

/// An element or document that is not complete.
struct Open {
    /// None for a document.
    name: Option<QName>,
    /// How many declarations are in force around it.
    declared: usize,
    /// The declarations in force in it, for trees.
    scope: Option<Rc<Scope>>,
}

/// Writes items.
pub(super) struct Writer<'w> {
    target: Target<'w>,
    open: Vec<Open>,
    /// Declarations in force, the innermost last.
    namespaces: Vec<(StringId, StringId)>,
    /// The attributes of the start tag that is not complete.
    attributes: Vec<NameId>,
    /// The prefixes that names of this start tag have.
    used: Vec<StringId>,
    /// Whether attributes may follow.
    is_in_tag: bool,
    /// Whether an atomic value was the last item of the same expression.
    is_after_atomic: bool,
    /// How many items were written, those inside of others included.
    pub items: u64,
    /// The node that the row under way is a copy of.
    origin: Option<NodeRef>,
    /// Where that node lies, if it is one of a document.
    span: Option<Span>,
    /// The scope that was declared last, with its declarations.
    last_scope: Option<(Rc<Scope>, Declared)>,
}

impl<'w> Writer<'w> {
    pub fn new(target: Target<'w>) -> Self {
        Writer {
            target,
            open: Vec::new(),
            namespaces: Vec::new(),
            attributes: Vec::new(),
            used: Vec::new(),
            is_in_tag: false,
            is_after_atomic: false,
            items: 0,
            origin: None,
            span: None,
            last_scope: None,
        }
    }

    /// What was written.
    pub fn finish(self) -> Target<'w> {
        self.target
    }

    /// Another expression begins: its atomic values touch what was written before.
    pub fn begin_part(&mut self) {
        self.is_after_atomic = false;
    }

    /// Steps of work that it takes to look for a namespace among those in force.
    pub fn steps_of_scope(&self) -> u64 {
        (self.namespaces.len() / NAMES_OF_STEP) as u64
    }

    /// Steps of work that it takes to look for a name among the attributes of the start tag.
    pub fn steps_of_attributes(&self) -> u64 {
        ((self.attributes.len() + self.namespaces.len()) / NAMES_OF_STEP) as u64
    }

    fn bytes(&mut self) -> Option<&mut Vec<u8>> {
        match &mut self.target {
            Target::Bytes(bytes) | Target::Rows(bytes, _) => Some(bytes),
            Target::Tree(_) => None,
        }
    }

    /// Whether the next item is a row.
    fn is_row(&self) -> bool {
        self.open.is_empty() && matches!(self.target, Target::Rows(..))
    }

    /// Starts an element.
    pub fn start(&mut self, name: QName, names: &Names) {
        self.items += 1;
        self.begin_content();
        let scope = self.open.last().and_then(|open| open.scope.clone());
        self.open.push(Open {
            name: Some(name),
            declared: self.namespaces.len(),
            scope: scope.clone(),
        });
        self.attributes.clear();
        self.used.clear();
        self.used.push(name.prefix);
        self.is_in_tag = true;
        match &mut self.target {
            Target::Bytes(bytes) | Target::Rows(bytes, _) => {
                bytes.push(b'<');
                write_name(name, names, bytes);
            }
            Target::Tree(tree) => {
                tree.start(name, scope.as_ref(), 0);
            }
        }
        let uri = names.uri(name.name);
        if self.lookup(name.prefix) != uri && !is_xml(name.prefix, names) {
            self.add_declaration(name.prefix, uri, names);
        }
    }

    /// Starts a document, whose children become content of what is open.
    pub fn start_document(&mut self) {
        self.items += 1;
        self.is_after_atomic = false;
        let scope = self.open.last().and_then(|open| open.scope.clone());
        self.open.push(Open {
            name: None,
            declared: self.namespaces.len(),
            scope,
        });
    }

    /// Ends the innermost element or document.
    pub fn end(&mut self, names: &Names) {
        self.is_after_atomic = false;
        let Some(open) = self.open.pop() else {
            return;
        };
        self.namespaces.truncate(open.declared);
        if let Some(name) = open.name {
            let is_empty = std::mem::take(&mut self.is_in_tag);
            match &mut self.target {
                Target::Bytes(bytes) | Target::Rows(bytes, _) if is_empty => {
                    bytes.extend_from_slice(b"/>");
                }
                Target::Bytes(bytes) | Target::Rows(bytes, _) => {
                    bytes.extend_from_slice(b"</");
                    write_name(name, names, bytes);
                    bytes.push(b'>');
                }
                Target::Tree(tree) => tree.end(0),
            }
        }
        if self.open.is_empty() {
            self.finish_row(open.name, names);
        }
    }

    /// Adds an attribute.
    pub fn attribute(&mut self, name: QName, value: &[u8], names: &mut Names) -> Flow {
        self.items += 1;
        self.is_after_atomic = false;
        if self.is_row() {
            self.value_row("attribute", name, value, names);
            return Ok(());
        }
        match self.open.last() {
            Some(Open { name: None, .. }) => {
                return fail("XPTY0004", "a document has no attributes");
            }
            Some(_) if !self.is_in_tag => {
                let reason = "an attribute comes behind content of its element";
                return fail("XQTY0024", reason);
            }
            _ => {}
        }
        if self.attributes.contains(&name.name) {
            let name = names.lexical(name);
            return fail("XQDY0025", format!("an element has two attributes {name}"));
        }
        self.attributes.push(name.name);
        let name = self.declare_attribute(name, names);
        let id = normalised_id(name, value, names);
        let value = id.as_deref().unwrap_or(value);
        self.used.push(name.prefix);
        match &mut self.target {
            Target::Bytes(bytes) | Target::Rows(bytes, _) => {
                let local = names.text(names.local(name.name));
                markup::attribute(names.text(name.prefix), local, value, bytes);
            }
            Target::Tree(tree) => {
                tree.attribute(name, value, (0, 0));
                if let (Some(id), Some(element)) = (&id, tree.innermost()) {
                    tree.set_id(element, id);
                }
            }
        }
        Ok(())
    }

    /// Adds characters.
    pub fn text(&mut self, text: &[u8]) {
        if text.is_empty() {
            return;
        }
        self.begin_content();
        match &mut self.target {
            Target::Bytes(bytes) | Target::Rows(bytes, _) => markup::escape(text, bytes),
            Target::Tree(tree) => tree.text(text, (0, 0)),
        }
    }

    /// Adds a text node.
    pub fn text_node(&mut self, text: &[u8], names: &Names) {
        self.items += 1;
        self.is_after_atomic = false;
        if self.is_row() {
            self.value_row("text", QName::default(), text, names);
        } else if matches!(self.target, Target::Tree(_)) && self.open.is_empty() {
            // A text node of its own may be empty.
            if let Target::Tree(tree) = &mut self.target {
                tree.text(text, (0, 0));
            }
        } else {
            self.text(text);
        }
    }

    /// Adds an atomic value.
    pub fn atomic(&mut self, value: &Atomic) {
        self.items += 1;
        if self.is_row() {
            self.atomic_row(value);
            return;
        }
        if self.is_after_atomic {
            self.text(b" ");
        }
        match value.as_text() {
            Some(text) => self.text(text.as_bytes()),
            None => self.text(value.to_text().as_bytes()),
        }
        self.is_after_atomic = true;
    }

    /// Adds a comment.
    pub fn comment(&mut self, text: &[u8], names: &Names) -> Flow {
        self.items += 1;
        if text.ends_with(b"-") || text.windows(2).any(|pair| pair == b"--") {
            return fail("XQDY0072", "a comment contains `--` or ends with `-`");
        }
        if self.is_row() {
            self.value_row("comment", QName::default(), text, names);
            return Ok(());
        }
        self.begin_content();
        match &mut self.target {
            Target::Bytes(bytes) | Target::Rows(bytes, _) => {
                for part in [&b"<!--"[..], text, b"-->"] {
                    bytes.extend_from_slice(part);
                }
            }
            Target::Tree(tree) => {
                tree.comment(text, (0, 0));
            }
        }
        Ok(())
    }

    /// Adds a processing instruction.
    pub fn instruction(&mut self, target: QName, text: &[u8], names: &Names) -> Flow {
        self.items += 1;
        if text.windows(2).any(|pair| pair == b"?>") {
            return fail("XQDY0026", "a processing instruction contains `?>`");
        }
        if self.is_row() {
            self.value_row("processing-instruction", target, text, names);
            return Ok(());
        }
        self.begin_content();
        match &mut self.target {
            Target::Bytes(bytes) | Target::Rows(bytes, _) => {
                bytes.extend_from_slice(b"<?");
                write_name(target, names, bytes);
                if !text.is_empty() {
                    bytes.push(b' ');
                    bytes.extend_from_slice(text);
                }
                bytes.extend_from_slice(b"?>");
            }
            Target::Tree(tree) => {
                tree.instruction(target, text, (0, 0));
            }
        }
        Ok(())
    }

    /// Content follows: the start tag is complete.
    fn begin_content(&mut self) {
        self.is_after_atomic = false;
        if std::mem::take(&mut self.is_in_tag)
            && let Some(bytes) = self.bytes()
        {
            bytes.push(b'>');
        }
    }
}

fn write_name(name: QName, names: &Names, bytes: &mut Vec<u8>) {
    let local = names.text(names.local(name.name));
    markup::name(names.text(name.prefix), local, bytes);
}

/// The value of `xml:id`, which is without spaces around it; None for other attributes.
fn normalised_id(name: QName, value: &[u8], names: &Names) -> Option<Vec<u8>> {
    if !is_xml(name.prefix, names) || &**names.text(names.local(name.name)) != "id" {
        return None;
    }
    let words = value.split(u8::is_ascii_whitespace);
    let words: Vec<&[u8]> = words.filter(|word| !word.is_empty()).collect();
    Some(words.join(&b' '))
}

/// Whether a prefix needs no declaration.
fn is_xml(prefix: StringId, names: &Names) -> bool {
    &**names.text(prefix) == "xml"
}
