//! Parser of the head of an HTTP/1.1 response and its framing (RFC 9112 §6.3).

use crate::progress;

/// Maximum length of a head in bytes.
pub const MAX_HEAD: usize = 64 * 1024;
/// Maximum number of fields in a head.
pub const MAX_FIELDS: usize = 128;

/// Error of a response's head.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum HeadError {
    /// The response is not HTTP/1.
    #[error("the response is not HTTP/1.1")]
    NotHttp,
    /// The head has too many bytes or fields.
    #[error("the response's head is too long")]
    TooLong,
    /// `Content-Length` is not a number, or there are different ones.
    #[error("invalid Content-Length: expected a number")]
    Length,
}

/// Framing of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Body {
    /// This many bytes; 0 without a body.
    Length(u64),
    /// Chunked transfer coding.
    Chunked,
    /// Until the connection closes.
    UntilClose,
}

/// Head of a response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// Length in bytes, including the empty line.
    pub length: usize,
    /// Status code, 100 to 999.
    pub status: u16,
    /// Framing of the body.
    pub body: Body,
    /// `Content-Length` field. For `HEAD`, the length of the corresponding `GET`.
    pub declared: Option<u64>,
    /// True if the connection can be reused afterwards.
    pub keep: bool,
    /// `Location` field.
    pub location: Option<String>,
    /// `Upload-Offset` field, if there is one and its value is a number.
    pub offset: Option<u64>,
}

impl Head {
    /// Returns whether another head follows (1xx, RFC 9110 §15.2). 101 is never requested and ends HTTP/1.1, so it
    /// counts as a final response.
    #[must_use]
    pub fn is_interim(&self) -> bool {
        (100..200).contains(&self.status) && self.status != 101
    }
}

/// Parses the head at the beginning of `input`; `None` if it is incomplete. With `to_head`, the request's method was
/// `HEAD`, so there is no body.
///
/// # Errors
/// [`HeadError`] when no further input could complete a valid head.
pub fn parse(input: &[u8], to_head: bool) -> Result<Option<Head>, HeadError> {
    let mut fields = [httparse::EMPTY_HEADER; MAX_FIELDS];
    let mut response = httparse::Response::new(&mut fields);
    let length = match response.parse(&input[..input.len().min(MAX_HEAD)]) {
        Ok(httparse::Status::Complete(length)) => length,
        Ok(httparse::Status::Partial) if input.len() >= MAX_HEAD => return Err(HeadError::TooLong),
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(httparse::Error::TooManyHeaders) => return Err(HeadError::TooLong),
        Err(_) => return Err(HeadError::NotHttp),
    };
    let (Some(status), Some(minor)) = (response.code, response.version) else {
        return Err(HeadError::NotHttp);
    };
    if status < 100 {
        return Err(HeadError::NotHttp);
    }
    let values = |name: &'static str| {
        let named = response
            .headers
            .iter()
            .filter(move |f| f.name.eq_ignore_ascii_case(name));
        named.map(|field| field.value.trim_ascii())
    };
    let tokens = |name| {
        values(name)
            .flat_map(|v| v.split(|b| *b == b','))
            .map(<[u8]>::trim_ascii)
    };
    let has = |name, token: &str| tokens(name).any(|t| t.eq_ignore_ascii_case(token.as_bytes()));

    let mut said = None;
    for value in tokens("content-length") {
        let value = number(value).ok_or(HeadError::Length)?;
        if *said.get_or_insert(value) != value {
            return Err(HeadError::Length);
        }
    }
    let coded = values("transfer-encoding").next().is_some();
    let chunked = tokens("transfer-encoding")
        .next_back()
        .is_some_and(|t| t.eq_ignore_ascii_case(b"chunked"));
    let body = match said {
        _ if to_head || status < 200 || status == 204 || status == 304 => Body::Length(0),
        _ if chunked => Body::Chunked,
        _ if coded => Body::UntilClose,
        Some(length) => Body::Length(length),
        None => Body::UntilClose,
    };
    let kept_by_version = match minor {
        0 => has("connection", "keep-alive"),
        _ => !has("connection", "close"),
    };
    // A message with both framings may have been tampered with (RFC 9112 §6.3), so its connection is not reused.
    let keep = kept_by_version && body != Body::UntilClose && !(coded && said.is_some()) && status != 101;
    let location = values("location")
        .next()
        .map(|v| String::from_utf8_lossy(v).into_owned());
    let mut offsets = values(progress::FIELD);
    let offset = offsets.next().filter(|_| offsets.next().is_none()).and_then(number);
    Ok(Some(Head {
        length,
        status,
        body,
        declared: said,
        keep,
        location,
        offset,
    }))
}

/// Parses digits only. Signs and spaces are not permitted, because parsers disagree about them.
pub(crate) fn number(text: &[u8]) -> Option<u64> {
    if text.is_empty() || !text.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(text).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Option<Head>, HeadError> {
        parse(text.as_bytes(), false)
    }

    fn body(fields: &str) -> (Body, bool) {
        let head = read(&format!("HTTP/1.1 200 OK\r\n{fields}\r\n")).unwrap().unwrap();
        (head.body, head.keep)
    }

    #[test]
    fn framing_follows_rfc_9112() {
        assert_eq!(body("Content-Length: 5\r\n"), (Body::Length(5), true));
        assert_eq!(
            body("content-length: 5\r\nContent-Length: 5\r\n"),
            (Body::Length(5), true)
        );
        assert_eq!(body("Content-Length: 5, 5\r\n"), (Body::Length(5), true));
        assert_eq!(
            body("Content-Length: 5\r\nConnection: Close\r\n"),
            (Body::Length(5), false)
        );
        assert_eq!(
            body("Connection: foo, close\r\nContent-Length: 0\r\n"),
            (Body::Length(0), false)
        );
        assert_eq!(body("Transfer-Encoding: Chunked\r\n"), (Body::Chunked, true));
        assert_eq!(body("Transfer-Encoding: gzip, chunked\r\n"), (Body::Chunked, true));
        assert_eq!(
            body("Transfer-Encoding: chunked\r\nContent-Length: 3\r\n"),
            (Body::Chunked, false)
        );
        assert_eq!(body("Transfer-Encoding: gzip\r\n"), (Body::UntilClose, false));
        assert_eq!(body(""), (Body::UntilClose, false));
    }

    #[test]
    fn some_responses_have_no_body() {
        let length = "Content-Length: 9\r\n\r\n";
        for status in [100, 103, 204, 304] {
            let head = read(&format!("HTTP/1.1 {status} X\r\n{length}")).unwrap().unwrap();
            assert_eq!(head.body, Body::Length(0));
            assert_eq!(head.is_interim(), status < 200);
        }
        let head = parse(format!("HTTP/1.1 200 OK\r\n{length}").as_bytes(), true)
            .unwrap()
            .unwrap();
        assert_eq!((head.body, head.keep), (Body::Length(0), true));
    }

    #[test]
    fn http_1_0_closes_without_keep_alive() {
        let keep = |fields: &str| {
            read(&format!("HTTP/1.0 200 OK\r\nContent-Length: 1\r\n{fields}\r\n"))
                .unwrap()
                .unwrap()
                .keep
        };
        assert!(!keep(""));
        assert!(keep("Connection: Keep-Alive\r\n"));
    }

    #[test]
    fn an_offset_is_one_number() {
        let offset = |fields: &str| {
            let head = read(&format!("HTTP/1.1 104 Upload Resumption Supported\r\n{fields}\r\n"));
            head.unwrap().unwrap().offset
        };
        assert_eq!(offset("Upload-Offset: 1500\r\n"), Some(1_500));
        assert_eq!(offset("upload-offset: 18446744073709551615\r\n"), Some(u64::MAX));
        for invalid in [
            "",
            "Upload-Offset:\r\n",
            "Upload-Offset: -1\r\n",
            "Upload-Offset: 1.5\r\n",
            "Upload-Offset: 0x10\r\n",
            "Upload-Offset: 1, 2\r\n",
            "Upload-Offset: 1\r\nUpload-Offset: 1\r\n",
            "Upload-Offset: 18446744073709551616\r\n",
        ] {
            assert_eq!(offset(invalid), None, "{invalid}");
        }
    }

    #[test]
    fn incomplete_heads_wait_and_invalid_ones_fail() {
        let whole = "HTTP/1.1 302 Found\r\nLocation: /there\r\nContent-Length: 0\r\n\r\nX";
        let head = read(whole).unwrap().unwrap();
        assert_eq!((head.length, head.status), (whole.len() - 1, 302));
        assert_eq!(head.location.as_deref(), Some("/there"));
        for cut in 0..whole.len() - 1 {
            assert_eq!(read(&whole[..cut]), Ok(None), "{cut}");
        }
        assert_eq!(read("SSH-2.0-x\r\n"), Err(HeadError::NotHttp));
        assert_eq!(read("HTTP/1.1 2x0\r\n\r\n"), Err(HeadError::NotHttp));
        assert_eq!(
            read("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n"),
            Err(HeadError::Length)
        );
        assert_eq!(
            read("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n"),
            Err(HeadError::Length)
        );
        assert_eq!(
            read("HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n"),
            Err(HeadError::Length)
        );
        let many = "A: b\r\n".repeat(MAX_FIELDS + 1);
        assert_eq!(read(&format!("HTTP/1.1 200 OK\r\n{many}\r\n")), Err(HeadError::TooLong));
        let long = format!("HTTP/1.1 200 OK\r\nA: {}", "b".repeat(MAX_HEAD));
        assert_eq!(read(&long), Err(HeadError::TooLong));
    }
}
