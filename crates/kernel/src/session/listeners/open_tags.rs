//! The elements that are open, for a tier that is attached in the middle of a document.

use super::{Engine, Listeners, Tier};
use crate::automaton::Automaton;
use crate::error::DocumentError;
use crate::events::{Attribute, Handler, Scope, Span, StartTag, Symbol, local_name};
use crate::ids::DocumentId;
use crate::plan::NodeKind;
use std::rc::Rc;
use std::sync::Arc;

struct OpenAttribute {
    name: Box<[u8]>,
    uri: Box<[u8]>,
    value: Box<[u8]>,
    span: Span,
}

struct OpenTag {
    name: Box<[u8]>,
    uri: Box<[u8]>,
    span: Span,
    attributes: Vec<OpenAttribute>,
    scope: Rc<Scope>,
    id: Option<Box<[u8]>>,
}

/// The start tags of the open elements, kept for a live session only; and how far the input goes.
#[derive(Default)]
pub(super) struct OpenTags {
    stack: Vec<OpenTag>,
    read_until: u64,
}

impl OpenTags {
    pub fn clear(&mut self) {
        *self = OpenTags::default();
    }

    pub fn enter_block(&mut self, end: u64) {
        self.read_until = end;
    }

    pub fn push(&mut self, tag: &StartTag<'_>) {
        let attributes = tag.attributes.iter().map(|attribute| OpenAttribute {
            name: attribute.name.into(),
            uri: attribute.uri.into(),
            value: attribute.value.into(),
            span: attribute.span,
        });
        self.stack.push(OpenTag {
            name: tag.name.into(),
            uri: tag.uri.into(),
            span: tag.span,
            attributes: attributes.collect(),
            scope: tag.scope.clone(),
            id: tag.id.map(Box::from),
        });
    }

    /// From where on nodes open that are not open yet; nothing outside the root element.
    pub fn next_start(&self) -> Option<u64> {
        self.stack.last().map(|tag| tag.span.start + 1)
    }

    pub fn pop(&mut self) {
        self.stack.pop();
    }
}

impl Listeners {
    /// Goes on with other tiers in the middle of a document. Tiers whose plans stay go on as they
    /// are. A new one knows the names and attributes of the open elements, and what comes from the
    /// next start tag on; elements that are open already are none of its results.
    pub fn attach(&mut self, tiers: Vec<Tier>) -> Result<(), DocumentError> {
        let before: Vec<_> = self
            .automata()
            .map(|runner| runner.tier.plan.clone())
            .collect();
        self.adopt_within(tiers);
        let (open, document) = (&self.open, self.document);
        for listener in &mut self.list {
            let Engine::Automaton(runner) = &mut listener.engine else {
                continue;
            };
            if before
                .iter()
                .any(|plan| Arc::ptr_eq(plan, &runner.tier.plan))
            {
                continue;
            }
            listener.is_waiting = true;
            replay(&mut runner.automaton, open, document)?;
        }
        Ok(())
    }
}

/// Begins in the middle of a document, whose open elements an automaton is told of.
pub(super) fn replay(
    automaton: &mut Automaton,
    open: &OpenTags,
    document: DocumentId,
) -> Result<(), DocumentError> {
    automaton.number_documents(document);
    automaton.begin_at(open.read_until)?;
    open.stack
        .iter()
        .try_for_each(|tag| replay_tag(automaton, tag))
}

fn replay_tag(automaton: &mut Automaton, tag: &OpenTag) -> Result<(), DocumentError> {
    let local = |name| local_name(NodeKind::Element, name);
    let mut attributes = Vec::with_capacity(tag.attributes.len());
    for attribute in &tag.attributes {
        attributes.push(Attribute {
            symbol: automaton.attribute_symbol(&attribute.uri, local(&attribute.name)),
            name: &attribute.name,
            uri: &attribute.uri,
            value: &attribute.value,
            span: attribute.span,
        });
    }
    let symbol: Symbol = automaton.element_symbol(&tag.uri, local(&tag.name));
    automaton.start(&StartTag {
        symbol,
        name: &tag.name,
        uri: &tag.uri,
        span: tag.span,
        attributes: &attributes,
        scope: &tag.scope,
        id: tag.id.as_deref(),
    })
}
