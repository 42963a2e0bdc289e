//! Content of uploads: incompressible bytes, sent by the kernel if possible.

use super::exchange::{ExchangeError, TransferObserver};
use super::{Socket, Stream};
use crate::content::Content;
use netburn_linux::{set_unsent_limit, tcp_info};
use std::io;
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tokio::io::{Interest, ReadBuf};
use tokio::time::{Instant, sleep};

/// Bytes passed to the kernel before other tasks run.
const YIELD_EVERY: usize = 1 << 20;
/// Over TLS, bytes encrypted and sent at once.
const PIECE: u64 = 64 * 1024;
/// Interval at which the kernel is polled for acknowledged bytes.
const POLL_INTERVAL: Duration = Duration::from_millis(10);
/// Over TLS and HTTP/2, acknowledged bytes cannot be attributed to content. The limit of unsent bytes
/// (TCP_NOTSENT_LOWAT, tcp(7)) keeps sent and acknowledged bytes close.
const MAX_UNSENT: u32 = 256 * 1024;

/// Limits the unsent bytes in the kernel.
pub(crate) fn limit_unsent(socket: &Socket) {
    // Without the limit, intervals of uploads are early by the length of the send buffer.
    let _ = set_unsent_limit(socket.tcp(), MAX_UNSENT);
}

/// Sends `length` bytes after a head of `head` bytes that has been sent, and reports arrived bytes: acknowledged in
/// cleartext, sent over TLS. In cleartext it ends early, without an error, when the server closes the connection or
/// responds with an error status.
pub(crate) async fn send<W: TransferObserver>(
    stream: &mut Stream,
    acked: u64,
    length: u64,
    watch: &mut W,
) -> Result<u64, ExchangeError> {
    match stream {
        Stream::Plain(socket) => send_plain(socket, acked, length, watch).await,
        Stream::Tls(_) => {
            limit_unsent(stream.socket());
            let content = Content::get()?;
            let mut sent = 0;
            while sent < length {
                let may = watch.allowed((length - sent).min(PIECE)).await;
                let piece = content.piece(sent, may);
                stream.send(&piece).await?;
                sent += piece.len() as u64;
                watch.bytes(piece.len() as u64);
            }
            Ok(sent)
        }
    }
}

/// Acknowledged bytes of an upload in cleartext that have been reported.
pub(crate) struct Arrived {
    /// Acknowledged bytes of the connection at the start of the content.
    before: u64,
    told: u64,
    looked: Instant,
}

impl Arrived {
    fn new(before: u64) -> Self {
        let looked = Instant::now();
        Arrived {
            before,
            told: 0,
            looked,
        }
    }

    /// Reports newly acknowledged bytes of `sent`, if a poll is due.
    fn look<W: TransferObserver>(&mut self, socket: &Socket, sent: u64, watch: &mut W) {
        let now = Instant::now();
        if now < self.looked + POLL_INTERVAL {
            return;
        }
        self.looked = now;
        let acked = tcp_info(socket.tcp()).map_or(self.before + sent, |info| info.bytes_acked.as_bytes());
        self.tell(acked.saturating_sub(self.before).min(sent), watch);
    }

    fn tell<W: TransferObserver>(&mut self, arrived: u64, watch: &mut W) {
        if arrived > self.told {
            watch.bytes(arrived - self.told);
            self.told = arrived;
        }
    }
}

/// Returns the bytes that the peer has acknowledged.
pub(crate) fn acked(socket: &Socket) -> u64 {
    tcp_info(socket.tcp()).map_or(0, |info| info.bytes_acked.as_bytes())
}

async fn send_plain<W: TransferObserver>(
    socket: &Socket,
    before: u64,
    length: u64,
    watch: &mut W,
) -> Result<u64, ExchangeError> {
    let content = Content::get()?;
    let tcp = socket.tcp();
    let mut arrived = Arrived::new(before);
    let (mut sent, mut turn) = (0, 0);
    while sent < length {
        let here = watch.allowed((length - sent).min(YIELD_EVERY as u64)).await;
        match tcp.try_io(Interest::WRITABLE, || content.send(tcp, sent, here)) {
            Ok(count) => {
                sent += count as u64;
                socket.meter().add_up(count);
                turn += count;
                arrived.look(socket, sent, watch);
                if turn >= YIELD_EVERY {
                    turn = 0;
                    tokio::task::yield_now().await;
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                turn = 0;
                if rejects(socket)? {
                    break;
                }
                tokio::select! {
                    ready = tcp.writable() => ready?,
                    () = sleep(POLL_INTERVAL) => {}
                }
                arrived.look(socket, sent, watch);
            }
            Err(error) => return Err(error.into()),
        }
    }
    // The rest is in flight; the response follows when it has arrived.
    while !answers(socket)? {
        tokio::select! {
            ready = tcp.readable() => ready?,
            () = sleep(POLL_INTERVAL) => {}
        }
        arrived.look(socket, sent, watch);
    }
    if sent == length {
        arrived.tell(length, watch);
    }
    Ok(sent)
}

/// Returns whether the server has sent data or closed the connection.
pub(crate) fn answers(socket: &Socket) -> io::Result<bool> {
    Ok(peek(socket, &mut [0])?.is_some())
}

/// Returns whether the server has closed the connection or sent a response other than success. A server that ignores
/// the content may respond with success before it is complete.
fn rejects(socket: &Socket) -> io::Result<bool> {
    // "HTTP/1.1 " and the first digit of the status.
    let mut beginning = [0; 10];
    Ok(match peek(socket, &mut beginning)? {
        None => false,
        Some(10) => !matches!(beginning[9], b'1' | b'2'),
        Some(count) => count == 0,
    })
}

/// Peeks at received bytes; `None` without any, 0 at the end.
fn peek(socket: &Socket, into: &mut [u8]) -> io::Result<Option<usize>> {
    let mut into = ReadBuf::new(into);
    match socket
        .tcp()
        .poll_peek(&mut Context::from_waker(Waker::noop()), &mut into)
    {
        Poll::Pending => Ok(None),
        Poll::Ready(peeked) => peeked.map(Some),
    }
}
