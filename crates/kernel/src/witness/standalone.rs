//! The text of a node so that it can be read without its document.

use super::tree::{NodeId, Tree};
use crate::events::Scope;
use crate::plan::NodeKind;
use std::rc::Rc;

/// A node as it is selected: a digit for its kind, its expanded name, a zero byte, its text.
///
/// The text of an element has the declarations in scope; that of the document is its root element;
/// that of anything else is its string value escaped.
pub fn selected(tree: &Tree, node: NodeId, has_entities: bool) -> Vec<u8> {
    // The kinds of rows begin with the document, and so do those of nodes after `Any`.
    let mut out = vec![b'0' - 1 + tree.nodes[node as usize].kind as u8];
    if !tree.uri(node).is_empty() {
        out.push(b'{');
        out.extend_from_slice(tree.uri(node));
        out.push(b'}');
    }
    out.extend_from_slice(tree.local_name(node));
    out.push(0);
    match tree.nodes[node as usize].kind {
        NodeKind::Document => {
            let is_root = |&child: &NodeId| tree.nodes[child as usize].kind == NodeKind::Element;
            if let Some(root) = (1..tree.nodes.len() as NodeId).find(is_root) {
                element(tree, root, has_entities, &mut out);
            }
        }
        NodeKind::Element => element(tree, node, has_entities, &mut out),
        _ => escape(tree.value(node), false, &mut out),
    }
    out
}

fn element(tree: &Tree, node: NodeId, has_entities: bool, out: &mut Vec<u8>) {
    if has_entities {
        // The source says `&name;`, and what that stands for is not part of it.
        write(tree, node, out);
        return;
    }
    let span = tree.nodes[node as usize].span;
    let source = &tree.source[span.start as usize..span.end as usize];
    let name_end = 1 + tree.name(node).len();
    out.extend_from_slice(&source[..name_end]);
    declare(tree, node, false, out);
    out.extend_from_slice(&source[name_end..]);
}

/// Writes an element and what is below it from the tree.
fn write(tree: &Tree, top: NodeId, out: &mut Vec<u8>) {
    // A work list, since a document may be deeper than the machine's stack.
    enum Work {
        Open(NodeId),
        Close(NodeId),
    }
    let mut work = vec![Work::Open(top)];
    while let Some(item) = work.pop() {
        let node = match item {
            Work::Open(node) => node,
            Work::Close(node) => {
                out.extend_from_slice(b"</");
                out.extend_from_slice(tree.name(node));
                out.push(b'>');
                continue;
            }
        };
        match tree.nodes[node as usize].kind {
            NodeKind::Element => {
                out.push(b'<');
                out.extend_from_slice(tree.name(node));
                if node == top {
                    declare(tree, node, false, out);
                }
                declare(tree, node, true, out);
                let end = tree.nodes[node as usize].end;
                let children: Vec<NodeId> = children(tree, node, end).collect();
                for &child in &children {
                    if tree.nodes[child as usize].kind == NodeKind::Attribute {
                        out.push(b' ');
                        out.extend_from_slice(tree.name(child));
                        out.extend_from_slice(b"=\"");
                        escape(tree.value(child), true, out);
                        out.push(b'"');
                    }
                }
                out.push(b'>');
                work.push(Work::Close(node));
                let inner = children.into_iter().rev();
                work.extend(
                    inner
                        .filter(|&child| tree.nodes[child as usize].kind != NodeKind::Attribute)
                        .map(Work::Open),
                );
            }
            NodeKind::Comment => {
                out.extend_from_slice(b"<!--");
                out.extend_from_slice(tree.value(node));
                out.extend_from_slice(b"-->");
            }
            NodeKind::Instruction => {
                out.extend_from_slice(b"<?");
                out.extend_from_slice(tree.name(node));
                out.push(b' ');
                out.extend_from_slice(tree.value(node));
                out.extend_from_slice(b"?>");
            }
            _ => escape(tree.value(node), false, out),
        }
    }
}

fn children(tree: &Tree, node: NodeId, end: NodeId) -> impl Iterator<Item = NodeId> + '_ {
    let mut next = node + 1;
    std::iter::from_fn(move || {
        let child = next;
        (child < end).then(|| {
            next = tree.nodes[child as usize].end;
            child
        })
    })
}

/// Writes the declarations in scope at an element: with `is_own` those that it makes itself,
/// otherwise those that it does not.
fn declare(tree: &Tree, node: NodeId, is_own: bool, out: &mut Vec<u8>) {
    let Some(scope) = &tree.nodes[node as usize].scope else {
        return;
    };
    let own = own_scope(tree, node, scope);
    if is_own {
        if let Some(own) = own {
            write_declarations(
                own.declared.iter().map(|(prefix, uri)| (&**prefix, &**uri)),
                out,
            );
        }
        return;
    }
    let mut seen: Vec<&[u8]> = own.map_or(Vec::new(), |own| {
        own.declared.iter().map(|(prefix, _)| &**prefix).collect()
    });
    let mut around = if own.is_some() {
        scope.outer.as_ref()
    } else {
        Some(scope)
    };
    while let Some(scope) = around {
        for (prefix, uri) in &scope.declared {
            if !seen.contains(&&**prefix) {
                seen.push(prefix);
                // What was undeclared on the way, and what is always declared, needs nothing.
                if !uri.is_empty() && **prefix != *b"xml" {
                    write_declarations(std::iter::once((&**prefix, &**uri)), out);
                }
            }
        }
        around = scope.outer.as_ref();
    }
}

/// The scope that an element opens itself, if it does.
fn own_scope<'a>(tree: &Tree, node: NodeId, scope: &'a Rc<Scope>) -> Option<&'a Rc<Scope>> {
    let parent = tree.nodes[node as usize].parent;
    let around = tree.nodes[parent as usize].scope.as_ref();
    let is_inherited = match around {
        Some(around) => Rc::ptr_eq(around, scope),
        None => scope.outer.is_none() && scope.declared.is_empty(),
    };
    (!is_inherited).then_some(scope)
}

fn write_declarations<'a>(declared: impl Iterator<Item = (&'a [u8], &'a [u8])>, out: &mut Vec<u8>) {
    for (prefix, uri) in declared {
        out.extend_from_slice(b" xmlns");
        if !prefix.is_empty() {
            out.push(b':');
            out.extend_from_slice(prefix);
        }
        out.extend_from_slice(b"=\"");
        escape(uri, true, out);
        out.push(b'"');
    }
}

fn escape(value: &[u8], is_attribute: bool, out: &mut Vec<u8>) {
    for &byte in value {
        match byte {
            b'&' => out.extend_from_slice(b"&amp;"),
            b'<' => out.extend_from_slice(b"&lt;"),
            b'>' => out.extend_from_slice(b"&gt;"),
            b'\r' => out.extend_from_slice(b"&#13;"),
            b'"' if is_attribute => out.extend_from_slice(b"&quot;"),
            b'\t' if is_attribute => out.extend_from_slice(b"&#9;"),
            b'\n' if is_attribute => out.extend_from_slice(b"&#10;"),
            _ => out.push(byte),
        }
    }
}
