//! Kernel state of TCP connections, including those of other processes (sock_diag(7)).

use netburn_platform::netlink::Netlink;
use netburn_platform::netlink::message::{self, Message, REQUEST};
use netburn_platform::tcp::TcpInfo;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// A sock_diag socket. It stays in the network namespace in which it was opened.
#[derive(Debug)]
pub struct Diag {
    netlink: Netlink,
}

const SOCK_DIAG_BY_FAMILY: u16 = 20;
/// Attribute with a `struct tcp_info`, and the extension bit that requests it.
const INFO: u16 = 2;
const WITH_INFO: u8 = 1 << (INFO - 1);
/// Length of `struct inet_diag_msg`.
const FIXED: usize = 72;
const LISTENING: u8 = 10;

impl Diag {
    /// Opens a socket in this thread's network namespace.
    ///
    /// # Errors
    /// The kernel's error, for example if it has no sock_diag.
    pub fn new() -> io::Result<Diag> {
        let netlink = Netlink::new(Some(rustix::net::netlink::SOCK_DIAG))?;
        Ok(Diag { netlink })
    }

    /// Returns the state of the connection from `here` to `there`; `None` if there is no such connection.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn connection(&mut self, here: SocketAddr, there: SocketAddr) -> io::Result<Option<TcpInfo>> {
        let mut buffer = [0; 4096];
        let answer = match self.netlink.ask(request(here, there), &mut buffer) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            answer => answer?,
        };
        // Without a connection, the kernel returns a listening socket.
        if answer.get(1) == Some(&LISTENING) {
            return Ok(None);
        }
        let attributes = answer.get(FIXED..).unwrap_or_default();
        Ok(message::find(attributes, INFO).map(TcpInfo::decode))
    }
}

impl From<OwnedFd> for Diag {
    /// Wraps a socket that another process opened.
    fn from(socket: OwnedFd) -> Diag {
        let netlink = Netlink::from(socket);
        Diag { netlink }
    }
}

impl AsFd for Diag {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.netlink.as_fd()
    }
}

/// Encodes a `struct inet_diag_req_v2`.
fn request(here: SocketAddr, there: SocketAddr) -> Message {
    let family = match here {
        SocketAddr::V4(_) => libc::AF_INET,
        SocketAddr::V6(_) => libc::AF_INET6,
    };
    let mut message = Message::new(SOCK_DIAG_BY_FAMILY, REQUEST);
    message.put(&[family as u8, libc::IPPROTO_TCP as u8, WITH_INFO, 0]);
    // All states.
    message.put(&u32::MAX.to_ne_bytes());
    message.put(&here.port().to_be_bytes());
    message.put(&there.port().to_be_bytes());
    for address in [here.ip(), there.ip()] {
        let mut bytes = [0; 16];
        match address {
            IpAddr::V4(address) => bytes[..4].copy_from_slice(&address.octets()),
            IpAddr::V6(address) => bytes = address.octets(),
        }
        message.put(&bytes);
    }
    // Any interface and any cookie.
    message.put(&[0; 4]);
    message.put(&[0xff; 8]);
    message
}

#[cfg(test)]
mod tests {
    use super::*;
    use netburn_platform::tcp::tcp_info;
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};

    fn a_connection_is_found(address: &str) {
        let listener = TcpListener::bind(address).unwrap();
        let mut near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let mut far = listener.accept().unwrap().0;
        near.write_all(&[7; 5000]).unwrap();
        far.read_exact(&mut [0; 5000]).unwrap();
        let (here, there) = (near.local_addr().unwrap(), near.peer_addr().unwrap());
        let mut diag = Diag::new().unwrap();
        // The same values as those that the socket's owner reads.
        let seen = diag.connection(here, there).unwrap().unwrap();
        let own = tcp_info(&near).unwrap();
        assert_eq!((seen.mss, seen.bytes_acked), (own.mss, own.bytes_acked));
        assert_eq!(seen.pacing_rate, own.pacing_rate);
        let other = diag.connection(there, here).unwrap().unwrap();
        assert_eq!(other.bytes_received.as_bytes(), 5000);
        // No connection, only the listener at one end.
        let unknown = SocketAddr::new(here.ip(), 1);
        assert_eq!(diag.connection(unknown, there).unwrap(), None);
        assert_eq!(diag.connection(there, unknown).unwrap(), None);
    }

    #[test]
    fn connections_are_found_by_their_addresses() {
        a_connection_is_found("127.0.0.1:0");
        a_connection_is_found("[::1]:0");
    }
}
