//! Content of uploads: incompressible bytes, sent by the kernel if possible.

use super::arrival::ArrivalReporter;
use super::exchange::{ExchangeError, TransferObserver};
use super::incoming::Incoming;
use super::{Socket, Stream};
use crate::content::Content;
use netburn_platform::set_unsent_limit;
use std::io;
use std::task::{Context, Poll, Waker};
use tokio::io::{AsyncWriteExt, Interest, ReadBuf};

/// Bytes passed to the kernel before other tasks run.
const YIELD_EVERY: usize = 1 << 20;
/// Over TLS, bytes encrypted and sent at once.
const PIECE: u64 = 64 * 1024;
/// Over TLS and HTTP/2, limit of unsent bytes in the kernel (TCP_NOTSENT_LOWAT, tcp(7)): other streams' frames wait
/// behind them.
const MAX_UNSENT: u32 = 256 * 1024;

/// Limits the unsent bytes in the kernel.
pub(crate) fn limit_unsent(socket: &Socket) {
    // Systems without this option have no limit.
    let _ = set_unsent_limit(socket.tcp(), MAX_UNSENT);
}

/// Sends `length` bytes of content after a head that has been sent, and reports the bytes that arrive. Returns the
/// number of sent bytes. It ends early, without an error, when the server closes the connection or responds with an error
/// status.
pub(crate) async fn send<W: TransferObserver>(
    stream: &mut Stream,
    incoming: &mut Incoming,
    reporter: &mut ArrivalReporter,
    length: u64,
    watch: &mut W,
) -> Result<u64, ExchangeError> {
    match stream {
        Stream::Plain(socket) => {
            let socket = socket.clone();
            send_plain(&socket, stream, incoming, reporter, length, watch).await
        }
        Stream::Tls(_) => send_tls(stream, incoming, reporter, length, watch).await,
    }
}

async fn send_tls<W: TransferObserver>(
    stream: &mut Stream,
    incoming: &mut Incoming,
    reporter: &mut ArrivalReporter,
    length: u64,
    watch: &mut W,
) -> Result<u64, ExchangeError> {
    limit_unsent(stream.socket());
    let content = Content::get()?;
    let mut sent = 0;
    while sent < length {
        let may = watch.allowed((length - sent).min(PIECE)).await;
        watch.sending();
        let piece = content.piece(sent, may);
        let mut rest = &piece[..];
        loop {
            let done = tokio::select! {
                biased;
                pushed = push(stream, &mut rest) => pushed.map(|()| true)?,
                () = reporter.tick() => false,
            };
            if reporter.is_due() {
                if incoming.receive_rejection(stream)? {
                    return Ok(sent);
                }
                reporter.report(watch);
            }
            if done {
                break;
            }
        }
        sent += piece.len() as u64;
    }
    Ok(sent)
}

/// Sends all of `rest`, and removes what has been accepted. It can be interrupted and repeated.
async fn push(stream: &mut Stream, rest: &mut &[u8]) -> io::Result<()> {
    while !rest.is_empty() {
        let count = stream.write(rest).await?;
        if count == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        *rest = &rest[count..];
    }
    stream.flush().await
}

async fn send_plain<W: TransferObserver>(
    socket: &Socket,
    stream: &mut Stream,
    incoming: &mut Incoming,
    reporter: &mut ArrivalReporter,
    length: u64,
    watch: &mut W,
) -> Result<u64, ExchangeError> {
    let content = Content::get()?;
    let tcp = socket.tcp();
    let (mut sent, mut turn) = (0, 0);
    while sent < length {
        let here = watch.allowed((length - sent).min(YIELD_EVERY as u64)).await;
        watch.sending();
        match tcp.try_io(Interest::WRITABLE, || content.send(tcp, sent, here)) {
            Ok(count) => {
                sent += count as u64;
                socket.add_file(count);
                turn += count;
                if turn >= YIELD_EVERY {
                    turn = 0;
                    tokio::task::yield_now().await;
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                turn = 0;
                if incoming.receive_rejection(stream)? {
                    break;
                }
                tokio::select! {
                    ready = tcp.writable() => ready?,
                    () = reporter.tick() => {}
                }
            }
            Err(error) => return Err(error.into()),
        }
        if reporter.is_due() {
            if incoming.receive_rejection(stream)? {
                break;
            }
            reporter.report(watch);
        }
    }
    Ok(sent)
}

/// Returns whether the server has sent data or closed the connection.
pub(crate) fn answers(socket: &Socket) -> io::Result<bool> {
    Ok(peek(socket, &mut [0])?.is_some())
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
