//! The content of uploads: bytes that don't compress, sent by the kernel where it can.

use super::exchange::{ExchangeError, TransferObserver};
use super::{Socket, Stream};
use crate::content::Content;
use netburn_linux::{set_unsent_limit, tcp_info};
use std::io;
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tokio::io::{Interest, ReadBuf};
use tokio::time::{Instant, sleep};

/// As much is handed to the kernel before the rest of the program gets a turn.
const TURN: usize = 1 << 20;
/// Over TLS, as much is sealed and sent at once.
const PIECE: u64 = 64 * 1024;
/// How often the kernel is asked how much has arrived.
const LOOK: Duration = Duration::from_millis(10);
/// Over TLS and HTTP/2, where what has arrived can't be told from what has been sent: the most that waits unsent in
/// the kernel (TCP_NOTSENT_LOWAT, tcp(7)), so that the two are close.
const UNSENT: u32 = 256 * 1024;

/// Keeps what waits unsent in the kernel small.
pub(crate) fn limit_unsent(socket: &Socket) {
    // Where it can't be set, intervals of uploads are a buffer's length early; nothing else.
    let _ = set_unsent_limit(socket.tcp(), UNSENT);
}

/// Sends `length` bytes after a head of `head` bytes that is on its way already, and tells how many have arrived:
/// acknowledged, in clear; sent, over TLS. In clear it ends early, without an error, when the server has closed or
/// answers something other than success before all of it is sent.
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

/// What has arrived of an upload in clear, as far as the kernel knows, and has been told.
pub(crate) struct Arrived {
    /// Acknowledged bytes of the connection when the content began.
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

    /// Tells what has newly arrived of `sent`, if it is time to look again.
    fn look<W: TransferObserver>(&mut self, socket: &Socket, sent: u64, watch: &mut W) {
        let now = Instant::now();
        if now < self.looked + LOOK {
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

/// How many bytes the far end has acknowledged so far.
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
        let here = watch.allowed((length - sent).min(TURN as u64)).await;
        match tcp.try_io(Interest::WRITABLE, || content.send(tcp, sent, here)) {
            Ok(count) => {
                sent += count as u64;
                socket.meter().add_up(count);
                turn += count;
                arrived.look(socket, sent, watch);
                if turn >= TURN {
                    turn = 0;
                    tokio::task::yield_now().await;
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                turn = 0;
                if refuses(socket)? {
                    break;
                }
                tokio::select! {
                    ready = tcp.writable() => ready?,
                    () = sleep(LOOK) => {}
                }
                arrived.look(socket, sent, watch);
            }
            Err(error) => return Err(error.into()),
        }
    }
    // The rest is on its way; the answer comes when it has arrived.
    while !answers(socket)? {
        tokio::select! {
            ready = tcp.readable() => ready?,
            () = sleep(LOOK) => {}
        }
        arrived.look(socket, sent, watch);
    }
    if sent == length {
        arrived.tell(length, watch);
    }
    Ok(sent)
}

/// Whether the server has something to say, or has closed.
pub(crate) fn answers(socket: &Socket) -> io::Result<bool> {
    Ok(peek(socket, &mut [0])?.is_some())
}

/// Whether the server has closed or given an answer that is no success. A success that comes before the content has
/// gone is that of a server which doesn't look at it.
fn refuses(socket: &Socket) -> io::Result<bool> {
    // "HTTP/1.1 " and the status's first digit.
    let mut beginning = [0; 10];
    Ok(match peek(socket, &mut beginning)? {
        None => false,
        Some(10) => !matches!(beginning[9], b'1' | b'2'),
        Some(count) => count == 0,
    })
}

/// Looks at what has come without taking it; `None` when nothing has, 0 at the end.
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
