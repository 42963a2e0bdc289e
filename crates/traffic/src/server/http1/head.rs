//! The head of an HTTP/1 request (RFC 9112), read strictly: what could be read in two ways is refused, so that no
//! proxy in between and this server ever disagree about where a request ends.

use crate::server::response::Response;
use crate::server::route::{Method, Request};

/// A head may have so many fields.
const MAX_FIELDS: usize = 100;

/// A request's head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Head<'b> {
    pub(crate) request: Request<'b>,
    /// How long the body is.
    pub(crate) framing: Framing,
    /// What becomes of the connection afterwards.
    pub(crate) after: After,
    /// Whether the client waits for `100 Continue` before it sends the body.
    pub(crate) expects_continue: bool,
}

/// How long a body is (RFC 9112 §6).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Framing {
    /// There is none.
    None,
    /// So many bytes.
    Length(u64),
    /// As the chunked coding says.
    Chunked,
}

/// What becomes of a connection after a request (RFC 9112 §9.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum After {
    /// It is kept, as HTTP/1.1 does.
    Keep,
    /// It is kept, which an HTTP/1.0 client asked for and is to be told.
    KeepAndSay,
    /// It is closed.
    Close,
}

/// A request that is refused: with this status, for this reason. Where the next one would begin is then in doubt, so
/// the connection ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Refusal(pub(crate) u16, pub(crate) &'static str);

impl From<Refusal> for Response {
    fn from(Refusal(status, why): Refusal) -> Response {
        Response::text(status, why)
    }
}

/// How many bytes of line ends stand in front of a request (RFC 9112 §2.2 lets them).
pub(crate) fn leading_line_ends(bytes: &[u8]) -> usize {
    bytes.chunks_exact(2).take_while(|pair| *pair == b"\r\n").count() * 2
}

/// Where the head at the beginning of `bytes` ends, if it does; `searched` says how far it is known not to. At most
/// `limit` bytes are a head.
pub(crate) fn find_end(bytes: &[u8], searched: &mut usize, limit: usize) -> Result<Option<usize>, Refusal> {
    while let Some(found) = bytes[*searched..].iter().position(|b| *b == b'\n') {
        let at = *searched + found;
        // A bare LF ends a line for some readers and not for others.
        if at == 0 || bytes[at - 1] != b'\r' {
            return Err(Refusal(400, "a line ends with CR LF"));
        }
        *searched = at + 1;
        if bytes[..=at].ends_with(b"\r\n\r\n") {
            return match at < limit {
                true => Ok(Some(at + 1)),
                false => Err(too_large(bytes, limit)),
            };
        }
    }
    *searched = bytes.len();
    match bytes.len() < limit {
        true => Ok(None),
        false => Err(too_large(bytes, limit)),
    }
}

fn too_large(bytes: &[u8], limit: usize) -> Refusal {
    match bytes.iter().take(limit).any(|b| *b == b'\n') {
        true => Refusal(431, "the header fields are too large"),
        false => Refusal(414, "the request line is too long"),
    }
}

/// Reads a whole head, as [`find_end`] delimits it.
pub(crate) fn parse(bytes: &[u8]) -> Result<Head<'_>, Refusal> {
    let mut fields = [httparse::EMPTY_HEADER; MAX_FIELDS];
    let mut request = httparse::Request::new(&mut fields);
    match request.parse(bytes) {
        Ok(httparse::Status::Complete(_)) => {}
        Ok(httparse::Status::Partial) => return Err(Refusal(400, "the head is cut short")),
        Err(httparse::Error::TooManyHeaders) => return Err(Refusal(431, "there are too many header fields")),
        Err(httparse::Error::Version) => return Err(version_refusal(bytes)),
        Err(_) => return Err(Refusal(400, "this is not HTTP")),
    }
    let (Some(method), Some(target), Some(minor)) = (request.method, request.path, request.version) else {
        return Err(Refusal(400, "this is not HTTP"));
    };
    let seen = Seen::of(request.headers)?;
    if minor == 1 && seen.hosts != 1 || seen.hosts > 1 {
        return Err(Refusal(400, "there is to be one Host field"));
    }
    let method = Method::named(method);
    Ok(Head {
        framing: seen.framing(minor)?,
        after: match (minor, seen.close, seen.keep_alive) {
            (1, false, _) => After::Keep,
            (0, false, true) => After::KeepAndSay,
            _ => After::Close,
        },
        expects_continue: minor == 1 && seen.expects_continue,
        request: Request {
            method,
            path: path_of(target)?,
            range: seen.range,
            if_range: seen.if_range,
        },
    })
}

/// HTTP with a version that isn't ours, or not HTTP at all.
fn version_refusal(bytes: &[u8]) -> Refusal {
    let line = bytes.split(|b| *b == b'\r').next().unwrap_or_default();
    match line.rsplit(|b| *b == b' ').next() {
        Some([b'H', b'T', b'T', b'P', b'/', major, b'.', minor])
            if major.is_ascii_digit() && minor.is_ascii_digit() =>
        {
            Refusal(505, "HTTP/1.1 and HTTP/2 are spoken here")
        }
        _ => Refusal(400, "this is not HTTP"),
    }
}

/// The path and query of a request target: in origin form, or in absolute form as towards a proxy (RFC 9112 §3.2).
fn path_of(target: &str) -> Result<&str, Refusal> {
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
        _ => return Err(Refusal(400, "the target is not a path")),
    };
    let rest = &target[scheme.len()..];
    match rest.find(['/', '?']) {
        _ if rest.is_empty() => Err(Refusal(400, "the target is not a path")),
        Some(at) if rest[at..].starts_with('/') => Ok(&rest[at..]),
        // "http://host" and "http://host?query" mean the root.
        _ => Ok("/"),
    }
}

/// What the fields say, before it is put together.
#[derive(Debug, Default)]
struct Seen<'b> {
    hosts: usize,
    length: Option<u64>,
    chunked: bool,
    close: bool,
    keep_alive: bool,
    expects_continue: bool,
    range: Option<&'b [u8]>,
    if_range: bool,
}

impl<'b> Seen<'b> {
    fn of(fields: &[httparse::Header<'b>]) -> Result<Self, Refusal> {
        let mut seen = Seen::default();
        for field in fields {
            seen.take(field.name, field.value)?;
        }
        Ok(seen)
    }

    fn take(&mut self, name: &str, value: &'b [u8]) -> Result<(), Refusal> {
        // By length first: most fields are none of these.
        match name.len() {
            4 if name.eq_ignore_ascii_case("host") => {
                self.hosts += 1;
                if value
                    .iter()
                    .any(|b| b.is_ascii_whitespace() || matches!(b, b'/' | b'@' | b','))
                {
                    return Err(Refusal(400, "the Host field is not a host"));
                }
            }
            14 if name.eq_ignore_ascii_case("content-length") => {
                if self.length.is_some() {
                    return Err(Refusal(400, "there are two Content-Length fields"));
                }
                self.length = Some(number(value)?);
            }
            17 if name.eq_ignore_ascii_case("transfer-encoding") => {
                if self.chunked || value.is_empty() {
                    return Err(Refusal(400, "the Transfer-Encoding is in doubt"));
                }
                if !value.eq_ignore_ascii_case(b"chunked") {
                    return Err(Refusal(501, "only the chunked transfer coding is understood"));
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
                    return Err(Refusal(417, "only 100-continue can be expected"));
                }
                self.expects_continue = true;
            }
            5 if name.eq_ignore_ascii_case("range") => self.range = Some(value),
            8 if name.eq_ignore_ascii_case("if-range") => self.if_range = true,
            _ => {}
        }
        Ok(())
    }

    fn framing(&self, minor: u8) -> Result<Framing, Refusal> {
        match (self.chunked, self.length) {
            // The classic of request smuggling: RFC 9112 §6.1 lets a server refuse it, and so it does.
            (true, Some(_)) => Err(Refusal(400, "both Content-Length and Transfer-Encoding are given")),
            (true, None) if minor == 0 => Err(Refusal(400, "HTTP/1.0 has no Transfer-Encoding")),
            (true, None) => Ok(Framing::Chunked),
            (false, Some(length)) => Ok(Framing::Length(length)),
            (false, None) => Ok(Framing::None),
        }
    }
}

/// A `Content-Length`: digits and nothing else (RFC 9110 §8.6).
fn number(value: &[u8]) -> Result<u64, Refusal> {
    let text = std::str::from_utf8(value).unwrap_or_default();
    if text.is_empty() || !text.bytes().all(|b| b.is_ascii_digit()) {
        return Err(Refusal(400, "the Content-Length is not a number"));
    }
    text.parse().map_err(|_| Refusal(413, "nobody has so much to send"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(text: &str) -> Result<Head<'_>, Refusal> {
        parse(text.as_bytes())
    }

    fn status(text: &str) -> u16 {
        head(text).map_or_else(|refusal| refusal.0, |_| 200)
    }

    #[test]
    fn a_head_is_read() {
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
    fn how_long_a_connection_is_kept() {
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
            ("1.0", "Connection: Keep-Alive\r\n", After::KeepAndSay),
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
                .map_err(|refusal| refusal.0)
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

    /// The ways in which two readers of one request come to disagree about its end.
    #[test]
    fn what_could_be_read_in_two_ways_is_refused() {
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
    fn what_is_not_our_http() {
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
