//! Which documents have rows of the last subscriptions of a plan.

use super::columns::Rows;
use crate::ids::{DocumentId, SubscriptionId};
use std::ops::Range;

impl Rows {
    /// The documents with rows of subscriptions from a number on, each once, by number.
    pub fn documents_from(&self, first: SubscriptionId) -> Vec<DocumentId> {
        let is_asked = |subscription: &SubscriptionId| subscription.0 >= first.0;
        let has_asked =
            |list: &[SubscriptionId], range: Range<usize>| list[range].iter().any(is_asked);
        let single = self.document.iter().zip(&self.subscription);
        let single = single.filter(|(_, subscription)| is_asked(subscription));
        let mut found: Vec<DocumentId> = single.map(|(document, _)| *document).collect();
        let (matches, selections) = (&self.matches, &self.selections);
        found.extend(
            matches
                .documents()
                .filter(|(_, range)| has_asked(&matches.subscription, range.clone()))
                .map(|(document, _)| document),
        );
        found.extend(
            selections
                .documents()
                .filter(|(_, range)| has_asked(&selections.subscription, range.clone()))
                .map(|(document, _)| document),
        );
        found.sort_unstable_by_key(|document| document.0);
        found.dedup_by_key(|document| document.0);
        found
    }
}
