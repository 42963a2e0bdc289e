//! Options of any socket.

use netburn_units::Duration;
use socket2::SockRef;
use std::io;
use std::os::fd::AsFd;

/// Has the socket use only this network interface (SO_BINDTODEVICE), whatever the routes say.
///
/// # Errors
/// When there is no such interface or it isn't permitted; [`Unsupported`](io::ErrorKind::Unsupported) elsewhere than
/// on Linux.
pub fn bind_to_device(socket: impl AsFd, interface: &str) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    return SockRef::from(&socket).bind_device(Some(interface.as_bytes()));
    #[cfg(not(target_os = "linux"))]
    {
        let _ = (socket, interface);
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// Marks what the socket sends with a DSCP (RFC 2474), 0 to 63, in IPv4's TOS and IPv6's traffic class alike. The two
/// ECN bits stay the kernel's.
///
/// # Errors
/// [`InvalidInput`](io::ErrorKind::InvalidInput) above 63; what the kernel says.
pub fn set_dscp(socket: impl AsFd, dscp: u8) -> io::Result<()> {
    if dscp > 63 {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "a DSCP is 0 to 63"));
    }
    let socket = SockRef::from(&socket);
    let byte = u32::from(dscp) << 2;
    if socket.local_addr()?.is_ipv6() {
        socket.set_tclass_v6(byte)?;
        // For IPv4 peers of a socket that takes both; one that is IPv6 only may refuse.
        let _ = socket.set_tos_v4(byte);
        return Ok(());
    }
    socket.set_tos_v4(byte)
}

/// Bytes that a socket has sent and that its host still counts as its own: in queues before devices, memory that they take included
/// (SIOCOUTQ; for TCP what isn't acknowledged).
///
/// # Errors
/// What the kernel says.
#[cfg(target_os = "linux")]
pub fn unsent(socket: impl std::os::fd::AsFd) -> io::Result<u32> {
    use std::os::fd::AsRawFd;
    let mut bytes: libc::c_int = 0;
    // SAFETY: the kernel writes one int.
    crate::process::check(unsafe { libc::ioctl(socket.as_fd().as_raw_fd(), libc::TIOCOUTQ as _, &raw mut bytes) })?;
    Ok(bytes.unsigned_abs())
}

/// Asks for so much room for what arrives and hasn't been read (SO_RCVBUF). The kernel gives less where its `net.core.rmem_max` is less.
///
/// # Errors
/// What the kernel says.
pub fn set_receive_room(socket: impl AsFd, bytes: usize) -> io::Result<()> {
    SockRef::from(&socket).set_recv_buffer_size(bytes)
}

/// Asks for so much room for what was sent and hasn't left the host (SO_SNDBUF). The kernel gives less where its `net.core.wmem_max` is
/// less.
///
/// # Errors
/// What the kernel says.
pub fn set_send_room(socket: impl AsFd, bytes: usize) -> io::Result<()> {
    SockRef::from(&socket).set_send_buffer_size(bytes)
}

/// When the datagram that was read last had arrived at this host, since 1970 by the wall clock (SIOCGSTAMPNS; socket(7)). The first
/// call has the kernel note it from shortly after on; until then it is when the datagram was read.
///
/// # Errors
/// [`NotFound`](io::ErrorKind::NotFound) where nothing was read yet; [`Unsupported`](io::ErrorKind::Unsupported) elsewhere than on
/// Linux.
pub fn arrived(socket: impl AsFd) -> io::Result<Duration> {
    #[cfg(target_os = "linux")]
    {
        use std::os::fd::AsRawFd;
        const SIOCGSTAMPNS: u32 = 0x8907;
        let mut at = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: the kernel writes one timespec.
        crate::process::check(unsafe { libc::ioctl(socket.as_fd().as_raw_fd(), SIOCGSTAMPNS as _, &raw mut at) })?;
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
        set_receive_room(&socket, 1 << 20).unwrap();
        assert_eq!(arrived(&socket).unwrap_err().kind(), io::ErrorKind::NotFound);
        let wall = || {
            let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
            Duration::from_nanos(since.unwrap().as_nanos() as u64)
        };
        let noted = (0..500).any(|_| {
            let before = wall();
            socket.send_to(b"early", socket.local_addr().unwrap()).unwrap();
            let after = wall();
            // It lies there for a while.
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
            // Kernels before 5.7 let only root do it.
            Err(error) => assert_eq!(error.kind(), io::ErrorKind::PermissionDenied),
        }
        assert!(bind_to_device(&socket, "no-such-device").is_err());
    }
}
