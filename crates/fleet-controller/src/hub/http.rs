//! HTTP/1.1 routes of a controller: the station page, and WebSockets at `/join`, `/run/RUN` and `/control`.

use super::admission::{Accepted, Bytes as Stream, HEAD_TIMEOUT, PeerAddr};
use super::admission_limit::Ticket;
use super::http_handler::{self, HttpHandler, ResponseBody};
use crate::embedded;
use crate::page;
use bytes::Bytes;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::header::{
    ALLOW, CONNECTION, CONTENT_TYPE, HOST, HeaderMap, HeaderName, HeaderValue, LOCATION, SEC_WEBSOCKET_ACCEPT,
    SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_VERSION, UPGRADE,
};
use hyper::upgrade::Upgraded;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use netburn_protocol::join_url::{JOIN, RUN};
use netburn_protocol::messages::is_run;
use netburn_protocol::own_clock::to_std;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;

/// Maximum length of the head of a request, in bytes. A longer head closes the connection.
const MAX_HEAD: usize = 16 << 10;
/// Path of the operator's commands.
pub(crate) const CONTROL: &str = "/control";

/// WebSocket endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Endpoint {
    Member,
    Operator,
    Run(String),
}

/// Handles opened WebSockets and other routes.
pub(super) trait ConnectionHandler: Send + Sync + 'static {
    /// HTTPS origin to which browsers are redirected, if any: `https://HOST:PORT`.
    fn secure(&self) -> Option<&str>;

    /// Returns whether the run is held here. Called before [`enter`](Self::enter).
    fn knows(&self, run: &str) -> bool;

    /// Handler of the routes below [`RUNS_PREFIX`](super::RUNS_PREFIX), if any.
    fn http_handler(&self) -> Option<&Arc<dyn HttpHandler>>;

    /// Handles an opened WebSocket.
    fn enter(self: Arc<Self>, endpoint: Endpoint, from: PeerAddr, ticket: Ticket, stream: TokioIo<Upgraded>);
}

/// Answers requests until the connection closes or becomes a WebSocket.
///
/// Sets `stays` when the handler of other routes has authenticated the peer.
pub(super) async fn answer(accepted: Accepted, handler: Arc<impl ConnectionHandler>, stays: &AtomicBool) {
    let Accepted { stream, from, ticket } = accepted;
    let service = hyper::service::service_fn(|request: Request<Incoming>| {
        let http_handler = handler
            .http_handler()
            .filter(|_| http_handler::owns(request.uri().path()));
        let answer = match (http_handler, redirect(&request, from, &handler)) {
            (_, Some(away)) => Err(away),
            (Some(http_handler), None) => Ok(http_handler.answer(request, from.tls)),
            (None, None) => Err(respond(request, from, &ticket, &handler)),
        };
        let ticket = ticket.clone();
        async move {
            Ok::<_, Infallible>(match answer {
                Ok(answering) => {
                    let answer = answering.await;
                    if answer.admitted {
                        stays.store(true, Ordering::Relaxed);
                        ticket.release();
                    }
                    answer.response
                }
                Err(own) => own.map(|body| Box::pin(body) as ResponseBody),
            })
        }
    });
    let served = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(to_std(HEAD_TIMEOUT))
        .max_buf_size(MAX_HEAD)
        .serve_connection(TokioIo::new(Box::into_pin(stream) as Pin<Box<dyn Stream>>), service)
        .with_upgrades()
        .await;
    if let Err(error) = served {
        tracing::debug!(%error, "connection closed");
    }
}

/// Redirect to HTTPS for plain HTTP from other machines, if there is an HTTPS origin.
fn redirect(
    request: &Request<Incoming>,
    from: PeerAddr,
    handler: &Arc<impl ConnectionHandler>,
) -> Option<Response<FullBody>> {
    let secure = handler.secure().filter(|_| !from.tls && !from.is_local())?;
    let mut answer = text(StatusCode::PERMANENT_REDIRECT, "this fleet requires TLS");
    if let Ok(to) = HeaderValue::from_str(&format!("{secure}{}", request.uri().path())) {
        answer.headers_mut().insert(LOCATION, to);
    }
    Some(answer)
}

fn respond(
    mut request: Request<Incoming>,
    from: PeerAddr,
    ticket: &Ticket,
    handler: &Arc<impl ConnectionHandler>,
) -> Response<FullBody> {
    let path = request.uri().path().to_owned();
    let endpoint = match path.as_str() {
        JOIN => Some(Endpoint::Member),
        CONTROL if from.is_local() => Some(Endpoint::Operator),
        path => path
            .strip_prefix(RUN)
            .filter(|run| is_run(run))
            .map(|run| Endpoint::Run(run.to_owned())),
    };
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        let mut answer = text(StatusCode::METHOD_NOT_ALLOWED, "only GET and HEAD are allowed");
        answer
            .headers_mut()
            .insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
        return answer;
    }
    let Some(endpoint) = endpoint else {
        return match embedded::find(page::FILES, &path) {
            Some(file) => file_response(file, request.method() == Method::HEAD),
            None => text(StatusCode::NOT_FOUND, "not found; the station page is at /"),
        };
    };
    let Some(accept) = accept(&request) else {
        let mut answer = text(StatusCode::UPGRADE_REQUIRED, "this is a WebSocket endpoint (RFC 6455)");
        answer
            .headers_mut()
            .insert(UPGRADE, HeaderValue::from_static("websocket"));
        return answer;
    };
    if let Endpoint::Run(run) = &endpoint
        && !handler.knows(run)
    {
        return text(StatusCode::NOT_FOUND, "unknown run");
    }
    let upgrade = hyper::upgrade::on(&mut request);
    let (handler, ticket) = (Arc::clone(handler), ticket.clone());
    tokio::spawn(async move {
        match upgrade.await {
            Ok(stream) => handler.enter(endpoint, from, ticket, TokioIo::new(stream)),
            Err(error) => tracing::debug!(%error, "WebSocket handshake failed"),
        }
    });
    let mut answer = Response::new(FullBody::default());
    *answer.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    let fields = answer.headers_mut();
    fields.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
    fields.insert(UPGRADE, HeaderValue::from_static("websocket"));
    fields.insert(SEC_WEBSOCKET_ACCEPT, accept);
    answer
}

/// `Sec-WebSocket-Accept` of a WebSocket handshake (RFC 6455 §4.2.2); `None` for other requests.
fn accept(request: &Request<Incoming>) -> Option<HeaderValue> {
    let fields = request.headers();
    let says = |field: HeaderName, word: &str| {
        let words = fields
            .get_all(field)
            .into_iter()
            .filter_map(|value| value.to_str().ok());
        let mut words = words.flat_map(|value| value.split(','));
        words.any(|w| w.trim().eq_ignore_ascii_case(word))
    };
    let opens = request.method() == Method::GET
        && fields.contains_key(HOST)
        && says(UPGRADE, "websocket")
        && says(CONNECTION, "upgrade")
        && says(SEC_WEBSOCKET_VERSION, "13");
    // 16 bytes in base64.
    let key = fields.get(SEC_WEBSOCKET_KEY).filter(|key| opens && key.len() == 24)?;
    HeaderValue::from_str(&derive_accept_key(key.as_bytes())).ok()
}

fn file_response(file: &embedded::File, head: bool) -> Response<FullBody> {
    let bytes = Bytes::from_static(file.bytes);
    let mut answer = Response::new(FullBody {
        length: bytes.len() as u64,
        bytes: Some(bytes).filter(|_| !head),
    });
    let fields: &mut HeaderMap = answer.headers_mut();
    fields.insert(CONTENT_TYPE, HeaderValue::from_static(file.kind));
    for (name, value) in page::HEADERS {
        fields.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    answer
}

fn text(status: StatusCode, kind: &'static str) -> Response<FullBody> {
    let mut answer = Response::new(FullBody {
        length: kind.len() as u64,
        bytes: Some(Bytes::from_static(kind.as_bytes())),
    });
    *answer.status_mut() = status;
    let kind = HeaderValue::from_static("text/plain; charset=utf-8");
    answer.headers_mut().insert(CONTENT_TYPE, kind);
    answer
}

/// A body of one frame, or none.
#[derive(Debug, Default)]
struct FullBody {
    length: u64,
    bytes: Option<Bytes>,
}

impl Body for FullBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(self.bytes.take().map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        self.bytes.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.length)
    }
}
