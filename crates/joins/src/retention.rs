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
use crate::plan::Plan;
use rustc_hash::FxHashMap;

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

/// For each variable how long, in microseconds, a record that binds it is needed (negative: never);
/// for each stage the delay of its results.
pub fn retention(
    plan: &Plan,
    stream_delays: &FxHashMap<u32, Delay>,
) -> (Vec<i64>, FxHashMap<u32, Delay>) {
    let mut delays: Vec<Delay> = (0..plan.variable_count() as u32)
        .map(|variable| {
            let delay = stream_delays.get(&plan.stream_of(variable));
            delay.copied().unwrap_or_default()
        })
        .collect();
    let mut kept = vec![-1i64; plan.variable_count()];
    let mut stage_delays = FxHashMap::default();
    // A chain's rows come in order, so what a row makes is known before the row that reads it;
    // but equal rows are shared, and a shared one may stand before. Repeat until nothing grows.
    loop {
        let mut has_grown = false;
        for (number, stage) in plan.stages() {
            let shape = plan.shape(stage);
            let (left, right) = stage.variables.split_at(shape.left_count as usize);
            let delay = |side: &[u32]| {
                let all = side.iter().map(|&variable| delays[variable as usize]);
                all.fold(Delay::default(), Delay::and)
            };
            let both = delay(&stage.variables);
            let (left_delay, right_delay) = (delay(left).time, delay(right).time);
            let window = stage.window;
            let until_right = window.saturating_add(right_delay);
            let (left_kept, right_kept, out) = match shape.kind {
                None => (-1, -1, left_delay),
                Some(Kind::Meet) => (FOREVER, FOREVER, left_delay.max(right_delay)),
                Some(Kind::Join) => (
                    until_right,
                    window.saturating_add(left_delay),
                    left_delay.max(right_delay),
                ),
                Some(Kind::FollowedBy) => (until_right, left_delay, left_delay.max(right_delay)),
                Some(Kind::NotFollowedBy) => (
                    until_right,
                    until_right.max(left_delay),
                    until_right.max(left_delay),
                ),
            };
            for (side, value) in [(left, left_kept), (right, right_kept)] {
                for &variable in side {
                    kept[variable as usize] = kept[variable as usize].max(value);
                }
            }
            let is_absence = shape.kind == Some(Kind::NotFollowedBy);
            let out = Delay {
                time: out,
                depth: both.depth + u32::from(is_absence),
            };
            if stage_delays.insert(number, out) != Some(out) {
                has_grown = true;
                for &variable in &stage.output {
                    delays[variable as usize] = delays[variable as usize].and(out);
                }
            }
        }
        if !has_grown {
            return (kept, stage_delays);
        }
    }
}
