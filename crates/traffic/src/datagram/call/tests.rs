//! Client and server of a call in virtual time.

use super::wire::{self, CallDatagram, Request};
use super::{CallClient, CallEvent, CallLimits, CallPlan, CallServer};
use crate::datagram::DatagramMachine;
use crate::datagram::{Echo, EchoLimits};
use netburn_units::{ByteSize, Duration, Instant};
use netburn_workload::PacketStream;
use std::collections::BTreeMap;
use std::net::SocketAddr;

const INTERVAL: Duration = Duration::from_millis(20);
const STREAM: PacketStream = PacketStream::single(INTERVAL, ByteSize::from_bytes(172));
/// The server's clock minus the client's.
const AHEAD: Duration = Duration::from_secs(1_000);

fn ms(millis: i64) -> Instant {
    Instant::from_millis(millis)
}

fn address() -> SocketAddr {
    "192.0.2.1:5000".parse().unwrap()
}

/// A call from 1 s to `end_ms`, first packets at 1.000 s up and 1.005 s down.
fn plan(end_ms: i64) -> CallPlan {
    CallPlan {
        up: Some((ms(1_000), STREAM)),
        down: Some((ms(1_005), STREAM)),
        end: ms(end_ms),
        dscp: 48,
        timeout: Duration::from_secs(2),
        video: None,
    }
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Flight {
    ToServer(Vec<u8>),
    ToClient(Vec<u8>),
}

/// Both ends, with a delay of 10 ms in each direction, exactly.
struct Pair {
    client: CallClient,
    echo: Echo,
    server: CallServer,
    now: Instant,
    plan: CallPlan,
    next_up: u32,
    flights: BTreeMap<(Instant, u64), Flight>,
    flown: u64,
    /// Numbers of packets that are lost, by direction.
    lost_up: Vec<u32>,
    lost_down: Vec<u32>,
    /// Reports until this time are lost.
    silent_until: Instant,
    events: Vec<CallEvent>,
}

const DELAY: Duration = Duration::from_millis(10);

impl Pair {
    fn new(plan: CallPlan) -> Self {
        Pair {
            client: CallClient::new(Instant::ZERO, 5, 6, plan),
            echo: Echo::new(&[1; 32], EchoLimits::default()),
            server: CallServer::new(CallLimits::default()),
            now: Instant::ZERO,
            plan,
            next_up: 0,
            flights: BTreeMap::new(),
            flown: 0,
            lost_up: Vec::new(),
            lost_down: Vec::new(),
            silent_until: Instant::ZERO,
            events: Vec::new(),
        }
    }

    fn next_due(&self) -> Option<Instant> {
        let (first, stream) = self.plan.up?;
        let due = first + stream.offset(self.next_up.into())?;
        Some(due).filter(|due| *due < self.plan.end)
    }

    fn run(&mut self, until: Instant) {
        loop {
            self.exchange();
            let server = self.server.poll_timeout().map(|at| at - AHEAD);
            let times = [self.flights.keys().next().map(|(at, _)| *at), self.next_due(), server];
            let next = times
                .into_iter()
                .flatten()
                .fold(self.client.poll_timeout(), Instant::min);
            if next > until {
                self.now = until;
                return;
            }
            self.now = self.now.max(next);
            let now = self.now;
            while self.next_due().is_some_and(|due| due <= now) {
                self.client.send(self.next_up);
                self.next_up += 1;
            }
            if self.client.poll_timeout() <= now {
                self.client.handle_timeout(now);
            }
            if self.server.poll_timeout().is_some_and(|at| at <= now + AHEAD) {
                self.server.handle_timeout(now + AHEAD);
            }
            while let Some(entry) = self.flights.first_entry().filter(|entry| entry.key().0 <= now) {
                let flight = entry.remove();
                self.arrive(flight);
            }
        }
    }

    fn exchange(&mut self) {
        while let Some(bytes) = self.client.poll_transmit() {
            let is_lost = matches!(wire::read(&bytes), Some(CallDatagram::Up { number, .. }) if self.lost_up.binary_search(&number).is_ok());
            if !is_lost {
                self.fly(Flight::ToServer(bytes));
            }
        }
        while let Some(packet) = self.server.poll_transmit() {
            let size = self.plan.down.unwrap().1.size.as_bytes() as usize;
            assert_eq!((packet.to, packet.dscp, packet.bytes.len()), (address(), 48, size));
            let is_lost = matches!(wire::read(&packet.bytes), Some(CallDatagram::Down { number, .. }) if self.lost_down.contains(&number));
            if !is_lost {
                self.fly(Flight::ToClient(packet.bytes));
            }
        }
        while let Some(event) = self.client.poll_event() {
            self.events.push(event);
        }
    }

    fn fly(&mut self, flight: Flight) {
        self.flights.insert((self.now + DELAY, self.flown), flight);
        self.flown += 1;
    }

    fn arrive(&mut self, flight: Flight) {
        let far = self.now + AHEAD;
        match flight {
            Flight::ToClient(bytes) => self.client.handle_datagram(self.now, Some(46), &bytes),
            Flight::ToServer(mut bytes) if wire::is_call(&bytes) => {
                let echo = &self.echo;
                let is_good = |cookie| echo.is_verified(far, address(), cookie);
                let length = bytes.len();
                let is_answered = self.server.handle_datagram(far, address(), None, is_good, &mut bytes);
                assert_eq!(bytes.len(), length, "a report is not longer than its request");
                if is_answered && self.now >= self.silent_until {
                    self.fly(Flight::ToClient(bytes));
                }
            }
            Flight::ToServer(mut bytes) => {
                let reply = self.echo.handle_datagram(far, address(), |_| false, &mut bytes);
                if reply.is_some() {
                    self.fly(Flight::ToClient(bytes));
                }
            }
        }
    }

    /// Arrivals of a direction: number, and the delay from the due time.
    fn delays(&self, up: bool) -> BTreeMap<u32, Duration> {
        let of = self.events.iter().filter_map(|event| match *event {
            CallEvent::Up { number, at } if up => Some((number, at, self.plan.up.unwrap())),
            CallEvent::Down { number, at } if !up => Some((number, at, self.plan.down.unwrap())),
            _ => None,
        });
        of.map(|(number, at, (first, stream))| (number, at.since(first + stream.offset(number.into()).unwrap())))
            .collect()
    }
}

/// Both directions take 10 ms, so the offset is exact, and so are the delays. From 1.000 s to 4.000 s, 150 packets are due
/// up, and from 1.005 s on 150 down. Ages have a resolution of 1 µs.
#[test]
fn every_packet_arrives_with_its_one_way_delay() {
    let mut pair = Pair::new(plan(4_000));
    pair.run(ms(6_000));
    for up in [true, false] {
        let delays = pair.delays(up);
        assert_eq!(delays.len(), 150, "{up}");
        for (number, delay) in delays {
            assert_eq!(delay, DELAY, "{number}, {up}");
        }
    }
    assert_eq!(pair.server.counters().sent, 150);
    assert_eq!(pair.server.counters().received, 150);
    // Nothing was sent twice, and no datagram was in vain.
    assert_eq!(pair.server.counters().malformed + pair.server.counters().unverified, 0);
    // The server deletes the call 5 s after the last request.
    pair.run(ms(12_000));
    assert!(pair.server.is_empty());
}

#[test]
fn lost_packets_have_no_arrival() {
    let mut pair = Pair::new(plan(4_000));
    (pair.lost_up, pair.lost_down) = (vec![3, 4, 70], vec![0, 149]);
    pair.run(ms(9_000));
    let (up, down) = (pair.delays(true), pair.delays(false));
    assert_eq!((up.len(), down.len()), (147, 148));
    assert!(pair.lost_up.iter().all(|number| !up.contains_key(number)));
    assert!(pair.lost_down.iter().all(|number| !down.contains_key(number)));
}

/// Reports until 3 s are lost. The next one has the arrivals of all packets since 1 s.
#[test]
fn lost_reports_are_replaced_by_later_ones() {
    let mut pair = Pair::new(plan(4_000));
    pair.silent_until = ms(2_800);
    pair.run(ms(6_000));
    assert_eq!(pair.delays(true).len(), 150);
    assert_eq!(pair.delays(false).len(), 150);
}

/// A packet of 100 B up every 10 ms, and frames of 40 packets of 1200 B every 16 ms down. From 1.000 s to 3.000 s, 200
/// packets are due up. From 1.005 s on, 125 frames begin before 3 s, the last one at 2.989 s, with a spacing of 150 µs: all
/// 40 packets of it are due until 2.99485 s. So 5000 packets are due down.
#[test]
fn streams_differ_by_direction() {
    let up = PacketStream::single(Duration::from_millis(10), ByteSize::from_bytes(100));
    let down = PacketStream {
        interval: Duration::from_millis(16),
        burst: 40,
        spacing: Duration::from_micros(150),
        size: ByteSize::from_bytes(1200),
    };
    let mut pair = Pair::new(CallPlan {
        up: Some((ms(1_000), up)),
        down: Some((ms(1_005), down)),
        ..plan(3_000)
    });
    pair.run(ms(5_000));
    for (is_up, count) in [(true, 200), (false, 5000)] {
        let delays = pair.delays(is_up);
        assert_eq!(delays.len(), count, "{is_up}");
        assert!(delays.values().all(|delay| *delay == DELAY), "{is_up}");
    }
}

/// 2000 packets a second up, and none down. One of 500 is lost, so the requests ask for old packets too. The arrivals of all
/// other packets are known before their timeout. Ages are rounded down to 1 µs, so an arrival is up to 1 µs later.
#[test]
fn a_fast_stream_up_needs_several_requests() {
    let up = PacketStream {
        interval: Duration::from_millis(50),
        burst: 100,
        spacing: Duration::from_micros(100),
        size: ByteSize::from_bytes(200),
    };
    let mut pair = Pair::new(CallPlan {
        up: Some((ms(1_000), up)),
        down: None,
        ..plan(6_000)
    });
    pair.lost_up = (0..10_000).filter(|number| number % 500 == 7).collect();
    pair.run(ms(9_000));
    assert_eq!(pair.server.counters().sent, 0, "the server has no stream");
    let delays = pair.delays(true);
    assert_eq!(delays.len(), 10_000 - 20);
    let latest = DELAY + Duration::from_micros(1);
    assert!(delays.values().all(|delay| (DELAY..latest).contains(delay)));
}

/// 10,000 packets per second up for 5 s, the highest rate of a stream. One of 20 is lost. A request has at most 332 numbers,
/// and the server stores the arrivals of 1.6 s. The arrivals of all other packets are known.
#[test]
fn a_fast_stream_with_losses_is_reported_completely() {
    let up = PacketStream::single(Duration::from_micros(100), ByteSize::from_bytes(200));
    let mut pair = Pair::new(CallPlan {
        up: Some((ms(1_000), up)),
        down: None,
        ..plan(6_000)
    });
    pair.lost_up = (0..50_000).filter(|number| number % 20 == 7).collect();
    pair.run(ms(9_000));
    assert_eq!(pair.delays(true).len(), 50_000 - 2_500);
}

/// A cookie for `address()`, at the server's time `now`.
fn cookie(echo: &mut Echo, now: Instant) -> crate::datagram::wire::Cookie {
    let mut hello = crate::datagram::wire::hello(1);
    assert!(echo.handle_datagram(now, address(), |_| false, &mut hello).is_some());
    match crate::datagram::wire::read(&hello) {
        Ok(crate::datagram::wire::Datagram::Welcome { cookie, .. }) => cookie,
        other => panic!("{other:?}"),
    }
}

const REQUESTED: Request = Request {
    call: 1,
    anchor: Instant::from_secs(100),
    stream: STREAM,
    until: u32::MAX,
    from: 0,
    dscp: 0,
    stamp: Instant::ZERO,
    video: None,
};

/// Sends a request at `now`; true if it was answered.
fn ask(server: &mut CallServer, echo: &Echo, now: Instant, from: SocketAddr, bytes: &[u8]) -> bool {
    let mut bytes = bytes.to_vec();
    server.handle_datagram(
        now,
        from,
        None,
        |cookie| echo.is_verified(now, from, cookie),
        &mut bytes,
    )
}

/// Packets that are sent until `until` without another request.
fn sent(server: &mut CallServer, until: Instant) -> usize {
    let mut count = 0;
    while let Some(at) = server.poll_timeout().filter(|at| *at <= until) {
        server.handle_timeout(at);
        count += std::iter::from_fn(|| server.poll_transmit()).count();
    }
    count
}

/// A request for all packets allows those of 2 s: numbers 0 to 99. Without another one the server stops, and deletes the
/// call after 5 s.
#[test]
fn without_renewal_the_server_stops() {
    let now = Instant::from_secs(100);
    let mut echo = Echo::new(&[1; 32], EchoLimits::default());
    let mut server = CallServer::new(CallLimits::default());
    let bytes = wire::request(cookie(&mut echo, now), &REQUESTED, 0);
    assert!(ask(&mut server, &echo, now, address(), &bytes));
    assert_eq!(sent(&mut server, Instant::from_secs(104)), 100);
    assert_eq!(server.len(), 1);
    assert_eq!(sent(&mut server, Instant::from_secs(200)), 0);
    assert!(server.is_empty());
    // A request for two packets allows two. Repeating it allows no more.
    let two = Request {
        until: 2,
        anchor: Instant::from_secs(200),
        ..REQUESTED
    };
    let now = Instant::from_secs(200);
    let bytes = wire::request(cookie(&mut echo, now), &two, 0);
    (0..50).for_each(|_| assert!(ask(&mut server, &echo, now, address(), &bytes)));
    assert_eq!(sent(&mut server, Instant::from_secs(204)), 2);
}

#[test]
fn hostile_requests_are_rejected() {
    let now = Instant::from_secs(100);
    let mut echo = Echo::new(&[1; 32], EchoLimits::default());
    let limits = CallLimits {
        calls: 3,
        of_client: 2,
        packets: 10,
        clients: 10,
        video: 1,
        arrivals: 10,
    };
    let mut server = CallServer::new(limits);
    let good = cookie(&mut echo, now);
    let other: SocketAddr = "192.0.2.9:5000".parse().unwrap();
    // Another cookie, and a cookie of another address.
    assert!(!ask(
        &mut server,
        &echo,
        now,
        address(),
        &wire::request([0; 16], &REQUESTED, 9)
    ));
    assert!(!ask(
        &mut server,
        &echo,
        now,
        other,
        &wire::request(good, &REQUESTED, 9)
    ));
    assert_eq!(server.counters().unverified, 2);
    // Packets of a call that does not exist, and datagrams for clients.
    assert!(!ask(&mut server, &echo, now, address(), &wire::up(1, 0, 172)));
    assert!(!ask(&mut server, &echo, now, address(), &wire::down(1, 0, now, 172)));
    // An anchor that is more than a minute away.
    for anchor in [39, 161, i64::MAX / 1_000_000_000, i64::MIN / 1_000_000_000] {
        let far = Request {
            anchor: Instant::from_secs(anchor),
            ..REQUESTED
        };
        assert!(
            !ask(&mut server, &echo, now, address(), &wire::request(good, &far, 0)),
            "{anchor}"
        );
    }
    assert!(server.is_empty() && sent(&mut server, Instant::from_secs(300)) == 0);
    // A second request that changes the first.
    assert!(ask(
        &mut server,
        &echo,
        now,
        address(),
        &wire::request(good, &REQUESTED, 0)
    ));
    for changed in [
        Request {
            stream: PacketStream::single(INTERVAL, ByteSize::from_bytes(1400)),
            ..REQUESTED
        },
        Request {
            stream: PacketStream::single(INTERVAL / 4, ByteSize::from_bytes(172)),
            ..REQUESTED
        },
        Request {
            stream: PacketStream { burst: 2, ..STREAM },
            ..REQUESTED
        },
        Request { dscp: 48, ..REQUESTED },
    ] {
        assert!(
            !ask(&mut server, &echo, now, address(), &wire::request(good, &changed, 0)),
            "{changed:?}"
        );
    }
    // More calls than allowed.
    let call = |call| wire::request(good, &Request { call, ..REQUESTED }, 0);
    assert!(ask(&mut server, &echo, now, address(), &call(2)));
    assert!(!ask(&mut server, &echo, now, address(), &call(3)));
    assert_eq!((server.len(), server.counters().limited), (2, 1));
    // 200 packets are due in 2 s. 10 are allowed at once, and 10 a second.
    let count = sent(&mut server, Instant::from_secs(104));
    assert!((20..=31).contains(&count), "{count}");
}
