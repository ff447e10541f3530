//! A reader of small documents: tags, attributes, text and comments, without references.

use penstock_sequences::names::QName;
use penstock_sequences::scope::Scope;
use penstock_sequences::tree::{Forest, Tree};
use std::rc::Rc;

/// Makes a document the first tree of a forest.
pub fn read(text: &str, forest: &mut Forest) {
    let mut tree = Tree::default();
    let mut scopes = vec![Rc::new(Scope::default())];
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        let start = at as u64;
        if let Some(comment) = rest.strip_prefix("<!--") {
            let length = comment.find("-->").expect("a comment ends");
            at += length + 7;
            tree.comment(&comment.as_bytes()[..length], (start, at as u64));
        } else if rest.starts_with("</") {
            at += rest.find('>').expect("a tag ends") + 1;
            scopes.pop();
            tree.end(at as u64);
        } else if rest.starts_with('<') {
            let length = rest.find('>').expect("a tag ends") + 1;
            at += length;
            let tag = &rest[1..length - 1];
            let scope = open(tag.trim_end_matches('/'), &scopes, start, &mut tree, forest);
            if tag.ends_with('/') {
                tree.end(at as u64);
            } else {
                scopes.push(scope);
            }
        } else {
            let length = rest.find('<').unwrap_or(rest.len());
            at += length;
            tree.text(&rest.as_bytes()[..length], (start, at as u64));
        }
    }
    tree.end(text.len() as u64);
    *forest.document() = tree;
}

fn open(
    tag: &str,
    scopes: &[Rc<Scope>],
    start: u64,
    tree: &mut Tree,
    forest: &mut Forest,
) -> Rc<Scope> {
    let mut words = tag.split_ascii_whitespace();
    let name = words.next().expect("a tag has a name");
    let attributes: Vec<(&str, &str)> = words
        .map(|word| word.split_once('=').expect("an attribute has a value"))
        .map(|(name, value)| (name, value.trim_matches(['"', '\''])))
        .collect();
    let is_declared = |name: &str| name == "xmlns" || name.starts_with("xmlns:");
    let declared = attributes.iter().filter(|(name, _)| is_declared(name));
    let declared: Box<[_]> = declared
        .map(|(name, uri)| {
            let prefix = name.strip_prefix("xmlns:").unwrap_or_default();
            (prefix.as_bytes().into(), uri.as_bytes().into())
        })
        .collect();
    let outer = scopes.last().cloned();
    let scope = if declared.is_empty() {
        outer.expect("there is a scope")
    } else {
        Rc::new(Scope { outer, declared })
    };
    let name = resolve(name, false, &scope, forest);
    tree.start(name, Some(&scope), start);
    for (name, value) in attributes {
        if !is_declared(name) {
            let name = resolve(name, true, &scope, forest);
            tree.attribute(name, value.as_bytes(), (start, start + 1));
        }
    }
    scope
}

fn resolve(name: &str, is_attribute: bool, scope: &Scope, forest: &mut Forest) -> QName {
    let (prefix, local) = name.split_once(':').unwrap_or(("", name));
    let declared = scope.declarations();
    let mut known = declared.iter();
    let found = known.find(|(known, _)| **known == *prefix.as_bytes());
    let uri = match found {
        Some((_, uri)) if !(is_attribute && prefix.is_empty()) => &**uri,
        _ => b"",
    };
    forest.names.qname(prefix.as_bytes(), uri, local.as_bytes())
}
