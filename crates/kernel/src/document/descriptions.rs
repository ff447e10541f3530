//! What is said of nodes where they are results: where they lie, their names, what is declared.

use crate::events::{Scope, Span};
use std::rc::Rc;

/// What is said of a node.
#[derive(Debug)]
pub struct Description {
    /// Its byte range in its document.
    pub span: Span,
    /// The declarations in scope at an element.
    pub scope: Option<Rc<Scope>>,
    /// Where its name and its namespace end; they start where those of the node before end.
    name_end: u32,
    uri_end: u32,
}

/// The descriptions of the nodes of a bundle, if they are kept.
#[derive(Debug, Default)]
pub struct Descriptions {
    /// By node.
    list: Vec<Description>,
    /// Names as written and namespaces, by turns.
    names: Vec<u8>,
}

impl Descriptions {
    pub fn clear(&mut self) {
        self.list.clear();
        self.names.clear();
    }

    /// Bytes that are held.
    pub fn size(&self) -> usize {
        std::mem::size_of_val(&*self.list) + self.names.len()
    }

    /// Describes the next node.
    #[inline]
    pub fn push(&mut self, span: Span, name: &[u8], uri: &[u8], scope: Option<&Rc<Scope>>) {
        self.names.extend_from_slice(name);
        let name_end = self.names.len() as u32;
        self.names.extend_from_slice(uri);
        self.list.push(Description {
            span,
            scope: scope.cloned(),
            name_end,
            uri_end: self.names.len() as u32,
        });
    }

    /// A node has ended.
    #[inline]
    pub fn end(&mut self, node: u32, end: u64) {
        if let Some(description) = self.list.get_mut(node as usize) {
            description.span.end = end;
        }
    }

    /// How long a node is, if that is known.
    #[inline]
    pub fn length(&self, node: u32) -> u64 {
        let span = self.list.get(node as usize).map(|own| own.span);
        span.map_or(0, |span| span.end - span.start)
    }

    pub fn of(&self, node: u32) -> &Description {
        &self.list[node as usize]
    }

    /// The name of a node as written.
    pub fn name(&self, node: u32) -> &[u8] {
        let before = node
            .checked_sub(1)
            .map_or(0, |before| self.of(before).uri_end);
        &self.names[before as usize..self.of(node).name_end as usize]
    }

    /// Its namespace.
    pub fn uri(&self, node: u32) -> &[u8] {
        let own = self.of(node);
        &self.names[own.name_end as usize..own.uri_end as usize]
    }
}
