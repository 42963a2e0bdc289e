//! One direction of a connection: data written by its sender for each exchange, and its progress.
//!
//! Over HTTP/1.1 the exchanges use the connection one after another. Over HTTP/2 several share it,
//! and each sends a frame in turn (RFC 9113 section 5.1.2). So an offset of the stream does not
//! determine the exchange.

use std::collections::VecDeque;

/// Identifies an exchange on its connection.
pub(crate) type Key = u32;

/// Data of the connection itself: handshakes and settings.
pub(crate) const CONNECTION: Key = Key::MAX;

/// Written data in order, up to the position of a reader.
#[derive(Debug, Default)]
struct Ledger {
    /// Ranges by exchange, each with its end.
    stretches: VecDeque<(Key, u64)>,
    /// End of the stream, and position of the reader.
    end: u64,
    at: u64,
}

/// One direction of a connection.
#[derive(Debug)]
pub(crate) struct Lane {
    /// Maximum number of bytes that one exchange writes while others wait.
    frame: u64,
    /// Rest of the first one's frame.
    left: u64,
    /// Data that TCP had no room for yet, by exchange, in round-robin order.
    waiting: VecDeque<(Key, u64)>,
    received: Ledger,
    /// `None` if acknowledgements are not tracked.
    acknowledged: Option<Ledger>,
}

impl Ledger {
    fn write(&mut self, key: Key, bytes: u64) {
        self.end += bytes;
        match self.stretches.back_mut() {
            Some((last, end)) if *last == key => *end = self.end,
            _ => self.stretches.push_back((key, self.end)),
        }
    }

    fn read(&mut self, to: u64) -> Option<(Key, u64)> {
        if self.at >= to {
            return None;
        }
        let (key, end) = *self.stretches.front()?;
        let until = end.min(to);
        if until == end {
            self.stretches.pop_front();
        }
        Some((key, until - std::mem::replace(&mut self.at, until)))
    }
}

impl Lane {
    /// Creates an empty lane in which exchanges alternate after `frame` bytes. `follows`:
    /// acknowledgements are tracked.
    pub(crate) fn new(frame: u64, follows: bool) -> Self {
        Lane {
            frame,
            left: frame,
            waiting: VecDeque::new(),
            received: Ledger::default(),
            acknowledged: follows.then(Ledger::default),
        }
    }

    /// Adds data of an exchange.
    pub(crate) fn push(&mut self, key: Key, bytes: u64) {
        match self.waiting.back_mut() {
            Some((last, waiting)) if *last == key => *waiting += bytes,
            _ => self.waiting.push_back((key, bytes)),
        }
    }

    /// Passes data to TCP: `write` accepts a part of the offered bytes and returns its size.
    pub(crate) fn pump(&mut self, mut write: impl FnMut(u64) -> u64) {
        while let Some((key, waiting)) = self.waiting.front_mut() {
            let offered = (*waiting).min(self.left);
            let taken = write(offered);
            if taken > 0 {
                self.received.write(*key, taken);
                if let Some(acknowledged) = &mut self.acknowledged {
                    acknowledged.write(*key, taken);
                }
            }
            *waiting -= taken;
            self.left -= taken;
            if *waiting == 0 {
                self.waiting.pop_front();
                self.left = self.frame;
            } else if self.left == 0 {
                self.waiting.rotate_left(1);
                self.left = self.frame;
            }
            if taken < offered {
                return;
            }
        }
    }

    /// Data newly received by the peer, up to `to` bytes in total: an exchange and its bytes, until
    /// `None`.
    pub(crate) fn receive(&mut self, to: u64) -> Option<(Key, u64)> {
        self.received.read(to)
    }

    /// Data newly acknowledged by the peer, up to `to` bytes in total.
    pub(crate) fn acknowledge(&mut self, to: u64) -> Option<(Key, u64)> {
        self.acknowledged.as_mut()?.read(to)
    }

    /// Discards the data of a cancelled exchange that TCP has not accepted yet.
    pub(crate) fn discard(&mut self, key: Key) {
        if self.waiting.front().is_some_and(|(first, _)| *first == key) {
            self.left = self.frame;
        }
        self.waiting.retain(|(other, _)| *other != key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    #[test]
    fn two_exchanges_alternate() {
        let mut lane = Lane::new(10, true);
        lane.push(0, 25);
        lane.push(1, 12);
        // TCP has room for 18 bytes, then for the rest: 10 of the first, 10 of the second, 10, 2,
        // 5.
        let mut room = 18;
        lane.pump(|offered| {
            let taken = offered.min(room);
            room -= taken;
            taken
        });
        lane.pump(|offered| offered);
        let read: Vec<_> = std::iter::from_fn(|| lane.receive(37)).collect();
        assert_eq!(read, [(0, 10), (1, 10), (0, 10), (1, 2), (0, 5)]);
        // An acknowledgement in the middle of a frame.
        assert_eq!(lane.acknowledge(13), Some((0, 10)));
        assert_eq!((lane.acknowledge(13), lane.acknowledge(13)), (Some((1, 3)), None));
        assert_eq!(lane.acknowledge(37), Some((1, 7)));
    }

    #[test]
    fn discarded_data_are_not_written() {
        let mut lane = Lane::new(10, true);
        lane.push(0, 25);
        lane.push(1, 5);
        let mut room = 4;
        lane.pump(|offered| std::mem::take(&mut room).min(offered));
        lane.discard(0);
        lane.pump(|offered| offered);
        let read: Vec<_> = std::iter::from_fn(|| lane.receive(100)).collect();
        assert_eq!(read, [(0, 4), (1, 5)]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Every byte of every exchange is received once, in order, for all patterns of TCP's room.
        /// No exchange is more than a frame ahead of a waiting one.
        #[test]
        fn bytes_are_conserved(
            pushes in prop::collection::vec((0_u32..5, 1_u64..100), 1..20),
            rooms in prop::collection::vec(0_u64..40, 1..60),
        ) {
            let mut lane = Lane::new(16, false);
            let mut sizes: BTreeMap<Key, u64> = BTreeMap::new();
            for (key, bytes) in &pushes {
                lane.push(*key, *bytes);
                *sizes.entry(*key).or_default() += bytes;
            }
            let (mut written, mut read) = (0, BTreeMap::new());
            for mut room in rooms.into_iter().chain([u64::MAX]) {
                lane.pump(|offered| {
                    let taken = offered.min(room);
                    room -= taken;
                    written += taken;
                    taken
                });
                while let Some((key, bytes)) = lane.receive(written) {
                    prop_assert!(bytes > 0);
                    *read.entry(key).or_insert(0) += bytes;
                }
            }
            prop_assert_eq!(read, sizes);
        }
    }
}
