//! What an interface takes over from its host (ethtool(8)). Linux only.

use crate::process::check;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

const SIOCETHTOOL: libc::c_ulong = 0x8946;
const ETHTOOL_GSTRINGS: u32 = 0x1b;
const ETHTOOL_GSSET_INFO: u32 = 0x37;
const ETHTOOL_SFEATURES: u32 = 0x3b;
const ETH_SS_FEATURES: u32 = 4;
/// The length of a feature's name.
const NAME: usize = 32;

/// Has the interface `name`, in the network namespace that this thread is in, take over something or not: features are called as
/// `ethtool -k` calls them in its list of all (`tx-udp-segmentation`).
///
/// # Errors
/// [`NotFound`](io::ErrorKind::NotFound) where the kernel knows no such feature; what the kernel says.
pub fn set(name: &str, feature: &str, on: bool) -> io::Result<()> {
    // SAFETY: no pointers are passed.
    let socket = check(unsafe { libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0) })?;
    // SAFETY: the kernel has just given us this descriptor.
    let socket = unsafe { OwnedFd::from_raw_fd(socket) };
    // struct ethtool_sset_info: command, reserved, mask of 64 bits, one count.
    let mut info = [ETHTOOL_GSSET_INFO, 0, 1 << ETH_SS_FEATURES, 0, 0];
    ask(&socket, name, &mut info)?;
    let count = info[4] as usize;
    // struct ethtool_gstrings: command, set, count, the names.
    let mut strings = vec![0; 3 + count * NAME / size_of::<u32>()];
    strings[0] = ETHTOOL_GSTRINGS;
    strings[1] = ETH_SS_FEATURES;
    strings[2] = count as u32;
    ask(&socket, name, &mut strings)?;
    let bytes: Vec<u8> = strings[3..].iter().flat_map(|word| word.to_ne_bytes()).collect();
    let called = |bytes: &[u8]| bytes.split(|byte| *byte == 0).next() == Some(feature.as_bytes());
    let number = bytes
        .chunks_exact(NAME)
        .position(called)
        .ok_or(io::ErrorKind::NotFound)?;
    // struct ethtool_sfeatures: command, count of blocks, for each of 32 features which are meant and which are to be on.
    let blocks = count.div_ceil(32);
    let mut features = vec![0; 2 + 2 * blocks];
    features[0] = ETHTOOL_SFEATURES;
    features[1] = blocks as u32;
    let (block, bit) = (number / 32, 1 << (number % 32));
    features[2 + 2 * block] = bit;
    features[3 + 2 * block] = if on { bit } else { 0 };
    ask(&socket, name, &mut features)
}

/// `words` hold a request of ethtool's, and its answer afterwards; they are as long as the request says.
fn ask(socket: &OwnedFd, name: &str, words: &mut [u32]) -> io::Result<()> {
    if name.is_empty() || name.len() >= libc::IFNAMSIZ {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    // SAFETY: an ifreq is numbers and bytes; all zero is an empty one.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(name.bytes()) {
        *to = from as libc::c_char;
    }
    request.ifr_ifru.ifru_data = words.as_mut_ptr().cast();
    // SAFETY: the kernel reads one ifreq, and reads and writes what the request in `words` says, for which they have room.
    check(unsafe { libc::ioctl(socket.as_raw_fd(), SIOCETHTOOL as _, &raw mut request) }).map(drop)
}
