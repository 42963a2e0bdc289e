//! Runs of lost packets.

/// Runs of consecutive lost packets in a sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LossRuns {
    /// Packets in the sequence.
    pub packets: u64,
    /// Lost packets among them.
    pub lost: u64,
    /// Number of runs.
    pub runs: u64,
    /// Length of the longest run, in packets.
    pub longest: u64,
}

impl LossRuns {
    /// Counts a sequence, in sending order; true is a lost packet.
    #[must_use]
    pub fn from_sequence(sequence: impl IntoIterator<Item = bool>) -> Self {
        let mut counted = LossRuns::default();
        let mut current = 0_u64;
        for lost in sequence {
            counted.packets += 1;
            if lost {
                counted.runs += u64::from(current == 0);
                counted.lost += 1;
                current += 1;
                counted.longest = counted.longest.max(current);
            } else {
                current = 0;
            }
        }
        counted
    }

    /// Share of lost packets, 0 to 1; 0 without packets.
    #[must_use]
    pub fn share(&self) -> f64 {
        share(self.lost, self.packets)
    }

    /// Mean length of a run in packets; `None` without loss.
    #[must_use]
    pub fn mean_length(&self) -> Option<f64> {
        (self.runs > 0).then(|| self.lost as f64 / self.runs as f64)
    }

    /// Burst ratio of G.107; 1 without loss, and if all packets are lost.
    #[must_use]
    pub fn burst_ratio(&self) -> f64 {
        burst_ratio(self.packets, self.lost, self.runs)
    }
}

/// Share of lost packets, 0 to 1; 0 without packets.
pub(crate) fn share(lost: u64, packets: u64) -> f64 {
    if packets == 0 {
        0.0
    } else {
        lost as f64 / packets as f64
    }
}

/// Mean length of the runs, divided by 1 / (1 − share). The latter is their mean length if each
/// packet is lost with the same probability. For a Markov chain with the probabilities p (from
/// received to lost) and q (back), this is 1 / (p + q), as in G.107 clause 7.2.
pub(crate) fn burst_ratio(packets: u64, lost: u64, runs: u64) -> f64 {
    if runs == 0 || lost == packets {
        return 1.0;
    }
    lost as f64 / runs as f64 * (1.0 - share(lost, packets))
}
