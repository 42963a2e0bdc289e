//! Byte stream of a connection, in cleartext or over TLS.

use super::{Meter, Socket, Target, tls};
use rustls::ClientConfig;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

/// A connection that is ready for requests.
#[derive(Debug)]
pub enum Stream {
    /// Cleartext.
    Plain(Socket),
    /// TLS.
    Tls(Box<TlsStream<Socket>>),
}

impl Stream {
    /// Connects to the target, with TLS if configured. `tls` is the target's [`tls::config`]. `dscp`: 0 to 63.
    ///
    /// # Errors
    /// An I/O error when the connection or the TLS handshake fails.
    pub async fn dial(
        target: &Target,
        tls: Option<&Arc<ClientConfig>>,
        dscp: u8,
        meter: &Rc<Meter>,
    ) -> io::Result<Stream> {
        Stream::dial_observed(target, tls, dscp, meter, || {}).await
    }

    /// The same; calls `tcp_connected` when the TCP handshake is complete.
    ///
    /// # Errors
    /// As [`dial`](Self::dial).
    pub async fn dial_observed(
        target: &Target,
        tls: Option<&Arc<ClientConfig>>,
        dscp: u8,
        meter: &Rc<Meter>,
        tcp_connected: impl FnOnce(),
    ) -> io::Result<Stream> {
        let socket = Socket::dial(target, dscp, meter).await?;
        tcp_connected();
        let Some(config) = tls else {
            return Ok(Stream::Plain(socket));
        };
        let name = tls::server_name(&target.host)?;
        let stream = TlsConnector::from(Arc::clone(config)).connect(name, socket).await?;
        // The handshake has been sent completely.
        let (socket, session) = stream.get_ref();
        socket.begin_tls(tls::record_overhead(session));
        Ok(Stream::Tls(Box::new(stream)))
    }

    /// Returns the underlying socket.
    #[must_use]
    pub fn socket(&self) -> &Socket {
        match self {
            Stream::Plain(socket) => socket,
            Stream::Tls(stream) => stream.get_ref().0,
        }
    }

    /// Returns the TLS handshake; `None` in cleartext.
    #[must_use]
    pub fn handshake(&self) -> Option<tls::Handshake> {
        match self {
            Stream::Plain(_) => None,
            Stream::Tls(stream) => Some(tls::Handshake::from_session(stream.get_ref().1)),
        }
    }

    /// Reads available bytes, waiting for at least one; 0 is the end, with or without a TLS close_notify.
    ///
    /// # Errors
    /// The connection's error.
    pub async fn receive(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Plain(socket) => socket.read(into).await,
            Stream::Tls(stream) => match stream.read(into).await {
                // A body with a length needs no close_notify. For other bodies the difference cannot be detected.
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(0),
                got => got,
            },
        }
    }

    /// Sends all of `bytes`.
    ///
    /// # Errors
    /// The connection's error.
    pub async fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Stream::Plain(socket) => socket.send(bytes).await,
            Stream::Tls(stream) => {
                let mut rest = bytes;
                while !rest.is_empty() {
                    let count = stream.write(rest).await?;
                    if count == 0 {
                        return Err(io::ErrorKind::WriteZero.into());
                    }
                    stream.get_ref().0.seal(count);
                    rest = &rest[count..];
                }
                stream.flush().await
            }
        }
    }
}

/// Writes to TLS, and counts what it accepts.
fn sealed(
    stream: &mut TlsStream<Socket>,
    write: impl FnOnce(Pin<&mut TlsStream<Socket>>) -> Poll<io::Result<usize>>,
) -> Poll<io::Result<usize>> {
    let written = write(Pin::new(stream));
    if let Poll::Ready(Ok(count)) = written {
        stream.get_ref().0.seal(count);
    }
    written
}

impl AsyncRead for Stream {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Stream::Plain(socket) => Pin::new(socket).poll_read(cx, buf),
            Stream::Tls(stream) => Pin::new(stream).poll_read(cx, buf),
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Stream::Plain(socket) => Pin::new(socket).poll_write(cx, bytes),
            Stream::Tls(stream) => sealed(stream, |stream| stream.poll_write(cx, bytes)),
        }
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Stream::Plain(socket) => Pin::new(socket).poll_write_vectored(cx, parts),
            Stream::Tls(stream) => sealed(stream, |stream| stream.poll_write_vectored(cx, parts)),
        }
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Stream::Plain(socket) => Pin::new(socket).poll_flush(cx),
            Stream::Tls(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Stream::Plain(socket) => Pin::new(socket).poll_shutdown(cx),
            Stream::Tls(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }
}
