//! DSCP, and the 802.11 user priority that follows from it.

/// Differentiated services code point of a packet (RFC 2474 section 3): six bits, 0 to 63.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Dscp(u8);

impl Dscp {
    /// Maximum value.
    pub const MAX: u8 = 63;

    /// Names with their values: RFC 2474 (CS, DF), RFC 2597 (AF), RFC 3246 (EF), RFC 5865 (VA),
    /// RFC 8622 (LE). One value can have two names; the first one is that of [`name`](Self::name).
    pub const NAMES: &[(&'static str, Dscp)] = &[
        ("CS0", Dscp(0)),
        ("DF", Dscp(0)),
        ("LE", Dscp(1)),
        ("CS1", Dscp(8)),
        ("AF11", Dscp(10)),
        ("AF12", Dscp(12)),
        ("AF13", Dscp(14)),
        ("CS2", Dscp(16)),
        ("AF21", Dscp(18)),
        ("AF22", Dscp(20)),
        ("AF23", Dscp(22)),
        ("CS3", Dscp(24)),
        ("AF31", Dscp(26)),
        ("AF32", Dscp(28)),
        ("AF33", Dscp(30)),
        ("CS4", Dscp(32)),
        ("AF41", Dscp(34)),
        ("AF42", Dscp(36)),
        ("AF43", Dscp(38)),
        ("CS5", Dscp(40)),
        ("VA", Dscp(44)),
        ("EF", Dscp(46)),
        ("CS6", Dscp(48)),
        ("CS7", Dscp(56)),
    ];

    /// The code point with this value; `None` above [`MAX`](Self::MAX).
    #[must_use]
    pub const fn new(value: u8) -> Option<Self> {
        if value <= Self::MAX { Some(Dscp(value)) } else { None }
    }

    /// Value, 0 to 63.
    #[must_use]
    pub const fn value(self) -> u8 {
        self.0
    }

    /// Name, if the value has one.
    #[must_use]
    pub fn name(self) -> Option<&'static str> {
        Self::NAMES
            .iter()
            .find(|(_, known)| *known == self)
            .map(|(name, _)| *name)
    }
}

impl std::fmt::Display for Dscp {
    /// `EF (46)`, or `6` for a value without a name.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.name() {
            Some(name) => write!(f, "{name} ({})", self.0),
            None => write!(f, "{}", self.0),
        }
    }
}

/// Mapping from the DSCP to the user priority of 802.11, in the device that sends a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum DscpMapping {
    /// As Linux since 6.8 (`cfg80211_classify8021d` in `net/wireless/util.c`): RFC 8325 section 4,
    /// and for other code points the upper three bits.
    #[default]
    Rfc8325,
    /// The upper three bits (RFC 8325 section 2.3), as Linux before 6.8 and many access points.
    UpperThreeBits,
}

impl DscpMapping {
    /// User priority (802.11-2020 table 10-1), which is the TID of the packet: 0 to 7. 1 and 2 are
    /// AC_BK, 0 and 3 AC_BE, 4 and 5 AC_VI, 6 and 7 AC_VO.
    #[must_use]
    pub const fn user_priority(self, dscp: u8) -> u8 {
        let upper = (dscp & Dscp::MAX) >> 3;
        match self {
            DscpMapping::UpperThreeBits => upper,
            DscpMapping::Rfc8325 => match dscp & Dscp::MAX {
                // AF1x: high-throughput data. CS2: operations and management.
                10 | 12 | 14 | 16 => 0,
                // AF2x: low-latency data.
                18 | 20 | 22 => 3,
                // CS3: broadcast video. AF3x: multimedia streaming.
                24 | 26 | 28 | 30 => 4,
                // VA and EF: telephony.
                44 | 46 => 6,
                // CS6: network control.
                48 => 7,
                _ => upper,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_points_have_six_bits() {
        assert_eq!(Dscp::new(63).map(Dscp::value), Some(63));
        assert_eq!(Dscp::new(64), None);
    }

    /// CSn is n × 8 (RFC 2474 section 4.2.2). AFxy is x × 8 + y × 2 (RFC 2597 section 6). EF is 101110, VA 101100, LE 000001.
    #[test]
    fn names_have_the_values_of_their_rfcs() {
        for (name, dscp) in Dscp::NAMES {
            let digits: Vec<u8> = name
                .bytes()
                .filter(u8::is_ascii_digit)
                .map(|digit| digit - b'0')
                .collect();
            let expected = match (&name[..2], digits.as_slice()) {
                ("CS", [class]) => class * 8,
                ("AF", [class, drop]) => class * 8 + drop * 2,
                ("EF", []) => 0b10_1110,
                ("VA", []) => 0b10_1100,
                ("LE", []) => 1,
                ("DF", []) => 0,
                other => panic!("{other:?}"),
            };
            assert_eq!(dscp.value(), expected, "{name}");
            assert_eq!(*dscp, Dscp::new(expected).unwrap());
        }
        assert_eq!(Dscp::default().name(), Some("CS0"));
        assert_eq!(Dscp(46).name(), Some("EF"));
        assert_eq!(Dscp(47).name(), None);
        assert_eq!([Dscp(46).to_string(), Dscp(47).to_string()], ["EF (46)", "47"]);
    }

    /// RFC 8325 figure 1, and the older mapping beside it.
    #[test]
    fn user_priorities() {
        let rows: &[(&[&str], u8, &[u8])] = &[
            (&["CS0", "DF"], 0, &[0, 0]),
            // Linux has no entry for LE; RFC 8622 recommends 1.
            (&["LE"], 0, &[0]),
            (&["CS1"], 1, &[1]),
            (&["AF11", "AF12", "AF13"], 0, &[1, 1, 1]),
            (&["CS2"], 0, &[2]),
            (&["AF21", "AF22", "AF23"], 3, &[2, 2, 2]),
            (&["CS3"], 4, &[3]),
            (&["AF31", "AF32", "AF33"], 4, &[3, 3, 3]),
            (&["CS4"], 4, &[4]),
            (&["AF41", "AF42", "AF43"], 4, &[4, 4, 4]),
            (&["CS5"], 5, &[5]),
            (&["VA"], 6, &[5]),
            (&["EF"], 6, &[5]),
            (&["CS6"], 7, &[6]),
            (&["CS7"], 7, &[7]),
        ];
        let mut checked = 0;
        for (names, new, old) in rows {
            for (name, old) in names.iter().zip(*old) {
                let (_, dscp) = Dscp::NAMES.iter().find(|(known, _)| known == name).unwrap();
                assert_eq!(DscpMapping::Rfc8325.user_priority(dscp.value()), *new, "{name}");
                assert_eq!(DscpMapping::UpperThreeBits.user_priority(dscp.value()), *old, "{name}");
                checked += 1;
            }
        }
        assert_eq!(checked, Dscp::NAMES.len());
        // Without a class of service, the upper three bits: 47 is 101111.
        assert_eq!(DscpMapping::Rfc8325.user_priority(47), 5);
    }
}
