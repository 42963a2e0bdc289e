//! Where a controller listens, and how many who haven't said anything yet may stand there.

use super::crowd::Ticket;
use super::machine::{MAX_STRANGERS, MAX_STRANGERS_FROM_ONE};
use crate::own_clock::std;
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

/// How long a connection has for its first byte, a TLS handshake and the head of a request, each.
pub(super) const HEAD: Duration = Duration::from_secs(5);
/// How long a connection may last that has opened no conversation.
pub(super) const VISIT: Duration = Duration::from_secs(30);
/// The first byte of TLS (RFC 8446 §5.1: a handshake record).
const TLS: u8 = 22;

/// A byte stream of any kind.
pub(super) trait Bytes: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Bytes for T {}

/// A connection that can be spoken HTTP over.
pub(super) struct Visit {
    pub(super) stream: Box<dyn Bytes>,
    pub(super) from: From,
    pub(super) ticket: Ticket,
}

/// Where somebody comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct From {
    /// `None`: over a Unix socket.
    pub(super) address: Option<IpAddr>,
    pub(super) tls: bool,
}

impl From {
    /// Whether it is this machine.
    pub(super) fn is_near(self) -> bool {
        self.address.is_none_or(|ip| ip.to_canonical().is_loopback())
    }
}

/// Looks at the first byte, and speaks TLS where that is its.
pub(super) async fn open(stream: TcpStream, peer: SocketAddr, tls: TlsAcceptor, ticket: Ticket) -> io::Result<Visit> {
    stream.set_nodelay(true)?;
    let mut first = [0];
    let seen = timeout(std(HEAD), stream.peek(&mut first)).await;
    if seen.map_err(|_| io::ErrorKind::TimedOut)?? == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let is_tls = first[0] == TLS;
    let stream: Box<dyn Bytes> = match is_tls {
        true => {
            let shaken = timeout(std(HEAD), tls.accept(stream)).await;
            Box::new(shaken.map_err(|_| io::ErrorKind::TimedOut)??)
        }
        false => Box::new(stream),
    };
    Ok(Visit {
        stream,
        from: From {
            address: Some(peer.ip().to_canonical()),
            tls: is_tls,
        },
        ticket,
    })
}

/// Those who stand at the doors.
#[derive(Debug, Clone, Default)]
pub(super) struct Porch(Arc<Mutex<Standing>>);

#[derive(Debug, Default)]
struct Standing {
    next: u64,
    /// The oldest first: from where, and how to send them away.
    visitors: BTreeMap<u64, (Option<Client>, Option<AbortHandle>)>,
}

/// A place at the doors; free again when this is dropped.
#[derive(Debug)]
pub(super) struct Place {
    porch: Porch,
    number: u64,
}

impl Porch {
    /// A place for one more. Where there are too many, the oldest has to go: of those from the same address, or of all.
    pub(super) fn place(&self, address: Option<IpAddr>) -> Place {
        let mut standing = self.lock();
        let number = standing.next;
        standing.next += 1;
        let client = address.map(Client::at);
        let far = client.filter(|client| !client.is_loopback());
        let oldest = |mine: bool| {
            let visitors = standing.visitors.iter();
            let mut visitors = visitors.filter(|(_, (from, _))| !mine || *from == client);
            visitors.next().map(|(number, _)| *number)
        };
        let from_there = || standing.visitors.values().filter(|(from, _)| *from == client).count();
        let goes = if far.is_some() && from_there() >= MAX_STRANGERS_FROM_ONE {
            oldest(true)
        } else if standing.visitors.len() >= MAX_STRANGERS {
            oldest(false)
        } else {
            None
        };
        if let Some((_, Some(task))) = goes.and_then(|number| standing.visitors.remove(&number)) {
            task.abort();
        }
        standing.visitors.insert(number, (client, None));
        drop(standing);
        Place {
            porch: self.clone(),
            number,
        }
    }

    /// The visitor at this place can be sent away so. One that has gone meanwhile need not be.
    pub(super) fn hold(&self, number: u64, task: AbortHandle) {
        if let Some((_, place)) = self.lock().visitors.get_mut(&number) {
            *place = Some(task);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Standing> {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl Place {
    pub(super) fn number(&self) -> u64 {
        self.number
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.porch.lock().visitors.remove(&self.number);
    }
}

/// Whether it is known who speaks over a connection.
#[derive(Debug, Clone)]
pub(super) struct Known {
    known: Arc<AtomicBool>,
    ticket: Ticket,
}

impl Known {
    /// It isn't, of the connection with this ticket.
    pub(super) fn not_yet(ticket: Ticket) -> Known {
        Known {
            known: Arc::default(),
            ticket,
        }
    }

    /// From now on it is.
    pub(super) fn set(&self) {
        if !self.known.swap(true, Ordering::Relaxed) {
            self.ticket.release();
        }
    }

    pub(super) fn get(&self) -> bool {
        self.known.load(Ordering::Relaxed)
    }
}

/// A stream of which no more than so many bytes are read until its sender is known.
pub(super) struct Metered<S> {
    stream: S,
    left: Option<usize>,
    known: Known,
}

impl<S> Metered<S> {
    pub(super) fn new(stream: S, most: usize, known: Known) -> Self {
        Metered {
            stream,
            left: Some(most),
            known,
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Metered<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(cx, buf);
        let came = buf.filled().len() - before;
        if let Some(left) = self.left {
            if self.known.get() {
                self.left = None;
            } else {
                match left.checked_sub(came) {
                    Some(left) => self.left = Some(left),
                    None => return Poll::Ready(Err(io::Error::other("a stranger says too much"))),
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
