//! Frequencies of a channel.

use super::phy::{Band, Width};

/// Frequency range of a channel in MHz: lower and upper end.
pub type Span = (u16, u16);

impl Band {
    /// Frequency range of a channel of `width` with the primary 20 MHz channel `primary`. The range
    /// is the block of that width that contains the primary (802.11-2020 table E-1; 802.11ax-2021
    /// for 6 GHz). In 2.4 GHz, 40 MHz channels extend in either direction: upwards from channels 1
    /// to 7 and downwards from 8 to 13. `None` if there is no such channel.
    #[must_use]
    pub fn block(self, primary: u16, width: Width) -> Option<Span> {
        if !self.has_channel(primary) {
            return None;
        }
        let mhz = width.as_mhz();
        match self {
            Band::Ghz2_4 => {
                // Channel 14 is separate (Japan, 802.11b).
                let centre = if primary == 14 { 2_484 } else { 2_407 + 5 * primary };
                match width {
                    Width::Mhz20 => Some((centre - 10, centre + 10)),
                    Width::Mhz40 if primary <= 7 => Some((centre - 10, centre + 30)),
                    Width::Mhz40 if primary <= 13 => Some((centre - 30, centre + 10)),
                    _ => None,
                }
            }
            Band::Ghz5 => {
                // 20 MHz channels of each range of the band in which channels are bonded, and their
                // number.
                let (first, count) = match primary {
                    36..=64 => (36, 8),
                    100..=144 => (100, 12),
                    _ => (149, 8),
                };
                bonded(5_000 + 5 * first - 10, (primary - first) / 4, count, mhz / 20)
            }
            // Channel 1 is the first, 5 the second and so on.
            Band::Ghz6 => bonded(5_945, primary / 4, 59, mhz / 20),
        }
    }
}

/// Block of `channels` 20 MHz channels that contains the one at `place`, of `count` from `low` MHz
/// up.
fn bonded(low: u16, place: u16, count: u16, channels: u16) -> Option<Span> {
    let first = place / channels * channels;
    let block = (low + 20 * first, low + 20 * (first + channels));
    (first + channels <= count).then_some(block)
}

/// Returns true if two ranges overlap.
#[must_use]
pub const fn overlap(one: Span, other: Span) -> bool {
    one.0 < other.1 && other.0 < one.1
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Centre frequencies from annex E, as channel (MHz): width and 20 MHz channels.
    ///
    /// - 42 (5210): 80 MHz around 36 to 48
    /// - 50 (5250): 160 MHz around 36 to 64
    /// - 138 (5690): 80 MHz around 132 to 144
    /// - 155 (5775): 80 MHz around 149 to 161
    /// - 163 (5815): 160 MHz from 149 up
    /// - 6 GHz, 7 (5985): 80 MHz from 1 up
    /// - 6 GHz, 31 (6105): the first 320 MHz
    #[test]
    fn centres_of_annex_e() {
        for (band, primary, width, centre) in [
            (Band::Ghz2_4, 6, Width::Mhz20, 2_437),
            (Band::Ghz2_4, 14, Width::Mhz20, 2_484),
            (Band::Ghz2_4, 1, Width::Mhz40, 2_422),
            (Band::Ghz2_4, 11, Width::Mhz40, 2_452),
            (Band::Ghz5, 36, Width::Mhz20, 5_180),
            (Band::Ghz5, 48, Width::Mhz80, 5_210),
            (Band::Ghz5, 64, Width::Mhz160, 5_250),
            (Band::Ghz5, 140, Width::Mhz80, 5_690),
            (Band::Ghz5, 153, Width::Mhz80, 5_775),
            (Band::Ghz5, 177, Width::Mhz160, 5_815),
            (Band::Ghz6, 1, Width::Mhz20, 5_955),
            (Band::Ghz6, 233, Width::Mhz20, 7_115),
            (Band::Ghz6, 13, Width::Mhz80, 5_985),
            (Band::Ghz6, 61, Width::Mhz320, 6_105),
        ] {
            let (low, high) = band.block(primary, width).unwrap();
            assert_eq!((low + high) / 2, centre, "{} {primary}", band.name());
            assert_eq!(high - low, width.as_mhz());
        }
    }

    #[test]
    fn some_channels_have_no_such_width() {
        assert_eq!(Band::Ghz5.block(132, Width::Mhz160), None);
        assert_eq!(Band::Ghz5.block(36, Width::Mhz320), None);
        assert_eq!(Band::Ghz2_4.block(6, Width::Mhz80), None);
        assert_eq!(Band::Ghz2_4.block(14, Width::Mhz40), None);
        assert_eq!(Band::Ghz6.block(233, Width::Mhz40), None);
        assert_eq!(Band::Ghz5.block(6, Width::Mhz20), None);
    }

    #[test]
    fn one_six_and_eleven_are_apart() {
        let block = |channel| Band::Ghz2_4.block(channel, Width::Mhz20).unwrap();
        assert!(!overlap(block(1), block(6)) && !overlap(block(6), block(11)));
        assert!(overlap(block(1), block(4)) && overlap(block(3), block(6)));
    }
}
