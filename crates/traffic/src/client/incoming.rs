//! Received bytes of an HTTP/1.1 connection: their buffer, and the heads of responses in it.

use super::Stream;
use super::exchange::{ExchangeError, Method, Request, cut_short};
use super::head::{self, Head};
use super::interim::InterimResponses;
use crate::clock::RunClock;
use crate::progress::ReportedOffset;
use netburn_units::Instant;
use std::cell::RefCell;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use tokio::io::{AsyncRead, ReadBuf};

/// Size of the receive buffer in bytes.
const BUFFER: usize = 16 * 1024;

/// Received bytes of the response to one request.
pub(crate) struct Incoming {
    pub(crate) buffer: Buffer,
    interim: InterimResponses,
    /// Time since the request.
    clock: RunClock,
    to_head: bool,
    /// The final head, from its arrival until it is taken.
    head: Option<Head>,
}

impl Incoming {
    /// `request` is sent now.
    pub(crate) fn new(request: &Request<'_>) -> Self {
        Incoming {
            buffer: Buffer::take(),
            interim: InterimResponses::new(&request.path),
            clock: RunClock::starting_now(),
            to_head: request.method == Method::Head,
            head: None,
        }
    }

    /// Returns the progress of an upload, if the request asks for it.
    pub(crate) fn offset(&self) -> Option<ReportedOffset> {
        self.interim.offset()
    }

    /// Waits for further bytes.
    pub(crate) async fn fill(&mut self, stream: &mut Stream) -> Result<(), ExchangeError> {
        match stream.receive(self.buffer.room()).await? {
            0 => Err(cut_short()),
            count => {
                self.buffer.end += count;
                Ok(())
            }
        }
    }

    /// Returns the final head if it has arrived, and removes it from the buffer.
    pub(crate) fn take_head(&mut self) -> Result<Option<Head>, ExchangeError> {
        self.parse()?;
        Ok(self.head.take())
    }

    /// Receives interim responses without waiting, while content is sent. Returns whether sending is pointless: the
    /// server has closed the connection or sent a response other than success. A server that ignores the content may
    /// respond with success before it is complete.
    pub(crate) fn receive_rejection(&mut self, stream: &mut Stream) -> Result<bool, ExchangeError> {
        loop {
            self.parse()?;
            if let Some(head) = &self.head {
                return Ok(!(200..300).contains(&head.status));
            }
            let mut room = ReadBuf::new(self.buffer.room());
            match Pin::new(&mut *stream).poll_read(&mut Context::from_waker(Waker::noop()), &mut room) {
                Poll::Pending => return Ok(false),
                Poll::Ready(Ok(())) if room.filled().is_empty() => return Ok(true),
                Poll::Ready(Ok(())) => self.buffer.end += room.filled().len(),
                // TLS without close_notify.
                Poll::Ready(Err(error)) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(true),
                Poll::Ready(Err(error)) => return Err(error.into()),
            }
        }
    }

    fn parse(&mut self) -> Result<(), ExchangeError> {
        if self.head.is_none() {
            let (used, head) = next_head(self.buffer.there(), self.to_head, &mut self.interim, self.clock.now())?;
            self.buffer.begin += used;
            self.head = head;
        }
        Ok(())
    }
}

/// Parses the heads at the beginning of `there`, up to the final one. Returns the number of bytes that they have, and
/// the final one if it is complete. `now`: time since the request.
///
/// # Errors
/// [`ExchangeError::Response`] when a head is invalid, or there are too many interim responses.
pub(crate) fn next_head(
    there: &[u8],
    to_head: bool,
    interim: &mut InterimResponses,
    now: Instant,
) -> Result<(usize, Option<Head>), ExchangeError> {
    let mut used = 0;
    loop {
        let parsed =
            head::parse(&there[used..], to_head).map_err(|error| ExchangeError::Response(error.to_string()))?;
        let Some(head) = parsed else {
            return Ok((used, None));
        };
        used += head.length;
        if !head.is_interim() {
            return Ok((used, Some(head)));
        }
        interim.handle_response(now, head.status, head.offset, head.length)?;
    }
}

/// Bytes that were received and not used yet. The memory belongs to the thread, so idle connections have no buffer.
pub(crate) struct Buffer {
    pub(crate) bytes: Vec<u8>,
    pub(crate) begin: usize,
    pub(crate) end: usize,
}

thread_local! {
    static SPARE: RefCell<Vec<Vec<u8>>> = const { RefCell::new(Vec::new()) };
}

/// Number of free buffers that a thread keeps.
const SPARES: usize = 64;

impl Buffer {
    fn take() -> Self {
        let bytes = SPARE.with_borrow_mut(Vec::pop).unwrap_or_else(|| vec![0; BUFFER]);
        Buffer {
            bytes,
            begin: 0,
            end: 0,
        }
    }

    pub(crate) fn there(&self) -> &[u8] {
        &self.bytes[self.begin..self.end]
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.begin == self.end
    }

    /// Returns the free part of the buffer: never empty, and limited to the maximum length of a head in total.
    pub(crate) fn room(&mut self) -> &mut [u8] {
        if self.is_empty() {
            (self.begin, self.end) = (0, 0);
        }
        if self.end == self.bytes.len() {
            self.bytes.drain(..self.begin);
            (self.begin, self.end) = (0, self.end - self.begin);
            let length = self.bytes.len().max(self.end) * 2;
            self.bytes.resize(length.max(BUFFER), 0);
        }
        &mut self.bytes[self.end..]
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if self.bytes.len() == BUFFER {
            let bytes = std::mem::take(&mut self.bytes);
            SPARE.with_borrow_mut(|spare| {
                if spare.len() < SPARES {
                    spare.push(bytes);
                }
            });
        }
    }
}
