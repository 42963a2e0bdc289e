//! What is where, and what each request for it is answered.

use super::range::{self, Range};
use super::response::{More, Response};
use crate::consent::fleet::{self, FleetKey};
use crate::consent::{self, Consent};
use crate::dscp;
use bytes::Bytes;
use netburn_units::ByteSize;

/// Whether the query of `path` asks that the connection end with the answer (`?close`): a page in a browser has no other
/// way to dial anew for each object. Only HTTP/1 heeds it.
pub(crate) fn asks_to_close(path: &str) -> bool {
    path.split_once('?')
        .is_some_and(|(_, query)| query.split('&').any(|part| part == "close"))
}

/// A request, whatever the version of HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Request<'a> {
    pub(crate) method: Method,
    /// The path and query of its target.
    pub(crate) path: &'a str,
    /// Its `Range` field.
    pub(crate) range: Option<&'a [u8]>,
    /// Whether it has an `If-Range` field.
    pub(crate) if_range: bool,
}

/// The methods told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Method {
    Get,
    Head,
    Post,
    /// Asks what may be asked: what a browser does for a page before some of its requests.
    Options,
    /// One of HTTP's others.
    Other,
    /// None of HTTP's.
    Unknown,
}

impl Method {
    pub(crate) fn named(name: &str) -> Self {
        match name {
            "GET" => Method::Get,
            "HEAD" => Method::Head,
            "POST" => Method::Post,
            "OPTIONS" => Method::Options,
            "PUT" | "DELETE" | "CONNECT" | "TRACE" | "PATCH" => Method::Other,
            _ => Method::Unknown,
        }
    }
}

/// What a request comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Route {
    /// This answer, whatever body the request has.
    Response(Response),
    /// Its body is taken, counted and dropped.
    Sink,
}

/// What the server has to show.
#[derive(Debug, Clone)]
pub(crate) struct Site {
    /// The document at [`consent::PATH`].
    pub(crate) consent: Bytes,
    /// The fleet it serves, and the document that is completed for it.
    pub(crate) fleet: Option<(FleetKey, Consent)>,
    /// The page at `/`.
    pub(crate) page: Bytes,
    /// The largest object.
    pub(crate) object: u64,
}

/// The path before an object's size.
const BYTES: &str = "/bytes/";
const READ: &str = "GET, HEAD";
const WRITE: &str = "POST";

impl Site {
    /// What `request` comes to.
    pub(crate) fn route(&self, request: &Request<'_>) -> Route {
        let (path, query) = request.path.split_once('?').unwrap_or((request.path, ""));
        if request.method == Method::Unknown {
            return Route::Response(Response::text(501, "this method is not HTTP's"));
        }
        if let Err(unfit) = dscp::requested_dscp(request.path).and(dscp::control(request.path)) {
            return Route::Response(Response::text(400, unfit.to_string()));
        }
        let found = match path {
            "/" => Response::page(200, "text/plain; charset=utf-8", self.page.clone()),
            consent::PATH => Response::page(200, "application/json", self.consent_to(query)),
            "/sink" if request.method == Method::Post => return Route::Sink,
            "/sink" if request.method == Method::Options => return Route::Response(preflight(WRITE)),
            "/sink" => return Route::Response(not_allowed(WRITE)),
            path => match path.strip_prefix(BYTES) {
                Some(_) if request.method == Method::Options => return Route::Response(preflight(READ)),
                Some(size) if matches!(request.method, Method::Get | Method::Head) => self.object(size, request),
                Some(_) => return Route::Response(not_allowed(READ)),
                None => Response::text(404, "nothing is here; / says what is where"),
            },
        };
        Route::Response(match request.method {
            Method::Get => found,
            Method::Head => Response {
                head_only: true,
                ..found
            },
            _ if found.status == 404 => found,
            Method::Options => preflight(READ),
            _ => not_allowed(READ),
        })
    }

    /// The consent, which answers a fleet's question where it can.
    fn consent_to(&self, query: &str) -> Bytes {
        let answered = self.fleet.as_ref().and_then(|(key, consent)| {
            let nonce = query.split('&').find_map(|part| part.strip_prefix(fleet::QUERY))?;
            let fleet = Some(key.answer(nonce)?);
            Some(
                Consent {
                    fleet,
                    ..consent.clone()
                }
                .to_json()
                .into(),
            )
        });
        answered.unwrap_or_else(|| self.consent.clone())
    }

    fn object(&self, size: &str, request: &Request<'_>) -> Response {
        let length = match read_size(size) {
            Some(length) if length <= self.object => length,
            Some(_) => {
                let most = ByteSize::from_bytes(self.object);
                return Response::text(400, format!("an object has at most {most} ({} bytes)", self.object));
            }
            None => return Response::text(400, "a size is a number of bytes, or like 128KiB, 1MiB, 1GiB, 5MB"),
        };
        // Range means something for GET alone (RFC 9110 §14.2), and a condition on it (If-Range) can't hold, since no
        // validator is given out (§13.1.5).
        let range = match request.range {
            Some(value) if request.method == Method::Get && !request.if_range => range::parse(value, length),
            _ => Range::Whole,
        };
        match range {
            Range::Whole => Response::content(200, 0, length, More::Ranges),
            Range::Part { first, last } => {
                Response::content(206, first, last - first + 1, More::Part(first, last, length))
            }
            Range::Unsatisfiable => {
                Response::text(416, format!("the object has {length} bytes")).with(More::Unsatisfiable(length))
            }
        }
    }
}

fn not_allowed(methods: &'static str) -> Response {
    Response::text(405, format!("this takes {methods}")).with(More::Allow(methods))
}

/// Says which methods pages of other origins may use. Nothing is kept from them, so nothing depends on what they ask for.
fn preflight(methods: &'static str) -> Response {
    Response::text(200, format!("this takes {methods}")).with(More::Preflight(methods))
}

/// A size in a path: bytes, or with a unit as [`ByteSize`] reads it, without a space.
fn read_size(text: &str) -> Option<u64> {
    if text.bytes().all(|b| b.is_ascii_digit()) {
        return text.parse().ok();
    }
    if !text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'.') {
        return None;
    }
    text.parse().ok().map(ByteSize::as_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::response::Body;

    fn site() -> Site {
        Site {
            consent: Bytes::from_static(b"{}"),
            fleet: None,
            page: Bytes::from_static(b"hello"),
            object: 16 << 30,
        }
    }

    fn response(method: Method, path: &str, range: Option<&str>) -> Response {
        let request = Request {
            method,
            path,
            range: range.map(str::as_bytes),
            if_range: false,
        };
        match site().route(&request) {
            Route::Response(response) => response,
            Route::Sink => panic!("{path} is a sink"),
        }
    }

    #[test]
    fn a_fleets_question_is_answered_by_its_own_servers() {
        let consent = Consent::new("Ada", ByteSize::from_gib(1)).unwrap();
        let key = FleetKey::new("token");
        let ours = Site {
            fleet: Some((key.clone(), consent)),
            ..site()
        };
        let nonce = "0123456789abcdef";
        let said = |site: &Site, query: &str| Consent::parse(&site.consent_to(query)).ok().and_then(|c| c.fleet);
        let response = said(&ours, &format!("x=1&fleet={nonce}")).unwrap();
        assert!(key.accepts(nonce, &response));
        assert_eq!(said(&ours, ""), None);
        assert_eq!(said(&ours, "fleet=short"), None);
        assert_eq!(said(&site(), &format!("fleet={nonce}")), None);
    }

    #[test]
    fn sizes_as_people_write_them() {
        for (path, length) in [
            ("/bytes/0", 0),
            ("/bytes/1", 1),
            ("/bytes/128KiB", 131_072),
            ("/bytes/1.5MB", 1_500_000),
            ("/bytes/1GiB?again=7", 1 << 30),
            ("/bytes/16GiB", 16 << 30),
        ] {
            let got = response(Method::Get, path, None);
            assert_eq!(
                (got.status, got.length, got.body),
                (200, length, Body::Content(0)),
                "{path}"
            );
        }
    }

    #[test]
    fn what_is_no_size_or_too_much() {
        for path in [
            "/bytes/",
            "/bytes/x",
            "/bytes/-1",
            "/bytes/1%20KiB",
            "/bytes/1 KiB",
            "/bytes/17GiB",
            "/bytes/99999999999999999999",
            "/bytes/1/2",
            "/bytes/5Kib",
            "/bytes/0.5B",
        ] {
            assert_eq!(response(Method::Get, path, None).status, 400, "{path}");
        }
        assert_eq!(response(Method::Get, "/bytes", None).status, 404);
        assert_eq!(response(Method::Get, "/byte/5", None).status, 404);
    }

    #[test]
    fn a_query_may_ask_for_the_end() {
        for path in ["/bytes/5?close", "/bytes/5?n=1&close", "/sink?close&n=1"] {
            assert!(asks_to_close(path), "{path}");
        }
        for path in [
            "/bytes/5",
            "/bytes/close",
            "/bytes/5?n=close",
            "/bytes/5?closed",
            "/bytes/5?close=1",
        ] {
            assert!(!asks_to_close(path), "{path}");
        }
    }

    #[test]
    fn a_query_may_wish_for_a_mark_that_there_is() {
        for (path, status) in [
            ("/bytes/5?dscp=63", 200),
            ("/bytes/5?dscp=64", 400),
            ("/sink?dscp=x", 400),
            ("/bytes/5?cc=reno", 200),
            ("/bytes/5?cc=", 400),
            ("/sink?cc=../x", 400),
            ("/?dscp=8&dscp=8", 400),
        ] {
            assert_eq!(response(Method::Get, path, None).status, status, "{path}");
        }
    }

    #[test]
    fn a_head_is_the_get_without_its_body() {
        let got = response(Method::Head, "/bytes/16GiB", Some("bytes=0-1"));
        assert_eq!((got.status, got.length, got.sent_length()), (200, 16 << 30, 0));
    }

    #[test]
    fn ranges() {
        let got = response(Method::Get, "/bytes/1000", Some("bytes=100-199"));
        assert_eq!((got.status, got.length, got.body), (206, 100, Body::Content(100)));
        assert_eq!(got.more, More::Part(100, 199, 1000));
        let got = response(Method::Get, "/bytes/1000", Some("bytes=1000-"));
        assert_eq!((got.status, got.more), (416, More::Unsatisfiable(1000)));
        let request = Request {
            method: Method::Get,
            path: "/bytes/9",
            range: Some(b"bytes=1-2"),
            if_range: true,
        };
        assert!(matches!(
            site().route(&request),
            Route::Response(Response {
                status: 200,
                length: 9,
                ..
            })
        ));
    }

    #[test]
    fn methods() {
        for (method, path, status) in [
            (Method::Get, "/", 200),
            (Method::Head, "/", 200),
            (Method::Post, "/", 405),
            (Method::Get, "/.well-known/netburn", 200),
            (Method::Other, "/.well-known/netburn", 405),
            (Method::Get, "/sink", 405),
            (Method::Head, "/sink", 405),
            (Method::Post, "/bytes/5", 405),
            (Method::Post, "/nothing", 404),
            (Method::Unknown, "/", 501),
            (Method::Options, "/", 200),
            (Method::Options, "/bytes/5", 200),
            (Method::Options, "/sink", 200),
            (Method::Options, "/nothing", 404),
        ] {
            assert_eq!(response(method, path, None).status, status, "{method:?} {path}");
        }
        let post = Request {
            method: Method::Post,
            path: "/sink?x",
            range: None,
            if_range: false,
        };
        assert_eq!(site().route(&post), Route::Sink);
    }
}
