//! Systems without Unix sockets: commands of this user connect to the loopback address.

use std::io;
use std::path::Path;
use tokio::net::TcpStream;

/// No socket.
pub(super) struct LocalListener;

impl LocalListener {
    /// True if commands of this user connect without TLS.
    pub(super) const EXISTS: bool = false;

    /// Opens nothing.
    pub(super) fn bind(_: &Path) -> io::Result<Self> {
        Ok(Self)
    }

    /// Never completes.
    pub(super) async fn accept(&self) -> io::Result<TcpStream> {
        std::future::pending().await
    }
}
