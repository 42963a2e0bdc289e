//! Progress of an upload behind a rate limit of its server.
//!
//! The kernel of a server acknowledges content before it passes the server's rate limit. A client that counts
//! acknowledgements alone would therefore report more than the limit. It asks for progress in the query of its upload. A
//! server with a rate limit then sends interim responses with the status 104 (Upload Resumption Supported) and the field
//! `Upload-Offset`: the content that has passed the limit. draft-ietf-httpbis-resumable-upload defines both. Without a
//! rate limit the server sends none, and TCP's acknowledgements count.

use netburn_units::{Duration, Instant};
use std::borrow::Cow;
use std::cell::Cell;
use std::rc::Rc;

/// Status of the interim responses.
pub(crate) const STATUS: u16 = 104;
/// Field with the bytes of content.
pub(crate) const FIELD: &str = "upload-offset";
/// Query parameter of an upload whose client asks for progress.
const QUERY: &str = "progress=104";
/// Minimum time between two interim responses to an upload.
const INTERVAL: Duration = Duration::from_millis(20);
/// Time after the first acknowledgement of content in which the first interim response must arrive. Its server sends it
/// before it receives content, so it arrives with this acknowledgement, or after the server's scheduling delay.
const FIRST_WITHIN: Duration = Duration::from_millis(50);
/// Bytes that count in this time: one packet, which is also the smallest piece of a rate limit. So the arrival of the
/// first byte is known.
const FIRST_PACKET: u64 = 1_500;

/// Adds the request for progress to `path`.
pub(crate) fn with_progress(path: Cow<'_, str>) -> Cow<'_, str> {
    let sign = if path.contains('?') { '&' } else { '?' };
    format!("{path}{sign}{QUERY}").into()
}

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

/// Bytes that a server has reported for one upload. Clones share them.
#[derive(Debug, Clone, Default)]
pub(crate) struct ReportedOffset(Rc<Cell<Option<u64>>>);

impl ReportedOffset {
    /// The server has reported `offset`. A smaller one than before is ignored.
    pub(crate) fn handle_offset(&self, offset: u64) {
        self.0.set(self.0.get().max(Some(offset)));
    }

    /// Returns the bytes; `None` before the first report.
    pub(crate) fn get(&self) -> Option<u64> {
        self.0.get()
    }
}

/// The client's side of one upload: the bytes that count as arrived.
#[derive(Debug)]
pub(crate) struct ArrivedContent {
    offset: ReportedOffset,
    /// Time of the first acknowledgement of content.
    acked_since: Option<Instant>,
}

impl ArrivedContent {
    pub(crate) fn new(offset: ReportedOffset) -> Self {
        ArrivedContent {
            offset,
            acked_since: None,
        }
    }

    /// Returns the bytes that have arrived, if the network has delivered `acked` bytes: at most what the server has
    /// reported. Without a report one packet counts, until the server would have reported.
    pub(crate) fn arrived(&mut self, now: Instant, acked: u64) -> u64 {
        if let Some(offset) = self.offset.get() {
            return offset.min(acked);
        }
        if acked == 0 {
            return 0;
        }
        let since = *self.acked_since.get_or_insert(now);
        if now >= since + FIRST_WITHIN {
            acked
        } else {
            acked.min(FIRST_PACKET)
        }
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
        for path in ["/sink", "/sink?dscp=8"] {
            assert!(!is_requested(path));
            assert!(is_requested(&with_progress(path.into())), "{path}");
        }
        for path in [
            "/progress=104",
            "/sink?progress=103",
            "/sink?progress=1040",
            "/sink?progress",
        ] {
            assert!(!is_requested(path), "{path}");
        }
        assert_eq!(with_progress("/sink?station=3".into()), "/sink?station=3&progress=104");
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

    #[test]
    fn without_a_report_acknowledged_content_counts_after_50_ms() {
        let mut content = ArrivedContent::new(ReportedOffset::default());
        // Nothing is acknowledged yet, for however long.
        assert_eq!(content.arrived(at(0), 0), 0);
        assert_eq!(content.arrived(at(1_000), 1), 1);
        assert_eq!(content.arrived(at(1_049), 90_000), 1_500);
        assert_eq!(content.arrived(at(1_050), 90_000), 90_000);
    }

    #[test]
    fn reported_content_counts_up_to_what_is_acknowledged() {
        let offset = ReportedOffset::default();
        let mut content = ArrivedContent::new(offset.clone());
        assert_eq!(content.arrived(at(0), 64_000), 1_500);
        for (reported, arrived) in [
            (0, 0),
            (1_500, 1_500),
            // Smaller than before, and more than was sent.
            (10, 1_500),
            (u64::MAX, 64_000),
            (3_000, 64_000),
        ] {
            offset.handle_offset(reported);
            assert_eq!(content.arrived(at(1_000), 64_000), arrived, "{reported}");
        }
    }

    proptest! {
        /// Never more than the network has delivered, and after a report never more than the largest one.
        #[test]
        fn neither_limit_is_exceeded(steps in prop::collection::vec((0_i64..30, 0_u64..5_000, prop::option::of(any::<u64>())), 1..60)) {
            let offset = ReportedOffset::default();
            let mut content = ArrivedContent::new(offset.clone());
            let (mut now, mut acked, mut largest) = (0, 0, None);
            for (wait, more, reported) in steps {
                now += wait;
                acked += more;
                if let Some(reported) = reported {
                    offset.handle_offset(reported);
                    largest = largest.max(Some(reported));
                }
                let arrived = content.arrived(at(now), acked);
                prop_assert!(arrived <= acked);
                prop_assert!(largest.is_none_or(|largest| arrived <= largest));
            }
        }

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
