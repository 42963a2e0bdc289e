//! Limit of HTTP/2 frames that cost the sender nearly nothing and have no content.
//!
//! RFC 9113 §10.5 describes the attack. A peer may send an unlimited number of PING, SETTINGS, PRIORITY,
//! WINDOW_UPDATE and unknown frames, which keep the receiver busy. The `h2` crate limits resets, header blocks and
//! empty DATA. The other frames are counted here, where bytes are read.
//!
//! A peer needs such frames in proportion to the content: one or two WINDOW_UPDATEs for each received piece, and
//! occasional PINGs. Content and time therefore add to its budget. A server sends a few header blocks per request:
//! interim responses (1xx), the final response and trailers.

use crate::sent::SentFrames;
use netburn_platform::Monotonic;
use netburn_units::{Duration, Instant};
use std::cell::{Cell, RefCell};
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Initial budget of a connection in frames.
const FIRST: u64 = 1_000;
/// Frames added per second.
const PER_SECOND: u64 = 100;
/// Bytes of content, in either direction, that add one frame. A DATA frame of one packet may cause two updates and a
/// PING.
const BYTES_EACH: u64 = 256;
/// Maximum budget in frames.
const MAX_SAVED: u64 = 10_000;

/// Header blocks that a server may send per request: the final response, trailers, and interim responses.
const BLOCKS: u64 = 2 + MAX_INTERIM;
/// Interim responses (1xx) that a server may send per request, also over HTTP/1.1.
pub(crate) const MAX_INTERIM: u64 = 16;

/// Length of the client's connection preface (RFC 9113 §3.4).
const PREFACE: usize = 24;
/// Length of a frame header (RFC 9113 §4.1).
const HEAD: usize = 9;

/// Finds frame headers in one direction of a connection, independently of its segmentation.
#[derive(Debug)]
struct Scanner {
    head: [u8; HEAD],
    /// Received bytes of the next frame header.
    there: usize,
    /// Bytes to skip before it.
    skip: usize,
    /// Number of processed bytes.
    position: u64,
}

/// Frames found in a piece of input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Frames {
    /// Frames without content that the `h2` crate does not limit.
    cheap: u64,
    /// Bytes of content in DATA frames.
    content: u64,
    /// Header blocks.
    blocks: u64,
}

impl Scanner {
    /// Creates a scanner for a client's bytes, which begin with the preface.
    fn of_client() -> Self {
        Self {
            skip: PREFACE,
            ..Self::of_server()
        }
    }

    fn of_server() -> Self {
        Self {
            head: [0; HEAD],
            there: 0,
            skip: 0,
            position: 0,
        }
    }

    /// Processes the next bytes. A frame is counted when its header is complete.
    fn take(&mut self, bytes: &[u8]) -> Frames {
        self.take_with(bytes, |_, _, _| {})
    }

    /// The same; calls `data` with the stream, position and length of the payload of each DATA frame.
    fn take_with(&mut self, mut bytes: &[u8], mut data: impl FnMut(u32, u64, u64)) -> Frames {
        let mut frames = Frames::default();
        while !bytes.is_empty() {
            if self.skip > 0 {
                let passed = self.skip.min(bytes.len());
                self.skip -= passed;
                self.position += passed as u64;
                bytes = &bytes[passed..];
                continue;
            }
            let part = (HEAD - self.there).min(bytes.len());
            self.head[self.there..self.there + part].copy_from_slice(&bytes[..part]);
            self.there += part;
            self.position += part as u64;
            bytes = &bytes[part..];
            if self.there == HEAD {
                self.there = 0;
                let length = u32::from_be_bytes([0, self.head[0], self.head[1], self.head[2]]);
                self.skip = length as usize;
                match self.head[3] {
                    // DATA.
                    0 => {
                        frames.content += u64::from(length);
                        let stream = [self.head[5], self.head[6], self.head[7], self.head[8]];
                        data(u32::from_be_bytes(stream), self.position, u64::from(length));
                    }
                    // HEADERS.
                    1 => frames.blocks += 1,
                    // RST_STREAM, PUSH_PROMISE, GOAWAY, CONTINUATION.
                    3 | 5 | 7 | 9 => {}
                    _ => frames.cheap += 1,
                }
            }
        }
        frames
    }
}

/// Remaining budget of a connection.
#[derive(Debug)]
struct Budget {
    left: u64,
    /// Bytes of content that have not added a frame yet.
    bytes: u64,
    /// Time up to which frames have been added for elapsed time.
    at: Instant,
}

impl Budget {
    fn new(now: Instant) -> Self {
        Self {
            left: FIRST,
            bytes: 0,
            at: now,
        }
    }

    /// Adds frames for content.
    fn earn(&mut self, content: u64) {
        self.bytes += content;
        self.save(self.bytes / BYTES_EACH);
        self.bytes %= BYTES_EACH;
    }

    /// Spends `frames`. Returns `false` if the budget is exceeded.
    fn spend(&mut self, now: Instant, frames: u64) -> bool {
        let each = 1_000_000_000 / PER_SECOND;
        let passed = now.checked_since(self.at).map_or(0, |span| span.as_nanos()) / each;
        if passed > 0 {
            self.save(passed);
            self.at += Duration::from_nanos(passed * each);
        }
        let enough = frames <= self.left;
        self.left = self.left.saturating_sub(frames);
        enough
    }

    fn save(&mut self, frames: u64) {
        self.left = self.left.saturating_add(frames).min(MAX_SAVED);
    }
}

/// Byte stream of an HTTP/2 connection. Reading fails when the peer exceeds its budget.
pub(crate) struct Bounded<T> {
    io: T,
    read: Scanner,
    budget: Budget,
    requests: Option<Requests>,
    /// True while the peer does not accept written bytes.
    blocked: Rc<Cell<bool>>,
}

/// Header blocks that a client may still receive.
struct Requests {
    written: Scanner,
    /// Header blocks that the server may still send.
    blocks: u64,
    /// Content that has been written.
    content: Rc<RefCell<SentFrames>>,
    /// True if an upload asks for progress. Further interim responses then count as frames without content.
    reports: Rc<Cell<bool>>,
}

/// Returns the monotonic clock's time.
fn clock() -> Instant {
    Instant::from_nanos(Monotonic::now().as_nanos())
}

impl<T> Bounded<T> {
    /// Wraps the server's side, where the client's preface comes first. `blocked` is true while written bytes wait for
    /// the client.
    pub(crate) fn server(io: T, blocked: &Rc<Cell<bool>>) -> Self {
        Self {
            io,
            read: Scanner::of_client(),
            budget: Budget::new(clock()),
            requests: None,
            blocked: Rc::clone(blocked),
        }
    }

    /// Wraps the client's side. Reading also fails after too many header blocks. The DATA frames are added to `content`.
    /// `reports`: whether an upload asks for progress, which needs more header blocks.
    pub(crate) fn client(io: T, content: &Rc<RefCell<SentFrames>>, reports: &Rc<Cell<bool>>) -> Self {
        Self {
            io,
            read: Scanner::of_server(),
            budget: Budget::new(clock()),
            requests: Some(Requests {
                written: Scanner::of_client(),
                blocks: 0,
                content: Rc::clone(content),
                reports: Rc::clone(reports),
            }),
            blocked: Rc::default(),
        }
    }

    /// Processes the first `count` sent bytes.
    fn sent<'a>(&mut self, count: usize, parts: impl Iterator<Item = &'a [u8]>) {
        self.budget.earn(count as u64);
        let Some(requests) = &mut self.requests else { return };
        let mut left = count;
        for part in parts {
            let here = left.min(part.len());
            let mut content = requests.content.borrow_mut();
            let frames = requests.written.take_with(&part[..here], |stream, begin, length| {
                content.write(stream, begin, length);
            });
            requests.blocks += BLOCKS * frames.blocks;
            left -= here;
        }
    }

    /// Processes received bytes.
    fn came(&mut self, bytes: &[u8]) -> io::Result<()> {
        let frames = self.read.take(bytes);
        self.budget.earn(frames.content);
        if frames.cheap > 0 && !self.budget.spend(clock(), frames.cheap) {
            return Err(io::Error::other("too many frames without content"));
        }
        if let Some(requests) = &mut self.requests {
            let more = frames.blocks.saturating_sub(requests.blocks);
            requests.blocks -= frames.blocks - more;
            if more > 0 && !(requests.reports.get() && self.budget.spend(clock(), more)) {
                return Err(io::Error::other("too many interim responses"));
            }
        }
        Ok(())
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for Bounded<T> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.io).poll_read(cx, buffer))?;
        Poll::Ready(self.came(&buffer.filled()[before..]))
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for Bounded<T> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.io).poll_write(cx, bytes);
        self.blocked.set(written.is_pending());
        let count = ready!(written)?;
        self.sent(count, [bytes].into_iter());
        Poll::Ready(Ok(count))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.io).poll_write_vectored(cx, parts);
        self.blocked.set(written.is_pending());
        let count = ready!(written)?;
        self.sent(count, parts.iter().map(|part| &**part));
        Poll::Ready(Ok(count))
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.io).poll_flush(cx);
        self.blocked.set(flushed.is_pending());
        flushed
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(kind: u8, length: u32) -> Vec<u8> {
        let mut frame = length.to_be_bytes()[1..].to_vec();
        frame.extend([kind, 0, 0, 0, 0, 0]);
        frame.resize(HEAD + length as usize, 0xff);
        frame
    }

    /// Frame types of RFC 9113 §6: 0 DATA, 1 HEADERS, 2 PRIORITY, 3 RST_STREAM, 4 SETTINGS, 6 PING, 8 WINDOW_UPDATE.
    #[test]
    fn frames_are_found_in_any_segmentation() {
        let mut bytes = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
        for (kind, length) in [
            (4, 12),
            (1, 40),
            (0, 300),
            (0, 0),
            (8, 4),
            (2, 5),
            (3, 4),
            (6, 8),
            (200, 7),
            (4, 0),
        ] {
            bytes.extend(frame(kind, length));
        }
        for piece in [1, 2, 7, 1_000] {
            let mut scanner = Scanner::of_client();
            let mut found = Frames::default();
            for part in bytes.chunks(piece) {
                let frames = scanner.take(part);
                found.cheap += frames.cheap;
                found.content += frames.content;
                found.blocks += frames.blocks;
            }
            let all = Frames {
                cheap: 6,
                content: 300,
                blocks: 1,
            };
            assert_eq!(found, all, "pieces of {piece}");
        }
    }

    #[test]
    fn header_blocks_per_request_are_limited() {
        let mut client = Bounded::client((), &Rc::default(), &Rc::default());
        let request = [&b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"[..], &frame(4, 6), &frame(1, 30)].concat();
        // All but the last 5 bytes are sent first, including the frame header.
        client.sent(request.len() - 5, request.chunks(10));
        client.came(&frame(1, 20).repeat(18)).unwrap();
        assert!(client.came(&frame(1, 20)).is_err());
        let mut server = Bounded::server((), &Rc::default());
        server
            .came(&[&request[..], &frame(1, 20).repeat(1_000)].concat())
            .unwrap();
    }

    /// A request has 18 header blocks. Further ones use the budget of 1000 frames, if an upload asks for progress.
    #[test]
    fn header_blocks_of_progress_use_the_budget() {
        let reports = Rc::new(Cell::new(true));
        let mut client = Bounded::client((), &Rc::default(), &reports);
        let request = [&b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"[..], &frame(1, 30)].concat();
        client.sent(request.len(), [&request[..]].into_iter());
        client.came(&frame(1, 20).repeat(18 + 900)).unwrap();
        // Time adds 100 frames per second. The test takes less than 10 s.
        assert!(client.came(&frame(1, 20).repeat(1_100)).is_err());
    }

    /// A peer that accepts `room` bytes.
    struct Slow {
        room: usize,
    }

    impl AsyncWrite for Slow {
        fn poll_write(mut self: Pin<&mut Self>, _cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
            let count = bytes.len().min(self.room);
            self.room -= count;
            if count == 0 {
                Poll::Pending
            } else {
                Poll::Ready(Ok(count))
            }
        }

        fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
            if self.room == 0 {
                Poll::Pending
            } else {
                Poll::Ready(Ok(()))
            }
        }

        fn poll_shutdown(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }
    }

    #[test]
    fn a_server_knows_whether_its_client_accepts_data() {
        let blocked = Rc::new(Cell::new(false));
        let mut server = Bounded::server(Slow { room: 10 }, &blocked);
        let cx = &mut Context::from_waker(std::task::Waker::noop());
        let mut write = |server: &mut Bounded<Slow>| {
            let written = Pin::new(&mut *server).poll_write(cx, b"123456").is_ready();
            (written, blocked.get())
        };
        assert_eq!(write(&mut server), (true, false));
        // Accepted in part, then not at all.
        assert_eq!(write(&mut server), (true, false));
        assert_eq!(write(&mut server), (false, true));
        server.io.room = 100;
        assert_eq!(write(&mut server), (true, false));
        server.io.room = 0;
        let cx = &mut Context::from_waker(std::task::Waker::noop());
        assert!(Pin::new(&mut server).poll_flush(cx).is_pending() && blocked.get());
    }

    #[test]
    fn content_and_time_add_to_the_budget() {
        let at = Instant::from_millis;
        let mut budget = Budget::new(at(0));
        assert!(budget.spend(at(0), FIRST) && !budget.spend(at(0), 1));
        // One frame every 10 ms at any step.
        assert!((1..=10).all(|step| budget.spend(at(step * 10), 1)));
        assert!(!budget.spend(at(109), 1) && budget.spend(at(110), 1));
        // Two updates and a PING per packet of 1448 bytes, without a time limit.
        for _ in 0..100_000 {
            budget.earn(1_448);
            assert!(budget.spend(at(110), 3));
        }
        // The budget is limited.
        assert!(budget.spend(at(1_000_000_000), MAX_SAVED) && !budget.spend(at(1_000_000_000), 1));
    }
}
