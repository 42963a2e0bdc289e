//! Size of bursts, and their memory.

use crate::config::Gso;
use netburn_units::{BitRate, Duration};

/// Maximum number of segments in one burst (`tcp_tso_autosize`): the data of 2^−shift seconds at
/// the pacing rate, more on short paths (`tcp_tso_rtt_log` 9). It is at least `minimum`, and at
/// most what the device accepts.
pub(crate) fn burst_segments(
    gso: &Gso,
    mss: u32,
    pacing_rate: Option<BitRate>,
    shift: u8,
    min_rtt: Option<Duration>,
    minimum: u32,
) -> u32 {
    if !gso.enabled {
        return 1;
    }
    let most = (gso.max_size / mss).max(1);
    let Some(rate) = pacing_rate else { return most };
    let mut bytes = (rate.as_bps() / 8) >> shift;
    // Half the size for every 512 µs of round-trip time.
    let halvings = min_rtt.map_or(0, |rtt| (rtt.as_nanos() / 1_000) >> 9);
    bytes += u64::from(gso.max_size) >> halvings.min(63);
    let segments = (bytes.min(u64::from(gso.max_size)) / u64::from(mss)) as u32;
    segments.max(minimum).min(most)
}

/// Memory of a burst of `segments` with `length` bytes of content (`truesize`).
pub(crate) fn truesize(gso: &Gso, length: u32, segments: u32) -> u32 {
    if gso.enabled {
        length + gso.burst_overhead
    } else {
        gso.packet_truesize * segments
    }
}

/// Part number `index` of `whole` in `parts`: all are equal, and the last has the remainder.
pub(crate) const fn share(whole: u32, parts: u32, index: u32) -> u32 {
    let each = whole / parts;
    if index + 1 == parts { whole - each * index } else { each }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bursts_follow_the_rate() {
        let gso = Gso::default();
        let at = |mbps, shift| {
            let far = Some(Duration::from_millis(100));
            burst_segments(&gso, 1_448, Some(BitRate::from_mbps(mbps)), shift, far, 2)
        };
        // 100 Mbit/s is 12.5 MB/s: 12207 bytes in 1/1024 s, 8 segments; 97656 in 1/128 s, more than a burst holds.
        assert_eq!(at(100, 10), 8);
        assert_eq!(at(100, 7), 45);
        assert_eq!(at(1, 10), 2);
        // At 600 µs half of 64 KiB is added: 12207 + 32768 bytes are 31 segments.
        let near = Some(Duration::from_micros(600));
        assert_eq!(
            burst_segments(&gso, 1_448, Some(BitRate::from_mbps(100)), 10, near, 2),
            31
        );
        assert_eq!(burst_segments(&Gso::off(), 1_448, None, 10, None, 2), 1);
        // Before there is a round-trip time: 64 KiB, or one segment that is nearly as long.
        assert_eq!(burst_segments(&gso, 1_448, None, 10, None, 2), 45);
        assert_eq!(
            burst_segments(&gso, 65_000, Some(BitRate::from_mbps(100)), 10, near, 2),
            1
        );
    }

    #[test]
    fn a_burst_of_64_kib_weighs_little_more_than_its_content() {
        assert_eq!(truesize(&Gso::default(), 45 * 1_448, 45), 66_440);
        assert_eq!(truesize(&Gso::off(), 1_448, 1), 4_352);
    }
}
