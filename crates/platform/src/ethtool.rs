//! Requests of ethtool(8) to the kernel (linux/ethtool.h), and the driver of an interface (`ethtool -i`).

use crate::system_call::check;
use rustix::net::{AddressFamily, SocketFlags, SocketType};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

const SIOCETHTOOL: libc::c_ulong = 0x8946;

/// A socket for requests about interfaces of this thread's network namespace.
///
/// # Errors
/// The kernel's error.
pub fn socket() -> io::Result<OwnedFd> {
    let (family, kind) = (AddressFamily::INET, SocketType::DGRAM);
    Ok(rustix::net::socket_with(family, kind, SocketFlags::CLOEXEC, None)?)
}

/// Runs an ethtool request. `words` contains the request and then its answer, and has the length that the request
/// states.
///
/// # Errors
/// The kernel's error.
pub fn ask(socket: &OwnedFd, name: &str, words: &mut [u32]) -> io::Result<()> {
    if name.is_empty() || name.len() >= libc::IFNAMSIZ {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    // SAFETY: an ifreq is numbers and bytes; all zero is an empty one.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(name.bytes()) {
        *to = from as libc::c_char;
    }
    request.ifr_ifru.ifru_data = words.as_mut_ptr().cast();
    // SAFETY: the kernel reads one ifreq, and accesses `words` within the length that the request states.
    check(unsafe { libc::ioctl(socket.as_raw_fd(), SIOCETHTOOL as _, &raw mut request) }).map(drop)
}

const ETHTOOL_GDRVINFO: u32 = 0x3;
/// Length of each text in struct ethtool_drvinfo, in words.
const TEXT: usize = 8;
/// Length of struct ethtool_drvinfo in words: the command, five texts, 12 reserved bytes, five numbers.
const WORDS: usize = 1 + 5 * TEXT + 3 + 5;

/// Driver of an interface, as it describes itself. Unknown texts are empty.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Driver {
    /// Name of the driver: `ath9k`.
    pub name: String,
    /// Version; for drivers without one, that of the kernel.
    pub version: String,
    /// Version of the firmware.
    pub firmware: String,
    /// Address on its bus: `0000:02:00.0`.
    pub bus: String,
}

/// Returns the driver of the interface `name` in this thread's network namespace.
///
/// # Errors
/// The kernel's error: [`Unsupported`](io::ErrorKind::Unsupported) when the interface has no driver to describe.
pub fn driver(name: &str) -> io::Result<Driver> {
    let mut words = [0; WORDS];
    words[0] = ETHTOOL_GDRVINFO;
    ask(&socket()?, name, &mut words)?;
    let text = |number: usize| {
        let words = &words[1 + number * TEXT..][..TEXT];
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
        String::from_utf8_lossy(&bytes[..end]).into_owned()
    };
    Ok(Driver {
        name: text(0),
        version: text(1),
        firmware: text(2),
        bus: text(3),
    })
}
