//! Packets by the DSCP with which they arrived.

use super::wire::MAX_DSCP;

/// Number of code points.
const CODE_POINTS: usize = MAX_DSCP as usize + 1;

/// Packets of one direction by the DSCP with which they arrived. Packets with an unknown DSCP are not counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DscpCounts([u64; CODE_POINTS]);

/// Packets of both directions between a client and its server.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Arrivals {
    /// Packets to the server, as it reported them.
    pub up: DscpCounts,
    /// Packets to the client.
    pub down: DscpCounts,
}

impl Default for DscpCounts {
    fn default() -> Self {
        Self([0; CODE_POINTS])
    }
}

impl DscpCounts {
    /// Counts a packet. A DSCP above 63 is unknown.
    pub fn put(&mut self, dscp: Option<u8>) {
        if let Some(count) = dscp.and_then(|dscp| self.0.get_mut(usize::from(dscp))) {
            *count += 1;
        }
    }

    /// Code points with their number of packets, without those that no packet had.
    pub fn iter(&self) -> impl Iterator<Item = (u8, u64)> + '_ {
        let all = (0..=MAX_DSCP).zip(self.0);
        all.filter(|(_, packets)| *packets > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_counted_by_code_point() {
        let mut counts = DscpCounts::default();
        for dscp in [Some(46), None, Some(0), Some(46), Some(63), Some(64), Some(255)] {
            counts.put(dscp);
        }
        assert_eq!(counts.iter().collect::<Vec<_>>(), [(0, 1), (46, 2), (63, 1)]);
    }
}
