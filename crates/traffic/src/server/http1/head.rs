//! The head of an HTTP/1 request (RFC 9112), read strictly: what could be read in two ways is refused, so that no
//! proxy in between and this server ever disagree about where a request ends.

use crate::server::answer::Answer;
use crate::server::route::{Ask, Method};

/// A head may have so many fields.
const MAX_FIELDS: usize = 100;

/// A request's head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Head<'b> {
    pub(crate) ask: Ask<'b>,
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

impl From<Refusal> for Answer {
    fn from(Refusal(status, why): Refusal) -> Answer {
        Answer::text(status, why)
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
        ask: Ask {
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
