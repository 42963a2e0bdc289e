//! Gaps: short parts of a stream in which a listener misses words.

use crate::packet::Packet;
use netburn_units::Duration;

/// Length of the windows: 200 ms.
pub const GAP_WINDOW: Duration = Duration::from_millis(200);
/// A window is a gap if one of this number of packets, or more, is late or lost: 10 %.
const ONE_OF: u64 = 10;

/// Windows of 200 ms, and those that are gaps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Gaps {
    /// Windows in which a packet was due.
    pub windows: u64,
    /// Windows in which at least 10 % of the packets were late or lost.
    pub gaps: u64,
}

/// Gaps of `packets`, which are in sending order, if a packet is played `playout` after its due
/// time. The first window begins when the first packet is due. Without `playout`, no packet is late.
#[must_use]
pub fn gaps(packets: &[Packet], playout: Option<Duration>) -> Gaps {
    let mut counted = Gaps::default();
    let Some(first) = packets.first() else {
        return counted;
    };
    let window = |packet: &Packet| {
        let since = packet.due.checked_since(first.due).unwrap_or_default();
        since.as_nanos() / GAP_WINDOW.as_nanos()
    };
    for packets in packets.chunk_by(|one, next| window(one) == window(next)) {
        let missing = packets.iter().filter(|packet| match (packet.delay, playout) {
            (Some(delay), Some(playout)) => delay > playout,
            (Some(_), None) => false,
            (None, _) => true,
        });
        counted.windows += 1;
        counted.gaps += u64::from(missing.count() as u64 * ONE_OF >= packets.len() as u64);
    }
    counted
}
