//! HTTP/2 (RFC 9113): many requests on one connection.

use super::arrival::{ArrivalReporter, StreamArrivals};
use super::exchange::{ExchangeError, Method, Request, Response, TransferObserver};
use super::head::{MAX_HEAD, number};
use super::interim::InterimResponses;
use super::{Stream, upload};
use crate::clock::RunClock;
use crate::content::Content;
use crate::frames::Bounded;
use crate::progress;
use crate::unsent_limit::{IsLimited, UnsentLimit};
use bytes::Bytes;
use h2::client::{ResponseFuture, SendRequest};
use h2::{RecvStream, SendStream};
use netburn_units::{BitRate, Duration};
use netburn_workload::responsiveness::LOAD_FRAME;
use std::cell::Cell;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::rc::{Rc, Weak};
use std::task::{Context, Poll};
use tokio::net::TcpStream;

/// Receive window of a stream: 64 MiB, 100 ms at 5 Gbit/s, so that the network is the limit. Content is discarded on
/// arrival, so the window needs no memory.
pub const STREAM_WINDOW: u32 = 64 << 20;
/// Receive window of a connection: 1 GiB.
pub const CONNECTION_WINDOW: u32 = 1 << 30;
/// With a rate limit, both windows are the bytes at this rate in this time. Unreleased data slows down the server only
/// when the window is full.
const BOUNDED_WINDOW: Duration = Duration::from_millis(100);
/// Minimum window: one frame.
const MIN_WINDOW: u32 = MAX_FRAME;
/// Maximum frame size: 64 KiB.
const MAX_FRAME: u32 = 64 << 10;
/// Maximum number of encrypted bytes that are buffered on a connection with self probes when its socket is full.
const TLS_AHEAD: usize = 32 << 10;

/// An open connection. Clones share it. It closes when all clones are dropped and its streams have ended.
#[derive(Debug, Clone)]
pub struct Session {
    sender: SendRequest<Bytes>,
    socket: Weak<TcpStream>,
    is_limited: IsLimited,
    arrivals: StreamArrivals,
    /// True after an upload that asks for progress.
    reports: Rc<Cell<bool>>,
}

impl Session {
    /// Starts HTTP/2 on a connection. Its background task runs on this thread's `LocalSet`. With a `limit` that a
    /// [`TransferObserver`] enforces, the windows are small enough to slow down the server.
    ///
    /// # Errors
    /// [`ExchangeError::Connection`] when the connection fails.
    pub async fn begin(stream: Stream, limit: Option<BitRate>) -> Result<Session, ExchangeError> {
        Session::begin_with_frames(stream, limit, MAX_FRAME).await
    }

    /// The same for load with self probes. A probe waits behind what its connection has buffered, so little is buffered.
    ///
    /// # Errors
    /// As [`begin`](Self::begin).
    pub async fn begin_with_probes(mut stream: Stream, limit: Option<BitRate>) -> Result<Session, ExchangeError> {
        if let Stream::Tls(stream) = &mut stream {
            stream.get_mut().1.set_buffer_limit(Some(TLS_AHEAD));
        }
        Session::begin_with_frames(stream, limit, LOAD_FRAME).await
    }

    /// `max_frame`: maximum size of a frame, 16,384 to 16,777,215 bytes (RFC 9113 §6.5.2).
    async fn begin_with_frames(
        stream: Stream,
        limit: Option<BitRate>,
        max_frame: u32,
    ) -> Result<Session, ExchangeError> {
        let socket = stream.socket().observe();
        let is_limited = stream.socket().is_limited();
        upload::limit_unsent(stream.socket());
        let (frames, reports) = (Rc::default(), Rc::default());
        let arrivals = StreamArrivals::new(stream.socket().arrivals(), &frames);
        let (sender, connection) = h2::client::Builder::new()
            .initial_window_size(window(limit, STREAM_WINDOW))
            .initial_connection_window_size(window(limit, CONNECTION_WINDOW))
            .max_frame_size(max_frame)
            .enable_push(false)
            .max_header_list_size(MAX_HEAD as u32)
            .handshake::<_, Bytes>(Bounded::client(stream, &frames, &reports))
            .await
            .map_err(broken)?;
        tokio::task::spawn_local(async move {
            if let Err(error) = connection.await {
                tracing::debug!(%error, "an HTTP/2 connection ended");
            }
        });
        Ok(Session {
            sender,
            socket,
            is_limited,
            arrivals,
            reports,
        })
    }

    /// Returns the socket for observation.
    #[must_use]
    pub fn observe(&self) -> Weak<TcpStream> {
        Weak::clone(&self.socket)
    }

    /// The limit of the connection's unsent data, which its owner updates; none at first.
    pub(crate) fn unsent_limit(&self) -> UnsentLimit {
        UnsentLimit::new(self.is_limited.clone())
    }

    /// Returns whether this is the same connection as `other`.
    #[must_use]
    pub fn is_same(&self, other: &Session) -> bool {
        Weak::ptr_eq(&self.socket, &other.socket)
    }

    /// Sends `request` on a new stream, as soon as the server permits one, and receives the response.
    ///
    /// A response that is not a success ends with its head.
    ///
    /// # Errors
    /// [`ExchangeError::Idle`] when the connection was closed before the request started, or the server reports that it
    /// has not processed the request. Otherwise the error of the connection or stream.
    pub async fn exchange<W: TransferObserver>(
        &self,
        tls: bool,
        request: &Request<'_>,
        watch: &mut W,
    ) -> Result<Response, ExchangeError> {
        let mut sender = self.sender.clone().ready().await.map_err(|_| ExchangeError::Idle)?;
        let scheme = if tls { "https" } else { "http" };
        let mut builder = http::Request::builder()
            .method(request.method.name())
            .uri(format!("{scheme}://{}{}", request.authority, request.path))
            .header("user-agent", "netburn");
        if let Method::Post(length) = request.method {
            builder = builder.header("content-length", length);
        }
        let head = builder
            .body(())
            .map_err(|error| ExchangeError::Response(error.to_string()))?;
        let content = match request.method {
            Method::Post(length @ 1..) => Some(Some(length)),
            Method::PostWithoutEnd => Some(None),
            Method::Get | Method::Head | Method::Post(0) => None,
        };
        let (response, body) = sender.send_request(head, content.is_none()).map_err(broken)?;
        let (response, unsent) = match content {
            Some(length) => {
                let response = self.final_response(response, &request.path);
                send(response, body, length, &self.arrivals, watch).await?
            }
            None => (response.await.map_err(broken)?, 0),
        };
        watch.bytes(0);
        let location = response.headers().get(http::header::LOCATION);
        let mut done = Response {
            status: response.status().as_u16(),
            location: location.map(|v| String::from_utf8_lossy(v.as_bytes()).into_owned()),
            declared: length(&response)?,
            content: 0,
            keep: true,
        };
        if done.is_success() {
            if request.method != Method::Head && done.declared.is_some_and(|declared| !request.length.allows(declared))
            {
                return Err(ExchangeError::wrong_length());
            }
            let expected = match request.method {
                Method::Head => None,
                _ => done.declared,
            };
            let tells = !request.method.uploads();
            done.content = receive(response.into_body(), request.length.most(), tells, watch).await?;
            if expected.is_some_and(|expected| expected != done.content) {
                return Err(ExchangeError::Response(
                    "the content's length differs from its Content-Length".into(),
                ));
            }
            if unsent > 0 {
                return Err(ExchangeError::Response(
                    "the server answered before the upload was complete".into(),
                ));
            }
        }
        Ok(done)
    }

    /// Returns the final response to an upload with this path and query.
    fn final_response(&self, response: ResponseFuture, path: &str) -> FinalResponse {
        let interim = InterimResponses::new(path);
        if interim.offset().is_some() {
            self.reports.set(true);
        }
        FinalResponse {
            response,
            interim,
            clock: RunClock::starting_now(),
        }
    }
}

/// The final response to an upload. Polling it handles the interim responses before it.
struct FinalResponse {
    response: ResponseFuture,
    interim: InterimResponses,
    /// Time since the request.
    clock: RunClock,
}

impl Future for FinalResponse {
    type Output = Result<http::Response<RecvStream>, ExchangeError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        while let Poll::Ready(Some(head)) = self.response.poll_informational(cx) {
            let head = head.map_err(broken)?;
            let fields = head.headers();
            let length = fields.iter().map(|(name, value)| name.as_str().len() + value.len());
            let mut offsets = fields.get_all(progress::FIELD).iter();
            let offset = offsets.next().filter(|_| offsets.next().is_none());
            let offset = offset.and_then(|value| number(value.as_bytes()));
            let now = self.clock.now();
            self.interim
                .handle_response(now, head.status().as_u16(), offset, length.sum())?;
        }
        Pin::new(&mut self.response).poll(cx).map_err(broken)
    }
}

/// Returns the window for content at rate `limit`: at most `most`.
fn window(limit: Option<BitRate>, most: u32) -> u32 {
    let Some(limit) = limit else { return most };
    let bytes = u128::from(limit.as_bps()) * u128::from(BOUNDED_WINDOW.as_nanos()) / 8_000_000_000;
    u32::try_from(bytes).unwrap_or(most).clamp(MIN_WINDOW, most)
}

fn length(response: &http::Response<RecvStream>) -> Result<Option<u64>, ExchangeError> {
    let Some(value) = response.headers().get(http::header::CONTENT_LENGTH) else {
        return Ok(None);
    };
    let number = value.to_str().ok().and_then(|text| text.parse().ok());
    number
        .map(Some)
        .ok_or_else(|| ExchangeError::Response("invalid Content-Length: expected a number".into()))
}

async fn receive<W: TransferObserver>(
    mut body: RecvStream,
    most: u64,
    tells: bool,
    watch: &mut W,
) -> Result<u64, ExchangeError> {
    let mut content = 0;
    while let Some(piece) = body.data().await {
        let piece = piece.map_err(broken)?;
        let count = piece.len();
        if watch.wants_content() {
            watch.content(&piece);
        }
        content += count as u64;
        if content > most {
            return Err(ExchangeError::wrong_length());
        }
        if tells {
            // Unreleased data slows down the server.
            watch.bytes(count as u64);
            watch.allowed(1).await;
        }
        body.flow_control().release_capacity(count).map_err(broken)?;
    }
    Ok(content)
}

/// Sends `length` bytes, or without end, unless the response arrives first. Returns the response and the number of unsent
/// bytes.
async fn send<W: TransferObserver>(
    mut response: FinalResponse,
    mut body: SendStream<Bytes>,
    length: Option<u64>,
    arrivals: &StreamArrivals,
    watch: &mut W,
) -> Result<(http::Response<RecvStream>, u64), ExchangeError> {
    let content = Content::get()?;
    let mut sent = 0;
    let left = |sent: u64| length.map_or(u64::MAX, |length| length - sent);
    let mut early = None;
    let offset = response.interim.offset();
    let mut reporter = ArrivalReporter::of_stream(arrivals, body.stream_id().as_u32(), offset);
    while left(sent) > 0 {
        if reporter.is_due() {
            reporter.report(watch);
        }
        watch.sending();
        let may = watch.allowed(left(sent).min(256 * 1024)).await;
        body.reserve_capacity(may as usize);
        let granted = tokio::select! {
            biased;
            come = &mut response, if early.is_none() => {
                let come = come?;
                // A server that ignores the content may respond with success before it is complete.
                if !come.status().is_success() {
                    return Ok((come, left(sent)));
                }
                early = Some(come);
                continue;
            }
            granted = poll_fn(|cx| body.poll_capacity(cx)) => granted,
            () = reporter.tick() => continue,
        };
        let granted = match granted {
            Some(Ok(granted)) => (granted as u64).min(may),
            Some(Err(error)) => return Err(broken(error)),
            None => return Err(super::exchange::cut_short()),
        };
        let piece = content.piece(sent, granted);
        let count = piece.len() as u64;
        sent += count;
        body.send_data(piece, left(sent) == 0).map_err(broken)?;
    }
    let response = match early {
        Some(response) => response,
        None => reporter.during(response, watch).await?,
    };
    if response.status().is_success() {
        reporter.settle(sent, watch).await;
    }
    Ok((response, 0))
}

fn broken(error: h2::Error) -> ExchangeError {
    if error.is_reset() && error.reason() == Some(h2::Reason::REFUSED_STREAM) {
        // RFC 9113 §8.7: not processed, safe to retry.
        return ExchangeError::Idle;
    }
    if error.is_io() {
        ExchangeError::Connection(error.into_io().unwrap_or_else(|| io::ErrorKind::ConnectionReset.into()))
    } else if error.is_go_away() {
        ExchangeError::Connection(io::Error::other(error))
    } else {
        ExchangeError::Response(error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_100_ms_of_the_limit_within_bounds() {
        let windows =
            |mbps| [STREAM_WINDOW, CONNECTION_WINDOW].map(|most| window(Some(BitRate::from_mbps(mbps)), most));
        assert_eq!(windows(0), [65_536; 2]);
        assert_eq!(windows(10), [125_000; 2]);
        assert_eq!(windows(10_000), [67_108_864, 125_000_000]);
        assert_eq!(windows(1_000_000), [67_108_864, 1_073_741_824]);
        assert_eq!(window(None, STREAM_WINDOW), STREAM_WINDOW);
    }
}
