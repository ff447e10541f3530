//! The text of a node so that it can be read without its document.

use crate::document::Bundle;
use crate::events::{Declared, Scope};
use crate::plan::NodeKind;
use crate::rows::RowKind;
use crate::serialize::{Surroundings, comment, declaration, escape, instruction, quote};
use std::rc::Rc;

/// A node as it is selected: a digit for its kind, its expanded name, a zero byte, its text.
///
/// The text of an element has the declarations in scope; that of the document is its root element;
/// that of anything else is its string value escaped.
pub fn selected(bundle: &Bundle, node: u32, has_entities: bool) -> Vec<u8> {
    let mut out = vec![b'0' + RowKind::of(bundle.kind(node)) as u8];
    bundle.expand_name(node, &mut out);
    out.push(0);
    match bundle.kind(node) {
        NodeKind::Document => {
            let is_root = |&child: &u32| bundle.kind(child) == NodeKind::Element;
            if let Some(root) = (1..bundle.nodes.len() as u32).find(is_root) {
                element(bundle, root, has_entities, &mut out);
            }
        }
        NodeKind::Element => element(bundle, node, has_entities, &mut out),
        _ => escape(bundle.value(node), &mut out),
    }
    out
}

fn element(bundle: &Bundle, node: u32, has_entities: bool, out: &mut Vec<u8>) {
    if has_entities {
        // The source says `&name;`, and what that stands for is not part of it.
        write(bundle, node, out);
        return;
    }
    let scope = &bundle.description(node).scope;
    let surroundings = Surroundings {
        declarations: scope
            .as_ref()
            .map_or_else(Vec::new, |scope| scope.declarations()),
        ..Surroundings::default()
    };
    out.extend_from_slice(&surroundings.element(b"", bundle.source(node)));
}

/// Writes an element and what is below it from the bundle.
fn write(bundle: &Bundle, top: u32, out: &mut Vec<u8>) {
    // A work list, since a document may be deeper than the machine's stack.
    enum Work {
        Open(u32),
        Close(u32),
    }
    let mut work = vec![Work::Open(top)];
    while let Some(item) = work.pop() {
        let node = match item {
            Work::Open(node) => node,
            Work::Close(node) => {
                out.extend_from_slice(b"</");
                out.extend_from_slice(bundle.name(node));
                out.push(b'>');
                continue;
            }
        };
        match bundle.kind(node) {
            NodeKind::Element => {
                out.push(b'<');
                out.extend_from_slice(bundle.name(node));
                declare(bundle, node, node == top, out);
                let children: Vec<u32> = children(bundle, node).collect();
                for &child in &children {
                    if bundle.kind(child) == NodeKind::Attribute {
                        out.push(b' ');
                        out.extend_from_slice(bundle.name(child));
                        out.push(b'=');
                        quote(bundle.value(child), out);
                    }
                }
                out.push(b'>');
                work.push(Work::Close(node));
                let inner = children.into_iter().rev();
                work.extend(
                    inner
                        .filter(|&child| bundle.kind(child) != NodeKind::Attribute)
                        .map(Work::Open),
                );
            }
            NodeKind::Comment => comment(bundle.value(node), out),
            NodeKind::Instruction => instruction(bundle.name(node), bundle.value(node), out),
            _ => escape(bundle.value(node), out),
        }
    }
}

fn children(bundle: &Bundle, node: u32) -> impl Iterator<Item = u32> + '_ {
    let last = |node: u32| bundle.nodes[node as usize].last;
    let first = (last(node) > node).then_some(node + 1);
    std::iter::successors(first, move |&child| {
        (last(child) < last(node)).then_some(last(child) + 1)
    })
}

/// Writes the declarations that an element makes itself, or for the topmost all that are in force.
fn declare(bundle: &Bundle, node: u32, is_top: bool, out: &mut Vec<u8>) {
    let Some(scope) = &bundle.description(node).scope else {
        return;
    };
    let write = |(prefix, uri): &Declared| declaration(prefix, uri, out);
    if is_top {
        scope.declarations().iter().for_each(write);
    } else if opens_scope(bundle, node, scope) {
        scope.declared.iter().for_each(write);
    }
}

fn opens_scope(bundle: &Bundle, node: u32, scope: &Rc<Scope>) -> bool {
    let parent = bundle.nodes[node as usize].parent;
    match &bundle.description(parent).scope {
        Some(around) => !Rc::ptr_eq(around, scope),
        None => scope.outer.is_some() || !scope.declared.is_empty(),
    }
}
