//! Listening sockets, and the limits on connections that have not authenticated yet.

use super::admission_limit::Ticket;
use super::machine::{MAX_PENDING_CONNECTIONS, MAX_PENDING_PER_CLIENT};
use netburn_protocol::own_clock::to_std;
use netburn_traffic::limiter::Client;
use netburn_units::Duration;
use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::task::AbortHandle;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;

/// Time limit for each of: the first byte, the TLS handshake, the head of a request.
pub(super) const HEAD_TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum lifetime of a connection that has not opened a WebSocket.
pub(super) const UNAUTHENTICATED_TIMEOUT: Duration = Duration::from_secs(30);
/// First byte of TLS (RFC 8446 §5.1: a handshake record).
const TLS_HANDSHAKE: u8 = 22;

/// Any byte stream.
pub(super) trait Bytes: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Bytes for T {}

/// An accepted connection, ready for HTTP.
pub(super) struct Accepted {
    pub(super) stream: Box<dyn Bytes>,
    pub(super) from: PeerAddr,
    pub(super) ticket: Ticket,
}

/// Address of the peer, and whether it uses TLS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PeerAddr {
    /// `None`: over a Unix socket.
    pub(super) address: Option<IpAddr>,
    pub(super) tls: bool,
}

impl PeerAddr {
    /// Returns whether the peer is on this machine.
    pub(super) fn is_local(self) -> bool {
        self.address.is_none_or(|ip| ip.to_canonical().is_loopback())
    }
}

/// Accepts TLS if the first byte begins a handshake; plain HTTP otherwise.
pub(super) async fn open(
    stream: TcpStream,
    peer: SocketAddr,
    tls: TlsAcceptor,
    ticket: Ticket,
) -> io::Result<Accepted> {
    stream.set_nodelay(true)?;
    let mut first = [0];
    let seen = timeout(to_std(HEAD_TIMEOUT), stream.peek(&mut first)).await;
    if seen.map_err(|_| io::ErrorKind::TimedOut)?? == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let is_tls = first[0] == TLS_HANDSHAKE;
    let stream: Box<dyn Bytes> = if is_tls {
        let shaken = timeout(to_std(HEAD_TIMEOUT), tls.accept(stream)).await;
        Box::new(shaken.map_err(|_| io::ErrorKind::TimedOut)??)
    } else {
        Box::new(stream)
    };
    Ok(Accepted {
        stream,
        from: PeerAddr {
            address: Some(peer.ip().to_canonical()),
            tls: is_tls,
        },
        ticket,
    })
}

/// Connections accepted but not yet authenticated, counted per source address.
#[derive(Debug, Clone, Default)]
pub(super) struct PendingConnections(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    next: u64,
    /// Source address and task of each connection, oldest first.
    connections: BTreeMap<u64, (Option<Client>, Option<AbortHandle>)>,
}

/// Slot of a pending connection; released on drop.
#[derive(Debug)]
pub(super) struct PendingSlot {
    pending: PendingConnections,
    number: u64,
}

impl PendingConnections {
    /// Adds a connection. If there are too many, aborts the oldest: of the same address, or of all.
    pub(super) fn add(&self, address: Option<IpAddr>) -> PendingSlot {
        let mut state = self.lock();
        let number = state.next;
        state.next += 1;
        let client = address.map(Client::at);
        let far = client.filter(|client| !client.is_loopback());
        let oldest = |mine: bool| {
            let connections = state.connections.iter();
            let mut connections = connections.filter(|(_, (from, _))| !mine || *from == client);
            connections.next().map(|(number, _)| *number)
        };
        let from_there = || state.connections.values().filter(|(from, _)| *from == client).count();
        let goes = if far.is_some() && from_there() >= MAX_PENDING_PER_CLIENT {
            oldest(true)
        } else if state.connections.len() >= MAX_PENDING_CONNECTIONS {
            oldest(false)
        } else {
            None
        };
        if let Some((_, Some(task))) = goes.and_then(|number| state.connections.remove(&number)) {
            task.abort();
        }
        state.connections.insert(number, (client, None));
        drop(state);
        PendingSlot {
            pending: self.clone(),
            number,
        }
    }

    /// Sets the task that is aborted if the slot is needed. Ignores a connection that has ended.
    pub(super) fn set_task(&self, number: u64, task: AbortHandle) {
        if let Some((_, task_slot)) = self.lock().connections.get_mut(&number) {
            *task_slot = Some(task);
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl PendingSlot {
    pub(super) fn number(&self) -> u64 {
        self.number
    }
}

impl Drop for PendingSlot {
    fn drop(&mut self) {
        self.pending.lock().connections.remove(&self.number);
    }
}

/// True if the peer of a connection has authenticated.
#[derive(Debug, Clone)]
pub(super) struct Authenticated {
    authenticated: Arc<AtomicBool>,
    ticket: Ticket,
}

impl Authenticated {
    /// Not authenticated, for the connection of this ticket.
    pub(super) fn new(ticket: Ticket) -> Authenticated {
        Authenticated {
            authenticated: Arc::default(),
            ticket,
        }
    }

    /// Marks the peer as authenticated.
    pub(super) fn set(&self) {
        if !self.authenticated.swap(true, Ordering::Relaxed) {
            self.ticket.release();
        }
    }

    pub(super) fn get(&self) -> bool {
        self.authenticated.load(Ordering::Relaxed)
    }
}

/// A stream that limits the bytes read before its peer authenticates.
pub(super) struct Metered<S> {
    stream: S,
    left: Option<usize>,
    authenticated: Authenticated,
}

impl<S> Metered<S> {
    pub(super) fn new(stream: S, most: usize, authenticated: Authenticated) -> Self {
        Metered {
            stream,
            left: Some(most),
            authenticated,
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Metered<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(cx, buf);
        let came = buf.filled().len() - before;
        if let Some(left) = self.left {
            if self.authenticated.get() {
                self.left = None;
            } else {
                match left.checked_sub(came) {
                    Some(left) => self.left = Some(left),
                    None => return Poll::Ready(Err(io::Error::other("too many bytes before authentication"))),
                }
            }
        }
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Metered<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
