//! One TCP connection: protocol detection and service.

use super::admission::AdmissionError;
use super::connection_context::ConnectionContext;
use super::http1::Http1;
use super::response::{ExtraField, Response};
use super::socket::{Deadline, Socket};
use super::stats::Stats;
use super::timed_stream::{Io, TimedStream};
use super::worker_state::Worker;
use super::{http1, http2};
use crate::limiter::Client;
use std::io;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use tokio::net::TcpStream;

/// Connection preface of HTTP/2 in cleartext (RFC 9113 §3.4).
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Maximum number of encrypted bytes that are buffered when the socket is full.
const TLS_AHEAD: usize = 32 << 10;

/// Serves a connection on this thread. It has been counted as open.
pub(crate) fn spawn(worker: &Rc<Worker>, stream: TcpStream, peer: SocketAddr, tls: bool) {
    tokio::task::spawn_local(serve(Rc::clone(worker), stream, peer, tls));
}

/// Serves a connection to its end.
async fn serve(worker: Rc<Worker>, stream: TcpStream, peer: SocketAddr, tls: bool) {
    // Optional socket options; errors are ignored.
    let _ = stream.set_nodelay(true);
    if let Some(cc) = &worker.shared.cc {
        let _ = netburn_platform::set_congestion_control(&stream, cc);
    }
    let stream = Arc::new(stream);
    let _open = Open::new(&worker, &stream, peer);
    let socket = Socket::new(Arc::clone(&stream));
    let admitted = |permit| ConnectionContext::new(Rc::clone(&worker), permit, stream, socket.is_limited(), tls);
    // Errors of a connection appear in the client's measurements.
    let _ = match worker.shared.admission.admit(Client::at(peer.ip())) {
        // Boxed, because the future for TLS is larger than that for cleartext.
        Ok(permit) if tls => Box::pin(serve_tls(admitted(permit), socket)).await,
        Ok(permit) => serve_clear(admitted(permit), socket).await,
        Err(denied) => reject(&worker, socket, denied, tls).await,
    };
}

async fn serve_clear(context: ConnectionContext, mut socket: Socket) -> io::Result<()> {
    let limits = &context.worker.shared.limits;
    let mut deadline = Deadline::after(limits.idle_time);
    let mut first = Vec::with_capacity(http1::INITIAL_HEAD_BUFFER);
    loop {
        let count = deadline.bound(|cx| socket.poll_receive(cx, &mut first)).await?;
        let common = first.len().min(PREFACE.len());
        if count == 0 || first[..common] != PREFACE[..common] {
            break;
        }
        if common == PREFACE.len() {
            socket.put_back(first);
            return Box::pin(http2::serve(context, socket)).await;
        }
        deadline.set(limits.head_time);
    }
    let stream = TimedStream::new(Io::Clear(socket), limits.idle_time);
    Http1::new(context, stream, first).serve().await
}

async fn serve_tls(context: ConnectionContext, socket: Socket) -> io::Result<()> {
    let Some(acceptor) = &context.worker.shared.tls else {
        return Ok(());
    };
    let head_time = super::socket::into_std(context.worker.shared.limits.head_time);
    let mut stream = tokio::time::timeout(head_time, acceptor.accept(socket)).await??;
    stream.get_mut().1.set_buffer_limit(Some(TLS_AHEAD));
    if stream.get_ref().1.alpn_protocol() == Some(b"h2") {
        return Box::pin(http2::serve(context, stream)).await;
    }
    let stream = TimedStream::new(Io::Tls(Box::new(stream)), context.worker.shared.limits.idle_time);
    Http1::new(context, stream, Vec::new()).serve().await
}

/// Sends the reason of the rejection, if possible, and closes the connection.
async fn reject(worker: &Rc<Worker>, mut socket: Socket, denied: AdmissionError, tls: bool) -> io::Result<()> {
    Stats::add(&worker.stats.rejected, 1);
    if tls {
        return Ok(());
    }
    let response = match denied {
        AdmissionError::Full => Response::text(503, "too many connections to this server"),
        AdmissionError::Client => Response::text(429, "too many connections of this client"),
    };
    let text = worker
        .dates
        .with(|date| http1::whole(&response.with(ExtraField::Later), date));
    let mut deadline = Deadline::after(worker.shared.limits.head_time);
    // The response fits into the send buffer of a new socket.
    deadline.bound(|cx| socket.poll_send_bytes(cx, &text)).await?;
    socket2::SockRef::from(socket.stream()).shutdown(std::net::Shutdown::Write)?;
    deadline.set(http1::LINGER);
    while deadline.bound(|cx| socket.poll_discard(cx, 1 << 16)).await? > 0 {}
    Ok(())
}

/// Registration of an open connection in statistics and registry.
struct Open {
    worker: Rc<Worker>,
    number: u64,
}

impl Open {
    fn new(worker: &Rc<Worker>, stream: &Arc<TcpStream>, peer: SocketAddr) -> Self {
        let number = worker.shared.registry.insert(peer, stream);
        Self {
            worker: Rc::clone(worker),
            number,
        }
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.worker.shared.registry.remove(self.number);
        self.worker.stats.connections.fetch_sub(1, Relaxed);
    }
}
