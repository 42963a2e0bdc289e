//! Interfaces: name, index, address and counters.

use std::io;
use std::net::{IpAddr, SocketAddr, UdpSocket};

/// Returns the index of an interface.
///
/// # Errors
/// [`NotFound`](io::ErrorKind::NotFound) when no interface has this name; [`Unsupported`](io::ErrorKind::Unsupported)
/// on other systems than Unix.
pub fn number(name: &str) -> io::Result<u32> {
    #[cfg(unix)]
    {
        let name = std::ffi::CString::new(name).map_err(|_| io::ErrorKind::NotFound)?;
        // SAFETY: the name ends with a zero.
        match unsafe { libc::if_nametoindex(name.as_ptr()) } {
            0 => Err(io::ErrorKind::NotFound.into()),
            number => Ok(number),
        }
    }
    #[cfg(not(unix))]
    {
        let _ = name;
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// Returns the interface of the route to `peer`: the one that has the source address of packets to `peer`. Sends
/// nothing.
///
/// # Errors
/// The kernel's error when there is no route; [`NotFound`](io::ErrorKind::NotFound) when no interface has the address;
/// [`Unsupported`](io::ErrorKind::Unsupported) on other systems than Unix.
pub fn towards(peer: IpAddr) -> io::Result<String> {
    let any: SocketAddr = match peer {
        IpAddr::V4(_) => ([0; 4], 0).into(),
        IpAddr::V6(_) => ([0_u16; 8], 0).into(),
    };
    let socket = UdpSocket::bind(any)?;
    socket.connect((peer, 9))?;
    holding(socket.local_addr()?.ip())
}

/// Returns the interface that has an address.
#[cfg(unix)]
fn holding(address: IpAddr) -> io::Result<String> {
    let mut list: *mut libc::ifaddrs = std::ptr::null_mut();
    // SAFETY: the C library writes one pointer.
    if unsafe { libc::getifaddrs(&raw mut list) } != 0 {
        return Err(io::Error::last_os_error());
    }
    let mut found = None;
    let mut next = list;
    while !next.is_null() && found.is_none() {
        // SAFETY: the C library allocated this list, which is freed only below.
        let one = unsafe { &*next };
        // SAFETY: as above; an address is null or has the length of its family.
        if unsafe { ip(one.ifa_addr) } == Some(address) {
            // SAFETY: a name in the list ends with a zero.
            let name = unsafe { std::ffi::CStr::from_ptr(one.ifa_name) };
            found = Some(name.to_string_lossy().into_owned());
        }
        next = one.ifa_next;
    }
    // SAFETY: the C library allocated the list, and no references to it remain.
    unsafe { libc::freeifaddrs(list) };
    found.ok_or_else(|| io::ErrorKind::NotFound.into())
}

/// Returns the IP address of a socket address.
///
/// # Safety
/// `address` is null, or points to a socket address with the length of its family.
#[cfg(unix)]
unsafe fn ip(address: *const libc::sockaddr) -> Option<IpAddr> {
    if address.is_null() {
        return None;
    }
    // SAFETY: not null, so an address with a family.
    match i32::from(unsafe { (*address).sa_family }) {
        libc::AF_INET => {
            // SAFETY: the address has this family; the read is unaligned.
            let v4 = unsafe { address.cast::<libc::sockaddr_in>().read_unaligned() };
            Some(IpAddr::from(v4.sin_addr.s_addr.to_ne_bytes()))
        }
        libc::AF_INET6 => {
            // SAFETY: the address has this family; the read is unaligned.
            let v6 = unsafe { address.cast::<libc::sockaddr_in6>().read_unaligned() };
            Some(IpAddr::from(v6.sin6_addr.s6_addr))
        }
        _ => None,
    }
}

#[cfg(not(unix))]
fn holding(_address: IpAddr) -> io::Result<String> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Returns the number of bytes that an interface has received.
///
/// # Errors
/// An I/O error when the interface does not exist, and always on other systems than Linux.
pub fn received(name: &str) -> io::Result<u64> {
    let text = std::fs::read_to_string(format!("/sys/class/net/{name}/statistics/rx_bytes"))?;
    text.trim().parse().map_err(|_| io::ErrorKind::InvalidData.into())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn the_loopback_interface_has_an_index_addresses_and_counters() {
        assert!(number("lo").unwrap() > 0);
        assert_eq!(number("no-such").unwrap_err().kind(), io::ErrorKind::NotFound);
        assert_eq!(number("a\0b").unwrap_err().kind(), io::ErrorKind::NotFound);
        assert_eq!(towards([127, 0, 0, 1].into()).unwrap(), "lo");
        let before = received("lo").unwrap();
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.send_to(&[0; 1000], socket.local_addr().unwrap()).unwrap();
        socket.recv(&mut [0; 1000]).unwrap();
        assert!(received("lo").unwrap() >= before + 1000);
        assert!(received("no-such").is_err());
    }
}
