//! What the server answers, whatever the version of HTTP.

use bytes::Bytes;
use std::fmt::Arguments;

/// What the head of every answer says: what a cache answers says nothing about the network behind it, and pages of other
/// origins may read what is here (it is nobody's secret) and how long each part of a request took.
pub(crate) const ALWAYS: [(&str, &str); 3] = [
    ("cache-control", "no-store"),
    ("access-control-allow-origin", "*"),
    ("timing-allow-origin", "*"),
];

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Response {
    /// The status code.
    pub(crate) status: u16,
    /// What follows the head, if anything does.
    pub(crate) body: Body,
    /// What `Content-Length` says: what is sent, or for HEAD would have been.
    pub(crate) length: u64,
    /// Whether the body is left out (HEAD).
    pub(crate) head_only: bool,
    /// What else the head says.
    pub(crate) more: More,
}

/// What follows the head.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Body {
    /// These bytes, of this type.
    Text(&'static str, Bytes),
    /// Content from this offset on.
    Content(u64),
}

/// What else the head says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum More {
    Nothing,
    /// Parts of it can be asked for.
    Ranges,
    /// These bytes, both included, of so many.
    Part(u64, u64, u64),
    /// The object has so many bytes, and none that were asked for.
    Unsatisfiable(u64),
    /// These methods would do.
    Allow(&'static str),
    /// Pages of other origins may use these methods (Fetch §4.8, the answer to a preflight).
    Preflight(&'static str),
    /// Later it may go better.
    Later,
}

impl Response {
    /// A line of plain text.
    pub(crate) fn text(status: u16, line: impl Into<String>) -> Self {
        let mut line = line.into();
        line.push('\n');
        Self::page(status, "text/plain; charset=utf-8", Bytes::from(line))
    }

    /// Bytes of this type.
    pub(crate) fn page(status: u16, kind: &'static str, bytes: Bytes) -> Self {
        Self {
            status,
            length: bytes.len() as u64,
            body: Body::Text(kind, bytes),
            head_only: false,
            more: More::Nothing,
        }
    }

    /// `length` bytes of content from `from` on.
    pub(crate) fn content(status: u16, from: u64, length: u64, more: More) -> Self {
        Self {
            status,
            body: Body::Content(from),
            length,
            head_only: false,
            more,
        }
    }

    /// The same, saying more.
    pub(crate) fn with(mut self, more: More) -> Self {
        self.more = more;
        self
    }

    /// The body's length as sent.
    pub(crate) fn sent_length(&self) -> u64 {
        if self.head_only { 0 } else { self.length }
    }

    /// Hands over each field of the head but `Date`, `Content-Length` and those of [`ALWAYS`].
    pub(crate) fn fields(&self, mut field: impl FnMut(&'static str, Arguments<'_>)) {
        let kind = match &self.body {
            Body::Text(kind, _) => kind,
            Body::Content(_) => "application/octet-stream",
        };
        field("content-type", format_args!("{kind}"));
        match self.more {
            More::Nothing => {}
            More::Ranges => field("accept-ranges", format_args!("bytes")),
            More::Part(first, last, total) => field("content-range", format_args!("bytes {first}-{last}/{total}")),
            More::Unsatisfiable(total) => field("content-range", format_args!("bytes */{total}")),
            More::Allow(methods) => field("allow", format_args!("{methods}")),
            More::Preflight(methods) => {
                field("access-control-allow-methods", format_args!("{methods}"));
                // Two hours: no browser that we know keeps it longer.
                field("access-control-max-age", format_args!("7200"));
            }
            More::Later => field("retry-after", format_args!("1")),
        }
    }
}

/// The reason phrase of a status code that this server sends.
pub(crate) fn reason(status: u16) -> &'static str {
    match status {
        100 => "Continue",
        200 => "OK",
        206 => "Partial Content",
        400 => "Bad Request",
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
