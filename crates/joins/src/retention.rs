//! How long a record may still be needed after its event time.
//!
//! A record is needed while some partner within a window may still come. Documents come in time:
//! none older than the watermark. What a row of absence lets go comes later than its event time,
//! by its *delay*, and so does everything made of it. A partner of time t is there once the
//! watermark has passed t plus its delay.

use crate::codes::{FOREVER, Kind};
use crate::plan::Plan;
use rustc_hash::FxHashMap;

/// For each variable how long, in microseconds, a record that binds it is needed. Negative: never.
pub fn retention(
    plan: &Plan,
    stream_delays: &FxHashMap<u32, i64>,
) -> (Vec<i64>, FxHashMap<u32, i64>) {
    let mut delays: Vec<i64> = (0..plan.variable_count() as u32)
        .map(|variable| {
            stream_delays
                .get(&plan.stream_of(variable))
                .copied()
                .unwrap_or(0)
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
            let delay = |side: &[u32]| side.iter().map(|&v| delays[v as usize]).max().unwrap_or(0);
            let (left_delay, right_delay) = (delay(left), delay(right));
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
            if stage_delays.insert(number, out) != Some(out) {
                has_grown = true;
                for &variable in &stage.output {
                    delays[variable as usize] = delays[variable as usize].max(out);
                }
            }
        }
        if !has_grown {
            return (kept, stage_delays);
        }
    }
}
