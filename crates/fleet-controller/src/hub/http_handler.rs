//! HTTP routes below `/runs`, which another component provides.

use bytes::Bytes;
use hyper::body::{Body, Incoming};
use hyper::{Request, Response};
use std::convert::Infallible;
use std::fmt::Debug;
use std::pin::Pin;

/// Path prefix of these routes.
pub const RUNS_PREFIX: &str = "/runs";

/// Any HTTP body.
pub type ResponseBody = Pin<Box<dyn Body<Data = Bytes, Error = Infallible> + Send>>;

/// Future of a response.
pub type ResponseFuture = Pin<Box<dyn Future<Output = HandlerResponse> + Send>>;

/// Response to a request.
pub struct HandlerResponse {
    /// The HTTP response.
    pub response: Response<ResponseBody>,
    /// True if the peer is authenticated. Its connection may then stay open without a time limit.
    pub admitted: bool,
}

/// Answers requests below [`RUNS_PREFIX`]. Anyone can send them; the handler authenticates.
pub trait HttpHandler: Debug + Send + Sync + 'static {
    /// Answers a request. `tls` tells whether it arrived over TLS.
    fn answer(&self, request: Request<Incoming>, tls: bool) -> ResponseFuture;
}

/// Returns whether a path is below [`RUNS_PREFIX`].
pub(super) fn owns(path: &str) -> bool {
    path.strip_prefix(RUNS_PREFIX)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_prefix_covers_itself_and_paths_below() {
        for path in ["/runs", "/runs/", "/runs/api/runs"] {
            assert!(owns(path), "{path}");
        }
        for path in ["/", "/run/x", "/runsx", "/run", "/Runs/"] {
            assert!(!owns(path), "{path}");
        }
    }
}
