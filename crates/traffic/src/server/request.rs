//! Requests and their routes, independently of the HTTP version.

use super::response::Response;
use crate::limiter::Client;

/// A request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Request<'a> {
    pub(crate) method: Method,
    /// Path and query of the target.
    pub(crate) path: &'a str,
    /// Host and port that the client used: `:authority` or `Host`.
    pub(crate) authority: Option<&'a [u8]>,
    /// `Range` field.
    pub(crate) range: Option<&'a [u8]>,
    /// True if there is an `If-Range` field.
    pub(crate) if_range: bool,
}

/// Methods that the server distinguishes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Method {
    Get,
    Head,
    Post,
    /// Preflight request of a browser.
    Options,
    /// Another method of HTTP.
    Other,
    /// Not a method of HTTP.
    Unknown,
}

impl Method {
    pub(crate) fn named(name: &str) -> Self {
        match name {
            "GET" => Method::Get,
            "HEAD" => Method::Head,
            "POST" => Method::Post,
            "OPTIONS" => Method::Options,
            "PUT" | "DELETE" | "CONNECT" | "TRACE" | "PATCH" => Method::Other,
            _ => Method::Unknown,
        }
    }
}

/// Result of routing a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Route {
    /// This response, regardless of the request's body.
    Response(Response),
    /// The body is received, counted and discarded. It has at most this number of bytes; `None`: any number.
    Sink(Option<u64>),
}

/// Connection of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Origin {
    pub(crate) client: Client,
    /// True if the connection uses TLS.
    pub(crate) tls: bool,
}
