//! How often each client may do something.

use netburn_units::{Duration, Instant};
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Whom a limit counts as one client: an IPv4 address, or the 64 leading bits of an IPv6 address (a household or a
/// host may use any address below them, RFC 6177).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Client {
    /// An IPv4 address, mapped ones (`::ffff:192.0.2.1`) included.
    V4(Ipv4Addr),
    /// The leading bits of an IPv6 address.
    V6(u64),
}

impl Client {
    /// The client at `address`.
    #[must_use]
    pub fn at(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V4(v4) => Client::V4(v4),
            IpAddr::V6(v6) => Client::V6((v6.to_bits() >> 64) as u64),
        }
    }

    /// Whether this is the same machine. Per-client limits don't hold for it: on one machine all stations share the
    /// address, and who is on the machine has other means to burden it.
    #[must_use]
    pub fn is_loopback(self) -> bool {
        match self {
            Client::V4(v4) => v4.is_loopback(),
            // ::1 is the only address of use in ::/64.
            Client::V6(bits) => bits == (Ipv6Addr::LOCALHOST.to_bits() >> 64) as u64,
        }
    }
}

/// A rate limit per client: the generic cell rate algorithm (ITU-T I.371), one instant of state for each.
#[derive(Debug)]
pub struct Limiter {
    interval: Duration,
    burst: Duration,
    clients: BTreeMap<Client, Instant>,
    capacity: usize,
    sweep: Instant,
}

impl Limiter {
    /// `per_second` of something for each client, at most `burst` of them at once (both at least 1), and no more than
    /// `capacity` clients remembered: when so many are active at once, further ones are refused.
    #[must_use]
    pub fn new(per_second: u32, burst: u32, capacity: usize) -> Self {
        let interval = Duration::from_nanos(1_000_000_000 / u64::from(per_second.max(1)));
        Self {
            interval,
            burst: interval * u64::from(burst.max(1) - 1),
            clients: BTreeMap::new(),
            capacity,
            sweep: Instant::from_nanos(i64::MIN),
        }
    }

    /// Whether `client` may do it once more at `now`; counts it if so.
    pub fn allow(&mut self, now: Instant, client: Client) -> bool {
        let due = match self.clients.get(&client).copied() {
            Some(due) => due,
            None if self.clients.len() < self.capacity || self.forget_idle(now) => now,
            None => return false,
        };
        if due > now + self.burst {
            return false;
        }
        self.clients.insert(client, due.max(now) + self.interval);
        true
    }

    /// How many clients are remembered.
    #[must_use]
    pub fn remembered(&self) -> usize {
        self.clients.len()
    }

    /// Forgets those that are back at their full allowance; whether that made room. At most once per interval, so
    /// that it costs little however many come.
    fn forget_idle(&mut self, now: Instant) -> bool {
        if now < self.sweep {
            return false;
        }
        self.sweep = now + self.interval;
        self.clients.retain(|_, due| *due > now);
        self.clients.len() < self.capacity
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn client(last: u8) -> Client {
        Client::at(IpAddr::from([192, 0, 2, last]))
    }

    #[test]
    fn a_burst_and_then_the_rate() {
        let mut limiter = Limiter::new(10, 3, 100);
        let allowed = |limiter: &mut Limiter, ms| limiter.allow(Instant::from_millis(ms), client(1));
        assert_eq!(
            [0, 0, 0, 0].map(|ms| allowed(&mut limiter, ms)),
            [true, true, true, false]
        );
        assert_eq!(
            [99, 100, 100, 199, 200].map(|ms| allowed(&mut limiter, ms)),
            [false, true, false, false, true]
        );
        assert!(
            limiter.allow(Instant::from_millis(200), client(2)),
            "each client has its own"
        );
    }

    #[test]
    fn no_more_clients_than_the_capacity_and_the_idle_make_room() {
        let mut limiter = Limiter::new(10, 1, 2);
        let now = Instant::ZERO;
        assert!(limiter.allow(now, client(1)) && limiter.allow(now, client(2)));
        assert!(!limiter.allow(now, client(3)));
        assert!(limiter.allow(Instant::from_millis(101), client(3)));
        assert_eq!(limiter.remembered(), 1);
    }

    #[test]
    fn clients_are_told_apart_by_what_they_can_choose() {
        let at = |text: &str| Client::at(text.parse().unwrap());
        assert_eq!(at("2001:db8:1:2::1"), at("2001:db8:1:2:ffff::9"));
        assert_ne!(at("2001:db8:1:2::1"), at("2001:db8:1:3::1"));
        assert_eq!(at("::ffff:192.0.2.1"), at("192.0.2.1"));
        assert!(at("127.8.9.1").is_loopback() && at("::1").is_loopback());
        assert!(!at("192.0.2.1").is_loopback() && !at("fe80::1").is_loopback());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn never_more_than_burst_and_rate(rate in 1_u32..200, burst in 1_u32..20, gaps in prop::collection::vec(0_i64..30, 1..200)) {
            let mut limiter = Limiter::new(rate, burst, 10);
            let (mut now, mut passed) = (0, 0_u64);
            for gap in gaps {
                now += gap;
                passed += u64::from(limiter.allow(Instant::from_millis(now), client(1)));
                // By the definition of the algorithm, over a span of `now`: burst + rate × now, with the interval
                // rounded down to a nanosecond.
                let interval = 1_000_000_000 / i64::from(rate);
                prop_assert!(passed <= u64::from(burst) + (now * 1_000_000 / interval) as u64);
            }
        }
    }
}
