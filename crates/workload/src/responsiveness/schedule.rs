//! Due times of probes: an open-loop schedule, in which no due time depends on a response.

use super::config::Config;
use super::probe::ProbeKind;
use netburn_units::{BitRate, Duration, Instant, Probability};

/// Bytes of a foreign probe on the path, of which most are the TLS handshake (draft-ietf-ippm-responsiveness-09).
pub const FOREIGN_BYTES: u64 = 5_000;
/// Bytes of a self probe on the path (draft-ietf-ippm-responsiveness-09).
pub const SELF_BYTES: u64 = 1_000;
/// Probes of each kind per second without load.
const IDLE_PER_SECOND: u32 = 10;

/// Due times of probes. Both kinds alternate at equal distances.
#[derive(Debug, Clone)]
pub struct Schedule {
    next: Instant,
    kind: ProbeKind,
    /// Time between two probes of one kind.
    gap: Duration,
}

impl Schedule {
    /// Creates a schedule whose first probe is due at `start`.
    #[must_use]
    pub fn new(start: Instant, gap: Duration) -> Self {
        Schedule {
            next: start,
            kind: ProbeKind::Foreign,
            gap,
        }
    }

    /// Returns the next due time and the kind of the probe.
    #[must_use]
    pub fn next(&self) -> (Instant, ProbeKind) {
        (self.next, self.kind)
    }

    /// Advances to the probe after the next one.
    pub fn advance(&mut self) {
        self.next += self.half();
        self.kind = match self.kind {
            ProbeKind::Foreign => ProbeKind::Own,
            ProbeKind::Own => ProbeKind::Foreign,
        };
    }

    /// Changes the distance of the probes at `now`. The next probe moves so that it has the new distance to the probe
    /// before it, and is not due before `now`.
    pub fn set_gap(&mut self, now: Instant, gap: Duration) {
        let before = self.next - self.half();
        self.gap = gap;
        self.next = now.max(before + self.half());
    }

    fn half(&self) -> Duration {
        // At least 0.5 ms, because MPS is at most 1000.
        self.gap / 2
    }
}

/// Returns the time between two probes of one kind without load.
#[must_use]
pub fn idle_gap(config: &Config) -> Duration {
    gap_for(config.probes_per_second.min(IDLE_PER_SECOND))
}

/// Returns the time between two probes of one kind beside a load of this rate: MPS, or less often if both kinds
/// together would use more than PTC of the rate. An interval has at least one probe of each kind.
#[must_use]
pub fn loaded_gap(config: &Config, goodput: BitRate) -> Duration {
    let least = gap_for(config.probes_per_second);
    let bits = u128::from(8 * (FOREIGN_BYTES + SELF_BYTES)) * 1_000_000_000 * u128::from(Probability::ONE.as_ppb());
    let share = u128::from(goodput.as_bps()) * u128::from(config.probe_share.as_ppb());
    let shared = match share {
        0 => config.interval,
        _ => u64::try_from(bits / share).map_or(config.interval, Duration::from_nanos),
    };
    shared.min(config.interval).max(least)
}

fn gap_for(per_second: u32) -> Duration {
    Duration::from_secs(1) / u64::from(per_second.max(1))
}
