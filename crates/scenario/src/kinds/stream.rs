//! Keys of `stream`.

use super::{KindKeys, KindSection, grid, keys};
use crate::decode::{Context, Spanned};
use crate::plan::WorkloadSection;
use netburn_units::BitRate;
use netburn_workload::kinds::Stream;
use netburn_workload::{Goal, Pattern};

keys!(Stream {
    object_size => requests.object_size,
    interval => grid.interval,
    connections => requests.connections,
    player => player,
} and rate);

impl KindSection for Stream {
    fn resolve(&mut self, section: &WorkloadSection, cx: &mut Context) {
        self.apply(section);
        let (size, default) = (self.requests.bounded_size(), self.kind().default_rate);
        grid(&mut self.grid, size, default, section, cx);
        check_player(self, section, cx);
    }

    /// A lower rate cannot meet the goal of the built-in workload.
    fn check_default_goals(&self, _goals: &[Goal], section: &WorkloadSection, cx: &mut Context) {
        if let Some(rate) = section.rate.as_ref().filter(|rate| rate.0 < BitRate::from_mbps(20)) {
            let message = format!("the default goal of a stream is 20 Mbit/s, and `rate` is {}", rate.0);
            let help = "set a goal, such as `goal = [\"8 Mbit/s\", \"no stall\"]`, and a `player` with that rate";
            cx.problem_at(rate, message, help.to_owned());
        }
    }

    /// Intervals are compared, because both are rounded in the same way.
    fn check_rate(&self, goal: &Spanned<Goal>, at_least: BitRate, cx: &mut Context) {
        let (size, every) = (self.requests.bounded_size(), self.grid.interval);
        if let Some(requested) = BitRate::mean(size, every)
            && at_least.time_for(size).is_some_and(|needed| needed < every)
            && !cx.resolved
        {
            let message = format!("{at_least} cannot be met: the workload requests {requested}");
            cx.problem_at(goal, message, "request more, or lower the goal".to_owned());
        }
    }
}

fn check_player(stream: &Stream, section: &WorkloadSection, cx: &mut Context) {
    let (Some(section), Some(player)) = (&section.player, stream.player) else {
        return;
    };
    if player.start > player.max_buffer {
        let message = format!(
            "`start` ({}) exceeds `max_buffer` ({})",
            player.start, player.max_buffer
        );
        let help = || "expected `start` up to `max_buffer`".to_owned();
        match (&section.start, &section.max_buffer) {
            (Some(start), _) => cx.problem_at(start, message, help()),
            (None, Some(max_buffer)) => cx.problem_at(max_buffer, message, help()),
            (None, None) => {}
        }
    }
}
