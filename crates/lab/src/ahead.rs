//! How much a station has ahead of the air for the small queues that its plan asks for.
//!
//! A kernel holds back what is in its own queue only: data for 2^−10 s a connection. What we have taken over is gone for it. A Wi-Fi
//! driver that asks for shift 7 lets 2^−7 s wait in all, down to the air; so the difference, at the link's rate, is what we take over.

use netburn_scenario::plan::Station;
use netburn_units::BitRate;

/// The shift that a kernel's sockets begin with (`sock_init_data`).
pub(crate) const KERNEL: u8 = 10;

/// The least, in thousandths of a second of the link's rate: two aggregates are in hardware, and starve with less.
const LEAST_MS: u64 = 3;

/// What goes uncounted of others' packets than TCP's, in thousandths of a second of the link's rate: small queues don't hold them back,
/// and two of the longest aggregates are to fit into what is ahead.
const ALLOWANCE_MS: u64 = 5;

/// What Wi-Fi drivers ask for since 2018 (mac80211's `tx_sk_pacing_shift`).
const WIFI: u8 = 7;

/// What one station has ahead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ahead {
    /// `None`: it doesn't follow the rate.
    shift: Option<u8>,
    /// Bytes.
    least: u64,
    /// Bytes.
    most: u64,
}

impl Ahead {
    /// What a station's plan asks for; a Wi-Fi driver's where it asks for nothing.
    pub(crate) fn of(station: &Station) -> Ahead {
        // A wire's buffers are its hop's: what is handed over waits there.
        if station.link.is_some() {
            return Ahead {
                shift: None,
                least: 0,
                most: u64::MAX,
            };
        }
        let Some(settings) = station.tsq.and_then(|tsq| tsq.settings()) else {
            return Ahead {
                shift: Some(WIFI),
                least: 0,
                most: u64::MAX,
            };
        };
        Ahead {
            shift: settings.shift,
            least: settings.minimum.as_bytes(),
            most: settings.cap.map_or(u64::MAX, |cap| cap.as_bytes()),
        }
    }

    /// In bytes, at a link's rate.
    pub(crate) fn bytes(&self, rate: BitRate) -> u64 {
        let in_time = |shift: u8| (rate.as_bps() / 8).checked_shr(u32::from(shift)).unwrap_or(0);
        let wanted = match self.shift {
            Some(shift) => in_time(shift)
                .saturating_sub(in_time(KERNEL))
                .max(rate.as_bps() / 8 * LEAST_MS / 1000),
            None => self.most,
        };
        wanted.max(self.least).min(self.most)
    }

    /// In bytes, at a link's rate, what of others' than TCP goes uncounted besides.
    pub(crate) const fn allowance(rate: BitRate) -> u64 {
        rate.as_bps() / 8 * ALLOWANCE_MS / 1000
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netburn_scenario::Document;

    fn ahead(line: &str, mbps: u64) -> u64 {
        let text = format!(
            "[ap.a]\n[ap.a.radio.5g]\n[station.s]\njoins = \"a.5g\"\nsignal = \"-60 dBm\"\nworkload = \"upload\"\n{line}\n"
        );
        let plan = Document::from_toml("s.toml", &text).unwrap().resolve().unwrap();
        Ahead::of(&plan.stations[0]).bytes(BitRate::from_mbps(mbps))
    }

    #[test]
    fn the_difference_to_the_kernels_own_is_taken_over() {
        // 8.192 Mbit/s are 1,024,000 bytes a second: 8000 in 2^-7 s, 1000 in 2^-10.
        let rate = BitRate::from_bps(8_192_000);
        let wifi = Ahead {
            shift: Some(7),
            least: 0,
            most: u64::MAX,
        };
        assert_eq!(wifi.bytes(rate), 7_000);
        // At 100 Mbit/s: 97,656 bytes less 12,207.
        assert_eq!(ahead("", 100), 85_449);
        assert_eq!(ahead("tsq = \"2025\"", 100), 85_449);
        assert_eq!(ahead("tsq = { shift = 6 }", 100), 195_312 - 12_207);
        // Never less than 3 ms.
        assert_eq!(ahead("tsq = \"2018\"", 100), 37_500);
        assert_eq!(ahead("tsq = \"2013\"", 100), 37_500);
        assert_eq!(ahead("tsq = { shift = 12 }", 100), 37_500);
    }

    #[test]
    fn minimum_and_cap_hold() {
        assert_eq!(ahead("tsq = \"2013-min\"", 100), 128 * 1024);
        assert_eq!(ahead("tsq = \"2012\"", 100), 128 * 1024);
        assert_eq!(ahead("tsq = { shift = 6, cap = \"64 KiB\" }", 500), 64 * 1024);
    }
}
