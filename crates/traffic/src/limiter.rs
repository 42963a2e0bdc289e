//! Rate limit per client.

use netburn_units::{Duration, Instant};
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A client for rate limits: an IPv4 address, or the leading 64 bits of an IPv6 address. A household or host may use
/// any address below them (RFC 6177).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Client {
    /// An IPv4 address, including mapped ones (`::ffff:192.0.2.1`).
    V4(Ipv4Addr),
    /// The leading 64 bits of an IPv6 address.
    V6(u64),
}

impl Client {
    /// Returns the client at `address`.
    #[must_use]
    pub fn at(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V4(v4) => Client::V4(v4),
            IpAddr::V6(v6) => Client::V6((v6.to_bits() >> 64) as u64),
        }
    }

    /// Returns whether the client is on this machine. Limits per client do not apply to it: all stations of one machine
    /// share the address, and local programs can load the machine anyway.
    #[must_use]
    pub fn is_loopback(self) -> bool {
        match self {
            Client::V4(v4) => v4.is_loopback(),
            // ::1 is the only usable address in ::/64.
            Client::V6(bits) => bits == (Ipv6Addr::LOCALHOST.to_bits() >> 64) as u64,
        }
    }

    /// Returns whether the address is not routed on the internet: loopback, private (RFC 1918), unique local (RFC 4193)
    /// or link-local (RFC 3927, RFC 4291 §2.5.6).
    #[must_use]
    pub fn is_local(self) -> bool {
        self.is_loopback()
            || match self {
                Client::V4(v4) => v4.is_private() || v4.is_link_local(),
                Client::V6(bits) => {
                    let address = Ipv6Addr::from_bits(u128::from(bits) << 64);
                    address.is_unique_local() || address.is_unicast_link_local()
                }
            }
    }
}

/// A rate limit per client: the generic cell rate algorithm (ITU-T I.371), with one instant of state per client.
#[derive(Debug)]
pub struct Limiter {
    interval: Duration,
    burst: Duration,
    clients: BTreeMap<Client, Instant>,
    capacity: usize,
    sweep: Instant,
}

impl Limiter {
    /// Creates a limiter for `per_second` actions per client, at most `burst` at once (both at least 1). It remembers
    /// at most `capacity` clients; with that many active, further clients are rejected.
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

    /// Returns whether `client` may act at `now`, and counts the action if so.
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

    /// Returns the number of remembered clients.
    #[must_use]
    pub fn remembered(&self) -> usize {
        self.clients.len()
    }

    /// Forgets clients with their full allowance. Returns whether that made room. Runs at most once per interval, so
    /// that it costs little.
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
    fn the_number_of_clients_is_limited_and_idle_clients_are_forgotten() {
        let mut limiter = Limiter::new(10, 1, 2);
        let now = Instant::ZERO;
        assert!(limiter.allow(now, client(1)) && limiter.allow(now, client(2)));
        assert!(!limiter.allow(now, client(3)));
        assert!(limiter.allow(Instant::from_millis(101), client(3)));
        assert_eq!(limiter.remembered(), 1);
    }

    #[test]
    fn clients_are_distinguished_by_their_address_prefix() {
        let at = |text: &str| Client::at(text.parse().unwrap());
        assert_eq!(at("2001:db8:1:2::1"), at("2001:db8:1:2:ffff::9"));
        assert_ne!(at("2001:db8:1:2::1"), at("2001:db8:1:3::1"));
        assert_eq!(at("::ffff:192.0.2.1"), at("192.0.2.1"));
        assert!(at("127.8.9.1").is_loopback() && at("::1").is_loopback());
        assert!(!at("192.0.2.1").is_loopback() && !at("fe80::1").is_loopback());
    }

    /// Each range's first and last address, and the addresses beside it.
    #[test]
    fn local_clients_have_addresses_that_the_internet_does_not_route() {
        let is_local = |text: &str| Client::at(text.parse().unwrap()).is_local();
        for address in [
            "127.0.0.1",
            "::1",
            "10.0.0.0",
            "10.255.255.255",
            "172.16.0.0",
            "172.31.255.255",
            "192.168.0.0",
            "192.168.255.255",
            "169.254.0.1",
            "::ffff:192.168.1.1",
            "fc00::1",
            "fdff:ffff::1",
            "fe80::1",
            "febf::1",
        ] {
            assert!(is_local(address), "{address}");
        }
        for address in [
            "9.255.255.255",
            "11.0.0.0",
            "172.15.255.255",
            "172.32.0.0",
            "192.167.255.255",
            "192.169.0.0",
            "169.253.255.255",
            "100.64.0.1",
            "2001:db8::1",
            "fbff::1",
            "fe00::1",
            "fec0::1",
            "ff02::1",
        ] {
            assert!(!is_local(address), "{address}");
        }
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
                // The algorithm's bound over a span of `now`: burst + rate × now, with the interval rounded down to a
                // nanosecond.
                let interval = 1_000_000_000 / i64::from(rate);
                prop_assert!(passed <= u64::from(burst) + (now * 1_000_000 / interval) as u64);
            }
        }
    }
}
