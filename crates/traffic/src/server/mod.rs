//! The traffic server: HTTP and datagrams for clients that want to know what their network is like.
//!
//! [`Server::bind`] opens the sockets, [`Server::run`] serves on threads of its own until it is told to stop, and a
//! [`ServerHandle`] tells meanwhile and afterwards how it goes.

mod config;
mod handle;

pub use config::{Limits, MAX_OBJECT, PORT, ServerConfig, TLS_PORT, Terms};
pub use handle::{Connection, ServerHandle};

use std::future::Future;
use std::net::SocketAddr;

/// A server whose sockets are open.
#[derive(Debug)]
pub struct Server {
    addresses: Addresses,
    handle: ServerHandle,
}

/// Where a server listens; with port 0 asked for, the ports it got.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Addresses {
    /// Cleartext HTTP.
    pub http: Vec<SocketAddr>,
    /// HTTP over TLS.
    pub https: Vec<SocketAddr>,
    /// Datagrams.
    pub datagrams: Vec<SocketAddr>,
}

/// Why a server can't begin.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// A socket can't be opened.
    #[error("can't listen at {address}: {reason}")]
    Listen {
        /// Where.
        address: SocketAddr,
        /// Why.
        reason: std::io::Error,
    },
    /// There is nowhere to listen.
    #[error("nowhere to listen: no address is given")]
    Nowhere,
    /// The operator's text is not fit to be shown.
    #[error(transparent)]
    Operator(#[from] crate::consent::ConsentError),
    /// The machine refuses something else that it needs.
    #[error("can't start the server: {0}")]
    Machine(#[from] std::io::Error),
}

impl Server {
    /// Opens the sockets.
    ///
    /// # Errors
    /// When one of them can't be opened, or the settings make no server.
    pub async fn bind(config: ServerConfig) -> Result<Self, ServerError> {
        let _ = config;
        todo!()
    }

    /// Where it listens.
    #[must_use]
    pub fn addresses(&self) -> &Addresses {
        &self.addresses
    }

    /// Tells how it goes, while it runs and after.
    #[must_use]
    pub fn handle(&self) -> ServerHandle {
        self.handle.clone()
    }

    /// Serves until `shutdown` is done, then closes every connection.
    ///
    /// # Errors
    /// When its threads can't be started.
    pub async fn run(self, shutdown: impl Future<Output = ()>) -> Result<(), ServerError> {
        let _ = shutdown;
        todo!()
    }
}
