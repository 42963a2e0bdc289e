//! A bound on HTTP/2 frames that cost their sender next to nothing and carry no content.
//!
//! RFC 9113 section 10.5 names them: a client may send PING, SETTINGS, PRIORITY, WINDOW_UPDATE and frames of unknown types
//! without end, and each keeps the server busy. The `h2` crate bounds resets, header blocks and empty DATA by itself. The
//! others are counted here, where bytes are read.
//!
//! A client needs such frames in proportion to the content that moves: one or two WINDOW_UPDATEs for each piece that it
//! takes, now and then a PING. So content earns frames, and so does time.

use super::flow::clock;
use netburn_units::Instant;
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
const MOST_SAVED: u64 = 10_000;

/// The length of the preface that a client begins with (RFC 9113 section 3.4).
const PREFACE: usize = 24;
/// The length of a frame's head (RFC 9113 section 4.1).
const HEAD: usize = 9;

/// Finds the heads of frames in a client's bytes, however they are cut.
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
}

impl Scanner {
    fn new() -> Self {
        Self {
            head: [0; HEAD],
            there: 0,
            skip: PREFACE,
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
                    // HEADERS, RST_STREAM, PUSH_PROMISE, GOAWAY, CONTINUATION.
                    1 | 3 | 5 | 7 | 9 => {}
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
            self.at = self.at + netburn_units::Duration::from_nanos(passed * each);
        }
        let enough = frames <= self.left;
        self.left = self.left.saturating_sub(frames);
        enough
    }

    fn save(&mut self, frames: u64) {
        self.left = self.left.saturating_add(frames).min(MOST_SAVED);
    }
}

/// An HTTP/2 connection's bytes. Reading fails once the client has sent too many cheap frames.
pub(crate) struct Bounded<T> {
    io: T,
    scanner: Scanner,
    budget: Budget,
}

impl<T> Bounded<T> {
    /// The bytes of a connection that begins with the client's preface.
    pub(crate) fn new(io: T) -> Self {
        Self {
            io,
            scanner: Scanner::new(),
            budget: Budget::new(clock()),
        }
    }

    fn sent(&mut self, polled: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        if let Poll::Ready(Ok(count)) = polled {
            self.budget.earn(count as u64);
        }
        polled
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for Bounded<T> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.io).poll_read(cx, buffer))?;
        let frames = self.scanner.take(&buffer.filled()[before..]);
        self.budget.earn(frames.content);
        if frames.cheap > 0 && !self.budget.spend(clock(), frames.cheap) {
            return Poll::Ready(Err(io::Error::other("too many frames without content")));
        }
        Poll::Ready(Ok(()))
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for Bounded<T> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.io).poll_write(cx, bytes);
        self.sent(polled)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.io).poll_write_vectored(cx, parts);
        self.sent(polled)
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
            let mut scanner = Scanner::new();
            let mut found = Frames::default();
            for part in bytes.chunks(piece) {
                let frames = scanner.take(part);
                found.cheap += frames.cheap;
                found.content += frames.content;
            }
            assert_eq!((found.cheap, found.content), (6, 300), "pieces of {piece}");
        }
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
        assert!(budget.spend(at(1_000_000_000), MOST_SAVED) && !budget.spend(at(1_000_000_000), 1));
    }
}
