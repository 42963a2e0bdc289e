//! Endpoints of responsiveness tests (draft-ietf-ippm-responsiveness-09): a configuration, and three URLs.

use super::config::{RPM_OBJECT, RpmClients};
use super::request::{Method, Origin, Request, Route};
use super::response::{ExtraField, READ, Response, WRITE, not_allowed, preflight};
use crate::limiter::Client;
use bytes::Bytes;
use http::uri::Authority;
use netburn_units::ByteSize;
use serde_json::json;

/// Paths of the configuration: that of the draft, and the default of goresponsiveness.
pub(crate) const CONFIGURATION: [&str; 2] = ["/.well-known/nq", "/config"];
const SMALL: &str = "/nq/small";
const LARGE: &str = "/nq/large";
const UPLOAD: &str = "/nq/upload";

/// Resources of a responsiveness test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Resource {
    /// The JSON document with the URLs.
    Configuration,
    /// An object of one byte.
    Small,
    /// An object that no test receives whole.
    Large,
    /// Receives bodies of any length and discards them.
    Upload,
}

/// Endpoints of a server.
#[derive(Debug, Clone)]
pub(crate) struct Endpoints {
    clients: RpmClients,
    /// Port of HTTP over TLS.
    port: u16,
    /// Size of the large object in bytes.
    large: u64,
}

impl Resource {
    /// Returns the resource at a path, which may have a query.
    fn at(path: &str) -> Option<Self> {
        match path.split('?').next().unwrap_or_default() {
            path if CONFIGURATION.contains(&path) => Some(Resource::Configuration),
            SMALL => Some(Resource::Small),
            LARGE => Some(Resource::Large),
            UPLOAD => Some(Resource::Upload),
            _ => None,
        }
    }
}

impl Endpoints {
    /// Creates the endpoints; `None` if no client may use them, or if the server's maximum object is smaller than
    /// [`RPM_OBJECT`]. `port` is that of HTTP over TLS.
    pub(crate) fn new(clients: RpmClients, port: u16, object: ByteSize) -> Option<Self> {
        (clients != RpmClients::None && object >= RPM_OBJECT).then(|| Self {
            clients,
            port,
            large: object.as_bytes(),
        })
    }

    /// Returns the resource at `path` that this client may use.
    pub(crate) fn resource(&self, path: &str, origin: Origin) -> Option<Resource> {
        Resource::at(path).filter(|_| self.permits(origin.client))
    }

    /// Returns the route of a request; `None` for other paths.
    pub(crate) fn route(&self, request: &Request<'_>, origin: Origin) -> Option<Route> {
        let resource = Resource::at(request.path)?;
        if !self.permits(origin.client) {
            let text = "this server permits responsiveness tests from local addresses only";
            return Some(Route::Response(Response::text(403, text)));
        }
        let methods = if resource == Resource::Upload { WRITE } else { READ };
        let response = match (request.method, resource) {
            (Method::Options, _) => preflight(methods),
            (Method::Post, Resource::Upload) => return Some(Route::Sink(None)),
            (Method::Get | Method::Head, Resource::Configuration) => self.configuration(request, origin),
            (Method::Get | Method::Head, Resource::Small) => Response::content(200, 0, 1, ExtraField::Nothing),
            (Method::Get | Method::Head, Resource::Large) => Response::content(200, 0, self.large, ExtraField::Nothing),
            _ => not_allowed(methods),
        };
        Some(Route::Response(Response {
            head_only: request.method == Method::Head,
            ..response
        }))
    }

    fn permits(&self, client: Client) -> bool {
        match self.clients {
            RpmClients::None => false,
            RpmClients::Local => client.is_local(),
            RpmClients::All => true,
        }
    }

    /// Returns the document with the URLs. Their host is the one that the client used, so that it is a name of the
    /// certificate if the client checks that. Over TLS the client's port is used too: a router may forward another one.
    fn configuration(&self, request: &Request<'_>, origin: Origin) -> Response {
        let Some(authority) = request.authority.and_then(parse_authority) else {
            return Response::text(
                400,
                "invalid host: expected a name or an address, with an optional port",
            );
        };
        let authority = if origin.tls {
            authority.to_string()
        } else {
            format!("{}:{}", authority.host(), self.port)
        };
        let url = |path| format!("https://{authority}{path}");
        let (small, large, upload) = (url(SMALL), url(LARGE), url(UPLOAD));
        let document = json!({
            "version": 1,
            // The first three names are those of the draft; goresponsiveness uses the others.
            "urls": {
                "small_download_url": small,
                "large_download_url": large,
                "upload_url": upload,
                "small_https_download_url": small,
                "large_https_download_url": large,
                "https_upload_url": upload,
            },
        });
        Response::page(200, "application/json", Bytes::from(document.to_string()))
    }
}

fn parse_authority(text: &[u8]) -> Option<Authority> {
    let authority = Authority::try_from(text).ok()?;
    (!authority.host().is_empty() && !authority.as_str().contains('@')).then_some(authority)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::response::Body;
    use std::net::IpAddr;

    const LARGE_BYTES: u64 = 16 << 30;

    fn endpoints(clients: RpmClients) -> Endpoints {
        Endpoints::new(clients, 4483, ByteSize::from_gib(16)).unwrap()
    }

    fn from(address: &str, tls: bool) -> Origin {
        Origin {
            client: Client::at(address.parse::<IpAddr>().unwrap()),
            tls,
        }
    }

    fn request<'a>(method: Method, path: &'a str, authority: Option<&'a str>) -> Request<'a> {
        Request {
            method,
            path,
            authority: authority.map(str::as_bytes),
            range: None,
            if_range: false,
        }
    }

    fn response(method: Method, path: &str) -> Response {
        let near = from("127.0.0.1", true);
        match endpoints(RpmClients::Local).route(&request(method, path, Some("localhost:4483")), near) {
            Some(Route::Response(response)) => response,
            other => panic!("{path}: {other:?}"),
        }
    }

    #[test]
    fn both_names_of_each_url_have_the_clients_host() {
        for (authority, tls, expected) in [
            ("localhost:4483", true, "https://localhost:4483"),
            ("nb.example", true, "https://nb.example"),
            ("nb.example:4480", false, "https://nb.example:4483"),
            ("192.0.2.1", false, "https://192.0.2.1:4483"),
            ("[fd00::1]:4480", false, "https://[fd00::1]:4483"),
        ] {
            for path in CONFIGURATION {
                let request = request(Method::Get, path, Some(authority));
                let route = endpoints(RpmClients::All).route(&request, from("192.0.2.9", tls));
                let Some(Route::Response(Response {
                    status: 200,
                    body: Body::Text("application/json", text),
                    ..
                })) = route
                else {
                    panic!("{route:?}")
                };
                let document: serde_json::Value = serde_json::from_slice(&text).unwrap();
                let url = |path: &str| format!("{expected}/nq/{path}");
                let urls = json!({
                    "small_download_url": url("small"), "small_https_download_url": url("small"),
                    "large_download_url": url("large"), "large_https_download_url": url("large"),
                    "upload_url": url("upload"), "https_upload_url": url("upload"),
                });
                assert_eq!(document, json!({"version": 1, "urls": urls}));
            }
        }
    }

    #[test]
    fn an_invalid_host_is_not_repeated() {
        for authority in [
            None,
            Some(""),
            Some("a b"),
            Some("a\"b"),
            Some("user@host"),
            Some(":80"),
            Some("a/b"),
        ] {
            let request = request(Method::Get, "/config", authority);
            let route = endpoints(RpmClients::All).route(&request, from("192.0.2.9", true));
            assert!(
                matches!(route, Some(Route::Response(Response { status: 400, .. }))),
                "{authority:?}"
            );
        }
    }

    /// The small object has exactly one byte, the large one at least 8 GiB. Neither has more fields than necessary.
    #[test]
    fn objects_and_uploads() {
        let small = response(Method::Get, "/nq/small?x=1");
        assert_eq!((small.status, small.length, small.body), (200, 1, Body::Content(0)));
        let large = response(Method::Get, "/nq/large");
        assert_eq!(
            (large.status, large.length, large.more),
            (200, LARGE_BYTES, ExtraField::Nothing)
        );
        let head = response(Method::Head, "/nq/large");
        assert_eq!((head.length, head.sent_length()), (LARGE_BYTES, 0));
        let near = from("::1", true);
        let upload = endpoints(RpmClients::Local).route(&request(Method::Post, "/nq/upload", None), near);
        assert_eq!(upload, Some(Route::Sink(None)));
        for (method, path, status) in [
            (Method::Post, "/nq/small", 405),
            (Method::Get, "/nq/upload", 405),
            (Method::Post, "/config", 405),
            (Method::Options, "/nq/upload", 200),
        ] {
            assert_eq!(response(method, path).status, status, "{method:?} {path}");
        }
        let other = endpoints(RpmClients::All).route(&request(Method::Get, "/nq/smaller", None), near);
        assert_eq!(other, None);
    }

    #[test]
    fn clients_beyond_local_addresses_need_permission() {
        for (clients, address, permitted) in [
            (RpmClients::Local, "127.0.0.1", true),
            (RpmClients::Local, "192.168.1.5", true),
            (RpmClients::Local, "192.0.2.1", false),
            (RpmClients::All, "192.0.2.1", true),
        ] {
            let endpoints = endpoints(clients);
            let origin = from(address, true);
            let route = endpoints.route(&request(Method::Get, "/nq/small", None), origin);
            let Some(Route::Response(response)) = route else {
                panic!("{route:?}")
            };
            assert_eq!(response.status, if permitted { 200 } else { 403 }, "{address}");
            assert_eq!(endpoints.resource("/nq/small", origin).is_some(), permitted);
        }
        assert!(Endpoints::new(RpmClients::None, 1, ByteSize::from_gib(16)).is_none());
        assert!(Endpoints::new(RpmClients::All, 1, ByteSize::from_gib(7)).is_none());
    }
}
