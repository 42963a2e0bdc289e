//! Positions of content in the bytes of a connection.
//!
//! Content passes through HTTP/2 frames, then TLS records, then TCP. TCP acknowledges bytes of its own stream only.
//! [`SentBytes`] converts these to bytes before TLS, and [`SentFrames`] converts those to content of each HTTP/2 stream.
//! Both scan what they see being written, so that buffers between the layers need no assumption.

use std::collections::{BTreeMap, VecDeque};

/// Length of the header of a TLS record (RFC 8446 §5.1).
const RECORD_HEAD: usize = 5;
/// Type of TLS records with application data.
const APPLICATION_DATA: u8 = 23;

/// Bytes that a connection has passed to TCP.
#[derive(Debug, Default)]
pub(crate) struct SentBytes {
    written: u64,
    tls: Option<Records>,
}

impl SentBytes {
    /// TLS begins: all following records have `overhead` bytes in addition to header and content.
    pub(crate) fn begin_tls(&mut self, overhead: u64) {
        self.tls = Some(Records::new(self.written, overhead));
    }

    /// `parts` begin with `count` bytes that TCP has accepted.
    pub(crate) fn write<'a>(&mut self, count: usize, parts: impl Iterator<Item = &'a [u8]>) {
        self.written += count as u64;
        let Some(records) = &mut self.tls else { return };
        let mut left = count;
        for part in parts {
            let here = left.min(part.len());
            records.scan(&part[..here]);
            left -= here;
        }
    }

    /// TCP has accepted `count` bytes of cleartext from a file.
    pub(crate) fn write_file(&mut self, count: usize) {
        self.written += count as u64;
    }

    /// TLS has accepted `count` bytes.
    pub(crate) fn seal(&mut self, count: usize) {
        if let Some(records) = &mut self.tls {
            records.accepted += count as u64;
        }
    }

    /// Returns the bytes that TCP has accepted.
    pub(crate) fn written(&self) -> u64 {
        self.written
    }

    /// Returns the bytes before TLS that this end has passed on.
    pub(crate) fn passed(&self) -> u64 {
        self.tls.as_ref().map_or(self.written, |records| records.accepted)
    }

    /// Returns the bytes before TLS that have arrived, if TCP has acknowledged `acked` bytes. A TLS record arrives as a
    /// whole, because the peer decrypts only whole records.
    pub(crate) fn arrived(&mut self, acked: u64) -> u64 {
        match &mut self.tls {
            None => acked,
            Some(records) => records.arrived(acked),
        }
    }
}

/// TLS records of a connection.
#[derive(Debug)]
struct Records {
    overhead: u64,
    head: [u8; RECORD_HEAD],
    /// Bytes of the next header that have been scanned.
    there: usize,
    /// Bytes to skip before it.
    skip: u64,
    /// Position in the bytes of TCP.
    position: u64,
    /// Bytes that TLS has accepted.
    accepted: u64,
    /// Content of all scanned records.
    scanned: u64,
    /// Records that have not arrived: end in the bytes of TCP, and content up to this end.
    open: VecDeque<(u64, u64)>,
    arrived: u64,
}

impl Records {
    fn new(position: u64, overhead: u64) -> Self {
        Records {
            overhead,
            head: [0; RECORD_HEAD],
            there: 0,
            skip: 0,
            position,
            accepted: 0,
            scanned: 0,
            open: VecDeque::new(),
            arrived: 0,
        }
    }

    fn scan(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let skipped = self.skip.min(bytes.len() as u64);
            self.skip -= skipped;
            let part = if skipped > 0 {
                0
            } else {
                (RECORD_HEAD - self.there).min(bytes.len())
            };
            self.head[self.there..self.there + part].copy_from_slice(&bytes[..part]);
            self.there += part;
            self.position += skipped + part as u64;
            bytes = &bytes[skipped as usize + part..];
            if self.there == RECORD_HEAD {
                self.there = 0;
                let length = u64::from(u16::from_be_bytes([self.head[3], self.head[4]]));
                self.skip = length;
                if self.head[0] == APPLICATION_DATA {
                    self.scanned += length.saturating_sub(self.overhead);
                    self.open.push_back((self.position + length, self.scanned));
                }
            }
        }
    }

    fn arrived(&mut self, acked: u64) -> u64 {
        while let Some(&(end, content)) = self.open.front()
            && end <= acked
        {
            self.arrived = content;
            self.open.pop_front();
        }
        // Messages of TLS itself have the type of application data in TLS 1.3.
        self.arrived.min(self.accepted)
    }
}

/// DATA frames of an HTTP/2 connection that have been written and have not arrived.
#[derive(Debug, Default)]
pub(crate) struct SentFrames {
    open: VecDeque<Payload>,
    /// Content of the observed streams that has arrived.
    streams: BTreeMap<u32, u64>,
}

/// Payload of a DATA frame.
#[derive(Debug)]
struct Payload {
    stream: u32,
    /// First position in the bytes of the connection, before TLS.
    begin: u64,
    length: u64,
}

impl SentFrames {
    /// Observes a stream until [`forget`](Self::forget).
    pub(crate) fn observe(&mut self, stream: u32) {
        self.streams.insert(stream, 0);
    }

    /// Ends the observation of a stream.
    pub(crate) fn forget(&mut self, stream: u32) {
        self.streams.remove(&stream);
    }

    /// The payload of a DATA frame begins at this position.
    pub(crate) fn write(&mut self, stream: u32, begin: u64, length: u64) {
        if length > 0 {
            self.open.push_back(Payload { stream, begin, length });
        }
    }

    /// The first `position` bytes of the connection, before TLS, have arrived.
    pub(crate) fn acknowledge(&mut self, position: u64) {
        while let Some(payload) = self.open.front_mut() {
            let here = position.saturating_sub(payload.begin).min(payload.length);
            if let Some(arrived) = self.streams.get_mut(&payload.stream) {
                *arrived += here;
            }
            payload.begin += here;
            payload.length -= here;
            if payload.length > 0 {
                return;
            }
            self.open.pop_front();
        }
    }

    /// Returns the content of an observed stream that has arrived.
    pub(crate) fn arrived(&self, stream: u32) -> u64 {
        self.streams.get(&stream).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A TLS record (RFC 8446 §5.1): type, version, length, and that many bytes.
    fn record(kind: u8, length: u16) -> Vec<u8> {
        let mut record = vec![kind, 3, 3];
        record.extend(length.to_be_bytes());
        record.resize(RECORD_HEAD + usize::from(length), 0xff);
        record
    }

    #[test]
    fn without_tls_all_acknowledged_bytes_have_arrived() {
        let mut sent = SentBytes::default();
        sent.write(3, [&[1, 2][..], &[3, 4]].into_iter());
        sent.write_file(100);
        assert_eq!((sent.written(), sent.passed()), (103, 103));
        assert_eq!((sent.arrived(0), sent.arrived(50)), (0, 50));
    }

    /// TLS 1.3 adds 5 bytes of header and 17 bytes to each record (RFC 8446 §5.2: the type, and a tag of 16 bytes).
    #[test]
    fn a_record_arrives_with_its_last_byte() {
        let mut sent = SentBytes::default();
        // The handshake, whose records are not scanned.
        sent.write_file(400);
        sent.begin_tls(17);
        sent.seal(16_384 + 100);
        let bytes = [
            record(APPLICATION_DATA, 16_384 + 17),
            record(APPLICATION_DATA, 100 + 17),
        ]
        .concat();
        sent.write(bytes.len(), [&bytes[..]].into_iter());
        assert_eq!(sent.passed(), 16_484);
        // 400 + 5 + 16,401 = 16,806; then 5 + 117.
        assert_eq!(sent.arrived(400), 0);
        assert_eq!(sent.arrived(16_805), 0);
        assert_eq!(sent.arrived(16_806), 16_384);
        assert_eq!(sent.arrived(16_927), 16_384);
        assert_eq!(sent.arrived(16_928), 16_484);
    }

    #[test]
    fn messages_of_tls_itself_are_no_content() {
        let mut sent = SentBytes::default();
        sent.begin_tls(24);
        sent.seal(10);
        // An alert (type 21), a message of TLS 1.3 inside application data, and then nothing else is accepted.
        let bytes = [
            record(21, 26),
            record(APPLICATION_DATA, 34),
            record(APPLICATION_DATA, 29),
        ]
        .concat();
        sent.write(bytes.len(), [&bytes[..]].into_iter());
        assert_eq!(sent.arrived(bytes.len() as u64), 10);
    }

    /// Two streams, frames of 100 and 50 bytes with headers of 9 bytes (RFC 9113 §4.1).
    #[test]
    fn bytes_of_frames_belong_to_their_streams() {
        let mut frames = SentFrames::default();
        frames.observe(1);
        frames.observe(3);
        frames.write(1, 9, 100);
        frames.write(3, 118, 50);
        frames.write(5, 177, 10);
        frames.write(1, 196, 100);
        let arrived = |frames: &mut SentFrames, position| {
            frames.acknowledge(position);
            (frames.arrived(1), frames.arrived(3))
        };
        assert_eq!(arrived(&mut frames, 9), (0, 0));
        assert_eq!(arrived(&mut frames, 10), (1, 0));
        assert_eq!(arrived(&mut frames, 115), (100, 0));
        assert_eq!(arrived(&mut frames, 120), (100, 2));
        assert_eq!(arrived(&mut frames, 120), (100, 2));
        assert_eq!(arrived(&mut frames, 246), (150, 50));
        frames.forget(3);
        assert_eq!(arrived(&mut frames, 1_000), (200, 0));
        assert!(frames.open.is_empty());
    }

    proptest! {
        /// The segmentation of writes and of acknowledgements changes nothing.
        #[test]
        fn records_are_found_in_any_segmentation(
            lengths in prop::collection::vec(17_u16..400, 1..20),
            step in 1_usize..50,
            acks in 1_u64..100,
        ) {
            let bytes: Vec<u8> = lengths.iter().flat_map(|length| record(APPLICATION_DATA, *length)).collect();
            let content: u64 = lengths.iter().map(|length| u64::from(length - 17)).sum();
            let mut sent = SentBytes::default();
            sent.begin_tls(17);
            sent.seal(content as usize);
            let (mut acked, mut before) = (0, 0);
            for piece in bytes.chunks(step) {
                sent.write(piece.len(), [piece].into_iter());
                acked = sent.written().min(acked + acks);
                let arrived = sent.arrived(acked);
                prop_assert!(before <= arrived && arrived <= acked);
                before = arrived;
            }
            prop_assert_eq!(sent.arrived(bytes.len() as u64), content);
        }
    }
}
