//! Format of the datagrams, version 1. Numbers are big-endian.
//!
//! ```text
//!  0  magic "NBRN"   4  version   5  kind   6  zero (2)
//! hello   (1):   8  token (8)   16  zero, 64 bytes in all
//! welcome (2):   8  token (8)   16  cookie (16)   32  good for, ms (4)   36  zero, 64 bytes in all
//! probe   (3):   8  cookie (16)  24  id (8)   32  dscp (1)       33  zero (15)        48  anything, 64 to 1400 in all
//! echo    (4):   8  cookie (16)  24  id (8)   32  received (8)   40  sent back (8)   48  mark (1)   49  as it came
//! ```
//!
//! The DSCP is the one requested for the echo. An echo is the probe with another kind, the two times and the mark, so it
//! has the same length. The times are nanoseconds of the server's own clock. The mark is the DSCP with which the probe
//! arrived at the server, plus 128. Any other value: unknown. A server without this field returns the byte of the probe,
//! which is 0.

use netburn_units::{Duration, Instant};
use netburn_workload::operation::RemoteTimestamps;

/// Minimum length of a datagram in bytes.
pub const MIN_SIZE: usize = 64;
/// Maximum length of a datagram in bytes. With IPv6 and UDP headers it fits into an Ethernet MTU.
pub const MAX_SIZE: usize = 1400;
/// Maximum DSCP: six bits (RFC 2474 §3).
pub const MAX_DSCP: u8 = 63;
/// Version of the format.
pub const VERSION: u8 = 1;

/// Position of the mark in an echo.
const ARRIVED: usize = 48;
/// Bit of a mark that is known.
const KNOWN: u8 = 128;

const MAGIC: &[u8; 4] = b"NBRN";
const HELLO: u8 = 1;
const WELCOME: u8 = 2;
const PROBE: u8 = 3;
const ECHO: u8 = 4;

/// Proof that a client receives datagrams at its address.
pub type Cookie = [u8; 16];

/// A decoded datagram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Datagram {
    /// Request for a cookie.
    Hello {
        /// Random number that the welcome returns, so that the client recognises it.
        token: u64,
    },
    /// Reply to a hello.
    Welcome {
        /// Token of the hello.
        token: u64,
        /// Cookie for probes.
        cookie: Cookie,
        /// Validity of the cookie, in whole milliseconds.
        good_for: Duration,
    },
    /// Request for an echo.
    Probe {
        /// Cookie of the welcome.
        cookie: Cookie,
        /// Identifier chosen by the client.
        id: u64,
        /// DSCP of the echo, 0 to 63.
        dscp: u8,
    },
    /// Echo of a probe.
    Echo {
        /// Cookie of the probe.
        cookie: Cookie,
        /// Identifier of the probe.
        id: u64,
        /// Times at which the server received and echoed the probe.
        far: RemoteTimestamps,
        /// DSCP with which the probe arrived at the server, 0 to 63, if the server reports it.
        arrived: Option<u8>,
    },
}

/// Error of a datagram.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum WireError {
    /// Shorter than [`MIN_SIZE`] or longer than [`MAX_SIZE`], or a hello or welcome with another length than 64 bytes.
    #[error("invalid length of a datagram: found {0} bytes")]
    Size(usize),
    /// The magic number or the two zero bytes are missing.
    #[error("not a netburn datagram")]
    Foreign,
    /// Another version of the format.
    #[error("unsupported version of the format: found {0}")]
    Version(u8),
    /// The DSCP is out of range.
    #[error("a DSCP of {0}")]
    Dscp(u8),
    /// Unknown kind.
    #[error("unknown kind of datagram: found {0}")]
    Kind(u8),
}

/// Decodes a datagram.
///
/// # Errors
/// [`WireError`] when it is invalid; there must be no reply then.
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
            far: RemoteTimestamps {
                received: long(bytes, 32).cast_signed(),
                sent: long(bytes, 40).cast_signed(),
            },
            arrived: mark(bytes[ARRIVED]),
        }),
        kind => Err(WireError::Kind(kind)),
    }
}

/// Encodes a hello.
#[must_use]
pub fn hello(token: u64) -> Vec<u8> {
    let mut bytes = begin(HELLO, MIN_SIZE);
    bytes[8..16].copy_from_slice(&token.to_be_bytes());
    bytes
}

/// Encodes a probe of `size` bytes, clamped to [`MIN_SIZE`] and [`MAX_SIZE`]. Its echo should have this DSCP, 0 to 63.
#[must_use]
pub fn probe(cookie: Cookie, id: u64, size: usize, dscp: u8) -> Vec<u8> {
    let mut bytes = begin(PROBE, size.clamp(MIN_SIZE, MAX_SIZE));
    bytes[8..24].copy_from_slice(&cookie);
    bytes[24..32].copy_from_slice(&id.to_be_bytes());
    bytes[32] = dscp.min(MAX_DSCP);
    bytes
}

/// Converts the hello in `bytes` to a welcome, in place.
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

/// Converts the probe in `bytes` to an echo, in place. It was received at `received`, which is also the sending time
/// unless [`stamp_sent`] changes it.
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

/// Writes the sending time of an echo; other datagrams stay unchanged.
pub fn stamp_sent(bytes: &mut [u8], sent: Instant) {
    if matches!(read(bytes), Ok(Datagram::Echo { .. })) {
        bytes[40..48].copy_from_slice(&sent.as_nanos().to_be_bytes());
    }
}

/// Writes the DSCP with which the probe of this echo arrived; other datagrams stay unchanged.
pub fn stamp_arrived(bytes: &mut [u8], dscp: Option<u8>) {
    if matches!(read(bytes), Ok(Datagram::Echo { .. })) {
        bytes[ARRIVED] = marked(dscp);
    }
}

/// Encodes a DSCP that may be unknown.
pub(super) fn marked(dscp: Option<u8>) -> u8 {
    dscp.filter(|dscp| *dscp <= MAX_DSCP).map_or(0, |dscp| KNOWN | dscp)
}

/// Decodes a DSCP that may be unknown.
pub(super) fn mark(byte: u8) -> Option<u8> {
    byte.checked_sub(KNOWN).filter(|dscp| *dscp <= MAX_DSCP)
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
    use crate::datagram::tests::hex;

    #[test]
    fn decoding_inverts_encoding() {
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
        stamp_arrived(&mut bytes, Some(46));
        let far = RemoteTimestamps { received: -3, sent: 11 };
        assert_eq!(
            read(&bytes),
            Ok(Datagram::Echo {
                cookie: [5; 16],
                id: 77,
                far,
                arrived: Some(46),
            })
        );
        assert_eq!(bytes.len(), 200);
    }

    #[test]
    fn hello_and_probe_have_the_documented_format() {
        let bytes = hello(0x0102_0304_0506_0708);
        assert_eq!(
            bytes,
            hex(&format!("4e42524e 01 01 0000 0102030405060708 {}", "00".repeat(48)))
        );
        let cookie = "03".repeat(16);
        assert_eq!(
            probe([3; 16], 77, 64, 48),
            hex(&format!(
                "4e42524e 01 03 0000 {cookie} 000000000000004d 30 {}",
                "00".repeat(31)
            ))
        );
    }

    /// 128 to 191 are the known marks 0 to 63.
    #[test]
    fn other_values_of_a_mark_are_unknown() {
        let mut echo = probe([5; 16], 77, 64, 48);
        make_echo(&mut echo, Instant::ZERO);
        let arrived = |bytes: &[u8]| match read(bytes) {
            Ok(Datagram::Echo { arrived, .. }) => arrived,
            other => panic!("{other:?}"),
        };
        assert_eq!(arrived(&echo), None, "a server without the field");
        for (byte, dscp) in [
            (0, None),
            (46, None),
            (127, None),
            (128, Some(0)),
            (191, Some(63)),
            (192, None),
            (255, None),
        ] {
            echo[48] = byte;
            assert_eq!(arrived(&echo), dscp, "{byte}");
        }
        for dscp in [None, Some(64), Some(255)] {
            stamp_arrived(&mut echo, dscp);
            assert_eq!(arrived(&echo), None);
        }
        let mut hello = hello(1);
        stamp_arrived(&mut hello, Some(46));
        assert_eq!(hello[48], 0);
    }

    #[test]
    fn sizes_are_clamped() {
        assert_eq!(probe([0; 16], 0, 1, 0).len(), MIN_SIZE);
        assert_eq!(probe([0; 16], 0, 9000, 0).len(), MAX_SIZE);
    }

    #[test]
    fn invalid_datagrams_return_their_error() {
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
        // Six bits (RFC 2474 §3); the other two bits of the field are ECN.
        let mut marked = probe([0; 16], 0, 64, 63);
        assert!(matches!(read(&marked), Ok(Datagram::Probe { dscp: 63, .. })));
        marked[32] = 64;
        assert_eq!(read(&marked), Err(WireError::Dscp(64)));
    }
}
