//! What a controller answers beside its own pages: requests below `/runs`, for whoever watches over the runs.

use bytes::Bytes;
use hyper::body::{Body, Incoming};
use hyper::{Request, Response};
use std::convert::Infallible;
use std::fmt::Debug;
use std::pin::Pin;

/// Where an annex is: this path, and all below it.
pub const RUNS_PREFIX: &str = "/runs";

/// A body of any kind.
pub type ResponseBody = Pin<Box<dyn Body<Data = Bytes, Error = Infallible> + Send>>;

/// An answer that is on its way.
pub type ResponseFuture = Pin<Box<dyn Future<Output = HandlerResponse> + Send>>;

/// How a request was answered.
pub struct HandlerResponse {
    /// What goes back.
    pub response: Response<ResponseBody>,
    /// Whether the visitor was let in: its connection may then last longer than a stranger's.
    pub admitted: bool,
}

/// Answers what is asked below [`RUNS_PREFIX`]. Whom it lets in is its own affair: anybody may ask.
pub trait HttpHandler: Debug + Send + Sync + 'static {
    /// Answers a request; `tls`: it came over TLS.
    fn answer(&self, request: Request<Incoming>, tls: bool) -> ResponseFuture;
}

/// Whether a path is the annex's.
pub(super) fn owns(path: &str) -> bool {
    path.strip_prefix(RUNS_PREFIX)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_has_its_path_and_what_is_below() {
        for path in ["/runs", "/runs/", "/runs/api/runs"] {
            assert!(owns(path), "{path}");
        }
        for path in ["/", "/run/x", "/runsx", "/run", "/Runs/"] {
            assert!(!owns(path), "{path}");
        }
    }
}
