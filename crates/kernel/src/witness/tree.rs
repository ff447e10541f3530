//! A document as flat tables: nodes in document order, attributes after their element.

use crate::error::{DocumentError, ErrorKind};
use crate::events::{Handler, Scope, Span, StartTag, Symbol};
use crate::limits::Limits;
use crate::plan::NodeKind;
use crate::tokenizer::codes;
use crate::witness::symbols::{self, Symbols};
use std::ops::Range;
use std::rc::Rc;

/// The number of a node: its place in document order.
pub type NodeId = u32;

/// A node. All text of a document lies in one run, so the string value of an element is a part
/// of it, like that of a text node; other values lie apart.
#[derive(Clone, Debug)]
pub struct TreeNode {
    pub kind: NodeKind,
    pub symbol: u32,
    pub parent: NodeId,
    /// One past its last descendant.
    pub end: NodeId,
    pub span: Span,
    /// Its string value: in `text`, or in `apart` for attributes, comments and instructions.
    value: Range<u32>,
    /// Name as written, namespace: in `names`.
    name: Range<u32>,
    uri: Range<u32>,
    pub scope: Option<Rc<Scope>>,
}

/// The tree of the document that is being read.
pub struct Tree {
    pub symbols: Symbols,
    limits: Limits,
    pub nodes: Vec<TreeNode>,
    text: Vec<u8>,
    apart: Vec<u8>,
    names: Vec<u8>,
    /// The decoded input, if texts of nodes are needed.
    pub source: Vec<u8>,
    pub keeps_source: bool,
    open: Vec<NodeId>,
    /// The text node that further pieces belong to.
    open_text: Option<NodeId>,
}

impl Tree {
    pub fn new(limits: Limits) -> Tree {
        Tree {
            symbols: Symbols::default(),
            limits,
            nodes: Vec::new(),
            text: Vec::new(),
            apart: Vec::new(),
            names: Vec::new(),
            source: Vec::new(),
            keeps_source: false,
            open: Vec::new(),
            open_text: None,
        }
    }

    /// Starts a document.
    pub fn begin(&mut self, keeps_source: bool) {
        self.keeps_source = keeps_source;
        self.nodes.clear();
        for buffer in [
            &mut self.text,
            &mut self.apart,
            &mut self.names,
            &mut self.source,
        ] {
            buffer.clear();
        }
        self.open.clear();
        self.open_text = None;
        self.push(NodeKind::Document, symbols::DOCUMENT, Span::default(), 0..0);
        self.open.push(0);
    }

    /// Ends the document.
    pub fn finish(&mut self) {
        let end = self.nodes.len() as NodeId;
        self.nodes[0].end = end;
        self.nodes[0].value.end = self.text.len() as u32;
    }

    /// The string value of a node.
    pub fn value(&self, node: NodeId) -> &[u8] {
        let node = &self.nodes[node as usize];
        let within = match node.kind {
            NodeKind::Attribute | NodeKind::Comment | NodeKind::Instruction => &self.apart,
            _ => &self.text,
        };
        &within[node.value.start as usize..node.value.end as usize]
    }

    /// The name of a node as written.
    pub fn name(&self, node: NodeId) -> &[u8] {
        let name = &self.nodes[node as usize].name;
        &self.names[name.start as usize..name.end as usize]
    }

    /// The local part of its name.
    pub fn local_name(&self, node: NodeId) -> &[u8] {
        let name = self.name(node);
        let is_plain = self.nodes[node as usize].kind == NodeKind::Instruction;
        let colon = if is_plain {
            None
        } else {
            memchr::memchr(b':', name)
        };
        colon.map_or(name, |at| &name[at + 1..])
    }

    /// Its namespace.
    pub fn uri(&self, node: NodeId) -> &[u8] {
        let uri = &self.nodes[node as usize].uri;
        &self.names[uri.start as usize..uri.end as usize]
    }

    fn push(&mut self, kind: NodeKind, symbol: u32, span: Span, value: Range<u32>) -> NodeId {
        let node = self.nodes.len() as NodeId;
        self.nodes.push(TreeNode {
            kind,
            symbol,
            parent: self.open.last().copied().unwrap_or(0),
            end: node + 1,
            span,
            value,
            name: 0..0,
            uri: 0..0,
            scope: None,
        });
        node
    }

    fn name_node(&mut self, node: NodeId, name: &[u8], uri: &[u8]) {
        let start = self.names.len() as u32;
        self.names.extend_from_slice(name);
        let middle = self.names.len() as u32;
        self.names.extend_from_slice(uri);
        let node = &mut self.nodes[node as usize];
        node.name = start..middle;
        node.uri = middle..self.names.len() as u32;
    }

    fn keep_apart(&mut self, value: &[u8]) -> Range<u32> {
        let start = self.apart.len() as u32;
        self.apart.extend_from_slice(value);
        start..self.apart.len() as u32
    }

    /// The tree is held as a whole, so its size is bounded like that of any other held input;
    /// offsets are words, which bounds it as well.
    fn check(&self, byte: u64) -> Result<(), DocumentError> {
        let held = self.nodes.len() * std::mem::size_of::<TreeNode>()
            + self.text.len()
            + self.apart.len()
            + self.names.len()
            + self.source.len();
        let bound = self.limits.buffer_bytes_max.min(u64::from(u32::MAX));
        if held as u64 <= bound && byte <= u64::from(u32::MAX) {
            return Ok(());
        }
        Err(DocumentError {
            kind: ErrorKind::Limit("buffer_bytes_max"),
            code: codes::BUFFER_BYTES,
            reason: format!("more than {bound} bytes are held for joins (`buffer_bytes_max`)"),
            byte,
            line: 0,
            path: String::new(),
        })
    }
}

impl Handler for Tree {
    fn element_symbol(&mut self, uri: &[u8], local: &[u8]) -> Symbol {
        Symbol(self.symbols.of(NodeKind::Element, uri, local))
    }

    fn attribute_symbol(&mut self, uri: &[u8], local: &[u8]) -> Symbol {
        Symbol(self.symbols.of(NodeKind::Attribute, uri, local))
    }

    fn block(&mut self, bytes: &[u8], _start: u64) {
        if self.keeps_source {
            self.source.extend_from_slice(bytes);
        }
    }

    fn start(&mut self, tag: &StartTag<'_>) -> Result<(), DocumentError> {
        self.open_text = None;
        let at = self.text.len() as u32;
        let element = self.push(NodeKind::Element, tag.symbol.0, tag.span, at..at);
        self.name_node(element, tag.name, tag.uri);
        self.nodes[element as usize].scope = Some(tag.scope.clone());
        self.open.push(element);
        for attribute in tag.attributes {
            let value = self.keep_apart(attribute.value);
            let node = self.push(
                NodeKind::Attribute,
                attribute.symbol.0,
                attribute.span,
                value,
            );
            self.name_node(node, attribute.name, attribute.uri);
        }
        self.check(tag.span.end)
    }

    fn end(&mut self, span: Span) -> Result<(), DocumentError> {
        self.open_text = None;
        if let Some(element) = self.open.pop() {
            let end = self.nodes.len() as NodeId;
            let node = &mut self.nodes[element as usize];
            node.end = end;
            node.span.end = span.end;
            node.value.end = self.text.len() as u32;
        }
        Ok(())
    }

    fn text(&mut self, value: &[u8], span: Span) -> Result<(), DocumentError> {
        let at = self.text.len() as u32;
        self.text.extend_from_slice(value);
        self.check(span.end)?;
        let end = self.text.len() as u32;
        match self.open_text {
            Some(node) => {
                let node = &mut self.nodes[node as usize];
                node.value.end = end;
                node.span.end = span.end;
            }
            None => {
                self.open_text = Some(self.push(NodeKind::Text, symbols::TEXT, span, at..end));
            }
        }
        Ok(())
    }

    fn comment(&mut self, value: &[u8], span: Span) -> Result<(), DocumentError> {
        self.open_text = None;
        let value = self.keep_apart(value);
        self.push(NodeKind::Comment, symbols::COMMENT, span, value);
        self.check(span.end)
    }

    fn instruction(
        &mut self,
        target: &[u8],
        value: &[u8],
        span: Span,
    ) -> Result<(), DocumentError> {
        self.open_text = None;
        let symbol = self.symbols.of(NodeKind::Instruction, b"", target);
        let value = self.keep_apart(value);
        let node = self.push(NodeKind::Instruction, symbol, span, value);
        self.name_node(node, target, b"");
        self.check(span.end)
    }
}
