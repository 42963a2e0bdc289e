//! How much a station's kernel may hand over ahead of the air.
//!
//! A packet that has been read from a TUN device is gone as far as the sending kernel knows: TCP Small Queues and socket buffers no
//! longer count it. A driver holds packets back in the queue before the device instead, and so do we: a token bucket lets out only
//! what is granted. [`Credit`] says what to grant.
//!
//! Laws: outstanding + tokens never exceed the target by a grant of ours; when nothing is outstanding, at least two packets may
//! come; a grant is never smaller than two packets.

/// The longest packet of an interface.
pub const MTU: u64 = 1500;

/// The least target: below it aggregates are starved.
pub const LEAST: u64 = 5 * MTU;

/// The most: what an A-MPDU of 802.11ac takes several of.
pub const MOST: u64 = 256 * 1024;

/// What one station may hand over, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Credit {
    target: u64,
    outstanding: u64,
    tokens: u64,
}

impl Credit {
    /// Nothing outstanding and nothing granted.
    #[must_use]
    pub fn new(target: u64) -> Credit {
        Credit {
            target: target.clamp(LEAST, MOST),
            outstanding: 0,
            tokens: 0,
        }
    }

    /// Bytes that were taken over and have neither left nor been dropped.
    #[must_use]
    pub const fn outstanding(&self) -> u64 {
        self.outstanding
    }

    /// Bytes that may still come without another grant.
    #[must_use]
    pub const fn tokens(&self) -> u64 {
        self.tokens
    }

    /// A packet came through the bucket.
    pub fn handle_taken(&mut self, bytes: u64) {
        self.tokens = self.tokens.saturating_sub(bytes);
    }

    /// A packet is on its way.
    pub fn handle_on_its_way(&mut self, bytes: u64) {
        self.outstanding += bytes;
    }

    /// Bytes have left the station, or were dropped at it.
    pub fn handle_left(&mut self, bytes: u64) {
        self.outstanding = self.outstanding.saturating_sub(bytes);
    }

    /// The link's rate, and with it what is enough, has changed.
    pub fn set_target(&mut self, target: u64) {
        self.target = target.clamp(LEAST, MOST);
    }

    /// Whether another packet may come, where there are no tokens and a packet comes when it is read.
    #[must_use]
    pub const fn wants(&self) -> bool {
        self.outstanding + MTU <= self.target
    }

    /// What to grant now, in place of what was granted before; `None` when that will do.
    pub fn poll_grant(&mut self) -> Option<u32> {
        let room = self.target.saturating_sub(self.outstanding);
        if room < 2 * MTU {
            return None;
        }
        let short = self.tokens < 2 * MTU && room > self.tokens;
        let stale = room >= self.tokens + self.target / 4;
        (short || stale).then(|| {
            self.tokens = room;
            room as u32
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_idle_station_is_granted_its_target_once() {
        let mut credit = Credit::new(10_000);
        assert_eq!(credit.poll_grant(), Some(10_000));
        assert_eq!(credit.poll_grant(), None);
        // Small packets use it up slowly: a quarter may go before it is topped up.
        credit.handle_taken(2_499);
        assert_eq!(credit.poll_grant(), None);
        credit.handle_taken(1);
        assert_eq!(credit.poll_grant(), Some(10_000));
    }

    #[test]
    fn a_full_queue_is_granted_nothing() {
        let mut credit = Credit::new(10_000);
        credit.poll_grant();
        for _ in 0..6 {
            credit.handle_taken(1_500);
            credit.handle_on_its_way(1_500);
        }
        assert_eq!((credit.outstanding(), credit.tokens()), (9_000, 1_000));
        assert_eq!(credit.poll_grant(), None);
        credit.handle_left(3_000);
        assert_eq!(credit.poll_grant(), Some(4_000));
    }

    proptest! {
        #[test]
        fn its_laws_hold(target in 0_u64..400_000, steps in prop::collection::vec((0..3, 20_u64..1501), 1..300)) {
            let mut credit = Credit::new(target);
            let mut model = 0;
            for (step, bytes) in steps {
                match step {
                    0 if bytes <= credit.tokens() => {
                        credit.handle_taken(bytes);
                        credit.handle_on_its_way(bytes);
                        model += bytes;
                    }
                    1 => {
                        credit.handle_left(bytes.min(model));
                        model -= bytes.min(model);
                    }
                    _ => credit.handle_taken(bytes.min(credit.tokens())),
                }
                let grant = credit.poll_grant();
                prop_assert!(grant.is_none_or(|bytes| u64::from(bytes) >= 2 * MTU));
                prop_assert_eq!(credit.outstanding(), model);
                prop_assert!(credit.outstanding() + credit.tokens() <= credit.target);
                // Never stuck: where nothing is on its way, the next packet can come.
                prop_assert!(credit.outstanding() > 0 || credit.tokens() >= 2 * MTU);
                prop_assert_eq!(credit.poll_grant(), None);
            }
        }

        #[test]
        fn reading_what_is_wanted_keeps_to_the_target(target in 0_u64..400_000, steps in prop::collection::vec((any::<bool>(), 20..=MTU), 1..300)) {
            let mut credit = Credit::new(target);
            for (read, bytes) in steps {
                if read && credit.wants() {
                    credit.handle_on_its_way(bytes);
                } else if !read {
                    credit.handle_left(bytes);
                }
                prop_assert!(credit.outstanding() <= credit.target);
                prop_assert!(credit.outstanding() > 0 || credit.wants());
            }
        }
    }
}
