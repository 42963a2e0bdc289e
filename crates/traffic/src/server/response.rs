//! Responses of the server, independently of the HTTP version.

use bytes::Bytes;
use std::fmt::Arguments;

/// Fields of every response. Caching is disabled, because cached responses say nothing about the network. Pages of
/// other origins may read the public content, and the timing of requests.
pub(crate) const ALWAYS: [(&str, &str); 3] = [
    ("cache-control", "no-store"),
    ("access-control-allow-origin", "*"),
    ("timing-allow-origin", "*"),
];

/// Methods of resources that can be read.
pub(crate) const READ: &str = "GET, HEAD";
/// Method of resources that receive a body.
pub(crate) const WRITE: &str = "POST";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Response {
    /// Status code.
    pub(crate) status: u16,
    pub(crate) body: Body,
    /// `Content-Length`: the length of the body, also for HEAD.
    pub(crate) length: u64,
    /// True if the body is omitted (HEAD).
    pub(crate) head_only: bool,
    /// Additional field.
    pub(crate) more: ExtraField,
}

/// Body of a response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Body {
    /// Bytes of this media type.
    Text(&'static str, Bytes),
    /// Content from this offset.
    Content(u64),
}

/// Additional field of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExtraField {
    Nothing,
    /// `Accept-Ranges`.
    Ranges,
    /// `Content-Range`: first and last byte, and the total length.
    Part(u64, u64, u64),
    /// `Content-Range` of an unsatisfiable range, with the total length.
    Unsatisfiable(u64),
    /// `Allow` with these methods.
    Allow(&'static str),
    /// Methods that pages of other origins may use (Fetch §4.8, response to a preflight request).
    Preflight(&'static str),
    /// `Retry-After`.
    Later,
}

impl Response {
    /// Creates a response with a line of plain text.
    pub(crate) fn text(status: u16, line: impl Into<String>) -> Self {
        let mut line = line.into();
        line.push('\n');
        Self::page(status, "text/plain; charset=utf-8", Bytes::from(line))
    }

    /// Creates a response with bytes of this media type.
    pub(crate) fn page(status: u16, kind: &'static str, bytes: Bytes) -> Self {
        Self {
            status,
            length: bytes.len() as u64,
            body: Body::Text(kind, bytes),
            head_only: false,
            more: ExtraField::Nothing,
        }
    }

    /// Creates a response with `length` bytes of content from `from`.
    pub(crate) fn content(status: u16, from: u64, length: u64, more: ExtraField) -> Self {
        Self {
            status,
            body: Body::Content(from),
            length,
            head_only: false,
            more,
        }
    }

    /// Sets the additional field.
    pub(crate) fn with(mut self, more: ExtraField) -> Self {
        self.more = more;
        self
    }

    /// Returns the length of the body as sent.
    pub(crate) fn sent_length(&self) -> u64 {
        if self.head_only { 0 } else { self.length }
    }

    /// Calls `field` for each field of the head except `Date`, `Content-Length` and those of [`ALWAYS`].
    pub(crate) fn fields(&self, mut field: impl FnMut(&'static str, Arguments<'_>)) {
        let kind = match &self.body {
            Body::Text(kind, _) => kind,
            Body::Content(_) => "application/octet-stream",
        };
        field("content-type", format_args!("{kind}"));
        match self.more {
            ExtraField::Nothing => {}
            ExtraField::Ranges => field("accept-ranges", format_args!("bytes")),
            ExtraField::Part(first, last, total) => {
                field("content-range", format_args!("bytes {first}-{last}/{total}"))
            }
            ExtraField::Unsatisfiable(total) => field("content-range", format_args!("bytes */{total}")),
            ExtraField::Allow(methods) => field("allow", format_args!("{methods}")),
            ExtraField::Preflight(methods) => {
                field("access-control-allow-methods", format_args!("{methods}"));
                // Two hours, the maximum of common browsers.
                field("access-control-max-age", format_args!("7200"));
            }
            ExtraField::Later => field("retry-after", format_args!("1")),
        }
    }
}

pub(crate) fn not_allowed(methods: &'static str) -> Response {
    Response::text(405, format!("supported methods: {methods}")).with(ExtraField::Allow(methods))
}

/// Returns the response to a preflight request. All origins have the same permissions.
pub(crate) fn preflight(methods: &'static str) -> Response {
    Response::text(200, format!("supported methods: {methods}")).with(ExtraField::Preflight(methods))
}

/// Returns the reason phrase of a status code that this server uses.
pub(crate) fn reason(status: u16) -> &'static str {
    match status {
        100 => "Continue",
        200 => "OK",
        206 => "Partial Content",
        400 => "Bad Request",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        408 => "Request Timeout",
        411 => "Length Required",
        413 => "Content Too Large",
        414 => "URI Too Long",
        416 => "Range Not Satisfiable",
        417 => "Expectation Failed",
        429 => "Too Many Requests",
        431 => "Request Header Fields Too Large",
        501 => "Not Implemented",
        503 => "Service Unavailable",
        505 => "HTTP Version Not Supported",
        _ => "",
    }
}
