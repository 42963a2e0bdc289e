//! A request with content of the caller, for notices that are not part of a measurement.

use super::tls;
use super::{Meter, Stream, Target};
use netburn_scenario::plan::Http;
use std::io;
use std::rc::Rc;

/// Maximum length of the status line of the response (RFC 9112, 4: a status line has no limit of its own).
const MAX_LINE: usize = 1024;
/// Maximum number of received bytes, with the TLS handshake.
const MAX_RECEIVED: u64 = 256 * 1024;

/// Sends `content` with POST over HTTP/1.1, and returns the status of the response. The rest of the response is not read.
/// The caller limits the time.
///
/// # Errors
/// An I/O error without a connection or a valid status line.
pub async fn post(target: &Target, path: &str, content_type: &str, content: &[u8]) -> io::Result<u16> {
    let tls = target
        .tls
        .as_ref()
        .map(|trust| tls::config(trust, Http::H1))
        .transpose()?;
    let meter = Rc::new(Meter::receiving(MAX_RECEIVED));
    let mut stream = Stream::dial(target, tls.as_ref(), 0, &meter).await?;
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: {}\r\nUser-Agent: netburn/{}\r\nContent-Type: {content_type}\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n",
        target.authority(),
        env!("CARGO_PKG_VERSION"),
        content.len()
    );
    stream.send(head.as_bytes()).await?;
    stream.send(content).await?;
    let mut received = Vec::new();
    let mut piece = [0; MAX_LINE];
    loop {
        if let Some(end) = received.iter().position(|byte| *byte == b'\n') {
            return status(&received[..end]);
        }
        if received.len() >= MAX_LINE {
            return Err(invalid("the response has no status line of HTTP"));
        }
        match stream.receive(&mut piece).await? {
            0 => return Err(invalid("the connection was closed before a status line")),
            count => received.extend_from_slice(&piece[..count]),
        }
    }
}

/// The status of a status line (RFC 9112, 4).
fn status(line: &[u8]) -> io::Result<u16> {
    let wrong = || invalid("the response has no status line of HTTP");
    let rest = line.strip_prefix(b"HTTP/1.").ok_or_else(wrong)?;
    let digits = rest
        .get(2..5)
        .filter(|_| rest[0].is_ascii_digit() && rest[1] == b' ')
        .ok_or_else(wrong)?;
    let ends = rest.get(5).is_none_or(|byte| !byte.is_ascii_digit());
    let text = std::str::from_utf8(digits)
        .ok()
        .filter(|text| text.bytes().all(|b| b.is_ascii_digit()));
    text.and_then(|text| text.parse().ok())
        .filter(|_| ends)
        .ok_or_else(wrong)
}

fn invalid(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Status lines of RFC 9112, 4, and lines that are none.
    #[test]
    fn a_status_is_three_digits_of_a_status_line() {
        assert_eq!(status(b"HTTP/1.1 204 No Content\r").unwrap(), 204);
        assert_eq!(status(b"HTTP/1.0 500").unwrap(), 500);
        for wrong in [
            &b""[..],
            b"HTTP/1.",
            b"HTTP/1.1",
            b"HTTP/1.1 20",
            b"HTTP/1.1 2000 OK",
            b"HTTP/2 200",
            b"HTTP/1.1 +20",
            b"\xff\xfe",
        ] {
            assert!(status(wrong).is_err(), "{wrong:?}");
        }
    }
}
