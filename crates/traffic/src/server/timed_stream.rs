//! Byte stream of a connection, in cleartext or over TLS, with a timeout for every wait.

use super::socket::{Deadline, Socket};
use crate::content::Content;
use netburn_units::Duration;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, Waker, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_rustls::server::TlsStream;

/// Kind of stream.
#[derive(Debug)]
pub(crate) enum Io {
    Clear(Socket),
    Tls(Box<TlsStream<Socket>>),
}

/// Byte stream with timeouts.
#[derive(Debug)]
pub(crate) struct TimedStream {
    io: Io,
    deadline: Deadline,
    blocked: bool,
}

/// Content passed to TLS at once.
const TLS_PIECE: u64 = 32 << 10;
/// Buffer in bytes for data that is received over TLS and discarded.
const TLS_SCRATCH: usize = 16 << 10;

impl TimedStream {
    /// Creates a stream whose first timeout is `span`.
    pub(crate) fn new(io: Io, span: Duration) -> Self {
        Self {
            io,
            deadline: Deadline::after(span),
            blocked: false,
        }
    }

    /// Sets the timeout: the following waits take at most `span` in total, until this is called again.
    pub(crate) fn wait_at_most(&mut self, span: Duration) {
        self.deadline.set(span);
    }

    /// Returns whether a write had to wait for the peer since the last call.
    pub(crate) fn take_blocked(&mut self) -> bool {
        std::mem::take(&mut self.blocked)
    }

    /// Receives into the spare capacity of `buffer`; 0 is the end of the stream.
    pub(crate) async fn receive(&mut self, buffer: &mut Vec<u8>) -> io::Result<usize> {
        let io = &mut self.io;
        self.deadline
            .bound(|cx| match io {
                Io::Clear(socket) => socket.poll_receive(cx, buffer),
                Io::Tls(stream) => poll_read_buf(stream, cx, buffer),
            })
            .await
    }

    /// Receives and discards up to `limit` bytes, in cleartext without copying; 0 is the end of the stream.
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

    /// Sends part of `bytes`. `more` means that further data follows at once.
    pub(crate) async fn send(&mut self, bytes: &[u8], more: bool) -> io::Result<usize> {
        self.write(|io, cx| match io {
            Io::Clear(socket) if more => socket.poll_send_more(cx, bytes),
            Io::Clear(socket) => socket.poll_send_bytes(cx, bytes),
            Io::Tls(stream) => Pin::new(stream).poll_write(cx, bytes),
        })
        .await
    }

    /// Sends part of `bytes` without waiting. Returns 0 if earlier bytes still wait for the client.
    pub(crate) fn send_now(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let cx = &mut Context::from_waker(Waker::noop());
        let sent = match &mut self.io {
            Io::Clear(socket) => socket.poll_send_bytes(cx, bytes),
            Io::Tls(stream) => match Pin::new(&mut *stream).poll_flush(cx) {
                Poll::Ready(Ok(())) => Pin::new(stream).poll_write(cx, bytes),
                Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
                Poll::Pending => Poll::Pending,
            },
        };
        match sent {
            Poll::Ready(sent) => sent,
            Poll::Pending => Ok(0),
        }
    }

    /// Sends part of the content from `offset`, at most `limit` bytes.
    pub(crate) async fn send_content(&mut self, content: &Content, offset: u64, limit: u64) -> io::Result<usize> {
        self.write(|io, cx| match io {
            Io::Clear(socket) => socket.poll_send_content(cx, content, offset, limit),
            Io::Tls(stream) => Pin::new(stream).poll_write(cx, &content.piece(offset, limit.min(TLS_PIECE))),
        })
        .await
    }

    /// Waits until all data has been passed to the kernel.
    pub(crate) async fn flush(&mut self) -> io::Result<()> {
        match &mut self.io {
            Io::Clear(_) => Ok(()),
            Io::Tls(stream) => self.deadline.bound(|cx| Pin::new(&mut *stream).poll_flush(cx)).await,
        }
    }

    /// Closes the sending direction.
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::sync::Arc;
    use tokio::net::{TcpListener, TcpStream};

    /// A peer that does not read: what is accepted is limited by the kernel, and arrives in order.
    #[tokio::test]
    async fn sending_without_waiting_stops_at_a_peer_that_does_not_read() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut peer = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (near, _) = listener.accept().await.unwrap();
        let near: TcpStream = near;
        socket2::SockRef::from(&near).set_send_buffer_size(16 << 10).unwrap();
        near.writable().await.unwrap();
        let mut stream = TimedStream::new(Io::Clear(Socket::new(Arc::new(near))), Duration::from_secs(60));
        let piece: Vec<u8> = (0..251).collect();
        let mut accepted = 0;
        loop {
            match stream.send_now(&piece[accepted % 251..]).unwrap() {
                0 => break,
                count => accepted += count,
            }
        }
        // It stays like this.
        assert_eq!(stream.send_now(&piece).unwrap(), 0);
        drop(stream);
        let mut received = Vec::new();
        peer.read_to_end(&mut received).unwrap();
        assert_eq!(received.len(), accepted);
        assert!(
            received
                .iter()
                .enumerate()
                .all(|(at, byte)| at % 251 == usize::from(*byte))
        );
    }
}
