//! Socket options that are independent of the protocol.

use netburn_units::Duration;
use socket2::SockRef;
use std::io;

/// Binds the socket to a network interface (SO_BINDTODEVICE), regardless of routes.
///
/// # Errors
/// The kernel's error when there is no such interface or it is not permitted;
/// [`Unsupported`](io::ErrorKind::Unsupported) on other systems than Linux.
pub fn bind_to_device<'s>(socket: impl Into<SockRef<'s>>, interface: &str) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    return socket.into().bind_device(Some(interface.as_bytes()));
    #[cfg(not(target_os = "linux"))]
    {
        let _ = (socket, interface);
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// True if this system sends the DSCP of [`set_dscp`]. Windows leaves it to policies of the administrator.
pub const SENDS_DSCP: bool = cfg!(not(windows));

/// Sets the DSCP (RFC 2474) of sent packets, 0 to 63, for IPv4 and IPv6. The two ECN bits stay unchanged.
///
/// # Errors
/// [`InvalidInput`](io::ErrorKind::InvalidInput) above 63; [`Unsupported`](io::ErrorKind::Unsupported) on Windows, which
/// accepts IP_TOS and then sends unmarked packets; the kernel's error.
pub fn set_dscp<'s>(socket: impl Into<SockRef<'s>>, dscp: u8) -> io::Result<()> {
    if dscp > 63 {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "a DSCP is 0 to 63"));
    }
    set_traffic_class(&socket.into(), u32::from(dscp) << 2)
}

#[cfg(windows)]
fn set_traffic_class(_: &SockRef<'_>, _: u32) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(not(windows))]
fn set_traffic_class(socket: &SockRef<'_>, byte: u32) -> io::Result<()> {
    if socket.local_addr()?.is_ipv6() {
        socket.set_tclass_v6(byte)?;
        // For IPv4 peers of a dual-stack socket. An IPv6-only socket may return an error.
        let _ = socket.set_tos_v4(byte);
        return Ok(());
    }
    socket.set_tos_v4(byte)
}

/// Requests a receive buffer of this size (SO_RCVBUF). The kernel limits it to `net.core.rmem_max`.
///
/// # Errors
/// The kernel's error.
pub fn set_receive_buffer<'s>(socket: impl Into<SockRef<'s>>, bytes: usize) -> io::Result<()> {
    socket.into().set_recv_buffer_size(bytes)
}

/// Requests a send buffer of this size (SO_SNDBUF). The kernel limits it to `net.core.wmem_max`.
///
/// # Errors
/// The kernel's error.
pub fn set_send_buffer<'s>(socket: impl Into<SockRef<'s>>, bytes: usize) -> io::Result<()> {
    socket.into().set_send_buffer_size(bytes)
}

/// Returns the arrival time of the datagram that was read last, since 1970 by the wall clock (SIOCGSTAMPNS; socket(7)).
/// The first call enables timestamps in the kernel with a short delay; until then, the time of reading is returned.
///
/// # Errors
/// [`NotFound`](io::ErrorKind::NotFound) when no datagram was read; [`Unsupported`](io::ErrorKind::Unsupported) on
/// other systems than Linux.
pub fn arrived<'s>(socket: impl Into<SockRef<'s>>) -> io::Result<Duration> {
    #[cfg(target_os = "linux")]
    {
        use std::os::fd::AsRawFd;
        const SIOCGSTAMPNS: u32 = 0x8907;
        let mut at = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: the kernel writes one timespec.
        crate::system_call::check(unsafe { libc::ioctl(socket.into().as_raw_fd(), SIOCGSTAMPNS as _, &raw mut at) })?;
        Ok(Duration::from_nanos(
            at.tv_sec as u64 * 1_000_000_000 + at.tv_nsec as u64,
        ))
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = socket;
        Err(io::ErrorKind::Unsupported.into())
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::net::UdpSocket;

    #[test]
    fn a_dscp_sits_in_the_upper_six_bits() {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        set_dscp(&socket, 46).unwrap();
        // EF is 101110 (RFC 3246); as a TOS byte 0xb8.
        assert_eq!(SockRef::from(&socket).tos_v4().unwrap(), 0xb8);
        assert_eq!(set_dscp(&socket, 64).unwrap_err().kind(), io::ErrorKind::InvalidInput);
    }

    #[test]
    fn a_dscp_for_ipv6() {
        let Ok(socket) = UdpSocket::bind("[::1]:0") else { return };
        set_dscp(&socket, 10).unwrap();
        assert_eq!(SockRef::from(&socket).tclass_v6().unwrap(), 40);
    }

    #[test]
    fn a_datagram_has_arrived_before_it_is_read() {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        set_receive_buffer(&socket, 1 << 20).unwrap();
        assert_eq!(arrived(&socket).unwrap_err().kind(), io::ErrorKind::NotFound);
        let wall = || {
            let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
            Duration::from_nanos(since.unwrap().as_nanos() as u64)
        };
        let noted = (0..500).any(|_| {
            let before = wall();
            socket.send_to(b"early", socket.local_addr().unwrap()).unwrap();
            let after = wall();
            // The datagram stays in the receive buffer for a while.
            std::thread::sleep(std::time::Duration::from_millis(3));
            socket.recv(&mut [0; 8]).unwrap();
            let at = arrived(&socket).unwrap();
            assert!(before <= at && at <= wall(), "{before:?} {at:?}");
            at <= after
        });
        assert!(noted);
    }

    #[test]
    fn the_loopback_device_can_be_bound_to() {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        match bind_to_device(&socket, "lo") {
            Ok(()) => assert_eq!(SockRef::from(&socket).device().unwrap().unwrap(), b"lo"),
            // Kernels before 5.7 permit it to root only.
            Err(error) => assert_eq!(error.kind(), io::ErrorKind::PermissionDenied),
        }
        assert!(bind_to_device(&socket, "no-such-device").is_err());
    }
}
