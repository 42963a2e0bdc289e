//! Socket of a TCP connection: connected with a target's options, with reads and writes that avoid copies.

use super::arrival::ArrivalCounter;
use super::{Meter, Target};
use crate::sent::SentBytes;
use crate::unsent_limit::IsLimited;
use socket2::SockRef;
use std::cell::RefCell;
use std::io::{self, Read};
use std::net::SocketAddr;
use std::pin::Pin;
use std::rc::{Rc, Weak};
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf};
use tokio::net::{TcpSocket, TcpStream};

/// A connected socket. Clones share it. It is closed with the last clone.
#[derive(Debug, Clone)]
pub struct Socket {
    stream: Rc<TcpStream>,
    meter: Rc<Meter>,
    sent: Rc<RefCell<SentBytes>>,
    is_limited: IsLimited,
}

impl Socket {
    /// Connects to the target's address with its interface, its congestion control and a DSCP (0 to 63), without
    /// Nagle's algorithm (RFC 9293 §3.7.4). `meter` counts the bytes.
    ///
    /// # Errors
    /// An I/O error when an option is not permitted or the connection fails. The kernel's timeout is about two minutes;
    /// callers have their own.
    pub async fn dial(target: &Target, dscp: u8, meter: &Rc<Meter>) -> io::Result<Socket> {
        let socket = match target.address {
            SocketAddr::V4(_) => TcpSocket::new_v4()?,
            SocketAddr::V6(_) => TcpSocket::new_v6()?,
        };
        socket.set_nodelay(true)?;
        if let Some(interface) = &target.interface {
            netburn_platform::bind_to_device(&socket, interface)?;
        }
        if let Some(cc) = &target.cc {
            netburn_platform::set_congestion_control(&socket, cc)?;
        }
        if dscp != 0 && netburn_platform::socket::SENDS_DSCP {
            netburn_platform::set_dscp(&socket, dscp)?;
        }
        let stream = socket.connect(target.address).await?;
        if let Some(cc) = &target.cc {
            // A route may set a congestion control when the socket connects (RTAX_CC_ALGO, used in the lab), so the
            // option is set again.
            netburn_platform::set_congestion_control(&stream, cc)?;
        }
        Ok(Socket {
            stream: Rc::new(stream),
            meter: Rc::clone(meter),
            sent: Rc::default(),
            is_limited: IsLimited::default(),
        })
    }

    /// Returns the socket for observation, without keeping it open.
    #[must_use]
    pub fn observe(&self) -> Weak<TcpStream> {
        Rc::downgrade(&self.stream)
    }

    /// The flag that the setter of a limit of unsent data sets.
    pub(crate) fn is_limited(&self) -> IsLimited {
        self.is_limited.clone()
    }

    /// Returns the TCP socket.
    #[must_use]
    pub fn tcp(&self) -> &TcpStream {
        &self.stream
    }

    /// Returns the counter of arrived bytes.
    pub(crate) fn arrivals(&self) -> ArrivalCounter {
        ArrivalCounter::new(&self.stream, &self.sent)
    }

    /// TLS has begun: its records have `overhead` bytes in addition to header and content.
    pub(crate) fn begin_tls(&self, overhead: u64) {
        self.sent.borrow_mut().begin_tls(overhead);
    }

    /// TLS has accepted `count` bytes.
    pub(crate) fn seal(&self, count: usize) {
        self.sent.borrow_mut().seal(count);
    }

    /// Counts bytes of a file that the kernel has accepted.
    pub(crate) fn add_file(&self, count: usize) {
        self.meter.add_up(count);
        self.sent.borrow_mut().write_file(count);
    }

    /// Counts the first `count` bytes of `parts`, which the kernel has accepted.
    fn add_sent<'a>(&self, count: usize, parts: impl Iterator<Item = &'a [u8]>) {
        self.meter.add_up(count);
        self.sent.borrow_mut().write(count, parts);
    }

    /// Reads available bytes, waiting for at least one; 0 is the end.
    ///
    /// # Errors
    /// The socket's error.
    pub async fn read(&self, into: &mut [u8]) -> io::Result<usize> {
        let limit = into.len();
        self.receive(limit, |socket| {
            let socket = SockRef::from(socket);
            Read::read(&mut &*socket, into)
        })
        .await
    }

    /// Discards up to `limit` bytes in the kernel, waiting for at least one; 0 is the end.
    ///
    /// # Errors
    /// The socket's error.
    pub async fn discard(&self, limit: usize) -> io::Result<usize> {
        self.receive(limit, |socket| netburn_platform::discard(socket, limit))
            .await
    }

    /// Receives with `receive`. A stream socket that returned less than requested is empty, so its readiness is cleared
    /// without another system call (epoll(7), question 9).
    async fn receive(
        &self,
        limit: usize,
        mut receive: impl FnMut(&TcpStream) -> io::Result<usize>,
    ) -> io::Result<usize> {
        loop {
            self.stream.readable().await?;
            let mut got = None;
            let tried = self.stream.try_io(Interest::READABLE, || {
                let count = receive(&self.stream)?;
                got = Some(count);
                if count > 0 && count < limit {
                    Err(io::ErrorKind::WouldBlock.into())
                } else {
                    Ok(())
                }
            });
            match (got, tried) {
                (Some(count), _) => {
                    self.meter.add_down(count)?;
                    return Ok(count);
                }
                (None, Err(error)) if is_transient(&error) => {}
                (None, Err(error)) => return Err(error),
                (None, Ok(())) => {}
            }
        }
    }

    /// Sends all of `bytes`.
    ///
    /// # Errors
    /// The socket's error.
    pub async fn send(&self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            match self.stream.try_write(bytes) {
                Ok(count) => {
                    self.add_sent(count, [bytes].into_iter());
                    bytes = &bytes[count..];
                }
                Err(error) if is_transient(&error) => self.stream.writable().await?,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

fn is_transient(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

impl AsyncRead for Socket {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        loop {
            ready!(self.stream.poll_read_ready(cx))?;
            match self.stream.try_read_buf(buf) {
                Ok(count) => return Poll::Ready(self.meter.add_down(count)),
                Err(error) if is_transient(&error) => {}
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }
}

impl AsyncWrite for Socket {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        loop {
            ready!(self.stream.poll_write_ready(cx))?;
            match self.stream.try_write(bytes) {
                Err(error) if is_transient(&error) => {}
                Err(error) => return Poll::Ready(Err(error)),
                Ok(count) => {
                    self.add_sent(count, [bytes].into_iter());
                    return Poll::Ready(Ok(count));
                }
            }
        }
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        loop {
            ready!(self.stream.poll_write_ready(cx))?;
            let sent = if self.is_limited.get() {
                let send = || netburn_platform::send_alone(&*self.stream, parts);
                self.stream.try_io(Interest::WRITABLE, send)
            } else {
                self.stream.try_write_vectored(parts)
            };
            match sent {
                Err(error) if is_transient(&error) => {}
                Err(error) => return Poll::Ready(Err(error)),
                Ok(count) => {
                    self.add_sent(count, parts.iter().map(|part| &**part));
                    return Poll::Ready(Ok(count));
                }
            }
        }
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(SockRef::from(&*self.stream).shutdown(std::net::Shutdown::Write))
    }
}
