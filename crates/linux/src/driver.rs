//! Driver and firmware of an interface (`ethtool -i`). Linux only.

use crate::ethtool::{ask, socket};
use std::io;

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
pub fn info(name: &str) -> io::Result<Driver> {
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
