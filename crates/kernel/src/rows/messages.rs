//! Messages in bulk: each once, and who gets it.

use super::columns::{RowKind, Rows};
use super::selections::Selected;
use crate::ids::{DocumentId, SubscriptionId};

impl Rows {
    /// Starts the messages of a document; returns the place of the first one among the lists.
    pub(crate) fn begin_messages(&mut self, document: DocumentId) -> u32 {
        let behind = (self.len(), self.matches.document_count());
        self.selections.begin(document, behind);
        self.selections.items.len() as u32
    }

    /// The values that messages are written to: bytes, and where each message ends.
    pub(crate) fn message_bytes(&mut self) -> (&mut Vec<u8>, &mut Vec<i32>) {
        let value = &mut self.selections.fragments().value;
        (&mut value.bytes, &mut value.offsets)
    }

    /// Describes the messages that were written since: they are of a document that has ended.
    pub(crate) fn end_messages(&mut self, document: DocumentId, length: u64) {
        let fragments = self.selections.fragments();
        let before = fragments.len() as u32;
        let count = fragments.value.offsets.len() - 1;
        fragments.document.resize(count, document);
        fragments.subscription.resize(count, SubscriptionId(0));
        fragments.ordinal.resize(count, 0);
        let end = fragments.name.bytes.len() as i32;
        fragments.name.offsets.resize(count + 1, end);
        fragments.start.resize(count, -1);
        fragments.end.resize(count, -1);
        fragments.decided_at.resize(count, length as i64);
        fragments.node.resize(count, 0);
        fragments.scope.resize(count, -1);
        fragments.kind.resize(count, RowKind::Message as u8);
        let items = (before..count as u32).map(|fragment| Selected {
            fragment,
            ordinal: 0,
            decided_at: length as i64,
        });
        self.selections.items.extend(items);
    }

    /// Gives messages to subscriptions, by their numbers behind `first_subscription` and behind
    /// `first_message`.
    pub(crate) fn deliver(
        &mut self,
        first_subscription: u32,
        subscriptions: &[u32],
        messages: &[u32],
        first_message: u32,
    ) {
        self.selections
            .add_single(first_subscription, subscriptions, messages, first_message);
    }
}
