//! Variation of the delay between packets.

use crate::packet::Packet;

/// Interarrival jitter of RFC 3550 (section 6.4.1, appendix A.8) over a stream, in ms.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Jitter {
    /// Mean of the estimate after each packet from the second on.
    pub mean_ms: f64,
    /// Maximum of the estimate.
    pub max_ms: f64,
    /// Estimate after the last packet.
    pub last_ms: f64,
}

/// Jitter of the packets that arrived, in the order of arrival; of packets that arrive at one
/// instant, the one that was due first comes first. `None` with fewer than two.
///
/// The estimate begins at 0. Each packet changes it by (|D| − J) / 16; D is the difference of its
/// delay from that of the packet before.
#[must_use]
pub fn jitter(packets: &[Packet]) -> Option<Jitter> {
    let mut arrived: Vec<(i128, i128)> = packets
        .iter()
        .filter_map(|packet| {
            let delay = i128::from(packet.delay?.as_nanos());
            Some((i128::from(packet.due.as_nanos()) + delay, delay))
        })
        .collect();
    arrived.sort_by_key(|(at, _)| *at);
    let (mut estimate, mut sum, mut max) = (0.0_f64, 0.0, 0.0_f64);
    for pair in arrived.windows(2) {
        let difference = (pair[1].1 - pair[0].1).unsigned_abs() as f64 / 1e6;
        estimate += (difference - estimate) / 16.0;
        sum += estimate;
        max = max.max(estimate);
    }
    let changes = arrived.len().checked_sub(1).filter(|changes| *changes > 0)?;
    Some(Jitter {
        mean_ms: sum / changes as f64,
        max_ms: max,
        last_ms: estimate,
    })
}

/// Mean of |IPDV| (RFC 3393) in ms: the difference of the delays of two packets that were sent one
/// after the other and both arrived. `None` without such a pair.
#[must_use]
pub fn mean_delay_variation(packets: &[Packet]) -> Option<f64> {
    let (mut sum, mut pairs) = (0_u128, 0_u64);
    for pair in packets.windows(2) {
        if let (Some(one), Some(next)) = (pair[0].delay, pair[1].delay) {
            sum += u128::from(one.as_nanos().abs_diff(next.as_nanos()));
            pairs += 1;
        }
    }
    (pairs > 0).then(|| sum as f64 / pairs as f64 / 1e6)
}
