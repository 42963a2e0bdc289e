//! Limit of the unsent data of a connection with load.

use netburn_units::{BitRate, Duration};

/// Time in which a connection sends its unsent data.
const DELAY: Duration = Duration::from_millis(5);
/// Minimum limit in bytes: a TLS record, which is the unit of sending.
const MIN: u32 = 16 << 10;
/// Maximum limit in bytes.
const MAX: u32 = 128 << 10;

/// Time between two changes of the limit of a connection: 100 ms.
pub const UNSENT_UPDATE: Duration = Duration::from_millis(100);

/// Maximum size of a frame on a connection with load, in bytes: the minimum that a peer can announce (RFC 9113 section
/// 6.5.2). The response to a self probe waits behind at most one frame of each other stream.
pub const LOAD_FRAME: u32 = 16 << 10;

/// Returns the limit of the unsent data (TCP_NOTSENT_LOWAT) in bytes, for a connection of this rate: 5 ms of the rate, at least
/// 16 KiB and at most 128 KiB. The response to a self probe waits behind the data that a socket has not sent yet. The limit
/// keeps this time short, so that the probe measures the network.
#[must_use]
pub fn unsent_limit(rate: BitRate) -> u32 {
    let bytes = u128::from(rate.as_bps()) * u128::from(DELAY.as_nanos()) / 8_000_000_000;
    u32::try_from(bytes).unwrap_or(MAX).clamp(MIN, MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 5 ms at 100 Mbit/s are 62,500 bytes. 5 ms at 1 Mbit/s are 625 bytes, less than a record.
    #[test]
    fn the_limit_is_five_milliseconds_of_the_rate() {
        assert_eq!(unsent_limit(BitRate::from_mbps(100)), 62_500);
        assert_eq!(unsent_limit(BitRate::from_mbps(40)), 25_000);
        assert_eq!(unsent_limit(BitRate::from_mbps(1)), 16_384);
        assert_eq!(unsent_limit(BitRate::from_mbps(10_000)), 131_072);
        assert_eq!(unsent_limit(BitRate::from_bps(u64::MAX)), 131_072);
    }
}
