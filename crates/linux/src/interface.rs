//! Interfaces by name, number, address, and what they have counted.

use std::io;
use std::net::{IpAddr, SocketAddr, UdpSocket};

/// The number of an interface.
///
/// # Errors
/// [`NotFound`](io::ErrorKind::NotFound) when there is none of that name; [`Unsupported`](io::ErrorKind::Unsupported) elsewhere than on
/// Unix.
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

/// The interface whose address packets to `peer` would carry: the one that the route there takes, on hosts that have an address per
/// interface. Sends nothing.
///
/// # Errors
/// When there is no route; [`NotFound`](io::ErrorKind::NotFound) when no interface has the address;
/// [`Unsupported`](io::ErrorKind::Unsupported) elsewhere than on Unix.
pub fn towards(peer: IpAddr) -> io::Result<String> {
    let any: SocketAddr = match peer {
        IpAddr::V4(_) => ([0; 4], 0).into(),
        IpAddr::V6(_) => ([0_u16; 8], 0).into(),
    };
    let socket = UdpSocket::bind(any)?;
    socket.connect((peer, 9))?;
    holding(socket.local_addr()?.ip())
}

/// The interface that has an address.
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
        // SAFETY: the C library made this list, which we free only below.
        let one = unsafe { &*next };
        // SAFETY: as above; an address is null or as long as its family has it.
        if unsafe { ip(one.ifa_addr) } == Some(address) {
            // SAFETY: a name in the list ends with a zero.
            let name = unsafe { std::ffi::CStr::from_ptr(one.ifa_name) };
            found = Some(name.to_string_lossy().into_owned());
        }
        next = one.ifa_next;
    }
    // SAFETY: the list is the C library's own, and nothing refers to it any more.
    unsafe { libc::freeifaddrs(list) };
    found.ok_or_else(|| io::ErrorKind::NotFound.into())
}

/// The IP address in a socket address.
///
/// # Safety
/// `address` is null, or points to a socket address that is as long as its family has it.
#[cfg(unix)]
unsafe fn ip(address: *const libc::sockaddr) -> Option<IpAddr> {
    if address.is_null() {
        return None;
    }
    // SAFETY: not null, so an address with a family.
    match i32::from(unsafe { (*address).sa_family }) {
        libc::AF_INET => {
            // SAFETY: of this family; it need not be aligned.
            let v4 = unsafe { address.cast::<libc::sockaddr_in>().read_unaligned() };
            Some(IpAddr::from(v4.sin_addr.s_addr.to_ne_bytes()))
        }
        libc::AF_INET6 => {
            // SAFETY: of this family; it need not be aligned.
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

/// Bytes that an interface has received.
///
/// # Errors
/// When it isn't there; elsewhere than on Linux always.
pub fn received(name: &str) -> io::Result<u64> {
    let text = std::fs::read_to_string(format!("/sys/class/net/{name}/statistics/rx_bytes"))?;
    text.trim().parse().map_err(|_| io::ErrorKind::InvalidData.into())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn the_loopback_interface_has_a_number_its_addresses_and_counts() {
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
