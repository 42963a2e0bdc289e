//! Common tables of the OFDM PHYs: bits per subcarrier and coding rate by MCS (802.11-2020 tables
//! 19-27 and 21-29, 802.11ax-2021 table 27-53, 802.11be table 36-70).

/// Coding rate as (numerator, denominator).
pub type CodingRate = (u64, u64);

/// Coded bits per subcarrier and stream (N_BPSCS), and the coding rate, of MCS 0 to 13.
const MCS: [(u64, CodingRate); 14] = [
    (1, (1, 2)),
    (2, (1, 2)),
    (2, (3, 4)),
    (4, (1, 2)),
    (4, (3, 4)),
    (6, (2, 3)),
    (6, (3, 4)),
    (6, (5, 6)),
    (8, (3, 4)),
    (8, (5, 6)),
    (10, (3, 4)),
    (10, (5, 6)),
    (12, (3, 4)),
    (12, (5, 6)),
];

/// Coded bits per subcarrier and stream, and the coding rate, of an MCS; `None` above 13.
#[must_use]
pub fn for_mcs(mcs: u8) -> Option<(u64, CodingRate)> {
    MCS.get(usize::from(mcs)).copied()
}
