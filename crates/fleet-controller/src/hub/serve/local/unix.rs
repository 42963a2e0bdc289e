//! Unix: a socket in the folder of the controller's state.

use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use tokio::net::{UnixListener, UnixStream};

/// A socket that only its user can connect to.
pub(super) struct LocalListener(UnixListener);

impl LocalListener {
    /// True if commands of this user connect without TLS.
    pub(super) const EXISTS: bool = true;

    /// Opens the socket in place of an existing one.
    pub(super) fn bind(path: &Path) -> io::Result<Self> {
        let _ = std::fs::remove_file(path);
        let listener = UnixListener::bind(path)?;
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))?;
        Ok(Self(listener))
    }

    /// Waits for the next connection.
    pub(super) async fn accept(&self) -> io::Result<UnixStream> {
        self.0.accept().await.map(|(stream, _)| stream)
    }
}
