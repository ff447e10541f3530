//! What each subscription of a session did: rows, when, and at what cost.

use rustc_hash::FxHashMap;

/// What one subscription did since it was last asked for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Used {
    /// The session's number of the subscription.
    pub subscription: u32,
    /// Rows.
    pub matches: u32,
    /// When the last of them was taken, in the caller's seconds.
    pub last: u32,
    /// Steps of work, from a sample, and one for each row.
    pub cost: f64,
}

/// Counters of those that did something, by number: subscriptions, or questions that subscriptions
/// ask. Rows are counted always and often come by the ten thousands, so they have cells; charges
/// are few.
#[derive(Default)]
pub(crate) struct Usage {
    /// By number: rows, and when the last of them was taken.
    cells: Vec<(u32, u32)>,
    /// Those with rows.
    active: Vec<u32>,
    charges: FxHashMap<u32, f64>,
}

impl Usage {
    pub fn count(&mut self, numbers: &[u32], now: u32) {
        let Some(&most) = numbers.iter().max() else {
            return;
        };
        self.reach(most);
        for &number in numbers {
            let cell = &mut self.cells[number as usize];
            if cell.0 == 0 {
                self.active.push(number);
            }
            *cell = (cell.0.saturating_add(1), now);
        }
    }

    #[inline]
    pub fn count_rows(&mut self, number: u32, rows: u32, now: u32) {
        self.reach(number);
        let cell = &mut self.cells[number as usize];
        if cell.0 == 0 {
            self.active.push(number);
        }
        *cell = (cell.0.saturating_add(rows), now);
    }

    #[inline]
    fn reach(&mut self, number: u32) {
        if self.cells.len() <= number as usize {
            self.cells.resize(number as usize + 1, (0, 0));
        }
    }

    pub fn charge(&mut self, subscription: u32, cost: f64) {
        *self.charges.entry(subscription).or_default() += cost;
    }

    pub fn take(&mut self) -> Vec<Used> {
        let charges = &mut self.charges;
        let mut used: Vec<Used> = Vec::with_capacity(self.active.len() + charges.len());
        for subscription in self.active.drain(..) {
            let (matches, last) = std::mem::take(&mut self.cells[subscription as usize]);
            let charge = charges.remove(&subscription).unwrap_or(0.0);
            used.push(Used {
                subscription,
                matches,
                last,
                cost: f64::from(matches) + charge,
            });
        }
        used.extend(charges.drain().map(|(subscription, cost)| Used {
            subscription,
            cost,
            ..Used::default()
        }));
        used
    }
}
