//! What each subscription of a session did: rows, when, and at what cost.

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

/// Counters of the subscriptions that did something; they cost what rows cost, not what
/// subscriptions do.
#[derive(Default)]
pub(crate) struct Usage {
    used: Vec<Used>,
    /// Place in `used` plus one, by number; zero for those that did nothing.
    places: Vec<u32>,
}

impl Usage {
    pub fn count(&mut self, subscriptions: &[u32], now: u32) {
        for &subscription in subscriptions {
            self.count_rows(subscription, 1, now);
        }
    }

    pub fn count_rows(&mut self, subscription: u32, rows: u32, now: u32) {
        let used = self.of(subscription);
        used.matches = used.matches.saturating_add(rows);
        used.last = now;
        used.cost += f64::from(rows);
    }

    pub fn charge(&mut self, subscription: u32, cost: f64) {
        self.of(subscription).cost += cost;
    }

    pub fn take(&mut self) -> Vec<Used> {
        let used = std::mem::take(&mut self.used);
        for one in &used {
            self.places[one.subscription as usize] = 0;
        }
        used
    }

    #[inline]
    fn of(&mut self, subscription: u32) -> &mut Used {
        let index = subscription as usize;
        if self.places.len() <= index {
            self.places.resize(index + 1, 0);
        }
        if self.places[index] == 0 {
            self.used.push(Used {
                subscription,
                ..Used::default()
            });
            self.places[index] = self.used.len() as u32;
        }
        &mut self.used[self.places[index] as usize - 1]
    }
}
