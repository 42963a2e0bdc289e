//! A connection's bytes, in cleartext or over TLS, with a bound on every wait.

use super::socket::{Deadline, Socket};
use crate::content::Content;
use netburn_units::Duration;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_rustls::server::TlsStream;

/// The two kinds.
#[derive(Debug)]
pub(crate) enum Io {
    Clear(Socket),
    Tls(Box<TlsStream<Socket>>),
}

/// A connection's bytes.
#[derive(Debug)]
pub(crate) struct TimedStream {
    io: Io,
    deadline: Deadline,
    blocked: bool,
}

/// TLS takes so much content at a time.
const TLS_PIECE: u64 = 32 << 10;
/// What comes over TLS and is dropped goes through a buffer of so many bytes.
const TLS_SCRATCH: usize = 16 << 10;

impl TimedStream {
    /// The first wait is for at most `span`.
    pub(crate) fn new(io: Io, span: Duration) -> Self {
        Self {
            io,
            deadline: Deadline::after(span),
            blocked: false,
        }
    }

    /// Waits from now on are for at most `span` in all, until this is called again.
    pub(crate) fn wait_at_most(&mut self, span: Duration) {
        self.deadline.set(span);
    }

    /// Whether the other end has made a write wait since this was last asked.
    pub(crate) fn take_blocked(&mut self) -> bool {
        std::mem::take(&mut self.blocked)
    }

    /// Receives at the end of `buffer`, no more than its spare capacity; 0 is the end of the stream.
    pub(crate) async fn receive(&mut self, buffer: &mut Vec<u8>) -> io::Result<usize> {
        let io = &mut self.io;
        self.deadline
            .bound(|cx| match io {
                Io::Clear(socket) => socket.poll_receive(cx, buffer),
                Io::Tls(stream) => poll_read_buf(stream, cx, buffer),
            })
            .await
    }

    /// Receives and drops up to `limit` bytes, in cleartext without copying them; 0 is the end of the stream.
    pub(crate) async fn discard(&mut self, limit: u64) -> io::Result<u64> {
        let io = &mut self.io;
        let limit = usize::try_from(limit).unwrap_or(usize::MAX).min(1 << 30);
        let count = self
            .deadline
            .bound(|cx| match io {
                Io::Clear(socket) => socket.poll_discard(cx, limit),
                Io::Tls(stream) => {
                    let mut scratch = [std::mem::MaybeUninit::uninit(); TLS_SCRATCH];
                    let mut buffer = ReadBuf::uninit(&mut scratch[..limit.min(TLS_SCRATCH)]);
                    ready!(Pin::new(stream).poll_read(cx, &mut buffer))?;
                    Poll::Ready(Ok(buffer.filled().len()))
                }
            })
            .await?;
        Ok(count as u64)
    }

    /// Sends some of `bytes`; with `more`, more follows at once.
    pub(crate) async fn send(&mut self, bytes: &[u8], more: bool) -> io::Result<usize> {
        self.write(|io, cx| match io {
            Io::Clear(socket) if more => socket.poll_send_more(cx, bytes),
            Io::Clear(socket) => socket.poll_send_bytes(cx, bytes),
            Io::Tls(stream) => Pin::new(stream).poll_write(cx, bytes),
        })
        .await
    }

    /// Sends some content from `offset` on, at most `limit` bytes.
    pub(crate) async fn send_content(&mut self, content: &Content, offset: u64, limit: u64) -> io::Result<usize> {
        self.write(|io, cx| match io {
            Io::Clear(socket) => socket.poll_send_content(cx, content, offset, limit),
            Io::Tls(stream) => Pin::new(stream).poll_write(cx, &content.piece(offset, limit.min(TLS_PIECE))),
        })
        .await
    }

    /// Waits until all that was sent is with the kernel.
    pub(crate) async fn flush(&mut self) -> io::Result<()> {
        match &mut self.io {
            Io::Clear(_) => Ok(()),
            Io::Tls(stream) => self.deadline.bound(|cx| Pin::new(&mut *stream).poll_flush(cx)).await,
        }
    }

    /// Says that nothing more will be sent.
    pub(crate) async fn shut_down(&mut self) -> io::Result<()> {
        let io = &mut self.io;
        self.deadline
            .bound(|cx| match io {
                Io::Clear(socket) => Pin::new(socket).poll_shutdown(cx),
                Io::Tls(stream) => Pin::new(stream).poll_shutdown(cx),
            })
            .await
    }

    async fn write(
        &mut self,
        mut send: impl FnMut(&mut Io, &mut Context<'_>) -> Poll<io::Result<usize>>,
    ) -> io::Result<usize> {
        let (io, blocked) = (&mut self.io, &mut self.blocked);
        let sent = self
            .deadline
            .bound(|cx| {
                let polled = send(io, cx);
                *blocked |= polled.is_pending();
                polled
            })
            .await?;
        match sent {
            0 => Err(io::ErrorKind::WriteZero.into()),
            sent => Ok(sent),
        }
    }
}

fn poll_read_buf(
    stream: &mut TlsStream<Socket>,
    cx: &mut Context<'_>,
    buffer: &mut Vec<u8>,
) -> Poll<io::Result<usize>> {
    let mut scratch = [0; 4096];
    let room = (buffer.capacity() - buffer.len()).min(scratch.len());
    let mut piece = ReadBuf::new(&mut scratch[..room]);
    ready!(Pin::new(stream).poll_read(cx, &mut piece))?;
    buffer.extend_from_slice(piece.filled());
    Poll::Ready(Ok(piece.filled().len()))
}
