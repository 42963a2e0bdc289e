//! Offload features of an interface (ethtool(8)).

use netburn_platform::ethtool::{ask, socket};
use std::io;

const ETHTOOL_GSTRINGS: u32 = 0x1b;
const ETHTOOL_GSSET_INFO: u32 = 0x37;
const ETHTOOL_SFEATURES: u32 = 0x3b;
const ETH_SS_FEATURES: u32 = 4;
/// Length of a feature's name (ETH_GSTRING_LEN).
const NAME: usize = 32;

/// Enables or disables a feature of the interface `name` in this thread's network namespace. Names of features are
/// those of `ethtool -k` (`tx-udp-segmentation`).
///
/// # Errors
/// [`NotFound`](io::ErrorKind::NotFound) when the kernel does not know the feature; the kernel's error.
pub fn set(name: &str, feature: &str, on: bool) -> io::Result<()> {
    let socket = socket()?;
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
    // struct ethtool_sfeatures: command, number of blocks, and for each block of 32 features a mask and their values.
    let blocks = count.div_ceil(32);
    let mut features = vec![0; 2 + 2 * blocks];
    features[0] = ETHTOOL_SFEATURES;
    features[1] = blocks as u32;
    let (block, bit) = (number / 32, 1 << (number % 32));
    features[2 + 2 * block] = bit;
    features[3 + 2 * block] = if on { bit } else { 0 };
    ask(&socket, name, &mut features)
}
