//! The head of an HTTP/1.1 response.

use super::head::After;
use crate::progress;
use crate::server::response::{Response, reason};
use std::io::Write;

/// [`ALWAYS`](crate::server::response::ALWAYS) in encoded form.
const ALWAYS: &[u8] = b"cache-control: no-store\r\naccess-control-allow-origin: *\r\ntiming-allow-origin: *\r\n";

/// Appends the head of `response` to `out`.
pub(crate) fn write_head(out: &mut Vec<u8>, response: &Response, after: After, date: &str) {
    let (status, length) = (response.status, response.length);
    let wrote = write!(
        out,
        "HTTP/1.1 {status} {}\r\ndate: {date}\r\ncontent-length: {length}\r\n",
        reason(status)
    );
    wrote.expect("a vector takes everything");
    out.extend_from_slice(ALWAYS);
    response.fields(|name, value| write!(out, "{name}: {value}\r\n").expect("a vector takes everything"));
    out.extend_from_slice(match after {
        After::Keep => b"\r\n",
        After::KeepAlive => b"connection: keep-alive\r\n\r\n",
        After::Close => b"connection: close\r\n\r\n",
    });
}

/// Appends an interim response with the progress of an upload to `out`.
pub(crate) fn write_progress(out: &mut Vec<u8>, offset: u64) {
    let (status, field) = (progress::STATUS, progress::FIELD);
    let wrote = write!(
        out,
        "HTTP/1.1 {status} Upload Resumption Supported\r\n{field}: {offset}\r\n\r\n"
    );
    wrote.expect("a vector takes everything");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::response;

    #[test]
    fn a_client_reads_the_progress() {
        for offset in [0, 1_500, u64::MAX] {
            let mut out = Vec::new();
            write_progress(&mut out, offset);
            let head = crate::client::head::parse(&out, false).unwrap().unwrap();
            assert_eq!((head.length, head.status, head.offset), (out.len(), 104, Some(offset)));
            assert!(head.is_interim());
        }
    }

    #[test]
    fn the_common_fields_are_encoded_as_listed() {
        let listed: String = response::ALWAYS
            .iter()
            .map(|(name, value)| format!("{name}: {value}\r\n"))
            .collect();
        assert_eq!(ALWAYS, listed.as_bytes());
    }
}
