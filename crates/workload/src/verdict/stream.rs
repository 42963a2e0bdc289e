//! Windows of a stream of packets.

use super::Tally;
use crate::common::Goal;
use netburn_quality::{LossRuns, Packet};
use netburn_units::{Duration, Instant};

/// Counts windows of one direction for a loss goal.
///
/// `packets` are in sending order. The first window begins at `from`, another every `step`, and the
/// last ends at or before `to`. A packet belongs to the windows in which it was due. A window in which
/// no packet was sent does not count. Other goals have no windows.
///
/// The tally's `worst` is the highest share of lost packets divided by the limit.
#[must_use]
pub fn loss_windows(packets: &[Packet], goal: Goal, from: Instant, to: Instant) -> Tally {
    let mut tally = Tally::default();
    let Goal::Loss { at_most, window, step } = goal else {
        return tally;
    };
    let limit = u128::from(at_most.as_ppb());
    for packets in windows(packets, window, step, from, to) {
        let loss = LossRuns::from_sequence(packets.iter().map(|packet| packet.delay.is_none()));
        let lost = u128::from(loss.lost) * 1_000_000_000;
        let allowed = u128::from(loss.packets) * limit;
        tally.samples += 1;
        tally.met += u64::from(lost <= allowed);
        let excess = lost as f64 / allowed.max(1) as f64;
        tally.worst = Some(tally.worst.map_or(excess, |worst| worst.max(excess)));
    }
    tally
}

/// Packets that were due in each window, in order, without empty windows. The first window begins at
/// `from`, another every `step`, and the last ends at or before `to`.
pub(super) fn windows(
    packets: &[Packet],
    window: Duration,
    step: Duration,
    from: Instant,
    to: Instant,
) -> impl Iterator<Item = &[Packet]> {
    let following = move |begin: &Instant| begin.checked_add(step).filter(|_| !step.is_zero());
    let begins = std::iter::successors(Some(from), following);
    let ends = begins.map_while(move |begin| Some((begin, begin.checked_add(window).filter(|end| *end <= to)?)));
    let inside = ends.map(|(begin, end)| {
        let first = packets.partition_point(|packet| packet.due < begin);
        let after = packets.partition_point(|packet| packet.due < end);
        &packets[first..after.max(first)]
    });
    inside.filter(|inside| !inside.is_empty())
}
