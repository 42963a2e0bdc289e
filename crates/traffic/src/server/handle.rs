//! How a running server goes.

use netburn_linux::TcpInfo;
use netburn_record::Health;
use std::net::SocketAddr;

/// Tells how a server goes, while it runs and after. Cheap to clone, and usable from any thread.
#[derive(Debug, Clone)]
pub struct ServerHandle {
    _private: (),
}

/// A look at one of the server's TCP connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Connection {
    /// The client's end: its port names the connection at both ends.
    pub peer: SocketAddr,
    /// When it was looked at.
    pub at: std::time::Instant,
    /// What the kernel knows of it.
    pub info: TcpInfo,
}

impl ServerHandle {
    /// What the server says of its own measuring since it began, or since [`reset`](Self::reset).
    #[must_use]
    pub fn health(&self) -> Health {
        todo!()
    }

    /// Forgets what was measured so far, bytes and requests included: a run begins.
    pub fn reset(&self) {
        todo!()
    }

    /// Looks at every connection that is open now.
    #[must_use]
    pub fn connections(&self) -> Vec<Connection> {
        todo!()
    }
}
