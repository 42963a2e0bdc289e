//! Fuzz checks of the server's parsers.

use super::http1::head::{Framing, find_end, leading_line_ends, parse};
use super::request::{Origin, Route};
use super::response::Body;
use super::route::Site;
use super::rpm::Endpoints;
use super::{MAX_OBJECT, RpmClients};
use crate::consent::Consent;
use crate::consent::fleet::FleetKey;
use crate::limiter::Client;
use bytes::Bytes;
use std::net::Ipv4Addr;

/// Maximum length of a head in the check, in bytes.
const LIMIT: usize = 2048;

/// Parses `input` as HTTP/1 requests, at once and byte by byte.
///
/// # Panics
/// When an invariant is violated.
pub fn check_request(input: &[u8]) {
    let input = &input[leading_line_ends(input)..];
    let whole = find_end(input, &mut 0, LIMIT);
    let mut searched = 0;
    let mut piecewise = Ok(None);
    for length in 0..=input.len() {
        piecewise = find_end(&input[..length], &mut searched, LIMIT);
        if piecewise != Ok(None) {
            break;
        }
    }
    assert_eq!(whole, piecewise, "a head ends where it ends, however it comes");
    let Ok(Some(end)) = whole else { return };
    assert!(end <= LIMIT && input[..end].ends_with(b"\r\n\r\n"));
    let Ok(head) = parse(&input[..end]) else { return };
    assert_eq!(parse(&input[..end]), Ok(head), "it reads the same twice");
    let text = String::from_utf8_lossy(&input[..end]).to_ascii_lowercase();
    if text.contains("\ncontent-length:") && text.contains("\ntransfer-encoding:") {
        panic!("two framings were taken: {text}");
    }
    if let Framing::Length(length) = head.framing {
        assert!(text.contains(&length.to_string()), "a length from nowhere");
    }
    if head.wants_progress {
        assert!(text.contains("progress=104"), "progress without a request for it");
        assert!(
            text.lines().next().is_some_and(|line| line.ends_with("http/1.1")),
            "an interim response to HTTP/1.0"
        );
    }
    let site = Site {
        consent: Bytes::from_static(b"{}"),
        fleet: Consent::new("fuzz", MAX_OBJECT)
            .ok()
            .map(|consent| (FleetKey::new("token"), consent)),
        channels: None,
        page: Bytes::from_static(b"page"),
        object: MAX_OBJECT.as_bytes(),
        rpm: Endpoints::new(RpmClients::All, 4483, MAX_OBJECT),
    };
    let origin = Origin {
        client: Client::at(Ipv4Addr::LOCALHOST.into()),
        tls: true,
    };
    if let Route::Response(response) = site.route(&head.request, origin) {
        assert!((200..506).contains(&response.status));
        assert!(response.sent_length() <= response.length && response.length <= MAX_OBJECT.as_bytes());
        if let Body::Content(from) = response.body {
            assert!(
                from + response.length <= MAX_OBJECT.as_bytes(),
                "nothing beyond the object"
            );
        }
    }
}

/// Parses `input` as a consent document.
///
/// # Panics
/// When an invariant is violated.
pub fn check_consent(input: &[u8]) {
    if let Ok(consent) = Consent::parse(input) {
        let again = Consent::parse(consent.to_json().as_bytes()).expect("what was read can be written");
        assert_eq!(again, consent);
        assert!(!consent.operator.chars().any(char::is_control));
    }
}
