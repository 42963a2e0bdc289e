//! What the datagrams look like, version 1. Numbers are big-endian.
//!
//! ```text
//!  0  magic "NBRN"   4  version   5  kind   6  zero (2)
//! hello   (1):   8  token (8)   16  zero, 64 bytes in all
//! welcome (2):   8  token (8)   16  cookie (16)   32  good for, ms (4)   36  zero, 64 bytes in all
//! probe   (3):   8  cookie (16)  24  id (8)   32  dscp (1)       33  zero (15)        48  anything, 64 to 1400 in all
//! echo    (4):   8  cookie (16)  24  id (8)   32  received (8)   40  sent back (8)   48  as it came
//! ```
//!
//! The DSCP is the one that the echo is wished to carry. An echo is the probe with its kind and the two times written
//! over, so it has the same length. The times are nanoseconds of the server's own clock.

use crate::dscp::MAX_DSCP;
use netburn_units::{Duration, Instant};
use netburn_workload::operation::FarTimes;

/// No datagram is shorter, in bytes.
pub const MIN_SIZE: usize = 64;
/// No datagram is longer, in bytes: with IPv6 and UDP headers it fits every path of Ethernet's size.
pub const MAX_SIZE: usize = 1400;
/// The format's version.
pub const VERSION: u8 = 1;

const MAGIC: &[u8; 4] = b"NBRN";
const HELLO: u8 = 1;
const WELCOME: u8 = 2;
const PROBE: u8 = 3;
const ECHO: u8 = 4;

/// What proves that a client reads at its address.
pub type Cookie = [u8; 16];

/// One datagram, read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Datagram {
    /// A client asks for a cookie.
    Hello {
        /// Comes back in the welcome, so that the client knows it for its own.
        token: u64,
    },
    /// The server's answer.
    Welcome {
        /// The hello's.
        token: u64,
        /// What probes are to carry.
        cookie: Cookie,
        /// How long it is good, in whole milliseconds.
        good_for: Duration,
    },
    /// To be echoed.
    Probe {
        /// From the welcome.
        cookie: Cookie,
        /// The client's own name for it.
        id: u64,
        /// What its echo is to be marked with, 0 to 63.
        dscp: u8,
    },
    /// A probe, echoed.
    Echo {
        /// The probe's.
        cookie: Cookie,
        /// The probe's.
        id: u64,
        /// When the server got it and sent it back.
        far: FarTimes,
    },
}

/// Why bytes are no datagram of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum WireError {
    /// Shorter than [`MIN_SIZE`] or longer than [`MAX_SIZE`], or a hello or welcome that isn't of 64 bytes.
    #[error("a datagram of {0} bytes")]
    Size(usize),
    /// It doesn't begin with the magic and two zeros where they belong.
    #[error("not a netburn datagram")]
    Foreign,
    /// Another version of the format.
    #[error("version {0} of the format")]
    Version(u8),
    /// A probe that wishes for a mark that there is none of.
    #[error("a DSCP of {0}")]
    Dscp(u8),
    /// None of the four kinds.
    #[error("a datagram of unknown kind {0}")]
    Kind(u8),
}

/// Reads one datagram.
///
/// # Errors
/// When it isn't one; nothing is to be answered then.
pub fn read(bytes: &[u8]) -> Result<Datagram, WireError> {
    if !(MIN_SIZE..=MAX_SIZE).contains(&bytes.len()) {
        return Err(WireError::Size(bytes.len()));
    }
    if bytes[..4] != *MAGIC || bytes[6..8] != [0, 0] {
        return Err(WireError::Foreign);
    }
    if bytes[4] != VERSION {
        return Err(WireError::Version(bytes[4]));
    }
    let kind = bytes[5];
    if matches!(kind, HELLO | WELCOME) && bytes.len() != MIN_SIZE {
        return Err(WireError::Size(bytes.len()));
    }
    match kind {
        HELLO => Ok(Datagram::Hello { token: long(bytes, 8) }),
        WELCOME => Ok(Datagram::Welcome {
            token: long(bytes, 8),
            cookie: cookie(bytes, 16),
            good_for: Duration::from_millis(long(bytes, 28) & 0xffff_ffff),
        }),
        PROBE if bytes[32] > MAX_DSCP => Err(WireError::Dscp(bytes[32])),
        PROBE => Ok(Datagram::Probe {
            cookie: cookie(bytes, 8),
            id: long(bytes, 24),
            dscp: bytes[32],
        }),
        ECHO => Ok(Datagram::Echo {
            cookie: cookie(bytes, 8),
            id: long(bytes, 24),
            far: FarTimes {
                received: long(bytes, 32).cast_signed(),
                sent: long(bytes, 40).cast_signed(),
            },
        }),
        kind => Err(WireError::Kind(kind)),
    }
}

/// A hello.
#[must_use]
pub fn hello(token: u64) -> Vec<u8> {
    let mut bytes = begin(HELLO, MIN_SIZE);
    bytes[8..16].copy_from_slice(&token.to_be_bytes());
    bytes
}

/// A probe of `size` bytes; what is outside [`MIN_SIZE`] to [`MAX_SIZE`] becomes the nearer of the two. Its echo is to carry
/// `dscp`, 0 to 63.
#[must_use]
pub fn probe(cookie: Cookie, id: u64, size: usize, dscp: u8) -> Vec<u8> {
    let mut bytes = begin(PROBE, size.clamp(MIN_SIZE, MAX_SIZE));
    bytes[8..24].copy_from_slice(&cookie);
    bytes[24..32].copy_from_slice(&id.to_be_bytes());
    bytes[32] = dscp.min(MAX_DSCP);
    bytes
}

/// Makes the hello in `bytes` a welcome, in place.
///
/// # Panics
/// When `bytes` is not a hello.
pub fn make_welcome(bytes: &mut [u8], cookie: Cookie, good_for: Duration) {
    assert!(
        matches!(read(bytes), Ok(Datagram::Hello { .. })),
        "only a hello becomes a welcome"
    );
    let millis = u32::try_from(good_for.as_millis()).unwrap_or(u32::MAX);
    bytes[5] = WELCOME;
    bytes[16..32].copy_from_slice(&cookie);
    bytes[32..36].copy_from_slice(&millis.to_be_bytes());
    bytes[36..].fill(0);
}

/// Makes the probe in `bytes` an echo, in place: received at `received`, and sent back then too unless
/// [`stamp_sent`] says otherwise.
///
/// # Panics
/// When `bytes` is not a probe.
pub fn make_echo(bytes: &mut [u8], received: Instant) {
    assert!(
        matches!(read(bytes), Ok(Datagram::Probe { .. })),
        "only a probe becomes an echo"
    );
    bytes[5] = ECHO;
    bytes[32..40].copy_from_slice(&received.as_nanos().to_be_bytes());
    bytes[40..48].copy_from_slice(&received.as_nanos().to_be_bytes());
}

/// Writes when an echo is sent back; leaves anything else as it is.
pub fn stamp_sent(bytes: &mut [u8], sent: Instant) {
    if matches!(read(bytes), Ok(Datagram::Echo { .. })) {
        bytes[40..48].copy_from_slice(&sent.as_nanos().to_be_bytes());
    }
}

fn begin(kind: u8, size: usize) -> Vec<u8> {
    let mut bytes = vec![0; size];
    bytes[..4].copy_from_slice(MAGIC);
    bytes[4] = VERSION;
    bytes[5] = kind;
    bytes
}

fn long(bytes: &[u8], at: usize) -> u64 {
    u64::from_be_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}

fn cookie(bytes: &[u8], at: usize) -> Cookie {
    bytes[at..at + 16].try_into().expect("sixteen bytes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_reads_as_it_was_written() {
        let mut bytes = hello(0x0102_0304_0506_0708);
        assert_eq!(&bytes[..16], b"NBRN\x01\x01\0\0\x01\x02\x03\x04\x05\x06\x07\x08");
        assert_eq!(bytes.len(), 64);
        make_welcome(&mut bytes, [9; 16], Duration::from_millis(70_000));
        assert_eq!(
            read(&bytes),
            Ok(Datagram::Welcome {
                token: 0x0102_0304_0506_0708,
                cookie: [9; 16],
                good_for: Duration::from_secs(70),
            })
        );
        let mut bytes = probe([5; 16], 77, 200, 48);
        assert_eq!(
            read(&bytes),
            Ok(Datagram::Probe {
                cookie: [5; 16],
                id: 77,
                dscp: 48,
            })
        );
        make_echo(&mut bytes, Instant::from_nanos(-3));
        stamp_sent(&mut bytes, Instant::from_nanos(11));
        let far = FarTimes { received: -3, sent: 11 };
        assert_eq!(
            read(&bytes),
            Ok(Datagram::Echo {
                cookie: [5; 16],
                id: 77,
                far
            })
        );
        assert_eq!(bytes.len(), 200);
    }

    #[test]
    fn sizes_are_kept_within_bounds() {
        assert_eq!(probe([0; 16], 0, 1, 0).len(), MIN_SIZE);
        assert_eq!(probe([0; 16], 0, 9000, 0).len(), MAX_SIZE);
    }

    #[test]
    fn what_is_not_ours_is_refused_with_its_reason() {
        let good = hello(1);
        let with = |at: usize, byte: u8| {
            let mut bytes = good.clone();
            bytes[at] = byte;
            bytes
        };
        assert_eq!(read(&good[..63]), Err(WireError::Size(63)));
        assert_eq!(read(&[good.clone(), vec![0]].concat()), Err(WireError::Size(65)));
        assert_eq!(read(&probe([0; 16], 0, 1400, 0).repeat(2)), Err(WireError::Size(2800)));
        assert_eq!(read(&with(0, b'X')), Err(WireError::Foreign));
        assert_eq!(read(&with(7, 1)), Err(WireError::Foreign));
        assert_eq!(read(&with(4, 2)), Err(WireError::Version(2)));
        assert_eq!(read(&with(5, 5)), Err(WireError::Kind(5)));
        assert_eq!(read(&[]), Err(WireError::Size(0)));
        // Six bits (RFC 2474 §3); the two others of the field are ECN's.
        let mut marked = probe([0; 16], 0, 64, 63);
        assert!(matches!(read(&marked), Ok(Datagram::Probe { dscp: 63, .. })));
        marked[32] = 64;
        assert_eq!(read(&marked), Err(WireError::Dscp(64)));
    }
}
