//! HTTP on a connection: which bytes of its two streams mean what.
//!
//! Each request is a head and, for an upload, content; each answer a head and, for a download, content. What is modelled is how many
//! bytes go which way and when; nothing is parsed.

use netburn_workload::{Direction, RequestId};

/// The head of a request: method, path, host, user agent.
pub(crate) const REQUEST_HEAD: u64 = 120;
/// The head of an answer: status, date, type, length, and what servers add.
pub(crate) const ANSWER_HEAD: u64 = 200;
/// TLS 1.3 (RFC 8446 section 2): ClientHello; ServerHello to Finished with a certificate of an elliptic curve and its chain; Finished.
pub(crate) const CLIENT_HELLO: u64 = 520;
/// The server's flight.
pub(crate) const SERVER_HELLO: u64 = 2_700;
/// The client's Finished.
pub(crate) const CLIENT_FINISHED: u64 = 80;

/// One request and its answer, in offsets of the streams up and down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Exchange {
    pub(crate) id: RequestId,
    pub(crate) direction: Direction,
    content: u64,
    /// Where the request and the answer begin and end.
    up: (u64, u64),
    down: (u64, u64),
    /// Content that the workload was told of.
    told: u64,
    answered: bool,
}

impl Exchange {
    /// One that begins where the streams have got to.
    pub(crate) fn new(id: RequestId, direction: Direction, content: u64, up: u64, down: u64) -> Self {
        let (more_up, more_down) = match direction {
            Direction::Down => (0, content),
            Direction::Up => (content, 0),
        };
        Exchange {
            id,
            direction,
            content,
            up: (up, up + REQUEST_HEAD + more_up),
            down: (down, down + ANSWER_HEAD + more_down),
            told: 0,
            answered: false,
        }
    }

    /// How long the request is.
    pub(crate) fn request(&self) -> u64 {
        self.up.1 - self.up.0
    }

    /// The server has so much of the stream up. How much it answers with, once the request is whole.
    pub(crate) fn handle_up(&mut self, received: u64) -> Option<u64> {
        if received < self.up.1 || self.answered {
            return None;
        }
        self.answered = true;
        Some(self.down.1 - self.down.0)
    }

    /// Content that has newly moved, as the station sees it: what it has received of the answer, or what the server has acknowledged of
    /// its upload.
    pub(crate) fn moved(&mut self, received: u64, acknowledged: u64) -> u64 {
        let so_far = match self.direction {
            Direction::Down => received.saturating_sub(self.down.0 + ANSWER_HEAD),
            Direction::Up => acknowledged.saturating_sub(self.up.0 + REQUEST_HEAD),
        };
        let so_far = so_far.min(self.content).max(self.told);
        so_far - std::mem::replace(&mut self.told, so_far)
    }

    /// Whether the answer is whole.
    pub(crate) fn is_finished(&self, received: u64) -> bool {
        received >= self.down.1
    }
}

/// How far a connection has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// TCP's handshake.
    Dialling,
    /// TLS's: the server's flight is to come.
    Securing,
    /// Requests may go.
    Open,
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: RequestId = RequestId {
        operation: 3,
        object: 1,
    };

    #[test]
    fn a_download_by_hand() {
        // On a kept connection whose streams are at 120 and 1200.
        let mut exchange = Exchange::new(ID, Direction::Down, 1_000, 120, 1_200);
        assert_eq!(exchange.request(), 120);
        assert_eq!(exchange.handle_up(239), None);
        assert_eq!(exchange.handle_up(240), Some(1_200));
        assert_eq!(exchange.handle_up(240), None, "once");
        assert_eq!(exchange.moved(1_400, 0), 0, "that was the head");
        assert_eq!(exchange.moved(1_900, 0), 500);
        assert_eq!(exchange.moved(1_900, 0), 0);
        assert!(!exchange.is_finished(2_399));
        assert_eq!(exchange.moved(2_400, 0), 500);
        assert!(exchange.is_finished(2_400));
    }

    #[test]
    fn an_upload_by_hand() {
        let mut exchange = Exchange::new(ID, Direction::Up, 5_000, 0, 0);
        assert_eq!(exchange.request(), 5_120);
        assert_eq!(exchange.moved(0, 120), 0);
        assert_eq!(exchange.moved(0, 2_120), 2_000);
        assert_eq!(exchange.handle_up(5_120), Some(200));
        assert_eq!(exchange.moved(0, 9_999), 3_000);
        assert!(exchange.is_finished(200));
    }
}
