//! A TCP socket of the server, and its deadline.

use crate::content::Content;
use crate::unsent_limit::IsLimited;
use netburn_units::Duration;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep, sleep_until};

/// A socket that its task reads and writes, and that other tasks may sample. Bytes that were put back are read first.
#[derive(Debug)]
pub(crate) struct Socket {
    stream: Arc<TcpStream>,
    ahead: Vec<u8>,
    taken: usize,
    is_limited: IsLimited,
}

impl Socket {
    pub(crate) fn new(stream: Arc<TcpStream>) -> Self {
        Self {
            stream,
            ahead: Vec::new(),
            taken: 0,
            is_limited: IsLimited::default(),
        }
    }

    /// The flag that the setter of a limit of unsent data sets.
    pub(crate) fn is_limited(&self) -> IsLimited {
        self.is_limited.clone()
    }

    /// Puts received bytes back.
    pub(crate) fn put_back(&mut self, bytes: Vec<u8>) {
        debug_assert!(self.taken == self.ahead.len(), "what was put back before is read first");
        (self.ahead, self.taken) = (bytes, 0);
    }

    pub(crate) fn stream(&self) -> &TcpStream {
        &self.stream
    }

    /// Receives into the spare capacity of `buffer`.
    pub(crate) fn poll_receive(&mut self, cx: &mut Context<'_>, buffer: &mut Vec<u8>) -> Poll<io::Result<usize>> {
        let room = buffer.capacity() - buffer.len();
        self.poll_read_io(cx, room, |stream| stream.try_read_buf(buffer))
    }

    /// Discards up to `limit` received bytes inside the kernel.
    pub(crate) fn poll_discard(&mut self, cx: &mut Context<'_>, limit: usize) -> Poll<io::Result<usize>> {
        self.poll_read_io(cx, limit, |stream| {
            stream.try_io(Interest::READABLE, || netburn_platform::discard(stream, limit))
        })
    }

    fn poll_read_io(
        &self,
        cx: &mut Context<'_>,
        room: usize,
        mut receive: impl FnMut(&TcpStream) -> io::Result<usize>,
    ) -> Poll<io::Result<usize>> {
        loop {
            ready!(self.stream.poll_read_ready(cx))?;
            match receive(&self.stream) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Ok(count) => {
                    // A short read means that the socket is empty (epoll(7)), so the next system call can be avoided.
                    if count > 0 && count < room {
                        let _ = self
                            .stream
                            .try_io(Interest::READABLE, || Err::<(), _>(io::ErrorKind::WouldBlock.into()));
                    }
                    return Poll::Ready(Ok(count));
                }
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }

    /// Sends up to `limit` bytes of content from `offset` as soon as the socket is writable.
    pub(crate) fn poll_send_content(
        &self,
        cx: &mut Context<'_>,
        content: &Content,
        offset: u64,
        limit: u64,
    ) -> Poll<io::Result<usize>> {
        self.poll_send(cx, |stream| {
            stream.try_io(Interest::WRITABLE, || content.send(stream, offset, limit))
        })
    }

    /// Sends part of `bytes`, which the kernel may hold back for further data.
    pub(crate) fn poll_send_more(&self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.poll_send(cx, |stream| {
            stream.try_io(Interest::WRITABLE, || netburn_platform::send_more(stream, bytes))
        })
    }

    /// Sends part of `bytes`.
    pub(crate) fn poll_send_bytes(&self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.poll_send(cx, |stream| stream.try_write(bytes))
    }

    fn poll_send(
        &self,
        cx: &mut Context<'_>,
        mut send: impl FnMut(&TcpStream) -> io::Result<usize>,
    ) -> Poll<io::Result<usize>> {
        loop {
            ready!(self.stream.poll_write_ready(cx))?;
            match send(&self.stream) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                result => return Poll::Ready(result),
            }
        }
    }
}

impl AsyncRead for Socket {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if self.taken < self.ahead.len() {
            let count = (self.ahead.len() - self.taken).min(buffer.remaining());
            buffer.put_slice(&self.ahead[self.taken..self.taken + count]);
            self.taken += count;
            if self.taken == self.ahead.len() {
                self.put_back(Vec::new());
            }
            return Poll::Ready(Ok(()));
        }
        let room = buffer.remaining();
        self.poll_read_io(cx, room, |stream| stream.try_read_buf(buffer))
            .map_ok(drop)
    }
}

impl AsyncWrite for Socket {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.poll_send_bytes(cx, bytes)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.poll_send(cx, |stream| {
            if self.is_limited.get() {
                stream.try_io(Interest::WRITABLE, || netburn_platform::send_alone(stream, parts))
            } else {
                stream.try_write_vectored(parts)
            }
        })
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(socket2::SockRef::from(&*self.stream).shutdown(std::net::Shutdown::Write))
    }
}

/// A deadline. Setting it only reads the clock. The timer is moved only if it would expire too late, and is set again
/// if it expires too early.
#[derive(Debug)]
pub(crate) struct Deadline {
    at: Instant,
    sleep: Option<Pin<Box<Sleep>>>,
}

impl Deadline {
    pub(crate) fn after(span: Duration) -> Self {
        Self {
            at: Instant::now() + into_std(span),
            sleep: None,
        }
    }

    /// Sets the deadline to `span` from now.
    pub(crate) fn set(&mut self, span: Duration) {
        self.at = Instant::now() + into_std(span);
    }

    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            let at = self.at;
            let sleep = self.sleep.get_or_insert_with(|| Box::pin(sleep_until(at)));
            if sleep.deadline() > at {
                sleep.as_mut().reset(at);
            }
            ready!(sleep.as_mut().poll(cx));
            if Instant::now() >= at {
                return Poll::Ready(());
            }
            sleep.as_mut().reset(at);
        }
    }

    /// Runs `work` until the deadline.
    pub(crate) async fn bound<T>(
        &mut self,
        mut work: impl FnMut(&mut Context<'_>) -> Poll<io::Result<T>>,
    ) -> io::Result<T> {
        poll_fn(|cx| match work(cx) {
            Poll::Pending => self.poll(cx).map(|()| Err(io::ErrorKind::TimedOut.into())),
            done => done,
        })
        .await
    }
}

pub(crate) fn into_std(span: Duration) -> std::time::Duration {
    std::time::Duration::from_nanos(span.as_nanos())
}
