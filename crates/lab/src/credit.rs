//! Limits the bytes that a station's kernel has handed over and that have not been transmitted yet.
//!
//! When the lab has read a packet from a TUN device, the sending kernel considers it sent. TCP Small Queues and socket
//! buffers no longer count it. A driver would leave further packets in the qdisc. The lab does the same: a token bucket
//! qdisc releases only the granted bytes. [`Credit`] computes the grants.
//!
//! TCP Small Queues limit only TCP. Other packets fill a driver's queue as they arrive and are aggregated with TCP's.
//! A limited number of their bytes is therefore not charged, and TCP cannot use this allowance.
//!
//! Invariants:
//!
//! - A grant never makes outstanding TCP bytes plus tokens exceed the target.
//! - A grant never makes all outstanding bytes plus tokens exceed the target plus the allowance.
//! - With no bytes outstanding, at least two packets can be sent.
//! - A grant is never smaller than two packets.

/// MTU of a node's interface in bytes.
pub const MTU: u64 = 1500;

/// Minimum target in bytes. With less, aggregates are too small.
pub const MIN_TARGET: u64 = 5 * MTU;

/// Maximum target in bytes: the default of `tcp_limit_output_bytes` since Linux 6.16.
pub const MAX_TARGET: u64 = 4 * 1024 * 1024;

/// Protocol class of an outstanding packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sender {
    /// TCP, which TCP Small Queues limit.
    Tcp,
    /// All other protocols.
    Other,
}

/// Byte credit of one station.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Credit {
    target: u64,
    allowance: u64,
    tcp: u64,
    other: u64,
    tokens: u64,
}

impl Credit {
    /// Creates a credit with this target, without outstanding bytes, tokens or allowance.
    #[must_use]
    pub fn new(target: u64) -> Credit {
        Credit {
            target: target.clamp(MIN_TARGET, MAX_TARGET),
            allowance: 0,
            tcp: 0,
            other: 0,
            tokens: 0,
        }
    }

    /// Returns the limit for outstanding TCP bytes plus tokens.
    #[must_use]
    pub const fn target(&self) -> u64 {
        self.target
    }

    /// Returns the bytes that were handed over and have been neither transmitted nor dropped.
    #[must_use]
    pub const fn outstanding(&self) -> u64 {
        self.tcp + self.other
    }

    /// Returns the bytes that the kernel may still hand over without another grant.
    #[must_use]
    pub const fn tokens(&self) -> u64 {
        self.tokens
    }

    /// A packet of `bytes` bytes passed the token bucket.
    pub fn on_tokens_spent(&mut self, bytes: u64) {
        self.tokens = self.tokens.saturating_sub(bytes);
    }

    /// A packet entered the modelled network.
    pub fn on_enqueued(&mut self, sender: Sender, bytes: u64) {
        *self.bytes_of(sender) += bytes;
    }

    /// Bytes were transmitted by the station or dropped at it.
    pub fn on_transmitted(&mut self, sender: Sender, bytes: u64) {
        let outstanding = self.bytes_of(sender);
        *outstanding = outstanding.saturating_sub(bytes);
    }

    /// Sets the target for outstanding bytes plus tokens, and the allowance for non-TCP bytes that are not charged.
    pub fn set_target(&mut self, target: u64, allowance: u64) {
        self.target = target.clamp(MIN_TARGET, MAX_TARGET);
        self.allowance = allowance.min(MAX_TARGET);
    }

    /// Returns whether the lab may read another packet. Used without a token bucket.
    #[must_use]
    pub const fn can_accept(&self) -> bool {
        self.room() >= MTU
    }

    /// Returns the number of tokens to grant now, which replaces the remaining tokens; `None` if no grant is needed.
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
        let counters = self.tcp + self.other.saturating_sub(self.allowance);
        self.target.saturating_sub(counters)
    }

    const fn bytes_of(&mut self, sender: Sender) -> &mut u64 {
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
        // Small packets use few tokens: a quarter of the target may be used before the next grant.
        credit.on_tokens_spent(2_499);
        assert_eq!(credit.poll_grant(), None);
        credit.on_tokens_spent(1);
        assert_eq!(credit.poll_grant(), Some(10_000));
    }

    #[test]
    fn a_full_queue_gets_no_grant() {
        let mut credit = Credit::new(10_000);
        credit.poll_grant();
        for _ in 0..6 {
            credit.on_tokens_spent(1_500);
            credit.on_enqueued(Sender::Tcp, 1_500);
        }
        assert_eq!((credit.outstanding(), credit.tokens()), (9_000, 1_000));
        assert_eq!(credit.poll_grant(), None);
        credit.on_transmitted(Sender::Tcp, 3_000);
        assert_eq!(credit.poll_grant(), Some(4_000));
    }

    #[test]
    fn only_other_protocols_than_tcp_have_an_allowance() {
        let fill = |sender| {
            let mut credit = Credit::new(0);
            credit.set_target(9_000, 6_000);
            while credit.poll_grant().is_some() || credit.tokens() >= 1_500 {
                credit.on_tokens_spent(1_500);
                credit.on_enqueued(sender, 1_500);
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
        fn invariants_hold(
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
                        credit.on_tokens_spent(bytes);
                        credit.on_enqueued(sender, bytes);
                        *outstanding += bytes;
                    }
                    1 => {
                        let bytes = bytes.min(*outstanding);
                        credit.on_transmitted(sender, bytes);
                        *outstanding -= bytes;
                    }
                    _ => credit.on_tokens_spent(bytes.min(credit.tokens())),
                }
                let grant = credit.poll_grant();
                prop_assert!(grant.is_none_or(|bytes| u64::from(bytes) >= 2 * MTU));
                prop_assert_eq!(credit.outstanding(), model[0] + model[1]);
                prop_assert!(model[0] + credit.tokens() <= credit.target);
                prop_assert!(credit.outstanding() + credit.tokens() <= credit.target + allowance.min(MAX_TARGET));
                // No deadlock: with no bytes outstanding, the next packet can be sent.
                prop_assert!(credit.outstanding() > 0 || credit.tokens() >= 2 * MTU);
                prop_assert_eq!(credit.poll_grant(), None);
            }
        }

        #[test]
        fn reading_acceptable_packets_keeps_the_target(
            target in 0_u64..400_000,
            allowance in 0_u64..200_000,
            steps in prop::collection::vec((any::<bool>(), sender(), 20..=MTU), 1..300),
        ) {
            let mut credit = Credit::new(target);
            credit.set_target(target, allowance);
            for (read, sender, bytes) in steps {
                if read && credit.can_accept() {
                    credit.on_enqueued(sender, bytes);
                } else if !read {
                    credit.on_transmitted(sender, bytes);
                }
                prop_assert!(credit.tcp <= credit.target);
                prop_assert!(credit.outstanding() <= credit.target + credit.allowance);
                prop_assert!(credit.outstanding() > 0 || credit.can_accept());
            }
        }
    }
}
