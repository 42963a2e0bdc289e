//! Tins of CAKE: which packets they get, and their shares of the rate (`sch_cake.c`, `diffserv3`, `diffserv4`,
//! `diffserv8`, `cake_config_diffserv3` and its like).

use netburn_scenario::plan::Tins;

/// Number of tins.
#[must_use]
pub const fn count(tins: Tins) -> usize {
    match tins {
        Tins::Besteffort => 1,
        Tins::Diffserv3 => 3,
        Tins::Diffserv4 => 4,
        Tins::Diffserv8 => 8,
    }
}

/// Index of the tin for packets with this DSCP. With three and four tins: 0 best effort, 1 bulk, then video (with four)
/// and voice. With eight tins the index is the priority: 0 least effort, 2 best effort, 7 network control.
#[must_use]
pub const fn of_dscp(tins: Tins, dscp: u8) -> usize {
    match tins {
        Tins::Besteffort => 0,
        Tins::Diffserv3 => match dscp {
            // LE, CS1.
            1 | 8 => 1,
            // TOS 4, VA, EF, CS6, CS7.
            4 | 44 | 46 | 48 | 56 => 2,
            _ => 0,
        },
        Tins::Diffserv4 => match dscp {
            1 | 8 => 1,
            // TOS 4, CS2, AF2x, CS3, AF3x, AF4x.
            4 | 16 | 18 | 20 | 22 | 24 | 26 | 28 | 30 | 34 | 36 | 38 => 2,
            // CS4, CS5, VA, EF, CS6, CS7.
            32 | 40 | 44 | 46 | 48 | 56 => 3,
            _ => 0,
        },
        Tins::Diffserv8 => match dscp {
            1 => 0,
            // TOS 2, CS1, AF1x.
            2 | 8 | 10 | 12 | 14 => 1,
            // CS3, AF3x, AF4x.
            24 | 26 | 28 | 30 | 34 | 36 | 38 => 3,
            // TOS 4, AF2x.
            4 | 18 | 20 | 22 => 4,
            // CS2.
            16 => 5,
            // CS4, CS5, VA, EF.
            32 | 40 | 44 | 46 => 6,
            // CS6, CS7.
            48 | 56 => 7,
            _ => 2,
        },
    }
}

/// Rate below which a tin has priority, at this rate of the link. With eight tins each has 7/8 of the one before.
#[must_use]
pub fn threshold(tins: Tins, tin: usize, rate: u64) -> u64 {
    match (tins, tin) {
        (Tins::Besteffort, _) | (Tins::Diffserv3 | Tins::Diffserv4, 0) => rate,
        (Tins::Diffserv3 | Tins::Diffserv4, 1) => rate / 16,
        (Tins::Diffserv4, 2) => rate / 2,
        (Tins::Diffserv3 | Tins::Diffserv4, _) => rate / 4,
        (Tins::Diffserv8, tin) => (0..tin).fold(rate, |rate, _| rate - rate.div_ceil(8)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rows of tc-cake(8): CS1 and LE; CS0 and AF1x; AF2x, CS2, AF3x, CS3, AF4x; CS4 and CS5; VA, EF, CS6, CS7.
    #[test]
    fn tins_by_class() {
        let rows: [(&[u8], usize, usize); 5] = [
            (&[1, 8], 1, 1),
            (&[0, 10, 12, 14], 0, 0),
            (&[18, 20, 22, 16, 26, 28, 30, 24, 34, 36, 38], 0, 2),
            (&[32, 40], 0, 3),
            (&[44, 46, 48, 56], 2, 3),
        ];
        for (dscps, three, four) in rows {
            for dscp in dscps {
                assert_eq!(of_dscp(Tins::Diffserv3, *dscp), three, "{dscp}");
                assert_eq!(of_dscp(Tins::Diffserv4, *dscp), four, "{dscp}");
                assert_eq!(of_dscp(Tins::Besteffort, *dscp), 0, "{dscp}");
            }
        }
        // TOS 4: voice of three, video of four.
        assert_eq!((of_dscp(Tins::Diffserv3, 4), of_dscp(Tins::Diffserv4, 4)), (2, 2));
        let eight = [
            (1, 0),
            (8, 1),
            (10, 1),
            (0, 2),
            (34, 3),
            (24, 3),
            (18, 4),
            (16, 5),
            (46, 6),
            (40, 6),
            (48, 7),
        ];
        for (dscp, tin) in eight {
            assert_eq!(of_dscp(Tins::Diffserv8, dscp), tin, "{dscp}");
        }
        for tins in [Tins::Besteffort, Tins::Diffserv3, Tins::Diffserv4, Tins::Diffserv8] {
            for dscp in 0..64 {
                assert!(of_dscp(tins, dscp) < count(tins));
            }
        }
    }

    /// At 64 units: bulk 1/16, voice 1/4, video 1/2; with eight tins 64 × 7/8 = 56, 49, then 42.875 → 42.
    #[test]
    fn thresholds_by_hand() {
        let all = |tins| (0..count(tins)).map(|tin| threshold(tins, tin, 64)).collect::<Vec<_>>();
        assert_eq!(all(Tins::Besteffort), [64]);
        assert_eq!(all(Tins::Diffserv3), [64, 4, 16]);
        assert_eq!(all(Tins::Diffserv4), [64, 4, 32, 16]);
        assert_eq!(all(Tins::Diffserv8)[..4], [64, 56, 49, 42]);
    }
}
