//! Valid settings of the physical layers: bands, channels, widths, streams, guard intervals, MCS.

/// A frequency band.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Band {
    /// 2.4 GHz: 2400 to 2483.5 MHz.
    Ghz2_4,
    /// 5 GHz: 5150 to 5895 MHz.
    Ghz5,
    /// 6 GHz: 5925 to 7125 MHz.
    Ghz6,
}

/// Physical layer of an amendment, by its letters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Standard {
    /// 802.11b: HR/DSSS, 2.4 GHz (802.11-2020 clause 16).
    B,
    /// 802.11a: OFDM, 5 GHz (clause 17).
    A,
    /// 802.11g: ERP, 2.4 GHz (clause 18).
    G,
    /// 802.11n: HT, 2.4 and 5 GHz (clause 19).
    N,
    /// 802.11ac: VHT, 5 GHz (clause 21).
    Ac,
    /// 802.11ax: HE, all bands (802.11ax-2021 clause 27).
    Ax,
    /// 802.11be: EHT, all bands (802.11be-2024 clause 36).
    Be,
}

/// Channel width.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Width {
    /// 20 MHz (22 MHz for 802.11b).
    Mhz20,
    /// 40 MHz.
    Mhz40,
    /// 80 MHz.
    Mhz80,
    /// 160 MHz.
    Mhz160,
    /// 320 MHz.
    Mhz320,
}

/// Guard interval between OFDM symbols.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Guard {
    /// 0.4 µs: the short one of 802.11n and ac.
    Ns400,
    /// 0.8 µs: the only one of 802.11a and g, the long one of n and ac, the shortest of ax and be.
    Ns800,
    /// 1.6 µs: 802.11ax and be.
    Ns1600,
    /// 3.2 µs: 802.11ax and be.
    Ns3200,
}

impl Band {
    /// All bands.
    pub const ALL: [Band; 3] = [Band::Ghz2_4, Band::Ghz5, Band::Ghz6];

    /// Name in radio names: `2g`, `5g`, `6g`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Band::Ghz2_4 => "2g",
            Band::Ghz5 => "5g",
            Band::Ghz6 => "6g",
        }
    }

    /// Default primary channel: 6, 36 and 37 (a preferred scanning channel).
    #[must_use]
    pub const fn default_channel(self) -> u16 {
        match self {
            Band::Ghz2_4 => 6,
            Band::Ghz5 => 36,
            Band::Ghz6 => 37,
        }
    }

    /// Returns true for the number of a 20 MHz channel of the band (802.11-2020 annex E).
    #[must_use]
    pub fn has_channel(self, channel: u16) -> bool {
        match self {
            Band::Ghz2_4 => (1..=14).contains(&channel),
            Band::Ghz5 => match channel {
                36..=64 | 100..=144 => channel.is_multiple_of(4),
                149..=177 => channel % 4 == 1,
                _ => false,
            },
            Band::Ghz6 => (1..=233).contains(&channel) && channel % 4 == 1,
        }
    }

    /// List of the band's channels, for messages.
    #[must_use]
    pub const fn channels(self) -> &'static str {
        match self {
            Band::Ghz2_4 => "1 to 14",
            Band::Ghz5 => "36, 40 … 64, 100, 104 … 144, 149, 153 … 177",
            Band::Ghz6 => "1, 5, 9 … 233",
        }
    }

    /// Default standard of a new access point: 802.11n on 2.4 GHz, ac on 5, ax on 6.
    #[must_use]
    pub const fn default_standard(self) -> Standard {
        match self {
            Band::Ghz2_4 => Standard::N,
            Band::Ghz5 => Standard::Ac,
            Band::Ghz6 => Standard::Ax,
        }
    }

    /// Default width: 20, 80 and 160 MHz, or the standard's maximum if that is less.
    #[must_use]
    pub fn default_width(self, standard: Standard) -> Width {
        let usual = match self {
            Band::Ghz2_4 => Width::Mhz20,
            Band::Ghz5 => Width::Mhz80,
            Band::Ghz6 => Width::Mhz160,
        };
        usual.min(standard.widest(self))
    }
}

impl Standard {
    /// All standards, oldest first.
    pub const ALL: [Standard; 7] = [
        Standard::B,
        Standard::A,
        Standard::G,
        Standard::N,
        Standard::Ac,
        Standard::Ax,
        Standard::Be,
    ];

    /// Name, as `802.11ac`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Standard::B => "802.11b",
            Standard::A => "802.11a",
            Standard::G => "802.11g",
            Standard::N => "802.11n",
            Standard::Ac => "802.11ac",
            Standard::Ax => "802.11ax",
            Standard::Be => "802.11be",
        }
    }

    /// Returns true if the standard is defined in `band`. A station of 802.11ac uses n at 2.4 GHz;
    /// that is not ac.
    #[must_use]
    pub const fn in_band(self, band: Band) -> bool {
        match self {
            Standard::B | Standard::G => matches!(band, Band::Ghz2_4),
            Standard::A | Standard::Ac => matches!(band, Band::Ghz5),
            Standard::N => !matches!(band, Band::Ghz6),
            Standard::Ax | Standard::Be => true,
        }
    }

    /// Maximum width in `band`.
    #[must_use]
    pub const fn widest(self, band: Band) -> Width {
        match (self, band) {
            (Standard::A | Standard::B | Standard::G, _) => Width::Mhz20,
            (_, Band::Ghz2_4) | (Standard::N, _) => Width::Mhz40,
            (Standard::Be, Band::Ghz6) => Width::Mhz320,
            _ => Width::Mhz160,
        }
    }

    /// Maximum number of spatial streams.
    #[must_use]
    pub const fn max_streams(self) -> u8 {
        match self {
            Standard::A | Standard::B | Standard::G => 1,
            Standard::N => 4,
            Standard::Ac | Standard::Ax | Standard::Be => 8,
        }
    }

    /// Highest MCS per stream (MCS 15 of 802.11n is MCS 7 on two streams). For 802.11b and a/g,
    /// which have rates but no MCS, the index of the rate: 1, 2, 5.5, 11 and 6 … 54 Mbit/s.
    #[must_use]
    pub const fn max_mcs(self) -> u8 {
        match self {
            Standard::B => 3,
            Standard::A | Standard::G | Standard::N => 7,
            Standard::Ac => 9,
            Standard::Ax => 11,
            Standard::Be => 13,
        }
    }

    /// Returns true if `mcs` exists at this width and number of streams. Some of 802.11ac do not
    /// (802.11-2020 §21.5: a symbol must contain an integer number of coded bits per encoder).
    #[must_use]
    pub const fn has_mcs(self, mcs: u8, width: Width, streams: u8) -> bool {
        if mcs > self.max_mcs() || streams == 0 || streams > self.max_streams() {
            return false;
        }
        match (self, width, mcs) {
            (Standard::Ac, Width::Mhz20, 9) => matches!(streams, 3 | 6),
            (Standard::Ac, Width::Mhz80, 6) => !matches!(streams, 3 | 7),
            (Standard::Ac, Width::Mhz80, 9) => streams != 6,
            (Standard::Ac, Width::Mhz160, 9) => streams != 3,
            _ => true,
        }
    }

    /// Wi-Fi generation, as in "Wi-Fi 4": 802.11b is 1, a and g are 3, n is 4, be is 7.
    #[must_use]
    pub const fn generation(self) -> u8 {
        match self {
            Standard::B => 1,
            Standard::A | Standard::G => 3,
            Standard::N => 4,
            Standard::Ac => 5,
            Standard::Ax => 6,
            Standard::Be => 7,
        }
    }

    /// aCWmin: 31 for 802.11b (802.11-2020 table 16-4), 15 for OFDM (table 17-21).
    #[must_use]
    pub const fn cw_min(self) -> u32 {
        match self {
            Standard::B => 31,
            _ => 15,
        }
    }

    /// Default guard interval: the shortest.
    #[must_use]
    pub const fn default_guard(self) -> Guard {
        match self {
            Standard::N | Standard::Ac => Guard::Ns400,
            _ => Guard::Ns800,
        }
    }

    /// Returns true if the standard has this guard interval.
    #[must_use]
    pub const fn has_guard(self, guard: Guard) -> bool {
        match self {
            Standard::A | Standard::B | Standard::G => matches!(guard, Guard::Ns800),
            Standard::N | Standard::Ac => matches!(guard, Guard::Ns400 | Guard::Ns800),
            Standard::Ax | Standard::Be => !matches!(guard, Guard::Ns400),
        }
    }

    /// BlockAck window in MPDUs, which is also the maximum of one A-MPDU. 64 for 802.11n and ac,
    /// 256 for ax, 1024 for be, one without aggregation.
    #[must_use]
    pub const fn block_ack_window(self) -> u16 {
        match self {
            Standard::A | Standard::B | Standard::G => 1,
            Standard::N | Standard::Ac => 64,
            Standard::Ax => 256,
            Standard::Be => 1024,
        }
    }

    /// Maximum A-MSDU in bytes: 7935 for 802.11n, 11 398 from ac on (the maximum MPDU is 11 454 B),
    /// none before.
    #[must_use]
    pub const fn max_amsdu(self) -> Option<u16> {
        match self {
            Standard::A | Standard::B | Standard::G => None,
            Standard::N => Some(7935),
            Standard::Ac | Standard::Ax | Standard::Be => Some(11_398),
        }
    }
}

impl Width {
    /// All widths, narrowest first.
    pub const ALL: [Width; 5] = [Width::Mhz20, Width::Mhz40, Width::Mhz80, Width::Mhz160, Width::Mhz320];

    /// In MHz.
    #[must_use]
    pub const fn as_mhz(self) -> u16 {
        match self {
            Width::Mhz20 => 20,
            Width::Mhz40 => 40,
            Width::Mhz80 => 80,
            Width::Mhz160 => 160,
            Width::Mhz320 => 320,
        }
    }
}

impl Guard {
    /// All guard intervals, shortest first.
    pub const ALL: [Guard; 4] = [Guard::Ns400, Guard::Ns800, Guard::Ns1600, Guard::Ns3200];

    /// In nanoseconds.
    #[must_use]
    pub const fn as_nanos(self) -> u16 {
        match self {
            Guard::Ns400 => 400,
            Guard::Ns800 => 800,
            Guard::Ns1600 => 1600,
            Guard::Ns3200 => 3200,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channels_are_those_of_annex_e() {
        for (band, good, bad) in [
            (Band::Ghz2_4, vec![1, 6, 11, 13, 14], vec![0, 15, 36]),
            (
                Band::Ghz5,
                vec![36, 64, 100, 144, 149, 165, 177],
                vec![6, 38, 68, 96, 148, 181],
            ),
            (Band::Ghz6, vec![1, 5, 37, 233], vec![0, 2, 36, 237]),
        ] {
            for channel in good {
                assert!(band.has_channel(channel), "{channel} in {}", band.name());
            }
            for channel in bad {
                assert!(!band.has_channel(channel), "{channel} in {}", band.name());
            }
        }
    }

    /// Values of each standard, from the tables that the methods name. In order: generation,
    /// aCWmin, BlockAck window, A-MSDU in bytes, default guard interval, and guard intervals.
    #[test]
    fn values_of_each_standard() {
        use Guard::{Ns400, Ns800, Ns1600, Ns3200};
        for (standard, generation, cw_min, window, amsdu, default, guards) in [
            (Standard::B, 1, 31, 1, None, Ns800, vec![Ns800]),
            (Standard::A, 3, 15, 1, None, Ns800, vec![Ns800]),
            (Standard::G, 3, 15, 1, None, Ns800, vec![Ns800]),
            (Standard::N, 4, 15, 64, Some(7_935), Ns400, vec![Ns400, Ns800]),
            (Standard::Ac, 5, 15, 64, Some(11_398), Ns400, vec![Ns400, Ns800]),
            (
                Standard::Ax,
                6,
                15,
                256,
                Some(11_398),
                Ns800,
                vec![Ns800, Ns1600, Ns3200],
            ),
            (
                Standard::Be,
                7,
                15,
                1_024,
                Some(11_398),
                Ns800,
                vec![Ns800, Ns1600, Ns3200],
            ),
        ] {
            let name = standard.name();
            assert_eq!(
                (standard.generation(), standard.cw_min()),
                (generation, cw_min),
                "{name}"
            );
            assert_eq!(
                (standard.block_ack_window(), standard.max_amsdu()),
                (window, amsdu),
                "{name}"
            );
            let has: Vec<Guard> = Guard::ALL
                .into_iter()
                .filter(|guard| standard.has_guard(*guard))
                .collect();
            assert_eq!((standard.default_guard(), has), (default, guards), "{name}");
        }
    }

    #[test]
    fn vht_mcs_9_at_20_mhz_only_with_three_or_six_streams() {
        let valid: Vec<u8> = (1..=8).filter(|n| Standard::Ac.has_mcs(9, Width::Mhz20, *n)).collect();
        assert_eq!(valid, [3, 6]);
        assert!(!Standard::N.has_mcs(8, Width::Mhz20, 1));
        assert!(Standard::Be.has_mcs(13, Width::Mhz320, 8));
    }

    #[test]
    fn defaults_are_permitted_by_the_standard() {
        for band in Band::ALL {
            let standard = band.default_standard();
            assert!(standard.in_band(band));
            assert!(band.has_channel(band.default_channel()));
            for standard in Standard::ALL.into_iter().filter(|s| s.in_band(band)) {
                assert!(band.default_width(standard) <= standard.widest(band));
                assert!(standard.has_guard(standard.default_guard()));
            }
        }
    }
}
