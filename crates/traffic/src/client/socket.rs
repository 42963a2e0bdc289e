//! One TCP connection's socket: dialled with a target's options, read and written without copies where that helps.

use super::Target;
use netburn_workload::Priority;
use socket2::SockRef;
use std::io::{self, Read};
use std::net::SocketAddr;
use std::pin::Pin;
use std::rc::{Rc, Weak};
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf};
use tokio::net::{TcpSocket, TcpStream};

/// A connected socket. Clones are the same socket; it is closed with the last of them.
#[derive(Debug, Clone)]
pub struct Socket(Rc<TcpStream>);

impl Socket {
    /// Connects to the target's address: bound to its interface, with its congestion control, the priority's DSCP,
    /// and without Nagle's delay (RFC 9293 §3.7.4).
    ///
    /// # Errors
    /// When an option isn't permitted or the connection can't be made. The kernel gives up on a silent peer after
    /// about two minutes; callers have time-outs of their own.
    pub async fn dial(target: &Target, priority: Priority) -> io::Result<Socket> {
        let socket = match target.address {
            SocketAddr::V4(_) => TcpSocket::new_v4()?,
            SocketAddr::V6(_) => TcpSocket::new_v6()?,
        };
        socket.set_nodelay(true)?;
        if let Some(interface) = &target.interface {
            netburn_linux::bind_to_device(&socket, interface)?;
        }
        if let Some(cc) = &target.cc {
            netburn_linux::set_congestion_control(&socket, cc)?;
        }
        if priority.dscp() != 0 {
            netburn_linux::set_dscp(&socket, priority.dscp())?;
        }
        Ok(Socket(Rc::new(socket.connect(target.address).await?)))
    }

    /// The socket for looking at, without keeping it open.
    #[must_use]
    pub fn observe(&self) -> Weak<TcpStream> {
        Rc::downgrade(&self.0)
    }

    /// The socket itself.
    #[must_use]
    pub fn tcp(&self) -> &TcpStream {
        &self.0
    }

    /// Reads what is there, waiting for something; 0 is the end.
    ///
    /// # Errors
    /// The socket's.
    pub async fn read(&self, into: &mut [u8]) -> io::Result<usize> {
        let limit = into.len();
        self.receive(limit, |socket| {
            let socket = SockRef::from(socket);
            Read::read(&mut &*socket, into)
        })
        .await
    }

    /// Drops up to `limit` bytes in the kernel, waiting for something; 0 is the end.
    ///
    /// # Errors
    /// The socket's.
    pub async fn discard(&self, limit: usize) -> io::Result<usize> {
        self.receive(limit, |socket| netburn_linux::discard(socket, limit))
            .await
    }

    /// Receives by `receive`. A stream socket that gave less than was asked for is empty: the readiness is cleared
    /// then and there, which spares the call that would only find that out (epoll(7), question 9).
    async fn receive(
        &self,
        limit: usize,
        mut receive: impl FnMut(&TcpStream) -> io::Result<usize>,
    ) -> io::Result<usize> {
        loop {
            self.0.readable().await?;
            let mut got = None;
            let tried = self.0.try_io(Interest::READABLE, || {
                let count = receive(&self.0)?;
                got = Some(count);
                match count > 0 && count < limit {
                    true => Err(io::ErrorKind::WouldBlock.into()),
                    false => Ok(()),
                }
            });
            match (got, tried) {
                (Some(count), _) => return Ok(count),
                (None, Err(error)) if is_transient(&error) => {}
                (None, Err(error)) => return Err(error),
                (None, Ok(())) => {}
            }
        }
    }

    /// Sends all of `bytes`.
    ///
    /// # Errors
    /// The socket's.
    pub async fn send(&self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            match self.0.try_write(bytes) {
                Ok(count) => bytes = &bytes[count..],
                Err(error) if is_transient(&error) => self.0.writable().await?,
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
            ready!(self.0.poll_read_ready(cx))?;
            match self.0.try_read_buf(buf) {
                Ok(_) => return Poll::Ready(Ok(())),
                Err(error) if is_transient(&error) => {}
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }
}

impl AsyncWrite for Socket {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        loop {
            ready!(self.0.poll_write_ready(cx))?;
            match self.0.try_write(bytes) {
                Err(error) if is_transient(&error) => {}
                done => return Poll::Ready(done),
            }
        }
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        loop {
            ready!(self.0.poll_write_ready(cx))?;
            match self.0.try_write_vectored(parts) {
                Err(error) if is_transient(&error) => {}
                done => return Poll::Ready(done),
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
        Poll::Ready(SockRef::from(&*self.0).shutdown(std::net::Shutdown::Write))
    }
}
