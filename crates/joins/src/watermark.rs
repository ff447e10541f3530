//! Event time as all streams together have shown it so far.

/// Which documents may still come.
#[derive(Clone, Copy, Debug)]
pub struct Watermark {
    lateness: Option<i64>,
    now: i64,
}

impl Watermark {
    /// A document may come this much later than a younger one; None: any time later.
    pub fn new(lateness: Option<i64>) -> Self {
        Watermark {
            lateness,
            now: i64::MIN,
        }
    }

    /// No document before this time is admitted any more.
    pub fn now(&self) -> i64 {
        self.now
    }

    /// A document or a heartbeat of this time was seen.
    pub fn advance(&mut self, time: i64) {
        if let Some(lateness) = self.lateness {
            self.now = self.now.max(time.saturating_sub(lateness));
        }
    }
}
