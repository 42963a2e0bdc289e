//! Checks the bytes that an agent reports against those that the run's server counted for its
//! station.
//!
//! A server counts content when it passes it to its kernel, so a station cannot have received more.
//! Data that a station sent may still be in flight when the run ends.

use crate::aggregate::ByteSum;
use crate::health::Moved;
use crate::quality_issue::QualityIssue;

/// Tolerance for received bytes, because two processes count at slightly different times: 1 MiB.
pub(crate) const SLACK_DOWN: u64 = 1 << 20;
/// Tolerance for sent bytes per cut upload: the socket buffers of both ends, 16 MiB.
pub(crate) const SLACK_UP: u64 = 16 << 20;
/// Maximum number of uploads that are taken for cut.
const MAX_CUT_UPLOADS: u64 = 64;

/// Totals that an agent reports for one station.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Claim {
    /// Content that it received and sent.
    pub(crate) bytes: ByteSum,
    /// Operations that began and didn't finish.
    pub(crate) cut: u64,
}

impl Claim {
    /// Reason for which the report is impossible, given the server's counts.
    pub(crate) fn beyond(&self, station: &str, counted: Moved) -> Option<QualityIssue> {
        let slack = SLACK_UP * (1 + self.cut.min(MAX_CUT_UPLOADS));
        let ByteSum { down, up } = self.bytes;
        let (received, claimed, sent) = if down > counted.bytes_down.saturating_add(SLACK_DOWN) {
            (true, down, counted.bytes_down)
        } else if up > counted.bytes_up.saturating_add(slack) {
            (false, up, counted.bytes_up)
        } else {
            return None;
        };
        Some(QualityIssue::BytesUnconfirmed {
            station: station.to_owned(),
            received,
            reported_mb: claimed as f64 / 1e6,
            counted_mb: sent as f64 / 1e6,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn beyond(down: u64, up: u64, cut: u64) -> Option<String> {
        let counted = Moved {
            bytes_down: 10_000_000,
            bytes_up: 5_000_000,
        };
        let bytes = ByteSum { down, up };
        let issue = Claim { bytes, cut }.beyond("tv", counted)?;
        Some(issue.to_string())
    }

    #[test]
    fn reported_bytes_are_limited_by_the_servers_count() {
        assert_eq!(beyond(10_000_000 + 1_048_576, 0, 0), None);
        assert_eq!(beyond(0, 5_000_000 + 16_777_216, 0), None);
        // Two uploads were cut, and another was running at the end.
        assert_eq!(beyond(0, 5_000_000 + 3 * 16_777_216, 2), None);
        assert!(beyond(0, 5_000_001 + 3 * 16_777_216, 2).is_some());
        assert!(
            beyond(10_000_001 + 1_048_576, 0, 1000).is_some(),
            "what was cut is nothing to downloads"
        );
        assert!(beyond(0, 1 << 60, u64::MAX).is_some());
        assert_eq!(
            beyond(52_428_800, 0, 0).as_deref(),
            Some("tv reports 52.4 MB received, but the server counted 10.0 MB; its bytes are excluded from the total")
        );
    }
}
