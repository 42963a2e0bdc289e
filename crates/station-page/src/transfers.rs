//! Transfers of objects in progress, as the browser reports them.

use crate::event::{Event, Failure};
use std::collections::BTreeMap;

/// Transfers in progress, by number.
#[derive(Debug, Default)]
pub(crate) struct Transfers(BTreeMap<u64, Transfer>);

#[derive(Debug)]
struct Transfer {
    is_upload: bool,
    size: u64,
    /// Bytes so far.
    moved: u64,
    has_response: bool,
}

impl Transfers {
    pub(crate) fn begin(&mut self, request: u64, is_upload: bool, size: u64) {
        let transfer = Transfer {
            is_upload,
            size,
            moved: 0,
            has_response: false,
        };
        self.0.insert(request, transfer);
    }

    pub(crate) fn end(&mut self, request: u64) {
        self.0.remove(&request);
    }

    /// Handles the status of a response. Returns the failure of the request, whose transfer then ends.
    pub(crate) fn handle_status(&mut self, request: u64, status: u16) -> Option<Event> {
        self.0.get_mut(&request)?.has_response = true;
        (status != 200).then(|| self.fail(request, Failure::Answer))
    }

    /// Handles content. One byte too many makes a download fail, because the server may send without end.
    pub(crate) fn handle_bytes(&mut self, request: u64, bytes: u64) -> Option<Event> {
        let transfer = self.0.get_mut(&request)?;
        let left = transfer.size.saturating_sub(transfer.moved);
        if !transfer.is_upload && bytes > left {
            return Some(self.fail(request, Failure::Answer));
        }
        // Some browsers count more than the content of an upload.
        let bytes = bytes.min(left);
        transfer.moved += bytes;
        (bytes > 0).then_some(Event::Bytes { request, bytes })
    }

    /// Handles the content of an upload: `total` bytes so far.
    pub(crate) fn handle_sent(&mut self, request: u64, total: u64) -> Option<Event> {
        let moved = self.0.get(&request)?.moved;
        self.handle_bytes(request, total.saturating_sub(moved))
    }

    /// Handles the end of a response. Returns the events of the request.
    pub(crate) fn handle_finished(&mut self, request: u64) -> Vec<Event> {
        let Some(transfer) = self.0.get(&request) else {
            return Vec::new();
        };
        let left = transfer.size.saturating_sub(transfer.moved);
        if !transfer.is_upload && transfer.moved != transfer.size {
            return vec![self.fail(request, Failure::Answer)];
        }
        let rest = self.handle_bytes(request, left);
        self.end(request);
        rest.into_iter().chain([Event::Finished { request }]).collect()
    }

    /// Handles a failure. If bytes of an upload were sent, there was a connection.
    pub(crate) fn handle_failed(&mut self, request: u64) -> Option<Event> {
        let transfer = self.0.get(&request)?;
        let was_connected = if transfer.is_upload {
            transfer.moved > 0
        } else {
            transfer.has_response
        };
        let failure = if was_connected {
            Failure::Connection
        } else {
            Failure::Dial
        };
        Some(self.fail(request, failure))
    }

    fn fail(&mut self, request: u64, failure: Failure) -> Event {
        self.end(request);
        Event::Failed { request, failure }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn transfers(is_upload: bool) -> Transfers {
        let mut transfers = Transfers::default();
        transfers.begin(1, is_upload, 10);
        transfers
    }

    fn bytes(bytes: u64) -> Event {
        Event::Bytes { request: 1, bytes }
    }

    fn failed(failure: Failure) -> Event {
        Event::Failed { request: 1, failure }
    }

    #[test]
    fn a_download_has_its_size() {
        let mut down = transfers(false);
        assert_eq!(down.handle_status(1, 200), None);
        assert_eq!(down.handle_bytes(1, 10), Some(bytes(10)));
        assert_eq!(down.handle_finished(1), [Event::Finished { request: 1 }]);
        assert_eq!(down.handle_finished(1), [], "a second time");
        let mut short = transfers(false);
        short.handle_bytes(1, 9);
        assert_eq!(short.handle_finished(1), [failed(Failure::Answer)]);
        let mut long = transfers(false);
        assert_eq!(long.handle_bytes(1, 9), Some(bytes(9)));
        assert_eq!(long.handle_bytes(1, 2), Some(failed(Failure::Answer)));
        assert_eq!(long.handle_finished(1), []);
    }

    #[test]
    fn an_upload_counts_its_content_once() {
        let mut up = transfers(true);
        assert_eq!(up.handle_sent(1, 1), Some(bytes(1)));
        assert_eq!(up.handle_sent(1, 4), Some(bytes(3)));
        assert_eq!(up.handle_finished(1), [bytes(6), Event::Finished { request: 1 }]);
        let mut up = transfers(true);
        assert_eq!(up.handle_sent(1, 99), Some(bytes(10)));
        assert_eq!(up.handle_sent(1, 100), None);
        assert_eq!(up.handle_finished(1), [Event::Finished { request: 1 }]);
    }

    #[test]
    fn a_failure_has_its_place() {
        assert_eq!(transfers(false).handle_failed(1), Some(failed(Failure::Dial)));
        assert_eq!(transfers(true).handle_failed(1), Some(failed(Failure::Dial)));
        let mut down = transfers(false);
        down.handle_status(1, 200);
        assert_eq!(down.handle_failed(1), Some(failed(Failure::Connection)));
        let mut up = transfers(true);
        up.handle_bytes(1, 1);
        assert_eq!(up.handle_failed(1), Some(failed(Failure::Connection)));
        assert_eq!(transfers(false).handle_status(1, 503), Some(failed(Failure::Answer)));
        assert_eq!(transfers(false).handle_status(2, 503), None, "another transfer");
    }
}
