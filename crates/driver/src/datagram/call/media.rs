//! Format of the datagrams of a video call: packets of frames and feedback, in both directions.
//!
//! ```text
//! media    (9):  8  call (8)  16  frame (4)  20  due (8)  28  transport (8)  36  index (2)  38  count (2)
//!               40  zero, 40 to 1400 in all
//! feedback (10): 8  call (8)  16  from (8)  24  stamp (8)  32  ages, µs (4 · n), n to 300
//! ```
//!
//! `due` is the due time of the frame by the server's clock, and zero in packets of the client. `stamp` is the time
//! of the feedback by its sender's clock. An age is the time from an arrival to `stamp`, and 2³² − 1 for a
//! transmission that has not arrived.

use super::fields::{NEVER, age_from, begin, encoded_age, instant, long, short, word};
use netburn_units::{ByteSize, Instant};
use netburn_workload::kinds::video_call::video::{FEEDBACK_HEADER, Feedback, MAX_REPORTED, MediaPacket};

pub(super) const KIND_MEDIA: u8 = 9;
pub(super) const KIND_FEEDBACK: u8 = 10;
/// Minimum length of a packet of a frame in bytes.
const MIN_MEDIA: usize = 40;

/// A decoded datagram of a video call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MediaDatagram {
    /// A packet of a frame.
    Media {
        /// Number of the call.
        call: u64,
        /// The packet.
        packet: MediaPacket,
        /// Due time of the frame, by the server's clock.
        due: Instant,
    },
    /// Feedback.
    Feedback {
        /// Number of the call.
        call: u64,
        /// The feedback.
        feedback: Feedback,
    },
}

impl MediaDatagram {
    /// Number of the call.
    #[must_use]
    pub fn call(&self) -> u64 {
        match self {
            MediaDatagram::Media { call, .. } | MediaDatagram::Feedback { call, .. } => *call,
        }
    }
}

/// Decodes a datagram whose header is valid; `None` if it is of another kind or invalid.
#[must_use]
pub fn read(bytes: &[u8]) -> Option<MediaDatagram> {
    match *bytes.get(5)? {
        KIND_MEDIA if bytes.len() >= MIN_MEDIA => Some(MediaDatagram::Media {
            call: long(bytes, 8),
            packet: MediaPacket {
                transport: long(bytes, 28),
                frame: word(bytes, 16),
                index: short(bytes, 36),
                count: short(bytes, 38),
                size: ByteSize::from_bytes(bytes.len() as u64),
            },
            due: instant(bytes, 20),
        }),
        KIND_FEEDBACK => {
            let encoded = bytes.get(FEEDBACK_HEADER as usize..)?;
            let is_valid = encoded.len().is_multiple_of(4) && encoded.len() <= 4 * MAX_REPORTED;
            let from = long(bytes, 16);
            from.checked_add(MAX_REPORTED as u64).filter(|_| is_valid)?;
            let ages = encoded.chunks_exact(4).map(|entry| age_from(word(entry, 0)));
            Some(MediaDatagram::Feedback {
                call: long(bytes, 8),
                feedback: Feedback {
                    stamp: instant(bytes, 24),
                    from,
                    ages: ages.collect(),
                },
            })
        }
        _ => None,
    }
}

/// Encodes a packet of a frame. Its length is that of the packet, at least 40 B and at most 1400 B.
#[must_use]
pub fn media(call: u64, packet: &MediaPacket, due: Instant) -> Vec<u8> {
    let size = usize::try_from(packet.size.as_bytes()).unwrap_or(usize::MAX);
    let mut bytes = begin(KIND_MEDIA, size.clamp(MIN_MEDIA, crate::datagram::MAX_SIZE));
    bytes[8..16].copy_from_slice(&call.to_be_bytes());
    bytes[16..20].copy_from_slice(&packet.frame.to_be_bytes());
    bytes[20..28].copy_from_slice(&due.as_nanos().to_be_bytes());
    bytes[28..36].copy_from_slice(&packet.transport.to_be_bytes());
    bytes[36..38].copy_from_slice(&packet.index.to_be_bytes());
    bytes[38..40].copy_from_slice(&packet.count.to_be_bytes());
    bytes
}

/// Encodes a feedback.
#[must_use]
pub fn feedback(call: u64, feedback: &Feedback) -> Vec<u8> {
    let ages = &feedback.ages[..feedback.ages.len().min(MAX_REPORTED)];
    let mut bytes = begin(KIND_FEEDBACK, FEEDBACK_HEADER as usize + 4 * ages.len());
    bytes[8..16].copy_from_slice(&call.to_be_bytes());
    bytes[16..24].copy_from_slice(&feedback.from.to_be_bytes());
    bytes[24..32].copy_from_slice(&feedback.stamp.as_nanos().to_be_bytes());
    for (entry, age) in bytes[FEEDBACK_HEADER as usize..].chunks_exact_mut(4).zip(ages) {
        entry.copy_from_slice(&age.map_or(NEVER, encoded_age).to_be_bytes());
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::datagram::tests::hex;
    use netburn_units::Duration;

    #[test]
    fn datagrams_have_the_documented_format() {
        let packet = MediaPacket {
            transport: 258,
            frame: 3,
            index: 1,
            count: 2,
            size: ByteSize::from_bytes(48),
        };
        let bytes = media(7, &packet, Instant::ZERO);
        let fields = [
            "4e42524e 01 09 0000 0000000000000007 00000003 0000000000000000",
            "0000000000000102 0001 0002 0000000000000000",
        ];
        assert_eq!(bytes, hex(&fields.join(" ")));
        let due = Instant::ZERO;
        assert_eq!(read(&bytes), Some(MediaDatagram::Media { call: 7, packet, due }));
        assert_eq!(read(&bytes[..39]), None);

        let sent = Feedback {
            stamp: Instant::from_secs(1),
            from: 5,
            ages: vec![Some(Duration::from_micros(2)), None],
        };
        let bytes = feedback(7, &sent);
        let fields = [
            "4e42524e 01 0a 0000 0000000000000007 0000000000000005",
            "000000003b9aca00 00000002 ffffffff",
        ];
        assert_eq!(bytes, hex(&fields.join(" ")));
        let expected = MediaDatagram::Feedback {
            call: 7,
            feedback: sent,
        };
        assert_eq!(read(&bytes), Some(expected));
        assert_eq!(read(&bytes[..39]), None, "half an age");
        let longest = [&bytes[..FEEDBACK_HEADER as usize], &[0; 4 * 301]].concat();
        assert!(read(&longest[..longest.len() - 4]).is_some());
        assert_eq!(read(&longest), None, "more than 300 ages");
    }
}
