//! A bound on HTTP/2 frames that cost their sender next to nothing and carry no content.
//!
//! RFC 9113 section 10.5 names them: a peer may send PING, SETTINGS, PRIORITY, WINDOW_UPDATE and frames of unknown types
//! without end, and each keeps the other end busy. The `h2` crate bounds resets, header blocks and empty DATA by itself. The
//! others are counted here, where bytes are read.
//!
//! A peer needs such frames in proportion to the content that moves: one or two WINDOW_UPDATEs for each piece that it
//! takes, now and then a PING. So content earns frames, and so does time. A server sends a client a few header blocks for
//! each request: interim answers (1xx), the final one and trailers.

use netburn_linux::Monotonic;
use netburn_units::{Duration, Instant};
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Frames that a connection may send before it earned any.
const FIRST: u64 = 1_000;
/// Frames earned in a second.
const PER_SECOND: u64 = 100;
/// Bytes of content, either way, that earn one frame: a DATA frame of one packet may be answered by two updates and a PING.
const BYTES_EACH: u64 = 256;
/// Frames that can be saved up.
const MAX_SAVED: u64 = 10_000;

/// Header blocks that a server may send for each request: the final one, trailers, and the interim ones.
const BLOCKS: u64 = 2 + MAX_INTERIM;
/// Interim answers (1xx) that a server may send for each request, over HTTP/1.1 as well.
pub(crate) const MAX_INTERIM: u64 = 16;

/// The length of the preface that a client begins with (RFC 9113 section 3.4).
const PREFACE: usize = 24;
/// The length of a frame's head (RFC 9113 section 4.1).
const HEAD: usize = 9;

/// Finds the heads of frames in what one end sends, however it is cut.
#[derive(Debug)]
struct Scanner {
    head: [u8; HEAD],
    /// Bytes of the next head that are there.
    there: usize,
    /// Bytes to pass over before it.
    skip: usize,
}

/// What bytes held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Frames {
    /// Frames without content that the `h2` crate doesn't bound.
    cheap: u64,
    /// Bytes of content in DATA frames.
    content: u64,
    /// Header blocks.
    blocks: u64,
}

impl Scanner {
    /// Of a client, which begins with the preface.
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
        }
    }

    /// Takes the next bytes. A frame counts when its head is whole.
    fn take(&mut self, mut bytes: &[u8]) -> Frames {
        let mut frames = Frames::default();
        while !bytes.is_empty() {
            if self.skip > 0 {
                let passed = self.skip.min(bytes.len());
                self.skip -= passed;
                bytes = &bytes[passed..];
                continue;
            }
            let part = (HEAD - self.there).min(bytes.len());
            self.head[self.there..self.there + part].copy_from_slice(&bytes[..part]);
            self.there += part;
            bytes = &bytes[part..];
            if self.there == HEAD {
                self.there = 0;
                let length = u32::from_be_bytes([0, self.head[0], self.head[1], self.head[2]]);
                self.skip = length as usize;
                match self.head[3] {
                    // DATA.
                    0 => frames.content += u64::from(length),
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

/// What a connection may still send.
#[derive(Debug)]
struct Budget {
    left: u64,
    /// Bytes of content that have not earned a frame yet.
    bytes: u64,
    /// Until when time has earned its frames.
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

    /// So many bytes of content moved.
    fn earn(&mut self, content: u64) {
        self.bytes += content;
        self.save(self.bytes / BYTES_EACH);
        self.bytes %= BYTES_EACH;
    }

    /// Takes `frames`; false where they are more than were earned.
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

/// An HTTP/2 connection's bytes. Reading fails once the peer has sent too many cheap frames.
pub(crate) struct Bounded<T> {
    io: T,
    read: Scanner,
    budget: Budget,
    requests: Option<Requests>,
}

/// What a client may still be answered.
struct Requests {
    written: Scanner,
    /// Header blocks that the server may still send.
    blocks: u64,
}

/// The monotonic clock.
fn clock() -> Instant {
    Instant::from_nanos(Monotonic::now().as_nanos())
}

impl<T> Bounded<T> {
    /// The server's end, at which the client's preface comes first.
    pub(crate) fn server(io: T) -> Self {
        Self {
            io,
            read: Scanner::of_client(),
            budget: Budget::new(clock()),
            requests: None,
        }
    }

    /// The client's end. Reading fails for too many header blocks, too.
    pub(crate) fn client(io: T) -> Self {
        Self {
            io,
            read: Scanner::of_server(),
            budget: Budget::new(clock()),
            requests: Some(Requests {
                written: Scanner::of_client(),
                blocks: 0,
            }),
        }
    }

    /// The first `count` of these bytes went.
    fn sent<'a>(&mut self, count: usize, parts: impl Iterator<Item = &'a [u8]>) {
        self.budget.earn(count as u64);
        let Some(requests) = &mut self.requests else { return };
        let mut left = count;
        for part in parts {
            let here = left.min(part.len());
            requests.blocks += BLOCKS * requests.written.take(&part[..here]).blocks;
            left -= here;
        }
    }

    /// These bytes came.
    fn came(&mut self, bytes: &[u8]) -> io::Result<()> {
        let frames = self.read.take(bytes);
        self.budget.earn(frames.content);
        if frames.cheap > 0 && !self.budget.spend(clock(), frames.cheap) {
            return Err(io::Error::other("too many frames without content"));
        }
        if let Some(requests) = &mut self.requests {
            let left = requests.blocks.checked_sub(frames.blocks);
            requests.blocks = left.ok_or_else(|| io::Error::other("too many interim answers"))?;
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
        let count = ready!(Pin::new(&mut self.io).poll_write(cx, bytes))?;
        self.sent(count, [bytes].into_iter());
        Poll::Ready(Ok(count))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let count = ready!(Pin::new(&mut self.io).poll_write_vectored(cx, parts))?;
        self.sent(count, parts.iter().map(|part| &**part));
        Poll::Ready(Ok(count))
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(cx)
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

    /// RFC 9113 section 6 numbers the frames: 0 DATA, 1 HEADERS, 2 PRIORITY, 3 RST_STREAM, 4 SETTINGS, 6 PING, 8 WINDOW_UPDATE.
    #[test]
    fn frames_are_found_however_they_are_cut() {
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
    fn a_request_is_answered_with_a_few_header_blocks() {
        let mut client = Bounded::client(());
        let request = [&b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"[..], &frame(4, 6), &frame(1, 30)].concat();
        // All but the last 5 bytes go at first, and the head of the frame is among them.
        client.sent(request.len() - 5, request.chunks(10));
        client.came(&frame(1, 20).repeat(18)).unwrap();
        assert!(client.came(&frame(1, 20)).is_err());
        let mut server = Bounded::server(());
        server
            .came(&[&request[..], &frame(1, 20).repeat(1_000)].concat())
            .unwrap();
    }

    #[test]
    fn content_and_time_earn_frames() {
        let at = Instant::from_millis;
        let mut budget = Budget::new(at(0));
        assert!(budget.spend(at(0), FIRST) && !budget.spend(at(0), 1));
        // One every 10 ms, whatever the steps.
        assert!((1..=10).all(|step| budget.spend(at(step * 10), 1)));
        assert!(!budget.spend(at(109), 1) && budget.spend(at(110), 1));
        // Two updates and a PING for a packet of 1,448 bytes, for as long as it comes.
        for _ in 0..100_000 {
            budget.earn(1_448);
            assert!(budget.spend(at(110), 3));
        }
        // What was saved is bounded.
        assert!(budget.spend(at(1_000_000_000), MAX_SAVED) && !budget.spend(at(1_000_000_000), 1));
    }
}
