//! The first address of a host that answers.

use super::Url;
use crate::client::{RequestError, Trust};
use std::net::SocketAddr;

/// Error of a host that can't be reached.
#[derive(Debug, thiserror::Error)]
pub enum ReachError {
    /// The host name cannot be resolved.
    #[error("can't resolve `{0}`: {1}")]
    Lookup(String, #[source] std::io::Error),
    /// The host name has no address.
    #[error("can't resolve `{0}`: no address")]
    NoAddress(String),
    /// The server does not answer.
    #[error("{0}: {1}")]
    Request(Url, #[source] RequestError),
}

impl ReachError {
    /// Returns whether the server's certificate was rejected.
    #[must_use]
    pub fn is_certificate(&self) -> bool {
        let ReachError::Request(_, RequestError::Dial(error)) = self else {
            return false;
        };
        let source = error.get_ref().and_then(|source| source.downcast_ref());
        matches!(source, Some(rustls::Error::InvalidCertificate(_)))
    }
}

/// Requests `url` from one address of `host` after the other, until one answers.
pub(crate) async fn reach<T>(
    url: &Url,
    host: &str,
    port: u16,
    request: impl AsyncFn(SocketAddr) -> Result<T, RequestError>,
) -> Result<T, ReachError> {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let found = tokio::net::lookup_host((bare, port)).await;
    let mut addresses: Vec<SocketAddr> = found
        .map_err(|error| ReachError::Lookup(host.to_owned(), error))?
        .collect();
    addresses.dedup();
    let mut last = ReachError::NoAddress(host.to_owned());
    for address in addresses {
        match request(address).await {
            Ok(answer) => return Ok(answer),
            Err(error) => last = ReachError::Request(url.clone(), error),
        }
    }
    Err(last)
}

/// Certificates that a measurement accepts: any with `insecure`.
pub(crate) fn trust(insecure: bool) -> Trust {
    if insecure { Trust::Any } else { Trust::SystemRoots }
}
