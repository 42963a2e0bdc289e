//! The best fixed playout buffer.
//!
//! A receiver with a fixed buffer plays each packet at its due time plus d. A packet that arrives
//! later is late, which is the same as lost. A larger d makes fewer packets late and the call's
//! delay longer. The best d is the one that maximises R. It is known only after the call, so it
//! describes the network and not a receiver's algorithm.

use crate::codec::Codec;
use crate::e_model::{Impairment, STEP, rating};
use crate::loss::{burst_ratio, share};
use crate::packet::Packet;
use netburn_units::Duration;

/// A fixed playout buffer, and the quality with it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Playout {
    /// Time from the due time of a packet to its playout: network delay and wait in the buffer.
    pub delay: Duration,
    /// Packets that were sent.
    pub packets: u64,
    /// Packets that arrived after their playout time.
    pub late: u64,
    /// Packets that never arrived.
    pub lost: u64,
    /// Burst ratio of the late and lost packets.
    pub burst_ratio: f64,
    /// Rating R.
    pub rating: f64,
}

/// The fixed buffer with the highest R for `packets`, which are in sending order. `added` is the
/// delay that the codec adds ([`Codec::added_delay`]). `None` if no packet arrived.
///
/// The candidates are the delays of the packets that arrived, from the longest to the shortest:
/// between two of them a longer buffer changes nothing but the delay. A buffer for which more
/// packets are late than in time is no candidate. Of two candidates with the same R the longer one
/// is chosen. The search takes O(n log n). It ends when no shorter buffer can be better even if its
/// delay were the shortest one and its losses were random.
#[must_use]
pub fn best_fixed_buffer(packets: &[Packet], added: Duration, codec: &Codec) -> Option<Playout> {
    let mut arrived: Vec<(Duration, usize)> = packets
        .iter()
        .enumerate()
        .filter_map(|(index, packet)| Some((packet.delay?, index)))
        .collect();
    arrived.sort_unstable();
    let shortest = arrived.first()?.0;
    let mut missing = Missing::new(packets);
    let never = missing.count;
    let rate = |delay: Duration, loss: f64, burst_ratio: f64| {
        let delay = delay.checked_add(added).unwrap_or(delay);
        rating(
            &Impairment {
                delay,
                loss,
                burst_ratio,
            },
            codec,
        )
    };
    let mut best: Option<Playout> = None;
    while let Some(&(delay, _)) = arrived.last() {
        let ratio = missing.burst_ratio();
        let loss = share(missing.count, missing.packets());
        let found = rate(delay, loss, ratio);
        if best.is_none_or(|best| found > best.rating) {
            best = Some(Playout {
                delay,
                packets: missing.packets(),
                late: missing.count - never,
                lost: never,
                burst_ratio: ratio,
                rating: found,
            });
        }
        while let Some((_, index)) = arrived.pop_if(|(longest, _)| *longest == delay) {
            missing.add(index);
        }
        let late = missing.count - never;
        if late > arrived.len() as u64 {
            break;
        }
        let bound = rate(shortest, share(missing.count, missing.packets()), 1.0) + STEP;
        if best.is_some_and(|best| bound <= best.rating) {
            break;
        }
    }
    best
}

/// Packets of a sequence that are not played, and the number of their runs.
#[derive(Debug)]
struct Missing {
    is_missing: Vec<bool>,
    count: u64,
    runs: u64,
}

impl Missing {
    fn new(packets: &[Packet]) -> Self {
        let mut missing = Missing {
            is_missing: vec![false; packets.len()],
            count: 0,
            runs: 0,
        };
        for (index, packet) in packets.iter().enumerate() {
            if packet.delay.is_none() {
                missing.add(index);
            }
        }
        missing
    }

    fn packets(&self) -> u64 {
        self.is_missing.len() as u64
    }

    /// Marks a packet as missing. It joins two runs, extends one, or begins one.
    fn add(&mut self, index: usize) {
        let is = |index: Option<usize>| index.and_then(|index| self.is_missing.get(index)).is_some_and(|is| *is);
        match (is(index.checked_sub(1)), is(index.checked_add(1))) {
            (true, true) => self.runs -= 1,
            (false, false) => self.runs += 1,
            _ => {}
        }
        self.is_missing[index] = true;
        self.count += 1;
    }

    fn burst_ratio(&self) -> f64 {
        burst_ratio(self.packets(), self.count, self.runs)
    }
}
