//! What each subscription of a session did: rows, when, and at what cost.

use crate::ids::{Id, SubscriptionId};
use crate::tables::Table;
use rustc_hash::FxHashMap;
use std::hash::Hash;

/// What one of them did since it was last asked for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Used<I = SubscriptionId> {
    /// A subscription, by the session's number; for tries a question.
    pub id: I,
    /// Rows.
    pub matches: u32,
    /// When the last of them was taken, in the caller's seconds.
    pub last: u32,
    /// Steps of work, from a sample, and one for each row.
    pub cost: f64,
}

/// Counters of those that did something: subscriptions, or questions that subscriptions ask. Rows
/// are counted always and often come by the ten thousands, so they have cells; charges are few.
#[derive(Default)]
pub(crate) struct Usage<I> {
    /// Rows, and when the last of them was taken.
    cells: Table<I, (u32, u32)>,
    /// Those with rows.
    active: Vec<I>,
    charges: FxHashMap<I, f64>,
}

impl<I: Id + Default + Hash + Ord> Usage<I> {
    pub fn count(&mut self, ids: &[I], now: u32) {
        let Some(&most) = ids.iter().max() else {
            return;
        };
        self.cells.reach(most, (0, 0));
        for &id in ids {
            self.count_more(id, 1, now);
        }
    }

    #[inline]
    pub fn count_rows(&mut self, id: I, rows: u32, now: u32) {
        self.cells.reach(id, (0, 0));
        self.count_more(id, rows, now);
    }

    #[inline]
    fn count_more(&mut self, id: I, rows: u32, now: u32) {
        let cell = &mut self.cells[id];
        if cell.0 == 0 {
            self.active.push(id);
        }
        *cell = (cell.0.saturating_add(rows), now);
    }

    pub fn charge(&mut self, id: I, cost: f64) {
        *self.charges.entry(id).or_default() += cost;
    }

    pub fn take(&mut self) -> Vec<Used<I>> {
        self.take_if(|_| true)
    }

    /// The same for some of them.
    pub fn take_if(&mut self, is_taken: impl Fn(I) -> bool) -> Vec<Used<I>> {
        let Usage {
            cells,
            active,
            charges,
        } = self;
        let counted = active.extract_if(.., |id| is_taken(*id)).map(|id| {
            let (matches, last) = std::mem::take(&mut cells[id]);
            let charge = charges.remove(&id).unwrap_or(0.0);
            Used {
                id,
                matches,
                last,
                cost: f64::from(matches) + charge,
            }
        });
        let mut used: Vec<Used<I>> = counted.collect();
        let charged = charges.extract_if(|id, _| is_taken(*id));
        used.extend(charged.map(|(id, cost)| Used {
            id,
            cost,
            ..Used::default()
        }));
        used
    }
}
