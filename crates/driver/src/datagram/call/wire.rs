//! Format of the datagrams of calls. Header and version are those of the [echo](crate::datagram::wire).
//!
//! ```text
//! request (5):   8  cookie (16)  24  call (8)  32  anchor (8)  40  interval, ns (4)  44  until (4)
//!               48  from (4)  52  size (2)  54  dscp (1)  55  video (1)
//!               56  stamp (8)  64  spacing, ns (4)  68  burst (2)  70  zero (2)
//!               72  zero (4 · n), n to 332; in a video call first min rate (4)  start rate (4)  time-out, ns (4)
//! report  (6):   8  received (8)  16  sent (8)  24  as it came  55  mark (1)  56  as it came  72  ages, µs (4 · n)
//! up      (7):   8  call (8)  16  number (4)  20  zero, 32 to 1400 in all
//! down    (8):   8  call (8)  16  number (4)  20  due (8)  28  zero, 32 to 1400 in all
//! ```
//!
//! `anchor` and `due` are nanoseconds of the server's clock. Packet number k of the server is due at `anchor` + (k /
//! `burst`) · `interval` + (k mod `burst`) · `spacing`. The server may send packets with numbers below `until`. A
//! report has the ages of the client's packets, or frames in a video call, `from` to `from` + n − 1: the time from
//! the arrival to `received`, and 2³² − 1 for a packet that has not arrived. The mark is that of the echo:
//! the DSCP with which the request arrived at the server. The client sends requests and packets with the same DSCP.
//!
//! In a video call (`video` is 1), frame number k of the server is due at `anchor` + k · `interval`. It has at most
//! `burst` packets of `size`. Rates are in bit/s. [`media`] has the datagrams of frames.

use super::fields::{NEVER, age_from, begin, encoded_age, instant, long, short, word};
use super::media::{self, KIND_FEEDBACK, MediaDatagram};
use super::video::VideoParameters;
use crate::datagram::wire::{Cookie, MAX_DSCP, VERSION, mark, marked};
use netburn_units::{BitRate, ByteSize, Duration, Instant};
use netburn_workload::{Adaptation, PacketStream};

/// Minimum length of a packet of a call in bytes.
pub const MIN_PACKET: usize = 32;
/// Maximum length of a datagram in bytes.
pub const MAX_SIZE: usize = crate::datagram::MAX_SIZE;
/// Length of a request without ages in bytes.
pub const REQUEST: usize = 72;
/// Length of an age in bytes.
pub const AGE: usize = 4;
/// Maximum number of ages in a report.
pub const MAX_AGES: usize = (MAX_SIZE - REQUEST) / AGE;

const KIND_REQUEST: u8 = 5;
const KIND_REPORT: u8 = 6;
const KIND_UP: u8 = 7;
const KIND_DOWN: u8 = 8;
/// Position of the mark in a report.
const ARRIVED: usize = 55;
/// Words of the parameters of a video call in a request.
const VIDEO_WORDS: usize = 3;

/// Parameters of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request {
    /// Number of the call, chosen at random by the client.
    pub call: u64,
    /// Due time of the server's packet 0, by the server's clock.
    pub anchor: Instant,
    /// The server's stream.
    pub stream: PacketStream,
    /// The server may send packets with lower numbers.
    pub until: u32,
    /// First packet of the client whose arrival is requested.
    pub from: u32,
    /// DSCP of the server's packets, 0 to 63.
    pub dscp: u8,
    /// Time at which the client sent the request, by its clock. The report returns it.
    pub stamp: Instant,
    /// For a video call: `stream` are the frames at the target rate, and `until` and `from` are numbers of frames.
    pub video: Option<VideoParameters>,
}

impl Request {
    /// The server's packets, or its frames in a video call.
    #[must_use]
    pub fn units(&self) -> PacketStream {
        match self.video {
            Some(_) => self.stream.as_frames(),
            None => self.stream,
        }
    }
}

/// A decoded datagram of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallDatagram<'a> {
    /// Request for packets and for a report.
    Request {
        /// Cookie of the welcome.
        cookie: Cookie,
        /// Parameters.
        request: Request,
        /// Number of packets whose arrival is requested.
        ages: usize,
    },
    /// Arrivals of the client's packets.
    Report {
        /// Number of the call.
        call: u64,
        /// First packet.
        from: u32,
        /// Stamp of the request.
        stamp: Instant,
        /// Time at which the server received the request, by its clock.
        received: Instant,
        /// Time at which the server sent the report.
        sent: Instant,
        /// DSCP with which the request arrived at the server, 0 to 63, if the server reports it.
        arrived: Option<u8>,
        /// Ages of the packets, encoded: see [`ages`].
        ages: &'a [u8],
    },
    /// A packet of the client.
    Up {
        /// Number of the call.
        call: u64,
        /// Number of the packet, from 0.
        number: u32,
    },
    /// A packet of the server.
    Down {
        /// Number of the call.
        call: u64,
        /// Number of the packet, from 0.
        number: u32,
        /// Its due time by the server's clock.
        due: Instant,
    },
    /// A datagram of a video call.
    Video(MediaDatagram),
}

/// Returns whether a datagram has a kind that belongs to calls.
#[must_use]
pub fn is_call(bytes: &[u8]) -> bool {
    bytes.len() > 5 && bytes[..4] == *b"NBRN" && (KIND_REQUEST..=KIND_FEEDBACK).contains(&bytes[5])
}

/// Decodes a datagram; `None` if it is invalid. There must be no reply then.
#[must_use]
pub fn read(bytes: &[u8]) -> Option<CallDatagram<'_>> {
    let valid = is_call(bytes) && bytes[4] == VERSION && bytes.len() <= MAX_SIZE;
    if !valid || bytes.len() < MIN_PACKET || bytes[6..8] != [0, 0] {
        return None;
    }
    let kind = bytes[5];
    let is_long = bytes.len() >= REQUEST && (bytes.len() - REQUEST).is_multiple_of(4);
    match kind {
        KIND_REQUEST if is_long => {
            let request = Request {
                call: long(bytes, 24),
                anchor: instant(bytes, 32),
                stream: PacketStream {
                    interval: Duration::from_nanos(word(bytes, 40).into()),
                    burst: short(bytes, 68).into(),
                    spacing: Duration::from_nanos(word(bytes, 64).into()),
                    size: ByteSize::from_bytes(short(bytes, 52).into()),
                },
                until: word(bytes, 44),
                from: word(bytes, 48),
                dscp: bytes[54],
                stamp: instant(bytes, 56),
                video: video(bytes)?,
            };
            let is_video_valid = request.video.is_none_or(|video| video.is_valid(&request.stream));
            let is_valid = request.stream.validate().is_ok() && request.dscp <= MAX_DSCP && is_video_valid;
            is_valid.then(|| CallDatagram::Request {
                cookie: bytes[8..24].try_into().expect("sixteen bytes"),
                request,
                ages: (bytes.len() - REQUEST) / AGE,
            })
        }
        KIND_REPORT if is_long => Some(CallDatagram::Report {
            call: long(bytes, 24),
            from: word(bytes, 48),
            stamp: instant(bytes, 56),
            received: instant(bytes, 8),
            sent: instant(bytes, 16),
            arrived: mark(bytes[ARRIVED]),
            ages: &bytes[REQUEST..],
        }),
        KIND_UP => Some(CallDatagram::Up {
            call: long(bytes, 8),
            number: word(bytes, 16),
        }),
        KIND_DOWN => Some(CallDatagram::Down {
            call: long(bytes, 8),
            number: word(bytes, 16),
            due: instant(bytes, 20),
        }),
        _ => media::read(bytes).map(CallDatagram::Video),
    }
}

/// Parameters of a video call in a request; `None` if they are invalid.
fn video(bytes: &[u8]) -> Option<Option<VideoParameters>> {
    match bytes[55] {
        0 => Some(None),
        1 if bytes.len() >= REQUEST + 4 * VIDEO_WORDS => Some(Some(VideoParameters {
            adaptation: Adaptation {
                min_rate: BitRate::from_bps(word(bytes, REQUEST).into()),
                start_rate: BitRate::from_bps(word(bytes, REQUEST + 4).into()),
            },
            timeout: Duration::from_nanos(word(bytes, REQUEST + 8).into()),
        })),
        _ => None,
    }
}

/// Encodes a request for the arrivals of `ages` packets, at most [`MAX_AGES`]. That of a video call has at least three.
#[must_use]
pub fn request(cookie: Cookie, request: &Request, ages: usize) -> Vec<u8> {
    let least = if request.video.is_some() { VIDEO_WORDS } else { 0 };
    let mut bytes = begin(KIND_REQUEST, REQUEST + AGE * ages.clamp(least, MAX_AGES));
    bytes[8..24].copy_from_slice(&cookie);
    bytes[24..32].copy_from_slice(&request.call.to_be_bytes());
    bytes[32..40].copy_from_slice(&request.anchor.as_nanos().to_be_bytes());
    let nanos = |time: Duration| u32::try_from(time.as_nanos()).unwrap_or(u32::MAX).to_be_bytes();
    let short = |number: u64| u16::try_from(number).unwrap_or(u16::MAX).to_be_bytes();
    let stream = &request.stream;
    bytes[40..44].copy_from_slice(&nanos(stream.interval));
    bytes[44..48].copy_from_slice(&request.until.to_be_bytes());
    bytes[48..52].copy_from_slice(&request.from.to_be_bytes());
    bytes[52..54].copy_from_slice(&short(stream.size.as_bytes()));
    bytes[54] = request.dscp.min(MAX_DSCP);
    bytes[56..64].copy_from_slice(&request.stamp.as_nanos().to_be_bytes());
    bytes[64..68].copy_from_slice(&nanos(stream.spacing));
    bytes[68..70].copy_from_slice(&short(stream.burst.into()));
    if let Some(video) = &request.video {
        let rate = |rate: BitRate| u32::try_from(rate.as_bps()).unwrap_or(u32::MAX).to_be_bytes();
        bytes[55] = 1;
        bytes[REQUEST..REQUEST + 4].copy_from_slice(&rate(video.adaptation.min_rate));
        bytes[REQUEST + 4..REQUEST + 8].copy_from_slice(&rate(video.adaptation.start_rate));
        bytes[REQUEST + 8..REQUEST + 12].copy_from_slice(&nanos(video.timeout));
    }
    bytes
}

/// Converts the request in `bytes` to a report, in place. `age` returns the age of a packet by its
/// number, or `None` if it has not arrived.
///
/// # Panics
/// When `bytes` is not a request.
pub fn make_report(bytes: &mut [u8], received: Instant, mut age: impl FnMut(u32) -> Option<Duration>) {
    let Some(CallDatagram::Request { request, .. }) = read(bytes) else {
        panic!("only a request becomes a report");
    };
    bytes[5] = KIND_REPORT;
    bytes[8..16].copy_from_slice(&received.as_nanos().to_be_bytes());
    bytes[16..24].copy_from_slice(&received.as_nanos().to_be_bytes());
    for (entry, place) in bytes[REQUEST..].chunks_exact_mut(4).zip(0..) {
        let age = request.from.checked_add(place).and_then(&mut age);
        let micros = age.map_or(NEVER, encoded_age);
        entry.copy_from_slice(&micros.to_be_bytes());
    }
}

/// Writes the sending time of a report; other datagrams stay unchanged.
pub fn stamp_sent(bytes: &mut [u8], sent: Instant) {
    if matches!(read(bytes), Some(CallDatagram::Report { .. })) {
        bytes[16..24].copy_from_slice(&sent.as_nanos().to_be_bytes());
    }
}

/// Writes the DSCP with which the request of this report arrived; other datagrams stay unchanged.
pub fn stamp_arrived(bytes: &mut [u8], dscp: Option<u8>) {
    if matches!(read(bytes), Some(CallDatagram::Report { .. })) {
        bytes[ARRIVED] = marked(dscp);
    }
}

/// Arrivals in a report: numbers of packets with their ages. Packets that have not arrived are left out.
pub fn ages(from: u32, encoded: &[u8]) -> impl Iterator<Item = (u32, Duration)> {
    encoded
        .chunks_exact(AGE)
        .zip(0_u32..)
        .filter_map(move |(entry, place)| {
            let number = from.checked_add(place)?;
            Some((number, age_from(word(entry, 0))?))
        })
}

/// Encodes a packet of the client of `size` bytes, clamped to [`MIN_PACKET`] and [`MAX_SIZE`].
#[must_use]
pub fn up(call: u64, number: u32, size: usize) -> Vec<u8> {
    packet(KIND_UP, call, number, size)
}

/// Encodes a packet of the server of `size` bytes, clamped to [`MIN_PACKET`] and [`MAX_SIZE`].
#[must_use]
pub fn down(call: u64, number: u32, due: Instant, size: usize) -> Vec<u8> {
    let mut bytes = packet(KIND_DOWN, call, number, size);
    bytes[20..28].copy_from_slice(&due.as_nanos().to_be_bytes());
    bytes
}

fn packet(kind: u8, call: u64, number: u32, size: usize) -> Vec<u8> {
    let mut bytes = begin(kind, size.clamp(MIN_PACKET, MAX_SIZE));
    bytes[8..16].copy_from_slice(&call.to_be_bytes());
    bytes[16..20].copy_from_slice(&number.to_be_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::datagram::tests::hex;

    /// A frame of 5 packets every 20 ms.
    const STREAM: PacketStream = PacketStream {
        interval: Duration::from_millis(20),
        burst: 5,
        spacing: Duration::from_micros(300),
        size: ByteSize::from_bytes(172),
    };

    const REQUESTED: Request = Request {
        call: 7,
        anchor: Instant::from_nanos(-5),
        stream: STREAM,
        until: 100,
        from: 40,
        dscp: 48,
        stamp: Instant::from_nanos(77),
        video: None,
    };

    #[test]
    fn decoding_inverts_encoding() {
        let mut bytes = request([3; 16], &REQUESTED, 3);
        assert_eq!(bytes.len(), 84);
        let expected = CallDatagram::Request {
            cookie: [3; 16],
            request: REQUESTED,
            ages: 3,
        };
        assert_eq!(read(&bytes), Some(expected));
        let received = Instant::from_secs(9);
        make_report(&mut bytes, received, |number| {
            (number == 41).then_some(Duration::from_micros(1500))
        });
        stamp_sent(&mut bytes, Instant::from_secs(10));
        assert!(matches!(read(&bytes), Some(CallDatagram::Report { arrived: None, .. })));
        stamp_arrived(&mut bytes, Some(46));
        assert_eq!(bytes.len(), 84);
        let Some(CallDatagram::Report {
            call: 7,
            from: 40,
            stamp,
            received: at,
            sent,
            arrived: Some(46),
            ages: encoded,
        }) = read(&bytes)
        else {
            panic!("{bytes:?}");
        };
        assert_eq!((stamp, at, sent), (REQUESTED.stamp, received, Instant::from_secs(10)));
        assert_eq!(
            ages(40, encoded).collect::<Vec<_>>(),
            [(41, Duration::from_micros(1500))]
        );
        assert_eq!(read(&up(7, 5, 172)), Some(CallDatagram::Up { call: 7, number: 5 }));
        let due = Instant::from_nanos(-8);
        assert_eq!(
            read(&down(7, 6, due, 40)),
            Some(CallDatagram::Down {
                call: 7,
                number: 6,
                due
            })
        );
        assert_eq!((up(7, 5, 172).len(), down(7, 6, due, 1).len()), (172, 32));
    }

    #[test]
    fn datagrams_have_the_documented_format() {
        let fields = [
            "4e42524e 01 05 0000 03030303030303030303030303030303",
            // Call, anchor, interval (20 ms), until, from, size, DSCP, video.
            "0000000000000007 fffffffffffffffb 01312d00 00000064 00000028 00ac 30 00",
            // Stamp, spacing (300 µs), burst, and the place of one age.
            "000000000000004d 000493e0 0005 0000 00000000",
        ];
        assert_eq!(request([3; 16], &REQUESTED, 1), hex(&fields.join(" ")));
        let packet = hex("4e42524e 01 07 0000 0000000000000007 00000005 000000000000000000000000");
        assert_eq!(up(7, 5, 32), packet);
        let due = Instant::from_nanos(-8);
        let packet = hex("4e42524e 01 08 0000 0000000000000007 00000006 fffffffffffffff8 00000000");
        assert_eq!(down(7, 6, due, 32), packet);
        let fields = [
            "4e42524e 01 06 0000 0000000000000009 000000000000000a 0000000000000007",
            "0000000000000000 0000000000000000 00000028 00000000 000000000000004d 0000000000000000",
            "ffffffff 000005dc",
        ];
        let report = hex(&fields.join(" "));
        let Some(CallDatagram::Report { ages: encoded, .. }) = read(&report) else {
            panic!("{report:?}");
        };
        assert_eq!(
            ages(40, encoded).collect::<Vec<_>>(),
            [(41, Duration::from_micros(1500))]
        );
        let expected = CallDatagram::Report {
            call: 7,
            from: 40,
            stamp: Instant::from_nanos(77),
            received: Instant::from_nanos(9),
            sent: Instant::from_nanos(10),
            arrived: None,
            ages: encoded,
        };
        assert_eq!(read(&report), Some(expected));
    }

    #[test]
    fn a_request_of_a_video_call_has_its_rates_up_to_32_bits() {
        let with = |start_rate| {
            let adaptation = Adaptation {
                min_rate: BitRate::from_bps(1),
                start_rate: BitRate::from_bps(start_rate),
            };
            let video = Some(VideoParameters {
                adaptation,
                timeout: Duration::from_nanos(3),
            });
            request([0; 16], &Request { video, ..REQUESTED }, 1)
        };
        let encoded = with(2);
        assert_eq!((encoded.len(), encoded[55]), (84, 1));
        assert_eq!(encoded[72..], hex("00000001 00000002 00000003"));
        assert_eq!(with(8_000_000_000)[72..], hex("00000001 ffffffff 00000003"));
    }

    #[test]
    fn invalid_datagrams_are_rejected() {
        let good = request([3; 16], &REQUESTED, 1);
        assert!(read(&good).is_some());
        let rejected = |change: &dyn Fn(&mut Vec<u8>)| {
            let mut bytes = good.clone();
            change(&mut bytes);
            assert_eq!(read(&bytes), None, "{bytes:?}");
        };
        rejected(&|bytes| bytes[0] = b'X');
        rejected(&|bytes| bytes[4] = 2);
        rejected(&|bytes| bytes[5] = 11);
        rejected(&|bytes| bytes[6] = 1);
        rejected(&|bytes| bytes.truncate(71));
        rejected(&|bytes| bytes.push(0));
        rejected(&|bytes| bytes.resize(1404, 0));
        let with = |wrong: Request| assert_eq!(read(&request([3; 16], &wrong, 1)), None, "{wrong:?}");
        let streams = [
            // 5 packets in less than 500 µs.
            PacketStream {
                interval: Duration::from_micros(499),
                spacing: Duration::ZERO,
                ..STREAM
            },
            PacketStream {
                interval: Duration::from_millis(1001),
                ..STREAM
            },
            // The last packet of a burst and the first one of the next are due at once.
            PacketStream {
                spacing: Duration::from_millis(5),
                ..STREAM
            },
            PacketStream { burst: 0, ..STREAM },
            PacketStream {
                burst: 1001,
                interval: Duration::from_secs(1),
                spacing: Duration::ZERO,
                ..STREAM
            },
            PacketStream {
                size: ByteSize::from_bytes(31),
                ..STREAM
            },
            PacketStream {
                size: ByteSize::from_bytes(1401),
                ..STREAM
            },
        ];
        for stream in streams {
            with(Request { stream, ..REQUESTED });
        }
        rejected(&|bytes| bytes[54] = 64);
        assert_eq!(read(&up(1, 1, 40)[..31]), None);
        assert_eq!(read(&[]), None);
        assert_eq!(request([3; 16], &REQUESTED, 9999).len(), 1400);
    }
}
