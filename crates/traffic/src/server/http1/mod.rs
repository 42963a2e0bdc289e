//! HTTP/1.1 (RFC 9112): one connection with sequential requests.

mod body;
pub(crate) mod head;
mod response;

use super::connection_context::ConnectionContext;
use super::flow::clock;
use super::request::Route;
use super::response::{Body, Response};
use super::route;
use super::stats::Stats;
use super::timed_stream::TimedStream;
use crate::progress::ProgressReports;
use crate::{dscp, station_label};
use head::{After, Framing, Head, Rejection};
use netburn_units::{Duration, Instant};
use std::io;

/// Initial size of the buffer for a request's head; most heads fit.
pub(crate) const INITIAL_HEAD_BUFFER: usize = 1024;
/// Maximum length of text that is sent together with its head.
const INLINE_BODY_MAX: u64 = 4 << 10;
/// Content sent without waiting before other tasks run.
const YIELD_EVERY: u64 = 1 << 20;
/// Time for which data of the client is discarded before the connection is closed. The client can then read the last
/// response before a reset (RFC 9112 §9.6).
pub(crate) const LINGER: Duration = Duration::from_secs(2);

/// An HTTP/1.1 connection.
pub(crate) struct Http1 {
    context: ConnectionContext,
    stream: TimedStream,
    /// Received and unused bytes.
    buffer: Vec<u8>,
    /// Bytes to send before content. Between responses, the rest of an interim response.
    out: Vec<u8>,
    /// Station of the present request.
    station: Option<u16>,
    /// Progress of the present upload, if its client asks for it and there is a rate limit.
    reports: Option<ProgressReports>,
}

/// Result of parsing a head, without borrowing its buffer.
struct Request {
    route: Route,
    framing: Framing,
    after: After,
    expects_continue: bool,
    wants_progress: bool,
}

impl Http1 {
    /// Creates a connection on which `buffer` has been received.
    pub(crate) fn new(context: ConnectionContext, stream: TimedStream, mut buffer: Vec<u8>) -> Self {
        buffer.reserve(INITIAL_HEAD_BUFFER.saturating_sub(buffer.len()));
        Self {
            context,
            stream,
            buffer,
            out: Vec::new(),
            station: None,
            reports: None,
        }
    }

    /// Answers requests until one side closes the connection.
    ///
    /// # Errors
    /// An I/O error when the connection fails or makes no progress. It cannot be reported to the client.
    pub(crate) async fn serve(mut self) -> io::Result<()> {
        loop {
            let length = match self.receive_head().await? {
                Some(Ok(length)) => length,
                Some(Err(rejection)) => return self.reject(rejection).await,
                None => return Ok(()),
            };
            let asked = clock();
            let (request, station) = match head::parse(&self.buffer[..length]) {
                Ok(head) => (self.read(&head), station_label::station(head.request.path)),
                Err(rejection) => return self.reject(rejection).await,
            };
            self.station = station;
            self.buffer.drain(..length);
            if self.respond(request, asked).await? == After::Close {
                return self.finish().await;
            }
        }
    }

    fn read(&self, head: &Head<'_>) -> Request {
        // A browser sends requests of several workloads on one connection.
        self.context
            .mark(dscp::requested_dscp(head.request.path).ok().flatten().unwrap_or(0));
        self.context.control(dscp::control(head.request.path).ok().flatten());
        let route = if self.context.permit.allow_request() {
            self.context
                .worker
                .shared
                .site
                .route(&head.request, self.context.origin())
        } else {
            Route::Response(self.context.too_many_requests())
        };
        Request {
            route,
            framing: head.framing,
            after: if route::asks_to_close(head.request.path) {
                After::Close
            } else {
                head.after
            },
            expects_continue: head.expects_continue,
            wants_progress: head.wants_progress,
        }
    }

    /// Receives until the buffer starts with a whole head. Returns its length; `None` if the connection ended before.
    async fn receive_head(&mut self) -> io::Result<Option<Result<usize, Rejection>>> {
        let limits = &self.context.worker.shared.limits;
        let (most, head_time) = (
            limits.head.as_bytes().max(INITIAL_HEAD_BUFFER as u64) as usize,
            limits.head_time,
        );
        let mut searched = 0;
        let mut begun = false;
        self.stream.wait_at_most(limits.idle_time);
        loop {
            let blank = head::leading_line_ends(&self.buffer);
            if blank > 0 {
                self.buffer.drain(..blank);
                searched = 0;
            }
            match head::find_end(&self.buffer, &mut searched, most) {
                Ok(None) => {}
                Ok(Some(length)) => return Ok(Some(Ok(length))),
                Err(rejection) => return Ok(Some(Err(rejection))),
            }
            if !begun && !self.buffer.is_empty() {
                begun = true;
                self.stream.wait_at_most(head_time);
            }
            if self.buffer.len() == self.buffer.capacity() {
                let room = self.buffer.len().clamp(INITIAL_HEAD_BUFFER, most);
                self.buffer.reserve_exact(room);
            }
            match self.stream.receive(&mut self.buffer).await {
                Ok(0) => return Ok(None),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::TimedOut && begun => {
                    return Ok(Some(Err(Rejection(408, "timeout of the request"))));
                }
                // Without a request there is no response.
                Err(error) if error.kind() == io::ErrorKind::TimedOut => return Ok(None),
                Err(error) => return Err(error),
            }
        }
    }

    /// Answers one request, after receiving its body if the route requires it.
    async fn respond(&mut self, request: Request, asked: Instant) -> io::Result<After> {
        let (response, after, asked) = match request.route {
            // The body is not received, so the next request cannot be found.
            Route::Response(response) => match request.framing {
                Framing::None | Framing::Length(0) => (response, request.after, asked),
                _ => (response, After::Close, asked),
            },
            Route::Sink(most) => {
                self.reports = (request.wants_progress && self.context.up.is_capped()).then(ProgressReports::default);
                match self.take_body(request.framing, most, request.expects_continue).await? {
                    Ok(count) => (Response::text(200, count.to_string()), request.after, clock()),
                    Err(rejection) => (rejection.into(), After::Close, clock()),
                }
            }
        };
        self.send(&response, after, asked).await?;
        Ok(after)
    }

    /// Sends a response to a request that was complete at `asked`.
    async fn send(&mut self, response: &Response, after: After, asked: Instant) -> io::Result<()> {
        let worker = &self.context.worker;
        let (stats, stall) = (&worker.stats, worker.shared.limits.stall_time);
        let (tally, station) = (&worker.shared.tally, self.station);
        let out = &mut self.out;
        worker
            .dates
            .with(|date| response::write_head(out, response, after, date));
        let mut left = response.sent_length();
        let mut offset = 0;
        match &response.body {
            Body::Text(_, text) if left > 0 => {
                self.out.extend_from_slice(text);
                tally.down(station, left);
                left = 0;
            }
            Body::Content(from) if left <= INLINE_BODY_MAX => {
                // Pieces end with the pool; the rest is sent by the loop below.
                let piece = worker.content.piece(*from, left);
                self.out.extend_from_slice(&piece);
                stats_down(stats, piece.len());
                tally.down(station, piece.len() as u64);
                left -= piece.len() as u64;
                offset = from + piece.len() as u64;
            }
            Body::Content(from) => offset = *from,
            Body::Text(..) => {}
        }
        let down = &mut self.context.down;
        down.interrupt();
        let waited = down.waited();
        let (mut sent, mut told, mut without_wait) = (0, false, 0);
        while sent < self.out.len() || left > 0 {
            let ahead = self.out.len() - sent;
            let granted = down.grant(ahead as u64 + left).await;
            if !told {
                told = true;
                let capped = down.waited() - waited;
                stats.service.record(clock().since(asked).saturating_sub(capped));
            }
            self.stream.wait_at_most(stall);
            let count = if ahead > 0 {
                let end = sent + ahead.min(usize::try_from(granted).unwrap_or(usize::MAX));
                let count = self.stream.send(&self.out[sent..end], left > 0).await?;
                sent += count;
                count
            } else {
                let count = self
                    .stream
                    .send_content(&worker.content, offset, granted.min(left))
                    .await?;
                offset += count as u64;
                left -= count as u64;
                stats_down(stats, count);
                tally.down(station, count as u64);
                count
            };
            down.spend(count as u64);
            without_wait += count as u64;
            if self.stream.take_blocked() {
                down.interrupt();
                without_wait = 0;
            } else if without_wait >= YIELD_EVERY {
                without_wait = 0;
                tokio::task::yield_now().await;
            }
        }
        self.out.clear();
        self.stream.flush().await?;
        Stats::add(&stats.requests, 1);
        Ok(())
    }

    async fn reject(mut self, rejection: Rejection) -> io::Result<()> {
        self.send(&rejection.into(), After::Close, clock()).await?;
        self.finish().await
    }

    /// Closes the connection such that the client can read the last response.
    async fn finish(mut self) -> io::Result<()> {
        self.stream.wait_at_most(LINGER);
        self.stream.shut_down().await?;
        while self.stream.discard(YIELD_EVERY).await? > 0 {}
        Ok(())
    }
}

/// Returns a text response as sent on a connection that is then closed.
pub(crate) fn whole(response: &Response, date: &str) -> Vec<u8> {
    let mut out = Vec::new();
    response::write_head(&mut out, response, After::Close, date);
    if let Body::Text(_, text) = &response.body {
        out.extend_from_slice(text);
    }
    out
}

fn stats_down(stats: &Stats, count: usize) {
    Stats::add(&stats.bytes_down, count as u64);
}
