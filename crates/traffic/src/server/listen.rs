//! Opens the sockets at which a server listens.

use super::ServerError;
use socket2::{Domain, Protocol, Socket, Type};
use std::io;
use std::net::{IpAddr, Ipv6Addr, SocketAddr, TcpListener, UdpSocket};

/// Maximum number of connections to accept in the kernel, subject to net.core.somaxconn.
const BACKLOG: i32 = 4096;
/// Maximum number of attempts to find a port that is free for TCP and UDP, with port 0.
const TRIES: usize = 32;

/// Listens for TCP at each of `addresses`, and with `datagrams` for UDP at the same ports.
///
/// # Errors
/// [`ServerError::Listen`] when a socket cannot be opened.
pub(crate) fn open(
    addresses: &[SocketAddr],
    datagrams: bool,
) -> Result<Vec<(TcpListener, Option<UdpSocket>)>, ServerError> {
    let mut opened = Vec::new();
    for &address in addresses {
        match pair(address, datagrams) {
            Ok(pair) => opened.push(pair),
            Err(reason) if addresses.len() > 1 && lacks_ipv6(address, &reason) => {
                tracing::info!(%address, %reason, "this machine has no IPv6");
            }
            Err(reason) => return Err(ServerError::Listen { address, reason }),
        }
    }
    Ok(opened)
}

/// Returns whether an IPv6 wildcard failed because the machine has no IPv6.
fn lacks_ipv6(address: SocketAddr, reason: &io::Error) -> bool {
    address.ip() == IpAddr::V6(Ipv6Addr::UNSPECIFIED)
        && (reason.kind() == io::ErrorKind::AddrNotAvailable || reason.raw_os_error() == Some(libc_eafnosupport()))
}

/// EAFNOSUPPORT, for which std has no kind.
const fn libc_eafnosupport() -> i32 {
    if cfg!(target_os = "linux") { 97 } else { 47 }
}

fn pair(address: SocketAddr, datagrams: bool) -> io::Result<(TcpListener, Option<UdpSocket>)> {
    let mut tries = if address.port() == 0 { TRIES } else { 1 };
    loop {
        let listener = tcp(address)?;
        if !datagrams {
            return Ok((listener, None));
        }
        match udp(listener.local_addr()?) {
            Ok(socket) => return Ok((listener, Some(socket))),
            Err(error) if tries == 1 => return Err(error),
            Err(_) => tries -= 1,
        }
    }
}

fn tcp(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = socket(address, Type::STREAM, Protocol::TCP)?;
    // Connections of a previous server in TIME-WAIT do not block the port.
    socket.set_reuse_address(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}

fn udp(address: SocketAddr) -> io::Result<UdpSocket> {
    let socket = socket(address, Type::DGRAM, Protocol::UDP)?;
    netburn_linux::datagram::enable_destination_address(&socket)?;
    // Without it the DSCP of received datagrams is unknown.
    let _ = netburn_linux::datagram::enable_dscp(&socket);
    socket.bind(&address.into())?;
    Ok(socket.into())
}

fn socket(address: SocketAddr, kind: Type, protocol: Protocol) -> io::Result<Socket> {
    let socket = Socket::new(Domain::for_address(address), kind, Some(protocol))?;
    if address.is_ipv6() {
        // IPv4 has its own sockets.
        socket.set_only_v6(true)?;
    }
    socket.set_nonblocking(true)?;
    Ok(socket)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn local(port: u16) -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], port))
    }

    #[test]
    fn port_0_gives_one_port_for_both() {
        let opened = open(&[local(0), local(0)], true).unwrap();
        let ports: Vec<_> = opened
            .iter()
            .map(|(tcp, udp)| {
                let port = tcp.local_addr().unwrap().port();
                assert_eq!(udp.as_ref().unwrap().local_addr().unwrap().port(), port);
                port
            })
            .collect();
        assert!(ports[0] != ports[1] && ports.iter().all(|port| *port != 0));
        assert!(open(&[local(0)], false).unwrap()[0].1.is_none());
    }

    #[test]
    fn a_port_in_use_is_an_error_that_names_it() {
        let taken = TcpListener::bind(local(0)).unwrap();
        let address = taken.local_addr().unwrap();
        let error = open(&[address], false).unwrap_err().to_string();
        assert!(error.contains(&address.to_string()), "{error}");
    }
}
