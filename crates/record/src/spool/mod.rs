//! The spool: rows of an active run, appended to one file that survives `kill -9` at any byte.
//!
//! - [`frame`] – frames with a length and a CRC, for this spool and that of an agent.
//! - `payload`: a row in a frame: integers as LEB128, signed ones zigzag-encoded, times relative to
//!   the time before them.
//! - [`SpoolWriter`], [`SpoolReader`]: rows in frames. The first frame is the run's header, once.

pub mod frame;
mod payload;
mod read;
mod write;

pub use frame::{Disk, End, SpoolError};
pub use read::SpoolReader;
pub use write::SpoolWriter;

use crate::columns::MAX_ROW_BYTES;

/// The newest version of the spool that this code writes and reads.
pub const VERSION: u32 = 1;

/// The kind of the frame that holds the run's header.
const HEADER: u8 = 0;

/// The longest header in bytes.
pub const MAX_HEADER_BYTES: usize = 256 << 20;

const FORMAT: frame::Format = frame::Format {
    magic: b"nbspool\n",
    version: VERSION,
    max_payload: |kind| match kind {
        HEADER => MAX_HEADER_BYTES,
        _ => MAX_ROW_BYTES,
    },
};
