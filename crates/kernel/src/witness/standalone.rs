//! The text of a node so that it can be read without its document.

use super::tree::{NodeId, Tree, TreeNode};
use crate::events::{Declared, Scope};
use crate::plan::NodeKind;
use crate::serialize::{Surroundings, comment, declaration, escape, instruction, quote};
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
        _ => escape(tree.value(node), &mut out),
    }
    out
}

fn element(tree: &Tree, node: NodeId, has_entities: bool, out: &mut Vec<u8>) {
    if has_entities {
        // The source says `&name;`, and what that stands for is not part of it.
        write(tree, node, out);
        return;
    }
    let TreeNode { span, scope, .. } = &tree.nodes[node as usize];
    let surroundings = Surroundings {
        declarations: scope
            .as_ref()
            .map_or_else(Vec::new, |scope| scope.declarations()),
        ..Surroundings::default()
    };
    let source = &tree.source[span.start as usize..span.end as usize];
    out.extend_from_slice(&surroundings.element(b"", source));
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
                declare(tree, node, node == top, out);
                let end = tree.nodes[node as usize].end;
                let children: Vec<NodeId> = children(tree, node, end).collect();
                for &child in &children {
                    if tree.nodes[child as usize].kind == NodeKind::Attribute {
                        out.push(b' ');
                        out.extend_from_slice(tree.name(child));
                        out.push(b'=');
                        quote(tree.value(child), out);
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
            NodeKind::Comment => comment(tree.value(node), out),
            NodeKind::Instruction => instruction(tree.name(node), tree.value(node), out),
            _ => escape(tree.value(node), out),
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

/// Writes the declarations that an element makes itself, or for the topmost all that are in force.
fn declare(tree: &Tree, node: NodeId, is_top: bool, out: &mut Vec<u8>) {
    let Some(scope) = &tree.nodes[node as usize].scope else {
        return;
    };
    let write = |(prefix, uri): &Declared| declaration(prefix, uri, out);
    if is_top {
        scope.declarations().iter().for_each(write);
    } else if opens_scope(tree, node, scope) {
        scope.declared.iter().for_each(write);
    }
}

fn opens_scope(tree: &Tree, node: NodeId, scope: &Rc<Scope>) -> bool {
    let parent = tree.nodes[node as usize].parent;
    match &tree.nodes[parent as usize].scope {
        Some(around) => !Rc::ptr_eq(around, scope),
        None => scope.outer.is_some() || !scope.declared.is_empty(),
    }
}
