//! Fields of datagrams of calls: numbers in network byte order, times and ages.

use crate::datagram::wire::VERSION;
use netburn_units::{Duration, Instant};

/// Encoded age of what has not arrived.
pub(super) const NEVER: u32 = u32::MAX;

/// Encodes the age of an arrival.
pub(super) fn encoded_age(age: Duration) -> u32 {
    u32::try_from(age.as_nanos() / 1000).unwrap_or(NEVER).min(NEVER - 1)
}

/// Decodes the age of an arrival; `None` without one.
pub(super) fn age_from(micros: u32) -> Option<Duration> {
    (micros != NEVER).then(|| Duration::from_micros(micros.into()))
}

/// A datagram of this kind and length, with its header.
pub(super) fn begin(kind: u8, size: usize) -> Vec<u8> {
    let mut bytes = vec![0; size];
    bytes[..4].copy_from_slice(b"NBRN");
    bytes[4] = VERSION;
    bytes[5] = kind;
    bytes
}

pub(super) fn short(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

pub(super) fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

pub(super) fn long(bytes: &[u8], at: usize) -> u64 {
    u64::from_be_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}

pub(super) fn instant(bytes: &[u8], at: usize) -> Instant {
    Instant::from_nanos(long(bytes, at).cast_signed())
}
