//! Time between the probes of a test.

use super::config::Config;
use netburn_units::{BitRate, Duration, Probability};

/// Bytes of a foreign probe on the path, of which most are the TLS handshake (draft-ietf-ippm-responsiveness-09).
pub const FOREIGN_BYTES: u64 = 5_000;
/// Bytes of a self probe on the path (draft-ietf-ippm-responsiveness-09).
pub const SELF_BYTES: u64 = 1_000;
/// Probes of each kind per second without load.
const IDLE_PER_SECOND: u32 = 10;

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
