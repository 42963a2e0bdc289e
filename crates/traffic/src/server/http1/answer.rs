//! The head of an HTTP/1 answer.

use super::head::After;
use crate::server::answer::{Answer, reason};
use std::io::Write;

/// Writes the head of `answer` to the end of `out`.
pub(crate) fn write_head(out: &mut Vec<u8>, answer: &Answer, after: After, date: &str) {
    let (status, length) = (answer.status, answer.length);
    let wrote = write!(
        out,
        "HTTP/1.1 {status} {}\r\ndate: {date}\r\ncontent-length: {length}\r\n",
        reason(status)
    );
    wrote.expect("a vector takes everything");
    answer.fields(|name, value| write!(out, "{name}: {value}\r\n").expect("a vector takes everything"));
    out.extend_from_slice(match after {
        After::Keep => b"\r\n",
        After::KeepAndSay => b"connection: keep-alive\r\n\r\n",
        After::Close => b"connection: close\r\n\r\n",
    });
}
