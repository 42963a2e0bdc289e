//! How much a station's kernel may hand over ahead of the air.
//!
//! A packet that has been read from a TUN device is gone as far as the sending kernel knows: TCP Small Queues and socket buffers no
//! longer count it. A driver holds packets back in the queue before the device instead, and so do we: a token bucket lets out only
//! what is granted. [`Credit`] says what to grant.
//!
//! Small queues hold back TCP alone. What others send fills a driver's queue as it comes, and aggregates with it; so some of it goes
//! uncounted, which TCP can't use up.
//!
//! Laws: what is outstanding of TCP and tokens together never exceed the target by a grant of ours, nor all that is outstanding and
//! tokens the target with the allowance; when nothing is outstanding, at least two packets may come; a grant is never smaller than
//! two packets.

/// The longest packet of an interface.
pub const MTU: u64 = 1500;

/// The least target: below it aggregates are starved.
pub const LEAST: u64 = 5 * MTU;

/// The most: what a kernel's own limit on a connection is today (`tcp_limit_output_bytes`, Linux 6.16).
pub const MOST: u64 = 4 * 1024 * 1024;

/// Whose packet it is that is outstanding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sender {
    /// TCP, which small queues hold back.
    Tcp,
    /// Anything else.
    Other,
}

/// What one station may hand over, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Credit {
    target: u64,
    allowance: u64,
    tcp: u64,
    other: u64,
    tokens: u64,
}

impl Credit {
    /// Nothing outstanding and nothing granted; no allowance.
    #[must_use]
    pub fn new(target: u64) -> Credit {
        Credit {
            target: target.clamp(LEAST, MOST),
            allowance: 0,
            tcp: 0,
            other: 0,
            tokens: 0,
        }
    }

    /// What TCP's outstanding bytes and tokens together never exceed by a grant.
    #[must_use]
    pub const fn target(&self) -> u64 {
        self.target
    }

    /// Bytes that were taken over and have neither left nor been dropped.
    #[must_use]
    pub const fn outstanding(&self) -> u64 {
        self.tcp + self.other
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
    pub fn handle_on_its_way(&mut self, sender: Sender, bytes: u64) {
        *self.of(sender) += bytes;
    }

    /// Bytes have left the station, or were dropped at it.
    pub fn handle_left(&mut self, sender: Sender, bytes: u64) {
        let outstanding = self.of(sender);
        *outstanding = outstanding.saturating_sub(bytes);
    }

    /// What is enough has changed: for all together, and what of others' than TCP goes uncounted.
    pub fn set_target(&mut self, target: u64, allowance: u64) {
        self.target = target.clamp(LEAST, MOST);
        self.allowance = allowance.min(MOST);
    }

    /// Whether another packet may come, where there are no tokens and a packet comes when it is read.
    #[must_use]
    pub const fn wants(&self) -> bool {
        self.room() >= MTU
    }

    /// What to grant now, in place of what was granted before; `None` when that will do.
    pub fn poll_grant(&mut self) -> Option<u32> {
        let room = self.room();
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

    const fn room(&self) -> u64 {
        let counted = self.tcp + self.other.saturating_sub(self.allowance);
        self.target.saturating_sub(counted)
    }

    const fn of(&mut self, sender: Sender) -> &mut u64 {
        match sender {
            Sender::Tcp => &mut self.tcp,
            Sender::Other => &mut self.other,
        }
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
            credit.handle_on_its_way(Sender::Tcp, 1_500);
        }
        assert_eq!((credit.outstanding(), credit.tokens()), (9_000, 1_000));
        assert_eq!(credit.poll_grant(), None);
        credit.handle_left(Sender::Tcp, 3_000);
        assert_eq!(credit.poll_grant(), Some(4_000));
    }

    #[test]
    fn datagrams_have_an_allowance_that_tcp_has_not() {
        let fill = |sender| {
            let mut credit = Credit::new(0);
            credit.set_target(9_000, 6_000);
            while credit.poll_grant().is_some() || credit.tokens() >= 1_500 {
                credit.handle_taken(1_500);
                credit.handle_on_its_way(sender, 1_500);
            }
            credit.outstanding()
        };
        assert_eq!(fill(Sender::Tcp), 9_000);
        assert_eq!(fill(Sender::Other), 15_000);
    }

    fn sender() -> impl Strategy<Value = Sender> {
        prop_oneof![Just(Sender::Tcp), Just(Sender::Other)]
    }

    proptest! {
        #[test]
        fn its_laws_hold(
            target in 0_u64..400_000,
            allowance in 0_u64..200_000,
            steps in prop::collection::vec((0..3, sender(), 20_u64..1501), 1..300),
        ) {
            let mut credit = Credit::new(target);
            credit.set_target(target, allowance);
            let mut model = [0, 0];
            for (step, sender, bytes) in steps {
                let outstanding = &mut model[sender as usize];
                match step {
                    0 if bytes <= credit.tokens() => {
                        credit.handle_taken(bytes);
                        credit.handle_on_its_way(sender, bytes);
                        *outstanding += bytes;
                    }
                    1 => {
                        let bytes = bytes.min(*outstanding);
                        credit.handle_left(sender, bytes);
                        *outstanding -= bytes;
                    }
                    _ => credit.handle_taken(bytes.min(credit.tokens())),
                }
                let grant = credit.poll_grant();
                prop_assert!(grant.is_none_or(|bytes| u64::from(bytes) >= 2 * MTU));
                prop_assert_eq!(credit.outstanding(), model[0] + model[1]);
                prop_assert!(model[0] + credit.tokens() <= credit.target);
                prop_assert!(credit.outstanding() + credit.tokens() <= credit.target + allowance.min(MOST));
                // Never stuck: where nothing is on its way, the next packet can come.
                prop_assert!(credit.outstanding() > 0 || credit.tokens() >= 2 * MTU);
                prop_assert_eq!(credit.poll_grant(), None);
            }
        }

        #[test]
        fn reading_what_is_wanted_keeps_to_the_target(
            target in 0_u64..400_000,
            allowance in 0_u64..200_000,
            steps in prop::collection::vec((any::<bool>(), sender(), 20..=MTU), 1..300),
        ) {
            let mut credit = Credit::new(target);
            credit.set_target(target, allowance);
            for (read, sender, bytes) in steps {
                if read && credit.wants() {
                    credit.handle_on_its_way(sender, bytes);
                } else if !read {
                    credit.handle_left(sender, bytes);
                }
                prop_assert!(credit.tcp <= credit.target);
                prop_assert!(credit.outstanding() <= credit.target + credit.allowance);
                prop_assert!(credit.outstanding() > 0 || credit.wants());
            }
        }
    }
}
