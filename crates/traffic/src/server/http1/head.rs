//! Strict parser of the head of an HTTP/1 request (RFC 9112). It rejects ambiguous requests, so that proxies and this
//! server always agree about the end of a request.

use crate::progress;
use crate::server::request::{Method, Request};
use crate::server::response::Response;

/// Maximum number of fields in a head.
const MAX_FIELDS: usize = 100;

/// Head of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Head<'b> {
    pub(crate) request: Request<'b>,
    /// Framing of the body.
    pub(crate) framing: Framing,
    /// State of the connection after the response.
    pub(crate) after: After,
    /// True if the client waits for `100 Continue` before it sends the body.
    pub(crate) expects_continue: bool,
    /// True if the client asks for the progress of its upload, and understands interim responses.
    pub(crate) wants_progress: bool,
}

/// Framing of a body (RFC 9112 §6).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Framing {
    /// No body.
    None,
    /// This many bytes.
    Length(u64),
    /// Chunked transfer coding.
    Chunked,
}

/// State of a connection after a request (RFC 9112 §9.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum After {
    /// Kept open, the default of HTTP/1.1.
    Keep,
    /// Kept open with a `Connection: keep-alive` field, which an HTTP/1.0 client requires.
    KeepAlive,
    /// Closed.
    Close,
}

/// A rejected request: status and reason. The start of the next request is unknown, so the connection is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rejection(pub(crate) u16, pub(crate) &'static str);

impl From<Rejection> for Response {
    fn from(Rejection(status, why): Rejection) -> Response {
        Response::text(status, why)
    }
}

/// Returns the number of bytes of line ends before a request (permitted by RFC 9112 §2.2).
pub(crate) fn leading_line_ends(bytes: &[u8]) -> usize {
    bytes.chunks_exact(2).take_while(|pair| *pair == b"\r\n").count() * 2
}

/// Returns the end of the head at the beginning of `bytes`, if it is complete. `searched` stores how far it is known to
/// be incomplete. A head has at most `limit` bytes.
pub(crate) fn find_end(bytes: &[u8], searched: &mut usize, limit: usize) -> Result<Option<usize>, Rejection> {
    while let Some(found) = bytes[*searched..].iter().position(|b| *b == b'\n') {
        let at = *searched + found;
        // A bare LF is a line end for some parsers only.
        if at == 0 || bytes[at - 1] != b'\r' {
            return Err(Rejection(400, "invalid line end: expected CR LF"));
        }
        *searched = at + 1;
        if bytes[..=at].ends_with(b"\r\n\r\n") {
            return if at < limit {
                Ok(Some(at + 1))
            } else {
                Err(too_large(bytes, limit))
            };
        }
    }
    *searched = bytes.len();
    if bytes.len() < limit {
        Ok(None)
    } else {
        Err(too_large(bytes, limit))
    }
}

fn too_large(bytes: &[u8], limit: usize) -> Rejection {
    if bytes.iter().take(limit).any(|b| *b == b'\n') {
        Rejection(431, "the header fields are too large")
    } else {
        Rejection(414, "the request line is too long")
    }
}

/// Parses a whole head, delimited by [`find_end`].
pub(crate) fn parse(bytes: &[u8]) -> Result<Head<'_>, Rejection> {
    let mut fields = [httparse::EMPTY_HEADER; MAX_FIELDS];
    let mut request = httparse::Request::new(&mut fields);
    match request.parse(bytes) {
        Ok(httparse::Status::Complete(_)) => {}
        Ok(httparse::Status::Partial) => return Err(Rejection(400, "incomplete head")),
        Err(httparse::Error::TooManyHeaders) => return Err(Rejection(431, "there are too many header fields")),
        Err(httparse::Error::Version) => return Err(version_rejection(bytes)),
        Err(_) => return Err(Rejection(400, "not an HTTP request")),
    }
    let (Some(method), Some(target), Some(minor)) = (request.method, request.path, request.version) else {
        return Err(Rejection(400, "not an HTTP request"));
    };
    let seen = Fields::from_headers(request.headers)?;
    if minor == 1 && seen.hosts != 1 || seen.hosts > 1 {
        return Err(Rejection(400, "expected exactly one Host field"));
    }
    let method = Method::named(method);
    Ok(Head {
        framing: seen.framing(minor)?,
        after: match (minor, seen.close, seen.keep_alive) {
            (1, false, _) => After::Keep,
            (0, false, true) => After::KeepAlive,
            _ => After::Close,
        },
        expects_continue: minor == 1 && seen.expects_continue,
        // RFC 9110 §15.2: no interim responses to HTTP/1.0 clients.
        wants_progress: minor == 1 && progress::is_requested(target),
        request: Request {
            method,
            path: path_of(target)?,
            authority: seen.host,
            range: seen.range,
            if_range: seen.if_range,
        },
    })
}

/// Returns the rejection of an unsupported HTTP version or of something else than HTTP.
fn version_rejection(bytes: &[u8]) -> Rejection {
    let line = bytes.split(|b| *b == b'\r').next().unwrap_or_default();
    match line.rsplit(|b| *b == b' ').next() {
        Some([b'H', b'T', b'T', b'P', b'/', major, b'.', minor])
            if major.is_ascii_digit() && minor.is_ascii_digit() =>
        {
            Rejection(505, "unsupported HTTP version: expected HTTP/1.1 or HTTP/2")
        }
        _ => Rejection(400, "not an HTTP request"),
    }
}

/// Returns path and query of a request target in origin form or in absolute form (RFC 9112 §3.2).
fn path_of(target: &str) -> Result<&str, Rejection> {
    if target.starts_with('/') || target == "*" {
        return Ok(target);
    }
    let lower = target
        .get(..8.min(target.len()))
        .unwrap_or_default()
        .to_ascii_lowercase();
    let scheme = match lower.as_str() {
        text if text.starts_with("http://") => "http://",
        "https://" => "https://",
        _ => return Err(Rejection(400, "invalid request target: expected a path")),
    };
    let rest = &target[scheme.len()..];
    match rest.find(['/', '?']) {
        _ if rest.is_empty() => Err(Rejection(400, "invalid request target: expected a path")),
        Some(at) if rest[at..].starts_with('/') => Ok(&rest[at..]),
        // "http://host" and "http://host?query" refer to the root.
        _ => Ok("/"),
    }
}

/// Values of the relevant fields before their combination is checked.
#[derive(Debug, Default)]
struct Fields<'b> {
    hosts: usize,
    host: Option<&'b [u8]>,
    length: Option<u64>,
    chunked: bool,
    close: bool,
    keep_alive: bool,
    expects_continue: bool,
    range: Option<&'b [u8]>,
    if_range: bool,
}

impl<'b> Fields<'b> {
    fn from_headers(fields: &[httparse::Header<'b>]) -> Result<Self, Rejection> {
        let mut seen = Fields::default();
        for field in fields {
            seen.take(field.name, field.value)?;
        }
        Ok(seen)
    }

    fn take(&mut self, name: &str, value: &'b [u8]) -> Result<(), Rejection> {
        // By length first, because most fields are none of these.
        match name.len() {
            4 if name.eq_ignore_ascii_case("host") => {
                self.hosts += 1;
                if value
                    .iter()
                    .any(|b| b.is_ascii_whitespace() || matches!(b, b'/' | b'@' | b','))
                {
                    return Err(Rejection(400, "invalid Host field"));
                }
                self.host = Some(value);
            }
            14 if name.eq_ignore_ascii_case("content-length") => {
                if self.length.is_some() {
                    return Err(Rejection(400, "duplicate Content-Length field"));
                }
                self.length = Some(number(value)?);
            }
            17 if name.eq_ignore_ascii_case("transfer-encoding") => {
                if self.chunked || value.is_empty() {
                    return Err(Rejection(400, "ambiguous Transfer-Encoding"));
                }
                if !value.eq_ignore_ascii_case(b"chunked") {
                    return Err(Rejection(501, "unsupported transfer coding: expected chunked"));
                }
                self.chunked = true;
            }
            10 if name.eq_ignore_ascii_case("connection") => {
                for option in value.split(|b| *b == b',').map(<[u8]>::trim_ascii) {
                    self.close |= option.eq_ignore_ascii_case(b"close");
                    self.keep_alive |= option.eq_ignore_ascii_case(b"keep-alive");
                }
            }
            6 if name.eq_ignore_ascii_case("expect") => {
                if !value.eq_ignore_ascii_case(b"100-continue") {
                    return Err(Rejection(417, "unsupported Expect field: expected 100-continue"));
                }
                self.expects_continue = true;
            }
            5 if name.eq_ignore_ascii_case("range") => self.range = Some(value),
            8 if name.eq_ignore_ascii_case("if-range") => self.if_range = true,
            _ => {}
        }
        Ok(())
    }

    fn framing(&self, minor: u8) -> Result<Framing, Rejection> {
        match (self.chunked, self.length) {
            // Request smuggling: RFC 9112 §6.1 permits a server to reject this.
            (true, Some(_)) => Err(Rejection(400, "both Content-Length and Transfer-Encoding are present")),
            (true, None) if minor == 0 => Err(Rejection(400, "unexpected Transfer-Encoding in HTTP/1.0")),
            (true, None) => Ok(Framing::Chunked),
            (false, Some(length)) => Ok(Framing::Length(length)),
            (false, None) => Ok(Framing::None),
        }
    }
}

/// Parses a `Content-Length`: digits only (RFC 9110 §8.6).
fn number(value: &[u8]) -> Result<u64, Rejection> {
    let text = std::str::from_utf8(value).unwrap_or_default();
    if text.is_empty() || !text.bytes().all(|b| b.is_ascii_digit()) {
        return Err(Rejection(400, "invalid Content-Length: expected a number"));
    }
    text.parse().map_err(|_| Rejection(413, "Content-Length out of range"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(text: &str) -> Result<Head<'_>, Rejection> {
        parse(text.as_bytes())
    }

    fn status(text: &str) -> u16 {
        head(text).map_or_else(|rejection| rejection.0, |_| 200)
    }

    #[test]
    fn a_head_is_parsed() {
        let text = "POST /sink?x=1 HTTP/1.1\r\nHost: a:80\r\nContent-Length: 12\r\nExpect: 100-Continue\r\n\r\n";
        let head = head(text).unwrap();
        assert_eq!((head.request.method, head.request.path), (Method::Post, "/sink?x=1"));
        assert_eq!(
            (head.framing, head.after, head.expects_continue),
            (Framing::Length(12), After::Keep, true)
        );
        let text =
            "GET / HTTP/1.1\r\nhost:a\r\nRANGE:  bytes=1-2 \r\nif-range: x\r\nTransfer-Encoding: Chunked\r\n\r\n";
        let head = super::parse(text.as_bytes()).unwrap();
        assert_eq!(head.request.range, Some(&b"bytes=1-2"[..]));
        assert!(head.request.if_range && head.framing == Framing::Chunked);
    }

    #[test]
    fn a_connection_is_kept_for_the_configured_time() {
        for (version, fields, after) in [
            ("1.1", "", After::Keep),
            ("1.1", "Connection: close\r\n", After::Close),
            ("1.1", "Connection: foo , Close\r\n", After::Close),
            ("1.1", "Connection: keep-alive\r\n", After::Keep),
            (
                "1.1",
                "Connection: upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n",
                After::Keep,
            ),
            ("1.0", "", After::Close),
            ("1.0", "Connection: Keep-Alive\r\n", After::KeepAlive),
            ("1.0", "Connection: keep-alive\r\nConnection: close\r\n", After::Close),
        ] {
            let text = format!("GET / HTTP/{version}\r\nHost: a\r\n{fields}\r\n");
            assert_eq!(head(&text).unwrap().after, after, "{text}");
        }
    }

    #[test]
    fn targets_in_each_form() {
        let path = |target: &str| {
            let text = format!("GET {target} HTTP/1.1\r\nHost: a\r\n\r\n");
            head(&text)
                .map(|head| head.request.path.to_owned())
                .map_err(|rejection| rejection.0)
        };
        assert_eq!(path("/bytes/5?a=/b"), Ok("/bytes/5?a=/b".to_owned()));
        assert_eq!(path("http://a:80/bytes/5"), Ok("/bytes/5".to_owned()));
        assert_eq!(path("HTTPS://a/bytes/5"), Ok("/bytes/5".to_owned()));
        assert_eq!(path("http://a"), Ok("/".to_owned()));
        assert_eq!(path("http://a?x=/y"), Ok("/".to_owned()));
        assert_eq!(path("*"), Ok("*".to_owned()));
        for target in ["http://", "ftp://a/", "a:80", "bytes/5", "http:/a/b"] {
            assert_eq!(path(target), Err(400), "{target}");
        }
    }

    /// Requests whose end could be interpreted differently.
    #[test]
    fn ambiguous_requests_are_rejected() {
        for (fields, expected) in [
            ("Content-Length: 5\r\nTransfer-Encoding: chunked", 400),
            ("Transfer-Encoding: chunked\r\nContent-Length: 5", 400),
            ("Content-Length: 5\r\nContent-Length: 5", 400),
            ("Content-Length: 5\r\nContent-Length: 6", 400),
            ("Content-Length: 5, 5", 400),
            ("Content-Length: +5", 400),
            ("Content-Length: -5", 400),
            ("Content-Length: 0x5", 400),
            ("Content-Length: 5 5", 400),
            ("Content-Length:", 400),
            ("Content-Length: 99999999999999999999", 413),
            ("Content-Length : 5", 400),
            (" Content-Length: 5", 400),
            ("A: b\r\n Content-Length: 5", 400),
            ("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", 400),
            ("Transfer-Encoding: chunked, chunked", 501),
            ("Transfer-Encoding: gzip, chunked", 501),
            ("Transfer-Encoding: identity", 501),
            ("Transfer-Encoding: xchunked", 501),
            ("Transfer-Encoding: \u{b}chunked", 400),
            ("Transfer-Encoding:", 400),
            ("Transfer\u{0}Encoding: chunked", 400),
            ("A: b\rContent-Length: 5", 400),
            ("Host: b", 400),
            ("Expect: 200-ok", 417),
        ] {
            let text = format!("POST /sink HTTP/1.1\r\nHost: a\r\n{fields}\r\n\r\n");
            assert_eq!(status(&text), expected, "{fields}");
        }
        assert_eq!(status("POST /sink HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"), 400);
    }

    #[test]
    fn unsupported_versions_and_protocols_are_rejected() {
        for (text, expected) in [
            ("GET / HTTP/1.1\r\n\r\n", 400),
            ("GET / HTTP/1.0\r\n\r\n", 200),
            ("GET / HTTP/1.1\r\nHost: a b\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\nHost: a,b\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\nHost: user@a\r\n\r\n", 400),
            ("GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505),
            ("GET / HTTP/0.9\r\nHost: a\r\n\r\n", 505),
            ("GET / HTTP/1.2\r\nHost: a\r\n\r\n", 505),
            ("GET / HTCPCP/1.0\r\nHost: a\r\n\r\n", 400),
            ("GET /\r\n\r\n", 400),
            ("GET  / HTTP/1.1\r\nHost: a\r\n\r\n", 400),
            ("G(T / HTTP/1.1\r\nHost: a\r\n\r\n", 400),
            ("\u{16}\u{3}\u{1}\u{2}\r\n\r\n", 400),
            ("CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        ] {
            assert_eq!(status(text), expected, "{text}");
        }
        let many = format!("GET / HTTP/1.1\r\nHost: a\r\n{}\r\n", "A: b\r\n".repeat(100));
        assert_eq!(status(&many), 431);
    }

    #[test]
    fn where_a_head_ends() {
        let find = |text: &str, limit| find_end(text.as_bytes(), &mut 0, limit);
        let text = "GET / HTTP/1.1\r\nA: b\r\n\r\nbody";
        assert_eq!(find(text, 100), Ok(Some(text.len() - 4)));
        assert_eq!(find(text, text.len() - 4), Ok(Some(text.len() - 4)));
        assert_eq!(find(text, text.len() - 5).unwrap_err().0, 431);
        assert_eq!(find("GET /aaaaaaaaaaaaa", 18).unwrap_err().0, 414);
        assert_eq!(find("GET / HTTP/1.1\r\nA: bbbb", 23).unwrap_err().0, 431);
        assert_eq!(find("GET / HTTP/1.1\r\nA: b\r\n", 100), Ok(None));
        assert_eq!(find("GET / HTTP/1.1\nA: b", 100).unwrap_err().0, 400);
        assert_eq!(find("\n", 100).unwrap_err().0, 400);
        assert_eq!(leading_line_ends(b"\r\n\r\nGET"), 4);
        assert_eq!(leading_line_ends(b"\rGET"), 0);
    }
}
