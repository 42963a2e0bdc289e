//! Interfaces: name, index, address and counters.

use std::collections::BTreeSet;
use std::io;
use std::net::IpAddr;

/// Returns the index of an interface.
///
/// # Errors
/// [`NotFound`](io::ErrorKind::NotFound) when no interface has this name.
pub fn number(name: &str) -> io::Result<u32> {
    imp::number(name)
}

/// Returns the interface of the route to `peer`: the one that has the source address of packets to `peer`
/// (GetBestInterfaceEx on Windows). Sends nothing.
///
/// # Errors
/// The kernel's error when there is no route; [`NotFound`](io::ErrorKind::NotFound) when no interface has the address.
pub fn towards(peer: IpAddr) -> io::Result<String> {
    imp::towards(peer)
}

/// Returns the existing interfaces, if `name` is not among them; `None` if it is, or if that is unknown.
#[must_use]
pub fn others_than(name: &str) -> Option<Vec<String>> {
    let all = names();
    (!all.is_empty() && !all.contains(name)).then(|| all.into_iter().collect())
}

/// All interfaces. On systems without a list, those with an address.
fn names() -> BTreeSet<String> {
    let listed = std::fs::read_dir("/sys/class/net").into_iter().flatten().flatten();
    let listed = listed.filter(|entry| entry.path().is_dir());
    let mut names: BTreeSet<String> = listed
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    let addressed = if_addrs::get_if_addrs().unwrap_or_default();
    names.extend(addressed.into_iter().map(|interface| interface.name));
    names
}

/// Returns the number of bytes that an interface has received.
///
/// # Errors
/// An I/O error when the interface does not exist, and always on other systems than Linux and Windows.
pub fn received(name: &str) -> io::Result<u64> {
    imp::received(name)
}

#[cfg(windows)]
pub(crate) use imp::{check, named};

#[cfg_attr(unix, path = "interface/unix.rs")]
#[cfg_attr(windows, path = "interface/windows.rs")]
mod imp;

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::net::UdpSocket;

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

    #[test]
    fn loopback_is_one_of_the_interfaces() {
        assert_eq!(others_than("lo"), None);
        let all = others_than("nosuch0").expect("there is no such interface");
        assert!(all.contains(&"lo".to_owned()), "{all:?}");
    }
}
