//! Routes of the server and their responses.

use super::channel_offer::{self, ChannelOffers};
use super::range::{self, Range};
use super::request::{Method, Origin, Request, Route};
use super::response::{ExtraField, READ, Response, WRITE, not_allowed, preflight};
use super::rpm::{Endpoints, Resource};
use crate::consent::fleet::{self, FleetKey};
use crate::consent::{self, Consent};
use crate::dscp;
use bytes::Bytes;
use netburn_units::ByteSize;

/// Returns whether the query of `path` requests that the connection be closed after the response (`?close`). Pages in a
/// browser have no other way to use a new connection per object. Applies to HTTP/1 only.
pub(crate) fn asks_to_close(path: &str) -> bool {
    path.split_once('?')
        .is_some_and(|(_, query)| query.split('&').any(|part| part == "close"))
}

/// Content of the server.
#[derive(Debug, Clone)]
pub(crate) struct Site {
    /// The document at [`consent::PATH`].
    pub(crate) consent: Bytes,
    /// Key of the fleet that it serves, and the document to which the proof is added.
    pub(crate) fleet: Option<(FleetKey, Consent)>,
    /// Offers of data channels, if the server accepts them.
    pub(crate) channels: Option<ChannelOffers>,
    /// The page at `/`.
    pub(crate) page: Bytes,
    /// Maximum size of an object.
    pub(crate) object: u64,
    /// Endpoints of responsiveness tests.
    pub(crate) rpm: Option<Endpoints>,
}

/// Path before an object's size.
const BYTES: &str = "/bytes/";

impl Site {
    /// Returns the resource of a responsiveness test at `path`, if this client may use it.
    pub(crate) fn rpm_resource(&self, path: &str, origin: Origin) -> Option<Resource> {
        self.rpm.as_ref()?.resource(path, origin)
    }

    pub(crate) fn route(&self, request: &Request<'_>, origin: Origin) -> Route {
        let (path, query) = request.path.split_once('?').unwrap_or((request.path, ""));
        if request.method == Method::Unknown {
            return Route::Response(Response::text(501, "unknown method"));
        }
        if let Err(unfit) = dscp::requested_dscp(request.path).and(dscp::control(request.path)) {
            return Route::Response(Response::text(400, unfit.to_string()));
        }
        if let Some(route) = self.rpm.as_ref().and_then(|rpm| rpm.route(request, origin)) {
            return route;
        }
        let found = match path {
            "/" => Response::page(200, "text/plain; charset=utf-8", self.page.clone()),
            consent::PATH => Response::page(200, "application/json", self.consent_to(query)),
            channel_offer::PATH => match &self.channels {
                Some(channels) => channels.response(query),
                None => Response::text(
                    404,
                    "no data channels: this server echoes no datagrams, or is in no fleet",
                ),
            },
            "/sink" if request.method == Method::Post => return Route::Sink(Some(self.object)),
            "/sink" if request.method == Method::Options => return Route::Response(preflight(WRITE)),
            "/sink" => return Route::Response(not_allowed(WRITE)),
            path => match path.strip_prefix(BYTES) {
                Some(_) if request.method == Method::Options => return Route::Response(preflight(READ)),
                Some(size) if matches!(request.method, Method::Get | Method::Head) => self.object(size, request),
                Some(_) => return Route::Response(not_allowed(READ)),
                None => Response::text(404, "not found; / lists the paths"),
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

    /// Returns the consent document, with the fleet's proof if the query has a nonce.
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
                return Response::text(
                    400,
                    format!("size out of range: expected at most {most} ({} bytes)", self.object),
                );
            }
            None => {
                return Response::text(
                    400,
                    "invalid size: expected a number of bytes, or a size as 128KiB, 1MiB, 1GiB, 5MB",
                );
            }
        };
        // Range applies to GET only (RFC 9110 §14.2). If-Range never matches, because the server provides no validator
        // (§13.1.5).
        let range = match request.range {
            Some(value) if request.method == Method::Get && !request.if_range => range::parse(value, length),
            _ => Range::Whole,
        };
        match range {
            Range::Whole => Response::content(200, 0, length, ExtraField::Ranges),
            Range::Part { first, last } => {
                Response::content(206, first, last - first + 1, ExtraField::Part(first, last, length))
            }
            Range::Unsatisfiable => Response::text(416, format!("range out of bounds: the object has {length} bytes"))
                .with(ExtraField::Unsatisfiable(length)),
        }
    }
}

/// Parses a size in a path: bytes, or with a unit as in [`ByteSize`], without a space.
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
    use crate::limiter::Client;
    use crate::server::response::Body;

    fn site() -> Site {
        Site {
            consent: Bytes::from_static(b"{}"),
            fleet: None,
            channels: None,
            page: Bytes::from_static(b"hello"),
            object: 16 << 30,
            rpm: None,
        }
    }

    fn origin() -> Origin {
        Origin {
            client: Client::at(std::net::Ipv4Addr::LOCALHOST.into()),
            tls: false,
        }
    }

    fn response(method: Method, path: &str, range: Option<&str>) -> Response {
        let request = Request {
            method,
            path,
            authority: None,
            range: range.map(str::as_bytes),
            if_range: false,
        };
        match site().route(&request, origin()) {
            Route::Response(response) => response,
            Route::Sink(_) => panic!("{path} is a sink"),
        }
    }

    #[test]
    fn only_servers_of_a_fleet_answer_its_nonce() {
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
    fn sizes_with_units() {
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
    fn invalid_and_too_large_sizes_are_rejected() {
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
    fn a_query_may_request_closing() {
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
    fn a_query_may_request_a_valid_dscp() {
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
        assert_eq!(got.more, ExtraField::Part(100, 199, 1000));
        let got = response(Method::Get, "/bytes/1000", Some("bytes=1000-"));
        assert_eq!((got.status, got.more), (416, ExtraField::Unsatisfiable(1000)));
        let request = Request {
            method: Method::Get,
            path: "/bytes/9",
            authority: None,
            range: Some(b"bytes=1-2"),
            if_range: true,
        };
        assert!(matches!(
            site().route(&request, origin()),
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
            authority: None,
            range: None,
            if_range: false,
        };
        assert_eq!(site().route(&post, origin()), Route::Sink(Some(16 << 30)));
    }
}
