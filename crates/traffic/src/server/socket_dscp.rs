//! DSCP of a socket's packets.

use socket2::SockRef;
use std::cell::Cell;

/// DSCP that was set last on a socket; initially none, so that the system's default is used.
#[derive(Debug, Default)]
pub(crate) struct SocketDscp(Cell<u8>);

impl SocketDscp {
    /// Sets the DSCP of `socket`. Returns whether the system accepted it. Otherwise packets keep the previous DSCP:
    /// that of an earlier response, or on a shared socket that of another client.
    pub(crate) fn set<'s>(&self, socket: impl Into<SockRef<'s>>, dscp: u8) -> bool {
        if self.0.get() != dscp && netburn_platform::set_dscp(socket, dscp).is_ok() {
            self.0.set(dscp);
        }
        self.0.get() == dscp
    }

    /// Returns whether the socket has the system's default.
    pub(crate) fn is_plain(&self) -> bool {
        self.0.get() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::UdpSocket;

    #[test]
    fn a_rejected_dscp_leaves_the_previous_one() {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let marking = SocketDscp::default();
        // 6 bits: 64 is rejected.
        assert!(!marking.set(&socket, 64) && marking.is_plain());
        assert!(marking.set(&socket, 46) && !marking.is_plain());
        assert!(!marking.set(&socket, 64) && !marking.is_plain());
        assert!(marking.set(&socket, 46) && marking.set(&socket, 0) && marking.is_plain());
    }
}
