//! Server side of the datagram echo: handshake and echoes.

use super::wire::{self, Cookie, Datagram};
use crate::limiter::{Client, Limiter};
use netburn_units::{Duration, Instant};
use ring::hmac;
use std::net::{IpAddr, SocketAddr};

/// Rate limits of the echo server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EchoLimits {
    /// Hellos answered per client and second, except loopback clients. Default 10: a spoofed address receives at most
    /// 10 × 64 bytes/s.
    pub hellos: u32,
    /// Hellos answered per second in total. Default 1,000, and the same number for known clients: see
    /// [`handle_datagram`](Echo::handle_datagram).
    pub hellos_in_all: u32,
    /// Probes echoed per client and second, except loopback clients. Default 2,000.
    pub probes: u32,
    /// Maximum number of clients whose rate is stored, about 100 bytes each. Default 16,384.
    pub clients: usize,
}

impl Default for EchoLimits {
    fn default() -> Self {
        Self {
            hellos: 10,
            hellos_in_all: 1_000,
            probes: 2_000,
            clients: 16_384,
        }
    }
}

/// Counters of datagrams by result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counters {
    /// Hellos answered.
    pub welcomed: u64,
    /// Probes echoed.
    pub echoed: u64,
    /// Invalid datagrams, and datagrams for clients.
    pub malformed: u64,
    /// Probes with an invalid or expired cookie.
    pub unverified: u64,
    /// Datagrams dropped by a rate limit.
    pub limited: u64,
}

/// The echo server without its socket.
///
/// **Call order:** call [`handle_datagram`](Self::handle_datagram) for each received datagram, with times that do not
/// decrease. Send the reply in the buffer, if there is one, to the sender.
#[derive(Debug)]
pub struct Echo {
    key: hmac::Key,
    /// Limits of unverified clients.
    hellos: Hellos,
    /// Limits of clients with a verified address.
    reserved: Hellos,
    probes: Limiter,
    counters: Counters,
}

/// Interval at which the cookie key changes. A cookie is valid until the end of the following interval.
const WINDOW: Duration = Duration::from_secs(300);

/// Key of the limit for all clients together.
const ALL_CLIENTS: Client = Client::V6(0);

/// Rate limits of hellos, per client and in total.
#[derive(Debug)]
struct Hellos {
    each: Limiter,
    all: Limiter,
}

impl Hellos {
    fn new(limits: &EchoLimits) -> Self {
        Self {
            each: Limiter::new(limits.hellos, limits.hellos, limits.clients),
            all: Limiter::new(limits.hellos_in_all, limits.hellos_in_all, 1),
        }
    }

    fn allow(&mut self, now: Instant, client: Client) -> bool {
        self.each.allow(now, client) && self.all.allow(now, ALL_CLIENTS)
    }
}

impl Echo {
    /// Creates a server with this secret key for cookies.
    #[must_use]
    pub fn new(key: &[u8; 32], limits: EchoLimits) -> Self {
        Self {
            key: hmac::Key::new(hmac::HMAC_SHA256, key),
            hellos: Hellos::new(&limits),
            reserved: Hellos::new(&limits),
            probes: Limiter::new(limits.probes, limits.probes, limits.clients),
            counters: Counters::default(),
        }
    }

    /// Processes a datagram. If there is a reply, it replaces the content of `datagram`, with the same length, and its
    /// DSCP is returned: 0 for an unverified client.
    ///
    /// `known` returns whether an address is verified, as for a client with a TCP connection. Known clients have
    /// their own total rate of hellos, which a flood from spoofed addresses does not use up.
    pub fn handle_datagram(
        &mut self,
        now: Instant,
        from: SocketAddr,
        known: impl FnOnce(Client) -> bool,
        datagram: &mut [u8],
    ) -> Option<u8> {
        let client = Client::at(from.ip());
        match wire::read(datagram) {
            Ok(Datagram::Hello { .. }) => {
                let allowed = client.is_loopback()
                    || if known(client) {
                        self.reserved.allow(now, client)
                    } else {
                        self.hellos.allow(now, client)
                    };
                if !allowed {
                    self.counters.limited += 1;
                    return None;
                }
                let window = window(now);
                let cookie = self.cookie(window, from);
                let end = (window + 2).saturating_mul(WINDOW.as_nanos().cast_signed());
                let good_for = Instant::from_nanos(end).checked_since(now).unwrap_or(Duration::ZERO);
                wire::make_welcome(datagram, cookie, good_for);
                self.counters.welcomed += 1;
                Some(0)
            }
            Ok(Datagram::Probe { cookie, dscp, .. }) => {
                // Only verified clients are counted, so that others cannot use up a client's allowance.
                if !self.is_good(now, from, cookie) {
                    self.counters.unverified += 1;
                    return None;
                }
                if !client.is_loopback() && !self.probes.allow(now, client) {
                    self.counters.limited += 1;
                    return None;
                }
                wire::make_echo(datagram, now);
                self.counters.echoed += 1;
                Some(dscp)
            }
            Ok(Datagram::Welcome { .. } | Datagram::Echo { .. }) | Err(_) => {
                self.counters.malformed += 1;
                None
            }
        }
    }

    /// Returns whether `cookie` is valid at `now` for the client at `from`.
    #[must_use]
    pub fn is_verified(&self, now: Instant, from: SocketAddr, cookie: Cookie) -> bool {
        self.is_good(now, from, cookie)
    }

    /// Returns the counters.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.counters
    }

    fn is_good(&self, now: Instant, from: SocketAddr, cookie: Cookie) -> bool {
        let window = window(now);
        // `|` instead of `||`, and a comparison in constant time: the duration does not depend on the matching bytes.
        [window, window - 1]
            .into_iter()
            .fold(false, |good, window| good | self.matches(window, from, cookie))
    }

    fn matches(&self, window: i64, from: SocketAddr, cookie: Cookie) -> bool {
        let right = self.cookie(window, from);
        right
            .iter()
            .zip(cookie)
            .fold(0, |difference, (a, b)| difference | (a ^ b))
            == 0
    }

    fn cookie(&self, window: i64, from: SocketAddr) -> Cookie {
        let mut context = hmac::Context::with_key(&self.key);
        context.update(&window.to_be_bytes());
        match from.ip() {
            IpAddr::V4(v4) => context.update(&v4.to_ipv6_mapped().octets()),
            IpAddr::V6(v6) => context.update(&v6.octets()),
        }
        context.update(&from.port().to_be_bytes());
        let tag = context.sign();
        tag.as_ref()[..16].try_into().expect("SHA-256 has 32 bytes")
    }
}

fn window(now: Instant) -> i64 {
    now.as_nanos().div_euclid(WINDOW.as_nanos().cast_signed())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const KEY: [u8; 32] = [7; 32];
    const AT: Instant = Instant::from_secs(1_000);

    fn from(text: &str) -> SocketAddr {
        text.parse().unwrap()
    }

    fn cookie_for(echo: &mut Echo, now: Instant, client: SocketAddr) -> (Cookie, Duration) {
        let mut bytes = wire::hello(5);
        assert_eq!(echo.handle_datagram(now, client, |_| false, &mut bytes), Some(0));
        match wire::read(&bytes) {
            Ok(Datagram::Welcome {
                token: 5,
                cookie,
                good_for,
            }) => (cookie, good_for),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn probes_are_echoed_until_the_cookie_expires() {
        let mut echo = Echo::new(&KEY, EchoLimits::default());
        let client = from("192.0.2.1:4000");
        // 1000 s is 100 s into the fourth window of 300 s: valid until the end of the fifth, 1500 s.
        let (cookie, good_for) = cookie_for(&mut echo, AT, client);
        assert_eq!(good_for, Duration::from_secs(500));
        for (secs, good) in [(1_000, true), (1_200, true), (1_499, true), (1_500, false)] {
            let mut bytes = wire::probe(cookie, 8, 100, 40);
            let now = Instant::from_secs(secs);
            let sent_with = good.then_some(40);
            assert_eq!(
                echo.handle_datagram(now, client, |_| false, &mut bytes),
                sent_with,
                "at {secs} s"
            );
            if good {
                let nanos = now.as_nanos();
                let far = netburn_workload::operation::RemoteTimestamps {
                    received: nanos,
                    sent: nanos,
                };
                let echo = Datagram::Echo {
                    cookie,
                    id: 8,
                    far,
                    arrived: None,
                };
                assert_eq!(wire::read(&bytes), Ok(echo));
            }
        }
        assert_eq!(
            echo.counters(),
            Counters {
                welcomed: 1,
                echoed: 3,
                unverified: 1,
                ..Counters::default()
            }
        );
    }

    #[test]
    fn a_cookie_is_valid_for_its_address_only() {
        let mut echo = Echo::new(&KEY, EchoLimits::default());
        let (cookie, _) = cookie_for(&mut echo, AT, from("192.0.2.1:4000"));
        for other in ["192.0.2.1:4001", "192.0.2.2:4000", "[2001:db8::1]:4000"] {
            let mut bytes = wire::probe(cookie, 8, 64, 0);
            assert_eq!(echo.handle_datagram(AT, from(other), |_| false, &mut bytes), None);
        }
        let mut other = Echo::new(&[8; 32], EchoLimits::default());
        let mut bytes = wire::probe(cookie, 8, 64, 0);
        assert_eq!(
            other.handle_datagram(AT, from("192.0.2.1:4000"), |_| false, &mut bytes),
            None
        );
    }

    #[test]
    fn every_bit_of_the_cookie_counts() {
        let mut echo = Echo::new(&KEY, EchoLimits::default());
        let client = from("127.0.0.1:4000");
        let (cookie, _) = cookie_for(&mut echo, AT, client);
        for bit in 0..128 {
            let mut wrong = cookie;
            wrong[bit / 8] ^= 1 << (bit % 8);
            let mut bytes = wire::probe(wrong, 8, 64, 0);
            assert_eq!(echo.handle_datagram(AT, client, |_| false, &mut bytes), None);
        }
    }

    #[test]
    fn rates_are_limited_except_for_loopback_clients() {
        let limits = EchoLimits {
            hellos: 2,
            hellos_in_all: 5,
            probes: 3,
            clients: 100,
        };
        let mut echo = Echo::new(&KEY, limits);
        let (near, far) = (from("127.0.0.1:1"), from("192.0.2.1:1"));
        let hellos = |echo: &mut Echo, client| {
            (0..10)
                .filter(|_| {
                    echo.handle_datagram(AT, client, |_| false, &mut wire::hello(1))
                        .is_some()
                })
                .count()
        };
        assert_eq!(hellos(&mut echo, near), 10);
        assert_eq!(hellos(&mut echo, far), 2);
        assert_eq!(hellos(&mut echo, from("192.0.2.2:1")), 2);
        assert_eq!(hellos(&mut echo, from("192.0.2.3:1")), 1, "five in all");
        let later = Instant::from_secs(1_010);
        let (cookie, _) = cookie_for(&mut echo, later, far);
        let probes = (0..10)
            .filter(|_| {
                echo.handle_datagram(later, far, |_| false, &mut wire::probe(cookie, 1, 64, 0))
                    .is_some()
            })
            .count();
        assert_eq!(probes, 3);
        // Invalid cookies use no allowance.
        let latest = Instant::from_secs(1_020);
        let mut ask = |cookie| echo.handle_datagram(latest, far, |_| false, &mut wire::probe(cookie, 1, 64, 0));
        (0..10).for_each(|_| assert_eq!(ask([0; 16]), None));
        assert_eq!(ask(cookie), Some(0));
    }

    #[test]
    fn a_flood_from_many_addresses_leaves_known_clients_their_welcomes() {
        let limits = EchoLimits {
            hellos: 2,
            hellos_in_all: 5,
            clients: 100,
            ..EchoLimits::default()
        };
        let mut echo = Echo::new(&KEY, limits);
        let (station, newcomer) = (from("198.51.100.1:4000"), from("198.51.100.2:4000"));
        let known = |client| client == Client::at(station.ip());
        // More addresses than are stored.
        for last in 0..200 {
            let flood = SocketAddr::new(IpAddr::from([192, 0, 2, last]), 1);
            echo.handle_datagram(AT, flood, known, &mut wire::hello(1));
        }
        assert_eq!(echo.counters().welcomed, 5);
        let welcomed = |echo: &mut Echo, client| {
            let answered = |_: &i32| echo.handle_datagram(AT, client, known, &mut wire::hello(1)).is_some();
            (0..10).filter(answered).count()
        };
        assert_eq!(welcomed(&mut echo, newcomer), 0);
        assert_eq!(welcomed(&mut echo, station), 2, "its own limit holds");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]
        #[test]
        fn nothing_is_echoed_without_a_cookie(
            mut bytes in prop::collection::vec(any::<u8>(), 0..1500),
            kind in 0_u8..6,
            seconds in -1_000_i64..1_000_000,
        ) {
            // Random bytes are rarely valid; half of them get a valid beginning.
            if bytes.len() >= 8 && bytes[7] % 2 == 0 {
                bytes[..8].copy_from_slice(&[b'N', b'B', b'R', b'N', 1, kind, 0, 0]);
            }
            let came = bytes.clone();
            let mut echo = Echo::new(&KEY, EchoLimits::default());
            let answered = echo.handle_datagram(Instant::from_secs(seconds), from("192.0.2.1:9"), |_| false, &mut bytes);
            // The reply is in the buffer of the request, so it cannot be longer.
            match (answered, wire::read(&came)) {
                (Some(0), Ok(Datagram::Hello { token })) => match wire::read(&bytes) {
                    Ok(Datagram::Welcome { token: same, .. }) => prop_assert_eq!(token, same),
                    other => prop_assert!(false, "{:?}", other),
                },
                (Some(_), other) => prop_assert!(false, "answered {:?}", other),
                (None, _) => prop_assert_eq!(bytes, came),
            }
        }
    }
}
