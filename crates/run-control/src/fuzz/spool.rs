//! Bytes as a spool.

use crate::spool::Source;
use std::io::Cursor;

/// The frames of any file are complete and in place, and reading ends.
///
/// # Panics
/// If an invariant is violated.
pub fn check(bytes: &[u8]) {
    let Ok(mut source) = Source::open(Cursor::new(bytes)) else {
        return;
    };
    loop {
        let at = usize::try_from(source.at()).expect("within the file");
        let Some((_, payload)) = source.frame().expect("memory can be read") else {
            break;
        };
        let (length, rest) = bytes[at..].split_first_chunk::<4>().expect("a frame's length");
        assert_eq!(u32::from_le_bytes(*length) as usize, payload.len());
        assert_eq!(&rest[1..=payload.len()], &payload[..]);
        assert_eq!(source.at() as usize, at + payload.len() + 9);
    }
    assert!(source.at() as usize <= bytes.len());
}
