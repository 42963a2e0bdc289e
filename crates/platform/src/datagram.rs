//! Datagrams with their destination address and their DSCP.
//!
//! A socket bound to the wildcard address answers from the address that the route prefers. On a machine with several
//! addresses, the client may not recognise such an answer. IP_PKTINFO and IPV6_PKTINFO (ip(7), ipv6(7)) report the
//! destination address of a datagram and set the source address of the answer.
//!
//! IP_RECVTOS and IPV6_RECVTCLASS (ip(7), RFC 3542 section 6.5) report the TOS byte or the traffic class with which a
//! datagram arrived. Its upper six bits are the DSCP (RFC 2474 section 3).

use socket2::SockRef;
use std::io;
use std::net::{IpAddr, SocketAddr};

/// Metadata of a received datagram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Received {
    /// Length in bytes, at most that of the buffer.
    pub length: usize,
    /// True if the datagram was longer than the buffer.
    pub truncated: bool,
    /// Source address.
    pub from: SocketAddr,
    /// Destination address, if the system reports it.
    pub to: Option<IpAddr>,
    /// DSCP with which the datagram arrived, 0 to 63, if the system reports it.
    pub dscp: Option<u8>,
}

/// Enables destination addresses. Without this call, [`receive`] returns `None` for `to`.
///
/// # Errors
/// The kernel's error.
pub fn enable_destination_address<'s>(socket: impl Into<SockRef<'s>>) -> io::Result<()> {
    imp::enable_destination_address(&socket.into())
}

/// Enables the DSCP of received datagrams. Without this call, [`receive`] returns `None` for `dscp`. On other systems than
/// Linux the DSCP is never known, and the call has no effect.
///
/// # Errors
/// The kernel's error.
pub fn enable_dscp<'s>(socket: impl Into<SockRef<'s>>) -> io::Result<()> {
    imp::enable_dscp(&socket.into())
}

/// Receives one datagram without blocking.
///
/// # Errors
/// [`WouldBlock`](io::ErrorKind::WouldBlock) when no datagram is available; the socket's error.
pub fn receive<'s>(socket: impl Into<SockRef<'s>>, buffer: &mut [u8]) -> io::Result<Received> {
    imp::receive(&socket.into(), buffer)
}

/// Sends one datagram to `to` without blocking, from the local address `from` if given.
///
/// # Errors
/// [`WouldBlock`](io::ErrorKind::WouldBlock) when the socket's buffer is full; the socket's error.
pub fn send<'s>(socket: impl Into<SockRef<'s>>, bytes: &[u8], to: SocketAddr, from: Option<IpAddr>) -> io::Result<()> {
    imp::send(&socket.into(), bytes, to, from)
}

#[cfg_attr(target_os = "linux", path = "datagram/linux.rs")]
#[cfg_attr(not(target_os = "linux"), path = "datagram/portable.rs")]
mod imp;

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::net::UdpSocket;

    fn there_and_back(wildcard: &str, sent_to: &str, client: &str) {
        let (Ok(server), Ok(client)) = (UdpSocket::bind(wildcard), UdpSocket::bind(client)) else {
            netburn_test_support::skip("needs IPv6");
            return;
        };
        enable_destination_address(&server).unwrap();
        let to: IpAddr = sent_to.parse().unwrap();
        client.connect((to, server.local_addr().unwrap().port())).unwrap();
        client.send(b"ask").unwrap();
        let mut buffer = [0; 16];
        let got = receive(&server, &mut buffer).unwrap();
        assert_eq!(&buffer[..got.length], b"ask");
        assert_eq!(
            (got.to, got.truncated, got.from),
            (Some(to), false, client.local_addr().unwrap())
        );
        send(&server, b"answer", got.from, got.to).unwrap();
        // A connected socket receives datagrams only from its peer address.
        assert_eq!(client.recv(&mut buffer).unwrap(), 6);
    }

    #[test]
    fn an_answer_has_the_destination_address_as_its_source() {
        there_and_back("0.0.0.0:0", "127.0.0.77", "127.0.0.1:0");
        there_and_back("[::]:0", "::1", "[::1]:0");
    }

    /// EF is 101110 (RFC 3246). The lower two bits of the byte are ECN (RFC 3168), which a DSCP does not contain.
    #[test]
    fn a_datagram_arrives_with_its_dscp() {
        for (bind, to) in [
            ("127.0.0.1:0", "127.0.0.1"),
            ("[::1]:0", "::1"),
            ("[::]:0", "127.0.0.1"),
        ] {
            let Ok(receiver) = UdpSocket::bind(bind) else {
                netburn_test_support::skip("needs IPv6");
                return;
            };
            let to: IpAddr = to.parse().unwrap();
            let sender = UdpSocket::bind((to, 0)).unwrap();
            sender.connect((to, receiver.local_addr().unwrap().port())).unwrap();
            let mut buffer = [0; 16];
            sender.send(b"unknown").unwrap();
            assert_eq!(receive(&receiver, &mut buffer).unwrap().dscp, None, "{bind}");
            enable_destination_address(&receiver).unwrap();
            enable_dscp(&receiver).unwrap();
            for dscp in [0, 46, 63] {
                crate::set_dscp(&sender, dscp).unwrap();
                sender.send(b"marked").unwrap();
                let got = receive(&receiver, &mut buffer).unwrap();
                assert_eq!((got.length, got.dscp), (6, Some(dscp)), "{bind}");
                assert!(got.to.is_some(), "{bind}");
            }
            // TOS 0xbb: EF with both bits of ECN.
            let socket = socket2::SockRef::from(&sender);
            if to.is_ipv4() && socket.set_tos_v4(0xbb).is_ok() {
                sender.send(b"ecn").unwrap();
                assert_eq!(receive(&receiver, &mut buffer).unwrap().dscp, Some(46), "{bind}");
            }
        }
    }

    #[test]
    fn an_empty_socket_would_block_and_long_datagrams_are_truncated() {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let mut buffer = [0; 4];
        assert_eq!(
            receive(&socket, &mut buffer).unwrap_err().kind(),
            io::ErrorKind::WouldBlock
        );
        let here = socket.local_addr().unwrap();
        send(&socket, b"123456", here, None).unwrap();
        let got = receive(&socket, &mut buffer).unwrap();
        assert_eq!((got.length, got.truncated, got.to), (4, true, None));
    }
}
