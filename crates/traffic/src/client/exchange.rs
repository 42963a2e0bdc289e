//! Request and response of an HTTP client, and the observer of a transfer.

use std::borrow::Cow;
use std::io;

/// An HTTP request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request<'a> {
    /// Method.
    pub method: Method,
    /// Path and query, beginning with `/`.
    pub path: Cow<'a, str>,
    /// The `Host` field or `:authority`, with the port if it is not the scheme's default.
    pub authority: Cow<'a, str>,
    /// True if this is the last request on the connection.
    pub last: bool,
    /// Expected length of the response's content. A response of another length is rejected at its head, or without a
    /// declared length, when it is too long.
    pub length: Length,
}

/// Expected length of content in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Length {
    /// Any length.
    #[default]
    Any,
    /// Exactly this length.
    Exactly(u64),
    /// At most this length.
    AtMost(u64),
}

impl Length {
    /// Returns whether a declared length is acceptable.
    pub(crate) fn allows(self, declared: u64) -> bool {
        match self {
            Length::Exactly(length) => declared == length,
            Length::Any | Length::AtMost(_) => declared <= self.most(),
        }
    }

    /// Returns the maximum length.
    pub(crate) fn most(self) -> u64 {
        match self {
            Length::Any => u64::MAX,
            Length::Exactly(length) | Length::AtMost(length) => length,
        }
    }
}

/// HTTP methods in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// GET.
    Get,
    /// HEAD.
    Head,
    /// POST with this many bytes.
    Post(u64),
    /// POST without `Content-Length` and without end, until the server rejects it. Over HTTP/2 only.
    PostWithoutEnd,
}

impl Method {
    /// Returns true if the request has content.
    pub(crate) const fn uploads(self) -> bool {
        matches!(self, Method::Post(_) | Method::PostWithoutEnd)
    }

    /// Returns the name of the method.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Method::Get => "GET",
            Method::Head => "HEAD",
            Method::Post(_) | Method::PostWithoutEnd => "POST",
        }
    }
}

/// A complete response, or its head if the status is not a success.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    /// Status code.
    pub status: u16,
    /// `Location` field.
    pub location: Option<String>,
    /// `Content-Length` field. For `HEAD`, the length of the corresponding `GET`.
    pub declared: Option<u64>,
    /// Bytes of content received.
    pub content: u64,
    /// True if the connection can be reused.
    pub keep: bool,
}

impl Response {
    /// Returns whether the status is a success (2xx).
    #[must_use]
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }
}

/// Observer of a transfer.
pub trait TransferObserver {
    /// Called with 0 when the head of the response has arrived. Then called with the number of bytes of content that
    /// have been received. For a request with content, called with the number of its bytes that have arrived at the peer:
    /// those that TCP has acknowledged, or has accepted on systems that do not report acknowledgements.
    fn bytes(&mut self, bytes: u64);

    /// Called at least every 10 ms while content of a request is sent.
    fn sending(&mut self) {}

    /// Waits until part of `wanted` more bytes may be moved. Returns how many, at least one. The default imposes no
    /// limit.
    fn allowed(&mut self, wanted: u64) -> impl Future<Output = u64> {
        std::future::ready(wanted)
    }

    /// Returns whether the observer needs the content. Otherwise the kernel may discard it.
    fn wants_content(&self) -> bool {
        false
    }

    /// Called with each piece of content, in addition to [`bytes`](Self::bytes), if the content is needed.
    fn content(&mut self, piece: &[u8]) {
        let _ = piece;
    }
}

/// Error of an exchange.
#[derive(Debug, thiserror::Error)]
pub enum ExchangeError {
    /// A reused connection was closed before any part of the response arrived, because the server closed the idle
    /// connection. The request should be retried once on a new connection.
    #[error("the server closed the idle connection")]
    Idle,
    /// The connection failed.
    #[error("the connection failed: {0}")]
    Connection(#[source] io::Error),
    /// The response is invalid.
    #[error("{0}")]
    Response(String),
}

impl ExchangeError {
    /// Returns the error of content with an unexpected length.
    pub(crate) fn wrong_length() -> Self {
        ExchangeError::Response("the content's length differs from the requested length".into())
    }
}

impl From<io::Error> for ExchangeError {
    fn from(error: io::Error) -> Self {
        ExchangeError::Connection(error)
    }
}

/// Returns the error of a connection that ended within a response.
pub(crate) fn cut_short() -> ExchangeError {
    ExchangeError::Connection(io::Error::new(io::ErrorKind::UnexpectedEof, "closed within a response"))
}
