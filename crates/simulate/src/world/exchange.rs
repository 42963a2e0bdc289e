//! HTTP on a connection: lengths of requests and responses, and their progress.
//!
//! Each request is a head and, for an upload, content; each response a head and, for a download,
//! content. The model covers the number of bytes per direction and their time; nothing is parsed.

use super::lane::Key;
use netburn_scenario::plan::Http;
use netburn_workload::{Direction, RequestId};

/// TLS 1.3 (RFC 8446 section 2): ClientHello; ServerHello to Finished with a certificate of an elliptic curve and its chain; Finished.
pub(crate) const CLIENT_HELLO: u64 = 520;
/// Flight of the server.
pub(crate) const SERVER_HELLO: u64 = 2_700;
/// Finished of the client.
pub(crate) const CLIENT_FINISHED: u64 = 80;

/// HTTP/2's connection preface with SETTINGS of three values and WINDOW_UPDATE (RFC 9113 sections 3.4, 6.5, 6.9): 24 + 27 + 13.
pub(crate) const PREFACE: u64 = 64;
/// SETTINGS of three values, WINDOW_UPDATE and acknowledgement of the client's SETTINGS by the
/// server: 27 + 13 + 9.
pub(crate) const SERVER_PREFACE: u64 = 49;
/// Maximum DATA frame that agents announce (`SETTINGS_MAX_FRAME_SIZE`), except on connections with load of `responsiveness`.
const FRAME: u64 = 64 << 10;
/// A frame's header (RFC 9113 section 4.1).
const FRAME_HEADER: u64 = 9;

/// Mapping of exchanges to a connection, by HTTP version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Framing {
    /// Head of a request: method, path, host, user agent.
    request_head: u64,
    /// Head of a response: status, date, type, length, and typical further fields.
    response_head: u64,
    /// True if content is sent in frames.
    framed: bool,
    /// Maximum size of a frame.
    frame: u64,
    /// Maximum number of concurrent exchanges on a connection.
    pub(crate) most: usize,
}

impl Framing {
    /// Framing of an HTTP version.
    pub(crate) const fn new(http: Http) -> Self {
        match http {
            Http::H1 => Framing {
                request_head: 120,
                response_head: 200,
                framed: false,
                frame: FRAME,
                most: 1,
            },
            // Heads are compressed (RFC 7541): a repeated field costs one or two bytes. `serve`
            // permits 128 streams.
            Http::H2 => Framing {
                request_head: 40,
                response_head: 60,
                framed: true,
                frame: FRAME,
                most: 128,
            },
        }
    }

    /// The same with frames of at most this size.
    pub(crate) const fn with_frames(self, frame: u64) -> Self {
        Framing { frame, ..self }
    }

    /// Number of bytes after which another exchange takes its turn.
    pub(crate) const fn turn(self) -> u64 {
        if self.framed {
            self.frame + FRAME_HEADER
        } else {
            u64::MAX
        }
    }

    /// Length of content with its frame headers.
    fn framed(self, content: u64) -> u64 {
        if self.framed {
            content + content.div_ceil(self.frame) * FRAME_HEADER
        } else {
            content
        }
    }

    /// Content in the first `bytes` of framed content.
    fn content(self, bytes: u64) -> u64 {
        if self.framed {
            let unit = self.frame + FRAME_HEADER;
            let (whole, rest) = (bytes / unit, bytes % unit);
            whole * self.frame + rest.saturating_sub(FRAME_HEADER)
        } else {
            bytes
        }
    }
}

/// One request and its response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Exchange {
    pub(crate) key: Key,
    pub(crate) id: RequestId,
    pub(crate) direction: Direction,
    /// True if the request was written.
    pub(crate) requested: bool,
    framing: Framing,
    request: u64,
    response: u64,
    /// Bytes of the request received by the server and acknowledged by it; bytes of the response
    /// received by the station.
    up: u64,
    acknowledged: u64,
    down: u64,
    /// Content reported to the workload.
    reported: u64,
    content: u64,
    response_due: bool,
}

impl Exchange {
    /// Creates an exchange of `content` bytes.
    pub(crate) fn new(framing: Framing, key: Key, id: RequestId, direction: Direction, content: u64) -> Self {
        let (up, down) = match direction {
            Direction::Down => (0, content),
            Direction::Up => (content, 0),
        };
        Exchange {
            key,
            id,
            direction,
            requested: false,
            framing,
            request: framing.request_head + framing.framed(up),
            response: framing.response_head + framing.framed(down),
            up: 0,
            acknowledged: 0,
            down: 0,
            reported: 0,
            content,
            response_due: false,
        }
    }

    /// Length of the request.
    pub(crate) const fn request(&self) -> u64 {
        self.request
    }

    /// Counts bytes of the request received by the server. Returns the length of the response once
    /// the request is complete.
    pub(crate) fn handle_up(&mut self, bytes: u64) -> Option<u64> {
        self.up += bytes;
        if self.up < self.request || self.response_due {
            return None;
        }
        self.response_due = true;
        Some(self.response)
    }

    /// Counts bytes of the request acknowledged by the server.
    pub(crate) fn handle_acknowledged(&mut self, bytes: u64) {
        self.acknowledged += bytes;
    }

    /// Counts bytes of the response received by the station.
    pub(crate) fn handle_down(&mut self, bytes: u64) {
        self.down += bytes;
    }

    /// Content moved since the last call, from the station's view: received content of the
    /// response, or acknowledged content of its upload.
    pub(crate) fn moved(&mut self) -> u64 {
        let framed = match self.direction {
            Direction::Down => self.down.saturating_sub(self.framing.response_head),
            Direction::Up => self.acknowledged.saturating_sub(self.framing.request_head),
        };
        let so_far = self.framing.content(framed).min(self.content);
        so_far - std::mem::replace(&mut self.reported, so_far)
    }

    /// Returns true if the response is complete.
    pub(crate) const fn is_finished(&self) -> bool {
        self.down >= self.response
    }
}

/// State of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// TCP handshake.
    Dialling,
    /// TLS handshake: the server's flight is expected.
    Securing,
    /// Requests may be sent.
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

    /// 100 000 bytes in two frames: 18 additional bytes, after the head.
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
        /// All content has moved when the response is complete, and never before.
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
