//! ICMP echo requests without privileges (RFC 792; icmp(7), "ping sockets"; IcmpSendEcho2 on Windows).
//!
//! Linux permits these sockets for the groups in `net.ipv4.ping_group_range`. It sets identifier and checksum, and
//! passes on only the answers to the socket's own requests. Errors of routers, as "time exceeded", are read
//! from the socket's error queue (IP_RECVERR; ip(7)).

use std::io;
use std::net::Ipv4Addr;

/// Name of the kernel's setting that lists the permitted groups.
pub const SETTING: &str = "net.ipv4.ping_group_range";

/// A socket for ICMP echo requests over IPv4. Sending never blocks.
#[derive(Debug)]
pub struct EchoSocket(imp::Socket);

/// Answer to an echo request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EchoAnswer {
    /// Echo reply.
    Reply {
        /// Sequence number of the request.
        sequence: u16,
        /// Length of the content in bytes.
        length: usize,
    },
    /// A router discarded the request because its TTL was 0 (time exceeded in transit, RFC 792).
    TimeExceeded {
        /// Sequence number of the request.
        sequence: u16,
        /// Address of the router.
        router: Ipv4Addr,
    },
    /// Another message, such as destination unreachable.
    Other,
}

impl EchoSocket {
    /// Opens a socket whose requests go to `to`, in a tokio runtime with I/O. `time_to_live`: number of hops, 1 to 255; `None`: the system's default.
    ///
    /// # Errors
    /// [`PermissionDenied`](io::ErrorKind::PermissionDenied) when the group of this process is not in [`SETTING`];
    /// [`Unsupported`](io::ErrorKind::Unsupported) on other systems than Linux and Windows; the kernel's error.
    pub fn new(to: Ipv4Addr, time_to_live: Option<u8>) -> io::Result<Self> {
        imp::Socket::new(to, time_to_live).map(Self)
    }

    /// Binds the socket to a network interface, as [`bind_to_device`](crate::bind_to_device) does.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn bind_to_device(&self, interface: &str) -> io::Result<()> {
        self.0.bind_to_device(interface)
    }

    /// Sets the DSCP of the requests, as [`set_dscp`](crate::set_dscp) does.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn set_dscp(&self, dscp: u8) -> io::Result<()> {
        self.0.set_dscp(dscp)
    }

    /// Sends an echo request with `content`.
    ///
    /// # Errors
    /// [`WouldBlock`](io::ErrorKind::WouldBlock) when the socket's buffer is full; the kernel's error.
    pub fn send(&self, sequence: u16, content: &[u8]) -> io::Result<()> {
        self.0.send(sequence, content)
    }

    /// Waits for the next answer. Dropping the future loses no answer.
    ///
    /// # Errors
    /// The kernel's error, after which the socket can still be used.
    pub async fn receive(&self) -> io::Result<EchoAnswer> {
        self.0.receive().await
    }
}

/// Header of an echo request, with a checksum and an identifier that the kernel sets.
#[cfg_attr(not(any(target_os = "linux", test)), expect(dead_code, reason = "used on Linux"))]
const fn header(sequence: u16) -> [u8; 8] {
    let [high, low] = sequence.to_be_bytes();
    [8, 0, 0, 0, 0, 0, high, low]
}

/// Sequence number of an echo message of this type.
#[cfg_attr(not(any(target_os = "linux", test)), expect(dead_code, reason = "used on Linux"))]
fn sequence_of(message: &[u8], kind: u8) -> Option<u16> {
    match message {
        [found, _, _, _, _, _, high, low, ..] if *found == kind => Some(u16::from_be_bytes([*high, *low])),
        _ => None,
    }
}

#[cfg_attr(target_os = "linux", path = "icmp/linux.rs")]
#[cfg_attr(windows, path = "icmp/windows.rs")]
#[cfg_attr(not(any(target_os = "linux", windows)), path = "icmp/portable.rs")]
mod imp;

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 792: type 8, code 0, checksum, identifier, sequence number 0x0102.
    #[test]
    fn a_request_has_the_header_of_the_rfc() {
        assert_eq!(header(0x0102), [8, 0, 0, 0, 0, 0, 1, 2]);
        assert_eq!(sequence_of(&[0, 0, 9, 9, 7, 7, 1, 2, 5], 0), Some(0x0102));
        assert_eq!(sequence_of(&[8, 0, 9, 9, 7, 7, 1, 2], 0), None);
        assert_eq!(sequence_of(&[0, 0, 9, 9, 7, 7, 1], 0), None);
    }

    /// The own host answers requests to the loopback address. Systems that do not permit the socket return the error that
    /// callers report.
    #[cfg(any(target_os = "linux", windows))]
    #[tokio::test]
    async fn the_own_host_answers() {
        let socket = match EchoSocket::new(Ipv4Addr::LOCALHOST, None) {
            Ok(socket) => socket,
            Err(error) => {
                assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
                return;
            }
        };
        socket.send(513, b"content").unwrap();
        let reply = EchoAnswer::Reply {
            sequence: 513,
            length: 7,
        };
        assert_eq!(socket.receive().await.unwrap(), reply);
    }
}
