//! How long a record may still be needed after its event time.
//!
//! A record is needed while some partner within a window may still come. Documents come in time:
//! none older than the watermark. What a row of absence lets go comes later than its event time,
//! by its *delay*, and so does everything made of it. A partner of time t is there once the
//! watermark has passed t plus its delay.
//!
//! Rows of absence also have a *depth*: one more than whatever they read, on either side, has. Who
//! lets go everything that is due at one depth after the other finds all partners in place.

use crate::codes::{FOREVER, Kind};
use crate::plan::{Plan, Stage, StageId, StreamId};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// How much later than its event time something may come, and how many rows of absence, one reading
/// from the other, stand before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Delay {
    /// In microseconds.
    pub time: i64,
    /// Rows of absence.
    pub depth: u32,
}

impl Delay {
    /// The delay of something made of both.
    pub fn and(self, other: Delay) -> Delay {
        Delay {
            time: self.time.max(other.time),
            depth: self.depth.max(other.depth),
        }
    }
}

/// What is known of a variable.
#[derive(Clone, Debug, Default)]
struct Variable {
    delay: Delay,
    /// For how long rows that join it need records that bind it, in microseconds, the shortest
    /// first, and how many value joins do.
    needed: SmallVec<[(i64, u32); 1]>,
}

/// What a row asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Span {
    /// For how long it needs the records of either side.
    left: i64,
    right: i64,
    /// How much later than their event time its results may come.
    delay: Delay,
}

/// For each variable how long a record that binds it is needed, for each row the delay of its
/// results. A row that comes or goes costs its own size, unless it delays what others read.
#[derive(Default)]
pub struct Retention {
    variables: Vec<Variable>,
    rows: FxHashMap<StageId, Span>,
    stream_delays: FxHashMap<StreamId, Delay>,
    is_stale: bool,
}

impl Retention {
    /// Admits a variable of a stream.
    pub fn admit(&mut self, variable: u32, stream: StreamId) {
        let count = self.variables.len().max(variable as usize + 1);
        self.variables.resize(count, Variable::default());
        self.variables[variable as usize].delay = self.stream_delay(stream);
    }

    /// Says how much later than its event time what is published on a stream may come.
    pub fn delay_stream(&mut self, stream: StreamId, delay: Delay) {
        let before = self.stream_delay(stream);
        if delay != before {
            self.stream_delays.insert(stream, delay);
            self.is_stale = true;
        }
    }

    /// How much later than its event time what is published on a stream may come.
    pub fn stream_delay(&self, stream: StreamId) -> Delay {
        self.stream_delays.get(&stream).copied().unwrap_or_default()
    }

    /// How long a record that binds a variable is needed; negative: not at all.
    #[inline]
    pub fn needed(&self, variable: u32) -> i64 {
        let needed = self.variables.get(variable as usize);
        needed
            .and_then(|known| known.needed.last())
            .map_or(-1, |last| last.0)
    }

    /// How much later than their event time the results of a row may come; None if there is no
    /// such row.
    pub fn delay_of(&self, row: StageId) -> Option<Delay> {
        self.rows.get(&row).map(|span| span.delay)
    }

    /// The largest depth of a row.
    pub fn depth(&self) -> u32 {
        let depths = self.rows.values().map(|span| span.delay.depth);
        depths.max().unwrap_or(0)
    }

    /// Takes in a row.
    pub fn add(&mut self, number: StageId, stage: &Stage) {
        let span = self.span(stage);
        self.count(stage, span, true);
        self.rows.insert(number, span);
        for &variable in &stage.output {
            let known = &mut self.variables[variable as usize];
            let delay = known.delay.and(span.delay);
            // Who reads it was taken in with another delay.
            self.is_stale |= delay != known.delay && !known.needed.is_empty();
            known.delay = delay;
        }
    }

    /// Forgets a row.
    pub fn remove(&mut self, number: StageId, stage: &Stage) {
        if let Some(span) = self.rows.remove(&number) {
            self.count(stage, span, false);
        }
    }

    /// Works everything out anew where delays changed.
    pub fn refresh(&mut self, plan: &Plan) {
        if !std::mem::take(&mut self.is_stale) {
            return;
        }
        for variable in 0..self.variables.len() as u32 {
            let delay = self.stream_delay(plan.stream_of(variable));
            let known = &mut self.variables[variable as usize];
            *known = Variable::default();
            known.delay = delay;
        }
        self.rows.clear();
        // A chain's rows come in order, so what a row makes is known before the row that reads it;
        // but equal rows are shared, and a shared one may stand before. Repeat until nothing grows.
        let mut has_grown = true;
        while has_grown {
            has_grown = false;
            for (number, stage) in plan.stages() {
                let span = self.span(stage);
                if self.rows.insert(number, span) != Some(span) {
                    has_grown = true;
                    for &variable in &stage.output {
                        let known = &mut self.variables[variable as usize];
                        known.delay = known.delay.and(span.delay);
                    }
                }
            }
        }
        for (number, stage) in plan.stages() {
            self.count(stage, self.rows[&number], true);
        }
    }

    /// Counts the needs of a row in, or out. A record without what a row joins is of no use to it,
    /// whatever else it binds.
    fn count(&mut self, stage: &Stage, span: Span, is_in: bool) {
        for (left, right) in stage.joined_pairs() {
            for (variable, value) in [(left, span.left), (right, span.right)] {
                let needed = &mut self.variables[variable as usize].needed;
                match needed.binary_search_by_key(&value, |need| need.0) {
                    Ok(at) if is_in => needed[at].1 += 1,
                    Ok(at) if needed[at].1 > 1 => needed[at].1 -= 1,
                    Ok(at) => {
                        needed.remove(at);
                    }
                    Err(at) if is_in => needed.insert(at, (value, 1)),
                    Err(_) => {}
                }
            }
        }
    }

    fn span(&self, stage: &Stage) -> Span {
        let (left, right) = stage.variables.split_at(stage.shape.left_count as usize);
        let delay = |side: &[u32]| {
            let all = side
                .iter()
                .map(|&variable| self.variables[variable as usize].delay);
            all.fold(Delay::default(), Delay::and)
        };
        let (before, beside) = (delay(left), delay(right));
        let until_right = stage.window.saturating_add(beside.time);
        let later = before.time.max(beside.time);
        let (left, right, time) = match stage.shape.kind {
            None => (-1, -1, before.time),
            Some(Kind::Meet) => (FOREVER, FOREVER, later),
            Some(Kind::Join) => (until_right, stage.window.saturating_add(before.time), later),
            Some(Kind::FollowedBy) => (until_right, before.time, later),
            Some(Kind::NotFollowedBy) => {
                let both = until_right.max(before.time);
                (until_right, both, both)
            }
        };
        let is_absence = stage.shape.kind == Some(Kind::NotFollowedBy);
        let depth = before.and(beside).depth + u32::from(is_absence);
        Span {
            left,
            right,
            delay: Delay { time, depth },
        }
    }
}
