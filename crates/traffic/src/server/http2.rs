//! HTTP/2 (RFC 9113) with the `h2` crate: one connection and its streams.

use super::connection_context::ConnectionContext;
use super::flow::{Flow, clock};
use super::request::{Method, Request, Route};
use super::response::{ALWAYS, Body, Response};
use super::rpm::Resource;
use super::socket::into_std;
use super::stats::Stats;
use crate::frames::Bounded;
use crate::progress::ProgressReports;
use crate::{dscp, progress, station_label, unsent_limit};
use bytes::Bytes;
use h2::server::{self, SendResponse};
use h2::{Reason, RecvStream, SendStream};
use http::uri::PathAndQuery;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use netburn_units::{Duration, Instant};
use std::cell::Cell;
use std::future::poll_fn;
use std::io;
use std::rc::Rc;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::timeout;

/// Receive window of a stream.
const STREAM_WINDOW: u32 = 512 << 10;
/// Receive window of a connection, which limits the memory for unprocessed data.
const CONNECTION_WINDOW: u32 = 1 << 20;
/// Content per stream that is passed to the connection before it is sent. It is borrowed, not copied.
const SEND_AHEAD: u64 = 256 << 10;
/// Maximum number of bytes of an unused body that are received.
const DROPPED_REST: usize = 4 << 20;
/// Receive windows of a connection with an upload of a responsiveness test, and of its streams: at 32 ms they permit
/// 1 Gbit/s per stream.
const WIDE_STREAM_WINDOW: u32 = 4 << 20;
const WIDE_CONNECTION_WINDOW: u32 = 16 << 20;
/// Time after which the streams' window is announced again.
const WINDOW_RETRY: Duration = Duration::from_millis(10);
/// Idle timeout of a connection whose only request was that of a probe: some clients use a new connection for each
/// probe, 100 per second, and never close it.
const PROBE_IDLE: Duration = Duration::from_secs(2);
/// Time to close the connection after the last stream.
const GOODBYE: Duration = Duration::from_secs(2);

/// Activity of a connection's streams.
struct Activity {
    streams: Cell<usize>,
    last: Cell<Instant>,
}

/// State of one stream.
struct Stream {
    context: Rc<ConnectionContext>,
    activity: Rc<Activity>,
    down: Flow,
    up: Flow,
    /// Station of the request.
    station: Option<u16>,
    /// Progress of an upload whose client asks for it, with a rate limit.
    reports: Option<ProgressReports>,
    /// True while the client accepts no data of the connection.
    blocked: Rc<Cell<bool>>,
    /// True if the connection's unsent data is limited, for a responsiveness test.
    limits_unsent: bool,
}

/// Serves a connection to its end.
///
/// # Errors
/// An I/O error when the connection fails or makes no progress. It cannot be reported to the client.
pub(crate) async fn serve(context: ConnectionContext, io: impl AsyncRead + AsyncWrite + Unpin) -> io::Result<()> {
    let context = Rc::new(context);
    let limits = context.worker.shared.limits.clone();
    let blocked = Rc::default();
    let handshake = server::Builder::new()
        .initial_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .max_concurrent_streams(limits.streams)
        .max_header_list_size(u32::try_from(limits.head.as_bytes()).unwrap_or(u32::MAX))
        .max_send_buffer_size(SEND_AHEAD as usize)
        .handshake::<_, Bytes>(Bounded::server(io, &blocked));
    let mut connection = timeout(into_std(limits.head_time), handshake)
        .await?
        .map_err(io::Error::other)?;
    let activity = Rc::new(Activity {
        streams: Cell::new(0),
        last: Cell::new(clock()),
    });
    let site = &context.worker.shared.site;
    // A probe is a connection whose only request was for the small object.
    let (mut requests, mut probe) = (0_u64, false);
    // Permit for wide windows, and whether the streams' window has yet to be announced.
    let (mut wide, mut widens) = (None, false);
    loop {
        // An error means that the client has not acknowledged the previous settings yet.
        widens = widens && connection.set_initial_window_size(WIDE_STREAM_WINDOW).is_err();
        let patience = match activity.streams.get() {
            0 if probe => limits.idle_time.min(PROBE_IDLE),
            0 => limits.idle_time,
            _ => limits.stall_time,
        };
        let quiet = clock().checked_since(activity.last.get()).unwrap_or(Duration::ZERO);
        if quiet >= patience {
            connection.graceful_shutdown();
            break;
        }
        let recheck = match (widens, probe) {
            (true, _) => WINDOW_RETRY,
            // The timeout is shorter as soon as the stream of a probe ends.
            (false, true) => PROBE_IDLE,
            (false, false) => patience,
        };
        let wait = (patience - quiet).min(recheck);
        match timeout(into_std(wait), connection.accept()).await {
            // No new stream; progress of existing streams is checked above.
            Err(_) => {}
            Ok(None) => return Ok(()),
            Ok(Some(request)) => {
                let (request, respond) = request.map_err(io::Error::other)?;
                let resource = site.rpm_resource(request.uri().path(), context.origin());
                let is_limited = request
                    .uri()
                    .path_and_query()
                    .is_some_and(|path| unsent_limit::is_limited(path.as_str()));
                let is_load_up =
                    resource == Some(Resource::Upload) || (is_limited && request.method() == http::Method::POST);
                requests += 1;
                probe = requests == 1 && resource == Some(Resource::Small);
                // With a rate limit, data waits in the windows.
                if is_load_up && wide.is_none() && !context.up.is_capped() {
                    wide = context.permit.widen();
                    widens = wide.is_some();
                    if widens {
                        connection.set_target_window_size(WIDE_CONNECTION_WINDOW);
                    }
                }
                let limits_unsent = resource.is_some() || is_limited;
                let stream = Stream::begin(&context, &activity, &blocked, limits_unsent);
                tokio::task::spawn_local(stream.serve(request, respond));
            }
        }
    }
    // Dropping the connection ends streams without progress.
    let goodbye = async { while let Some(Ok(_)) = connection.accept().await {} };
    timeout(into_std(GOODBYE), goodbye).await.map_err(io::Error::from)
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.activity.streams.set(self.activity.streams.get() - 1);
        self.moved();
    }
}

impl Stream {
    fn begin(
        context: &Rc<ConnectionContext>,
        activity: &Rc<Activity>,
        blocked: &Rc<Cell<bool>>,
        limits_unsent: bool,
    ) -> Self {
        activity.streams.set(activity.streams.get() + 1);
        activity.last.set(clock());
        Stream {
            down: context.down.clone(),
            up: context.up.clone(),
            context: Rc::clone(context),
            activity: Rc::clone(activity),
            station: None,
            reports: None,
            blocked: Rc::clone(blocked),
            limits_unsent,
        }
    }

    fn moved(&self) {
        self.activity.last.set(clock());
    }

    async fn serve(mut self, request: http::Request<RecvStream>, mut respond: SendResponse<Bytes>) {
        let asked = clock();
        let (head, body) = request.into_parts();
        let field = |name: HeaderName| head.headers.get(name).map(HeaderValue::as_bytes);
        let authority = head.uri.authority().map(|authority| authority.as_str().as_bytes());
        let request = Request {
            method: Method::named(head.method.as_str()),
            path: head.uri.path_and_query().map_or("", PathAndQuery::as_str),
            authority: authority.or_else(|| field(header::HOST)),
            range: field(header::RANGE),
            if_range: head.headers.contains_key(header::IF_RANGE),
        };
        self.station = station_label::station(request.path);
        // Packets contain data of all streams, so the last request's DSCP applies to all.
        if let Ok(Some(dscp)) = dscp::requested_dscp(request.path) {
            self.context.mark(dscp);
        }
        if let Ok(Some(name)) = dscp::control(request.path) {
            self.context.control(Some(name));
        }
        if self.up.is_capped() && progress::is_requested(request.path) {
            self.reports = Some(ProgressReports::default());
        }
        let route = if self.context.permit.allow_request() {
            self.context.worker.shared.site.route(&request, self.context.origin())
        } else {
            Route::Response(self.context.too_many_requests())
        };
        let mut body = body;
        let done = match route {
            Route::Response(response) => self.send(&response, &mut respond, asked).await,
            Route::Sink(most) => match self.take(&head.headers, &mut body, most, &mut respond).await {
                Ok(response) => self.send(&response, &mut respond, clock()).await,
                Err(error) => Err(error),
            },
        };
        match done {
            Ok(()) => self.drop_rest(body).await,
            Err(StreamError) => respond.send_reset(Reason::CANCEL),
        }
    }

    /// Receives the rest of a body after the response, if it is short: some clients treat a reset as a failure.
    /// Dropping the body resets the stream.
    async fn drop_rest(&mut self, mut body: RecvStream) {
        let stall = into_std(self.context.worker.shared.limits.stall_time);
        let mut left = DROPPED_REST;
        while let Ok(Some(Ok(piece))) = timeout(stall, body.data()).await {
            self.moved();
            self.up.pay(piece.len() as u64).await;
            left = left.saturating_sub(piece.len());
            if left == 0 || body.flow_control().release_capacity(piece.len()).is_err() {
                return;
            }
        }
    }

    /// Receives a body of at most `most` bytes and returns the response.
    async fn take(
        &mut self,
        fields: &HeaderMap,
        body: &mut RecvStream,
        most: Option<u64>,
        respond: &mut SendResponse<Bytes>,
    ) -> Result<Response, StreamError> {
        let too_large = || Response::text(413, "the body is larger than this server accepts");
        let said = fields
            .get(header::CONTENT_LENGTH)
            .and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
        if most.is_some_and(|most| said.is_some_and(|length| length > most)) {
            return Ok(too_large());
        }
        self.up.interrupt();
        self.report(respond);
        let stall = into_std(self.context.worker.shared.limits.stall_time);
        let mut total = 0;
        while let Some(piece) = timeout(stall, body.data()).await.map_err(|_| StreamError)? {
            let count = piece.map_err(|_| StreamError)?.len();
            self.moved();
            total += count as u64;
            let worker = &self.context.worker;
            Stats::add(&worker.stats.bytes_up, count as u64);
            worker.shared.tally.up(self.station, count as u64);
            if most.is_some_and(|most| total > most) {
                return Ok(too_large());
            }
            let mut left = count as u64;
            while left > 0 {
                let size = self.up.at_most(left).min(left);
                self.up.pay(size).await;
                left -= size;
                if let Some(reports) = &mut self.reports {
                    reports.handle_passed(size);
                    self.report(respond);
                }
            }
            body.flow_control().release_capacity(count).map_err(|_| StreamError)?;
        }
        Ok(Response::text(200, total.to_string()))
    }

    /// Reports the progress of an upload if a report is due and the client accepts data.
    fn report(&mut self, respond: &mut SendResponse<Bytes>) {
        let Some(reports) = &mut self.reports else { return };
        let now = clock();
        let Some(offset) = reports.poll_offset(now).filter(|_| !self.blocked.get()) else {
            return;
        };
        let mut head = http::Response::new(());
        *head.status_mut() = StatusCode::from_u16(progress::STATUS).unwrap_or(StatusCode::CONTINUE);
        head.headers_mut()
            .insert(HeaderName::from_static(progress::FIELD), HeaderValue::from(offset));
        // If the stream has failed, receiving its content fails too.
        if respond.send_informational(head).is_ok() {
            reports.handle_sent(now);
        }
    }

    async fn send(
        &mut self,
        response: &Response,
        respond: &mut SendResponse<Bytes>,
        asked: Instant,
    ) -> Result<(), StreamError> {
        let left = response.sent_length();
        let head = self.head(response);
        let stats = &self.context.worker.stats;
        stats.service.record(clock().since(asked));
        let mut stream = respond.send_response(head, left == 0).map_err(|_| StreamError)?;
        self.moved();
        match &response.body {
            Body::Text(_, text) if left > 0 => {
                self.context.worker.shared.tally.down(self.station, left);
                stream.send_data(text.clone(), true).map_err(|_| StreamError)?;
            }
            Body::Content(from) if left > 0 => self.send_content(&mut stream, *from, left).await?,
            _ => {}
        }
        Stats::add(&self.context.worker.stats.requests, 1);
        Ok(())
    }

    async fn send_content(
        &mut self,
        stream: &mut SendStream<Bytes>,
        mut offset: u64,
        mut left: u64,
    ) -> Result<(), StreamError> {
        let stall = into_std(self.context.worker.shared.limits.stall_time);
        self.down.interrupt();
        while left > 0 {
            if self.limits_unsent {
                self.context.limit_unsent();
            }
            stream.reserve_capacity(left.min(SEND_AHEAD) as usize);
            if stream.capacity() == 0 {
                self.down.interrupt();
                let capacity = timeout(stall, poll_fn(|cx| stream.poll_capacity(cx))).await;
                capacity
                    .map_err(|_| StreamError)?
                    .ok_or(StreamError)?
                    .map_err(|_| StreamError)?;
                continue;
            }
            let granted = self.down.grant(left.min(stream.capacity() as u64)).await;
            let piece = self.context.worker.content.piece(offset, granted);
            let count = piece.len() as u64;
            (offset, left) = (offset + count, left - count);
            stream.send_data(piece, left == 0).map_err(|_| StreamError)?;
            self.down.spend(count);
            self.moved();
            let worker = &self.context.worker;
            Stats::add(&worker.stats.bytes_down, count);
            worker.shared.tally.down(self.station, count);
        }
        Ok(())
    }

    fn head(&self, response: &Response) -> http::Response<()> {
        let mut head = http::Response::new(());
        *head.status_mut() = StatusCode::from_u16(response.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let fields = head.headers_mut();
        for (name, value) in ALWAYS {
            fields.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        fields.insert(header::CONTENT_LENGTH, HeaderValue::from(response.length));
        let mut insert = |name: &'static str, value: String| {
            if let Ok(value) = HeaderValue::try_from(value) {
                fields.insert(HeaderName::from_static(name), value);
            }
        };
        self.context.worker.dates.with(|date| insert("date", date.to_owned()));
        response.fields(|name, value| insert(name, value.to_string()));
        head
    }
}

/// The stream failed and is reset.
struct StreamError;
