//! What is asked, what is told while the answer comes, and how it ends.

use std::borrow::Cow;
use std::io;

/// A request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request<'a> {
    /// What is to be done.
    pub method: Method,
    /// The path and query, beginning with `/`.
    pub path: Cow<'a, str>,
    /// The `Host` field or `:authority`, with the port where it isn't the scheme's own.
    pub authority: Cow<'a, str>,
    /// Whether this is the connection's last request.
    pub last: bool,
    /// How long the answer's content may be. An answer of another length is rejected at its head, or where it says none
    /// there, once it is too long.
    pub length: Length,
}

/// How long content may be, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Length {
    /// As long as it is.
    #[default]
    Any,
    /// So long.
    Exactly(u64),
    /// At most so long.
    AtMost(u64),
}

impl Length {
    /// Whether an answer may say that its content is `declared` bytes long.
    pub(crate) fn allows(self, declared: u64) -> bool {
        match self {
            Length::Exactly(length) => declared == length,
            Length::Any | Length::AtMost(_) => declared <= self.most(),
        }
    }

    /// The most that may come.
    pub(crate) fn most(self) -> u64 {
        match self {
            Length::Any => u64::MAX,
            Length::Exactly(length) | Length::AtMost(length) => length,
        }
    }
}

/// The methods in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Fetch.
    Get,
    /// Fetch the head alone.
    Head,
    /// Send so many bytes.
    Post(u64),
}

impl Method {
    /// Its name on the wire.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Method::Get => "GET",
            Method::Head => "HEAD",
            Method::Post(_) => "POST",
        }
    }
}

/// An answer that has come to its end, or whose status ended the interest in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    /// The status code.
    pub status: u16,
    /// The `Location` field.
    pub location: Option<String>,
    /// What `Content-Length` said: of an answer to `HEAD`, the length that `GET` would bring.
    pub declared: Option<u64>,
    /// Bytes of content that came.
    pub content: u64,
    /// Whether the connection may be used again.
    pub keep: bool,
}

impl Response {
    /// Whether the status says success (2xx).
    #[must_use]
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }
}

/// Who is told while an answer comes.
pub trait TransferObserver {
    /// The answer's head has come (`bytes` is 0), or `bytes` more of the content have come, or been sent where the
    /// request has content.
    fn bytes(&mut self, bytes: u64);

    /// Waits until some of `wanted` more bytes of content may be moved, and says how many may, at least one: all of them at once
    /// where nothing bounds the rate.
    fn allowed(&mut self, wanted: u64) -> impl Future<Output = u64> {
        std::future::ready(wanted)
    }

    /// Whether the content itself is wanted; else it may be dropped in the kernel.
    fn wants_content(&self) -> bool {
        false
    }

    /// The content, piece by piece, where it is wanted; told besides [`bytes`](Self::bytes).
    fn content(&mut self, piece: &[u8]) {
        let _ = piece;
    }
}

/// Why there is no whole answer.
#[derive(Debug, thiserror::Error)]
pub enum ExchangeError {
    /// The connection had been used before, and was closed before anything of this answer came: the server had given
    /// it up, and nothing is wrong. Worth dialling again, once.
    #[error("the server had closed the idle connection")]
    Idle,
    /// The connection broke.
    #[error("the connection broke: {0}")]
    Connection(#[source] io::Error),
    /// What came is not an answer.
    #[error("{0}")]
    Response(String),
}

impl ExchangeError {
    /// The content is not as long as was asked for.
    pub(crate) fn wrong_length() -> Self {
        ExchangeError::Response("the content is not as long as was asked for".into())
    }
}

impl From<io::Error> for ExchangeError {
    fn from(error: io::Error) -> Self {
        ExchangeError::Connection(error)
    }
}

/// The connection ended where it should not.
pub(crate) fn cut_short() -> ExchangeError {
    ExchangeError::Connection(io::Error::new(io::ErrorKind::UnexpectedEof, "closed in the middle"))
}
