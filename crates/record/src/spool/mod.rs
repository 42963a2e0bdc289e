//! The spool: rows of an active run, appended to one file that survives `kill -9` at any byte.
//!
//! ```text
//! file  = "nbspool\n"  version: u32  frame*           the first frame is the header, once
//! frame = length: u32  kind: u8  payload: length bytes  crc: u32
//! ```
//!
//! Integers are little-endian. The CRC is CRC-32 (IEEE 802.3, as in zlib) over length, kind and
//! payload. A reader stops at the first incomplete or damaged frame, returns everything before it,
//! and reports the number of dropped bytes. Module `payload` describes the payloads: integers as
//! LEB128, signed ones zigzag-encoded, times relative to the time before them.

mod payload;
mod read;
pub(crate) mod varint;
mod write;

pub use read::{End, SpoolError, SpoolReader};
pub use write::{Disk, SpoolWriter};

/// The first bytes of a spool.
const MAGIC: &[u8; 8] = b"nbspool\n";

/// The newest version of the spool that this code writes and reads.
pub const VERSION: u32 = 1;

/// The kind of the frame that holds the run's header.
const HEADER: u8 = 0;

/// The longest payload of a row in bytes; an event's text is cut to fit.
pub const MAX_ROW_BYTES: usize = 1 << 20;

/// The longest header in bytes.
pub const MAX_HEADER_BYTES: usize = 256 << 20;

/// Length, kind and CRC of a frame.
const FRAME_OVERHEAD: usize = 4 + 1 + 4;
