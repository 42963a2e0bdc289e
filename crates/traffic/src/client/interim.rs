//! Interim responses (1xx, RFC 9110 §15.2) to a request: their limit, and the progress in them.

use super::exchange::ExchangeError;
use super::head::MAX_HEAD;
use crate::frames::MAX_INTERIM;
use crate::progress::{self, ReportedOffset};
use netburn_units::Instant;

/// Interim responses per second that an upload may receive in addition, if it asks for progress. The server sends 50.
const PER_SECOND: u64 = 100;
/// Bytes of each of these.
const LENGTH: u64 = 256;

/// Counts the interim responses to one request, and stores the progress that they report.
///
/// The number is limited, and so is the total length, to that of one head. The limits of an upload that asks for progress
/// grow with time.
#[derive(Debug)]
pub(crate) struct InterimResponses {
    /// Progress, if the request asks for it.
    offset: Option<ReportedOffset>,
    count: u64,
    length: u64,
}

impl InterimResponses {
    /// Creates the counter for a request with this path and query.
    pub(crate) fn new(path: &str) -> Self {
        InterimResponses {
            offset: progress::is_requested(path).then(ReportedOffset::default),
            count: 0,
            length: 0,
        }
    }

    /// Returns the progress, if the request asks for it.
    pub(crate) fn offset(&self) -> Option<ReportedOffset> {
        self.offset.clone()
    }

    /// An interim response with this status has arrived. `now`: time since the request. `offset`: its `Upload-Offset`, if
    /// that is a number. `length`: length of its head in bytes.
    ///
    /// # Errors
    /// [`ExchangeError::Response`] when a limit is exceeded.
    pub(crate) fn handle_response(
        &mut self,
        now: Instant,
        status: u16,
        offset: Option<u64>,
        length: usize,
    ) -> Result<(), ExchangeError> {
        let more = match self.offset {
            Some(_) => now
                .checked_since(Instant::ZERO)
                .map_or(0, |time| time.as_millis() * PER_SECOND / 1_000),
            None => 0,
        };
        self.count += 1;
        self.length += length as u64;
        if self.count > MAX_INTERIM + more || self.length > MAX_HEAD as u64 + more * LENGTH {
            return Err(ExchangeError::Response("too many interim responses".into()));
        }
        if let (Some(reported), progress::STATUS, Some(bytes)) = (&self.offset, status, offset) {
            reported.handle_offset(bytes);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns how many responses of `length` bytes are accepted at this time.
    fn accepted(path: &str, seconds: i64, length: usize) -> u64 {
        let mut responses = InterimResponses::new(path);
        let now = Instant::from_secs(seconds);
        (0..)
            .find(|_| responses.handle_response(now, 104, Some(1), length).is_err())
            .expect("a limit")
    }

    #[test]
    fn the_number_and_the_length_are_limited() {
        // 16, and 64 KiB of 10,000 bytes each.
        for seconds in [0, 1_000] {
            assert_eq!(accepted("/sink", seconds, 60), 16);
            assert_eq!(accepted("/sink", seconds, 10_000), 6);
        }
        // 16 + 100 × 10 s. 64 KiB + 256 B × 1000 are 321,536 B.
        assert_eq!(accepted("/sink?progress=104", 0, 60), 16);
        assert_eq!(accepted("/sink?progress=104", 10, 60), 1_016);
        assert_eq!(accepted("/sink?progress=104", 10, 10_000), 32);
    }

    #[test]
    fn only_the_progress_that_was_requested_is_stored() {
        assert!(InterimResponses::new("/sink").offset().is_none());
        let mut responses = InterimResponses::new("/sink?progress=104");
        let offset = responses.offset().unwrap();
        for (status, sent, stored) in [
            (103, Some(9), None),
            (104, None, None),
            (104, Some(5), Some(5)),
            (104, Some(3), Some(5)),
            (100, Some(9), Some(5)),
        ] {
            responses.handle_response(Instant::ZERO, status, sent, 60).unwrap();
            assert_eq!(offset.get(), stored, "{status} {sent:?}");
        }
    }
}
