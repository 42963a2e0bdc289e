//! Windows of a voice stream.

use super::Tally;
use super::stream::windows;
use crate::common::Goal;
use netburn_quality::{Codec, Packet, best_fixed_buffer};
use netburn_units::{Duration, Instant};

/// Points of R below the limit that correspond to twice the limit of another goal.
const POINTS: f64 = 10.0;

/// Counts windows of one direction for a quality goal.
///
/// `packets` are in sending order and carry `packetisation` of speech each. The first window begins
/// at `from`, another every `step`, and the last ends at or before `to`. A packet belongs to the
/// windows in which it was due. A window's rating is that with its best fixed buffer and G.711 with
/// concealment; 0 if no packet arrived. A window in which no packet was sent does not count. Other
/// goals have no windows.
///
/// The tally's `worst` is 1 + (limit − R) / 10 of the worst window: 1 at the limit, 2 at 10
/// points below it, and 0 at 10 points above it or more.
#[must_use]
pub fn quality_windows(packets: &[Packet], packetisation: Duration, goal: Goal, from: Instant, to: Instant) -> Tally {
    let mut tally = Tally::default();
    let Goal::Quality { at_least, window, step } = goal else {
        return tally;
    };
    let codec = Codec::G711_CONCEALED;
    let added = codec.added_delay(packetisation);
    let limit = f64::from(at_least);
    for packets in windows(packets, window, step, from, to) {
        let rating = best_fixed_buffer(packets, added, &codec).map_or(0.0, |playout| playout.rating);
        tally.samples += 1;
        tally.met += u64::from(rating >= limit);
        let excess = (1.0 + (limit - rating) / POINTS).max(0.0);
        tally.worst = Some(tally.worst.map_or(excess, |worst| worst.max(excess)));
    }
    tally
}
