//! HTTP on a connection: how long requests and answers are, and how far each has come.
//!
//! Each request is a head and, for an upload, content; each answer a head and, for a download, content. What is modelled is how many
//! bytes go which way and when; nothing is parsed.

use super::lane::Key;
use netburn_scenario::plan::Http;
use netburn_workload::{Direction, RequestId};

/// TLS 1.3 (RFC 8446 section 2): ClientHello; ServerHello to Finished with a certificate of an elliptic curve and its chain; Finished.
pub(crate) const CLIENT_HELLO: u64 = 520;
/// The server's flight.
pub(crate) const SERVER_HELLO: u64 = 2_700;
/// The client's Finished.
pub(crate) const CLIENT_FINISHED: u64 = 80;

/// HTTP/2's connection preface with SETTINGS of three values and WINDOW_UPDATE (RFC 9113 sections 3.4, 6.5, 6.9): 24 + 27 + 13.
pub(crate) const PREFACE: u64 = 64;
/// The server's SETTINGS of three values, its WINDOW_UPDATE and its acknowledgement of the client's SETTINGS: 27 + 13 + 9.
pub(crate) const SERVER_PREFACE: u64 = 49;
/// The largest DATA frame: what agents announce (`SETTINGS_MAX_FRAME_SIZE`).
const FRAME: u64 = 64 << 10;
/// A frame's header (RFC 9113 section 4.1).
const FRAME_HEADER: u64 = 9;

/// How an HTTP version puts exchanges on a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Framing {
    /// The head of a request: method, path, host, user agent.
    request_head: u64,
    /// The head of an answer: status, date, type, length, and what servers add.
    answer_head: u64,
    /// Content goes in frames.
    framed: bool,
    /// Exchanges that may be under way at once on a connection.
    pub(crate) most: usize,
}

impl Framing {
    /// What `http` makes of it.
    pub(crate) const fn new(http: Http) -> Self {
        match http {
            Http::H1 => Framing {
                request_head: 120,
                answer_head: 200,
                framed: false,
                most: 1,
            },
            // Heads are compressed (RFC 7541): what repeats costs a byte or two. 128 streams are what `serve` permits.
            Http::H2 => Framing {
                request_head: 40,
                answer_head: 60,
                framed: true,
                most: 128,
            },
        }
    }

    /// After how many bytes another exchange has its turn.
    pub(crate) const fn turn(self) -> u64 {
        if self.framed { FRAME + FRAME_HEADER } else { u64::MAX }
    }

    /// What content takes with its frames' headers.
    fn framed(self, content: u64) -> u64 {
        match self.framed {
            true => content + content.div_ceil(FRAME) * FRAME_HEADER,
            false => content,
        }
    }

    /// How much content is in the first `bytes` of framed content.
    fn content(self, bytes: u64) -> u64 {
        match self.framed {
            true => {
                let (whole, rest) = (bytes / (FRAME + FRAME_HEADER), bytes % (FRAME + FRAME_HEADER));
                whole * FRAME + rest.saturating_sub(FRAME_HEADER)
            }
            false => bytes,
        }
    }
}

/// One request and its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Exchange {
    pub(crate) key: Key,
    pub(crate) id: RequestId,
    pub(crate) direction: Direction,
    /// The request was written.
    pub(crate) asked: bool,
    framing: Framing,
    request: u64,
    answer: u64,
    /// Of the request: what the server has, and what it has acknowledged. Of the answer: what the station has.
    up: u64,
    acknowledged: u64,
    down: u64,
    /// Content that the workload was told of.
    told: u64,
    content: u64,
    answered: bool,
}

impl Exchange {
    /// One that moves `content`.
    pub(crate) fn new(framing: Framing, key: Key, id: RequestId, direction: Direction, content: u64) -> Self {
        let (up, down) = match direction {
            Direction::Down => (0, content),
            Direction::Up => (content, 0),
        };
        Exchange {
            key,
            id,
            direction,
            asked: false,
            framing,
            request: framing.request_head + framing.framed(up),
            answer: framing.answer_head + framing.framed(down),
            up: 0,
            acknowledged: 0,
            down: 0,
            told: 0,
            content,
            answered: false,
        }
    }

    /// How long the request is.
    pub(crate) const fn request(&self) -> u64 {
        self.request
    }

    /// The server has so much more of the request. How long the answer is, once the request is whole.
    pub(crate) fn handle_up(&mut self, bytes: u64) -> Option<u64> {
        self.up += bytes;
        if self.up < self.request || self.answered {
            return None;
        }
        self.answered = true;
        Some(self.answer)
    }

    /// The server has acknowledged so much more of the request.
    pub(crate) fn handle_acknowledged(&mut self, bytes: u64) {
        self.acknowledged += bytes;
    }

    /// The station has so much more of the answer.
    pub(crate) fn handle_down(&mut self, bytes: u64) {
        self.down += bytes;
    }

    /// Content that has newly moved, as the station sees it: what it has received of the answer, or what the server has acknowledged of
    /// its upload.
    pub(crate) fn moved(&mut self) -> u64 {
        let framed = match self.direction {
            Direction::Down => self.down.saturating_sub(self.framing.answer_head),
            Direction::Up => self.acknowledged.saturating_sub(self.framing.request_head),
        };
        let so_far = self.framing.content(framed).min(self.content);
        so_far - std::mem::replace(&mut self.told, so_far)
    }

    /// Whether the answer is whole.
    pub(crate) const fn is_finished(&self) -> bool {
        self.down >= self.answer
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
    use proptest::prelude::*;

    const ID: RequestId = RequestId {
        operation: 3,
        object: 1,
    };

    #[test]
    fn a_download_by_hand() {
        let mut exchange = Exchange::new(Framing::new(Http::H1), 0, ID, Direction::Down, 1_000);
        assert_eq!(exchange.request(), 120);
        assert_eq!(exchange.handle_up(119), None);
        assert_eq!(exchange.handle_up(1), Some(1_200));
        assert_eq!(exchange.handle_up(0), None, "once");
        exchange.handle_down(200);
        assert_eq!(exchange.moved(), 0, "that was the head");
        exchange.handle_down(500);
        assert_eq!((exchange.moved(), exchange.moved()), (500, 0));
        assert!(!exchange.is_finished());
        exchange.handle_down(500);
        assert_eq!(exchange.moved(), 500);
        assert!(exchange.is_finished());
    }

    #[test]
    fn an_upload_by_hand() {
        let mut exchange = Exchange::new(Framing::new(Http::H1), 0, ID, Direction::Up, 5_000);
        assert_eq!(exchange.request(), 5_120);
        exchange.handle_acknowledged(120);
        assert_eq!(exchange.moved(), 0);
        exchange.handle_acknowledged(2_000);
        assert_eq!(exchange.moved(), 2_000);
        assert_eq!(exchange.handle_up(5_120), Some(200));
        exchange.handle_acknowledged(3_000);
        assert_eq!(exchange.moved(), 3_000);
        exchange.handle_down(200);
        assert!(exchange.is_finished());
    }

    /// 100 000 bytes in two frames: 18 bytes more; the head before.
    #[test]
    fn frames_have_headers() {
        let mut exchange = Exchange::new(Framing::new(Http::H2), 0, ID, Direction::Down, 100_000);
        assert_eq!(exchange.handle_up(exchange.request()), Some(60 + 100_018));
        exchange.handle_down(60 + 9 + 65_536);
        assert_eq!(exchange.moved(), 65_536);
        exchange.handle_down(9);
        assert_eq!(exchange.moved(), 0);
        exchange.handle_down(34_464);
        assert_eq!(exchange.moved(), 34_464);
        assert!(exchange.is_finished());
    }

    proptest! {
        /// All content has moved when the answer is whole, and never before.
        #[test]
        fn content_is_conserved(content in 1_u64..300_000, steps in prop::collection::vec(1_u64..70_000, 1..40), two in any::<bool>()) {
            let http = if two { Http::H2 } else { Http::H1 };
            let mut exchange = Exchange::new(Framing::new(http), 0, ID, Direction::Down, content);
            let mut left = exchange.handle_up(exchange.request()).unwrap();
            let mut moved = 0;
            for step in steps.into_iter().chain(std::iter::repeat(1 << 20)) {
                let step = step.min(left);
                exchange.handle_down(step);
                left -= step;
                moved += exchange.moved();
                prop_assert_eq!(exchange.is_finished(), left == 0);
                prop_assert!(moved < content || left == 0);
                if left == 0 {
                    break;
                }
            }
            prop_assert_eq!(moved, content);
        }
    }
}
