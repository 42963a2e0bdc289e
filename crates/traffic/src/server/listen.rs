//! Opens the sockets at which a server listens.

use super::ServerError;
use socket2::{Domain, Protocol, Socket, Type};
use std::io;
use std::net::{IpAddr, Ipv6Addr, SocketAddr, TcpListener, UdpSocket};

/// Maximum number of connections to accept in the kernel, subject to net.core.somaxconn.
const BACKLOG: i32 = 4096;
/// Maximum number of attempts to find a port that is free for TCP and UDP, with port 0.
const TRIES: usize = 32;

/// Listener for TCP, and its socket for UDP at the same port.
type Pair = (TcpListener, Option<UdpSocket>);

/// Listens for TCP at each of `addresses`, and with `datagrams` for UDP at the same ports. Different IP addresses with
/// port 0 have the same port.
///
/// # Errors
/// [`ServerError::Listen`] when a socket cannot be opened.
pub(crate) fn open(addresses: &[SocketAddr], datagrams: bool) -> Result<Vec<Pair>, ServerError> {
    let mut tries = TRIES;
    loop {
        match open_once(addresses, datagrams) {
            // The port that was free at one IP address is in use at another one.
            Err(ServerError::Listen { address, reason })
                if tries > 1 && reason.kind() == io::ErrorKind::AddrInUse && is_any_port(addresses, address) =>
            {
                tries -= 1;
            }
            result => return result,
        }
    }
}

/// Listens for TCP at `port` of the IP addresses of `addresses`; at another port, the same at all, if it is in use.
///
/// # Errors
/// [`ServerError::Listen`] when a socket cannot be opened.
pub(crate) fn open_port(addresses: &[SocketAddr], port: u16) -> Result<Vec<TcpListener>, ServerError> {
    let at = |port| -> Vec<SocketAddr> { addresses.iter().map(|address| with_port(*address, port)).collect() };
    let opened = open(&at(port), false).or_else(|_| open(&at(0), false))?;
    Ok(opened.into_iter().map(|(listener, _)| listener).collect())
}

/// The same address with another port. Keeps the scope of a link-local address.
#[must_use]
pub fn with_port(mut address: SocketAddr, port: u16) -> SocketAddr {
    address.set_port(port);
    address
}

/// Returns whether `address` was configured with port 0.
fn is_any_port(addresses: &[SocketAddr], address: SocketAddr) -> bool {
    !addresses.contains(&address) && addresses.contains(&with_port(address, 0))
}

fn open_once(addresses: &[SocketAddr], datagrams: bool) -> Result<Vec<Pair>, ServerError> {
    let mut opened: Vec<Pair> = Vec::new();
    let mut listening: Vec<SocketAddr> = Vec::new();
    // Port of the first address with port 0.
    let mut chosen = None;
    for &configured in addresses {
        let shared = chosen.map(|port| with_port(configured, port));
        let shared = shared.filter(|address| configured.port() == 0 && !listening.contains(address));
        let address = shared.unwrap_or(configured);
        match pair(address, datagrams) {
            Ok(pair) => {
                let address = pair.0.local_addr()?;
                if configured.port() == 0 {
                    chosen.get_or_insert(address.port());
                }
                listening.push(address);
                opened.push(pair);
            }
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
    netburn_platform::datagram::enable_destination_address(&socket)?;
    // Without it the DSCP of received datagrams is unknown.
    let _ = netburn_platform::datagram::enable_dscp(&socket);
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

    /// Linux has all of 127.0.0.0/8 on loopback. A port that is taken at 127.0.0.2 for TCP or UDP is not chosen.
    #[cfg(target_os = "linux")]
    #[test]
    fn port_0_is_one_port_at_different_addresses() {
        let other = SocketAddr::from(([127, 0, 0, 2], 0));
        // The next rounds find these ports in use at one address.
        let mut held = Vec::new();
        for _ in 0..64 {
            let opened = open(&[local(0), other, local(0)], true).unwrap();
            let ports: Vec<u16> = opened.iter().map(|(tcp, _)| tcp.local_addr().unwrap().port()).collect();
            assert!(ports[0] == ports[1] && ports[0] != ports[2], "{ports:?}");
            held.extend(opened.into_iter().nth(1));
        }
    }

    #[test]
    fn a_port_in_use_is_replaced_by_one_port_at_all_addresses() {
        let taken = TcpListener::bind(local(0)).unwrap();
        let port = taken.local_addr().unwrap().port();
        let opened = open_port(&[local(1)], port).unwrap();
        assert!(opened.len() == 1 && opened[0].local_addr().unwrap().port() != port);
        drop(taken);
        assert_eq!(
            open_port(&[local(1)], port).unwrap()[0].local_addr().unwrap().port(),
            port
        );
    }

    #[test]
    fn a_port_in_use_is_an_error_that_names_it() {
        let taken = TcpListener::bind(local(0)).unwrap();
        let address = taken.local_addr().unwrap();
        let error = open(&[address], false).unwrap_err().to_string();
        assert!(error.contains(&address.to_string()), "{error}");
    }
}
