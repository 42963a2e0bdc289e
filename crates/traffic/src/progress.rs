//! Progress of an upload behind a rate limit of its server.
//!
//! The kernel of a server acknowledges content before it passes the server's rate limit. A client that counts
//! acknowledgements alone would therefore report more than the limit. It asks for progress in the query of its upload. A
//! server with a rate limit then sends interim responses with the status 104 (Upload Resumption Supported) and the field
//! `Upload-Offset`: the content that has passed the limit. draft-ietf-httpbis-resumable-upload defines both. Without a
//! rate limit the server sends none, and TCP's acknowledgements count.

use netburn_units::{Duration, Instant};

/// Status of the interim responses.
pub(crate) const STATUS: u16 = 104;
/// Field with the bytes of content.
pub(crate) const FIELD: &str = "upload-offset";
/// Query parameter of an upload whose client asks for progress.
const QUERY: &str = "progress=104";
/// Minimum time between two interim responses to an upload.
const INTERVAL: Duration = Duration::from_millis(20);

/// Returns whether the query of `path` asks for progress.
pub(crate) fn is_requested(path: &str) -> bool {
    let query = path.split_once('?').map_or("", |(_, query)| query);
    query.split('&').any(|part| part == QUERY)
}

/// The server's side of one upload: decides when an interim response is due.
///
/// **Call order:** [`handle_passed`](Self::handle_passed) for content; then send what [`poll_offset`](Self::poll_offset)
/// returns, and call [`handle_sent`](Self::handle_sent) if the response was sent.
#[derive(Debug, Default)]
pub(crate) struct ProgressReports {
    /// Bytes that have passed the rate limit.
    passed: u64,
    /// Last reported bytes, and the earliest time of the next report.
    last: Option<(u64, Instant)>,
}

impl ProgressReports {
    /// `bytes` more have passed the rate limit.
    pub(crate) fn handle_passed(&mut self, bytes: u64) {
        self.passed += bytes;
    }

    /// Returns the bytes to report, if a report is due.
    pub(crate) fn poll_offset(&self, now: Instant) -> Option<u64> {
        let due = self
            .last
            .is_none_or(|(bytes, next)| bytes != self.passed && now >= next);
        due.then_some(self.passed)
    }

    /// A report with all bytes has been sent.
    pub(crate) fn handle_sent(&mut self, now: Instant) {
        self.last = Some((self.passed, now + INTERVAL));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(millis: i64) -> Instant {
        Instant::from_millis(millis)
    }

    #[test]
    fn progress_is_requested_in_the_query() {
        for path in ["/sink?progress=104", "/sink?dscp=8&progress=104"] {
            assert!(is_requested(path), "{path}");
        }
        for path in [
            "/progress=104",
            "/sink?progress=103",
            "/sink?progress=1040",
            "/sink?progress",
        ] {
            assert!(!is_requested(path), "{path}");
        }
    }

    #[test]
    fn the_first_report_is_due_at_once_and_later_ones_with_new_content_after_20_ms() {
        let mut reports = ProgressReports::default();
        assert_eq!(reports.poll_offset(at(0)), Some(0));
        // The socket was not writable.
        assert_eq!(reports.poll_offset(at(1)), Some(0));
        reports.handle_sent(at(1));
        assert_eq!(reports.poll_offset(at(500)), None);
        reports.handle_passed(1_500);
        reports.handle_passed(1_500);
        assert_eq!(reports.poll_offset(at(20)), None);
        assert_eq!(reports.poll_offset(at(21)), Some(3_000));
        reports.handle_sent(at(21));
        reports.handle_passed(1);
        assert_eq!(reports.poll_offset(at(40)), None);
        assert_eq!(reports.poll_offset(at(41)), Some(3_001));
    }

    proptest! {
        /// n ms with content in each have at most 1 + n ÷ 20 reports, and each reports more than the one before.
        #[test]
        fn reports_are_limited_by_time(bytes in prop::collection::vec(0_u64..3, 1..500)) {
            let mut reports = ProgressReports::default();
            let mut sent = Vec::new();
            for (now, bytes) in bytes.iter().enumerate() {
                reports.handle_passed(*bytes);
                if let Some(offset) = reports.poll_offset(at(now as i64)) {
                    sent.push(offset);
                    reports.handle_sent(at(now as i64));
                }
            }
            prop_assert!(sent.len() <= 1 + bytes.len() / 20, "{sent:?}");
            prop_assert!(sent.is_sorted_by(|a, b| a < b));
        }
    }
}
