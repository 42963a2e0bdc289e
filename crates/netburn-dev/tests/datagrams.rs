//! The driver over a link with known rate, delay and queue length.

use netburn_dev::datagrams::{Carrier, Datagram, Driver, Fate, Flow, Load};
use netburn_medium::packet::{DropReason, Packet};
use netburn_network::{Endpoint, Network};
use netburn_scenario::Document;
use netburn_stats::P50;
use netburn_units::{BitRate, Duration, Instant, Seed};
use proptest::prelude::*;
use std::collections::VecDeque;

/// Hosts 0 and 1; packets from 1 to 0 have the delay only.
struct Wire {
    rate: BitRate,
    delay: Duration,
    room: usize,
    free: Instant,
    /// End of serialisation, arrival.
    flying: VecDeque<(Instant, Instant, Packet<Datagram>)>,
    back: VecDeque<(Instant, Packet<Datagram>)>,
    out: VecDeque<Fate>,
}

impl Wire {
    fn new(mbps: u64, delay: Duration, room: usize) -> Self {
        Wire {
            rate: BitRate::from_mbps(mbps),
            delay,
            room,
            free: Instant::ZERO,
            flying: VecDeque::new(),
            back: VecDeque::new(),
            out: VecDeque::new(),
        }
    }
}

impl Carrier for Wire {
    type Host = u8;

    fn handle_packet(&mut self, now: Instant, from: u8, _to: u8, packet: Packet<Datagram>) {
        if from == 1 {
            self.back.push_back((now + self.delay, packet));
            return;
        }
        let waiting = self.flying.iter().filter(|(leaves, ..)| *leaves > now).count();
        if waiting >= self.room {
            let reason = Some(DropReason::QueueFull);
            self.out.push_back(Fate::Dropped {
                at: now,
                reason,
                packet,
            });
            return;
        }
        let bits = u64::from(packet.length) * 8;
        let leaves = self.free.max(now) + Duration::from_nanos(bits * 1_000_000_000 / self.rate.as_bps());
        self.free = leaves;
        self.flying.push_back((leaves, leaves + self.delay, packet));
    }

    fn handle_timeout(&mut self, now: Instant) {
        while self.flying.front().is_some_and(|(_, at, _)| *at <= now) {
            let (_, at, packet) = self.flying.pop_front().unwrap();
            self.out.push_back(Fate::Delivered { at, packet });
        }
        while self.back.front().is_some_and(|(at, _)| *at <= now) {
            let (at, packet) = self.back.pop_front().unwrap();
            self.out.push_back(Fate::Delivered { at, packet });
        }
    }

    fn poll_output(&mut self) -> Option<Fate> {
        self.out.pop_front()
    }

    fn poll_timeout(&mut self) -> Option<Instant> {
        let flying = self.flying.front().map(|(_, at, _)| *at);
        flying.into_iter().chain(self.back.front().map(|(at, _)| *at)).min()
    }
}

fn constant(mbps: u64) -> Flow<u8> {
    Flow {
        load: Load::Constant {
            rate: BitRate::from_mbps(mbps),
            jitter: false,
        },
        delays: true,
        ..Flow::saturating(0, 1, 0)
    }
}

/// 1500 bytes at 12 Mbit/s are a packet per millisecond; on 100 Mbit/s each takes 120 µs, and 5 ms
/// of delay.
#[test]
fn a_constant_rate_below_capacity_arrives_whole() {
    let mut wire = Wire::new(100, Duration::from_millis(5), 100);
    let mut driver = Driver::new(&[constant(12)], Seed(1));
    driver.run(&mut wire, Instant::from_secs(1));
    driver.begin();
    driver.run(&mut wire, Instant::from_secs(3));
    let report = driver.report(0);
    assert_eq!(report.due, 2_000);
    assert_eq!(report.dropped, 0);
    // Those of the last 5.12 ms are still in flight.
    assert!((1_994..=1_995).contains(&report.arrived), "{}", report.arrived);
    assert_eq!(report.delay.min, Some(5_120_000));
    assert_eq!(report.delay.max, Some(5_120_000));
    // 1000 packets a second of 1472 bytes of content.
    assert_eq!(report.goodput().as_bps(), 1_472 * 8 * 1_000);
    assert_eq!(report.loss(), Some(0.0));
}

/// 100 Mbit/s offered to 12: 12 arrive, 88 % are dropped, and a queue of 50 packets is 50 ms long.
#[test]
fn beyond_capacity_the_queue_stays_full() {
    let mut wire = Wire::new(12, Duration::ZERO, 50);
    let mut driver = Driver::new(&[constant(100)], Seed(1));
    driver.run(&mut wire, Instant::from_secs(1));
    driver.begin();
    driver.run(&mut wire, Instant::from_secs(11));
    let report = driver.report(0);
    assert!((report.loss().unwrap() - 0.88).abs() < 0.001, "{:?}", report.loss());
    let median = report.delay.percentile(P50).value().unwrap();
    assert!((49_000_000..=50_000_000).contains(&median), "{median}");
}

/// The full rate of the link, without losses: rejected packets are offered again.
#[test]
fn saturating_takes_all_there_is() {
    for outstanding in [1, 5, 50, 200] {
        let mut wire = Wire::new(12, Duration::ZERO, 50);
        let mut driver = Driver::new(&[Flow::saturating(0, 1, outstanding)], Seed(1));
        driver.begin();
        driver.run(&mut wire, Instant::from_secs(1));
        let report = driver.report(0);
        assert_eq!(report.arrived, 1_000, "{outstanding} outstanding");
        assert_eq!(report.dropped, 0);
    }
}

/// Out: 64 bytes at 1 Mbit/s are 512 µs, and 10 ms; back: 10 ms.
#[test]
fn a_probe_is_echoed() {
    let mut wire = Wire::new(1, Duration::from_millis(10), 10);
    let probe = Flow {
        load: Load::Probe {
            every: Duration::from_millis(50),
        },
        length: 64,
        content: 36,
        delays: true,
        ..Flow::saturating(0, 1, 0)
    };
    let mut driver = Driver::new(&[probe], Seed(7));
    driver.begin();
    driver.run(&mut wire, Instant::from_secs(10));
    let report = driver.report(0);
    assert_eq!(report.due, 200);
    assert_eq!(report.round_trip.min, Some(20_512_000));
    assert_eq!(report.round_trip.max, Some(20_512_000));
    assert_eq!(report.delay.max, Some(10_512_000));
}

/// Over a whole plan: 802.11a at 54 Mbit/s, one station. An exchange takes AIFS 43 µs, 7.5 slots of
/// 9 µs on average, 252 µs for the frame, SIFS 16 µs and an ACK of 28 µs. The frame has 1500 bytes
/// with their headers and CCMP. The sum is 406.5 µs for 1472 bytes of content: 28.97 Mbit/s. A
/// probe without other traffic takes 5 ms in each direction of the wire.
#[test]
fn over_the_network_of_a_plan() {
    let text = r#"
baseline = "0 s"
[server]
link = { rate = "1 Gbit/s", delay = "5 ms" }
[ap.home.radio.5g]
standard = "802.11a"
[station.a]
joins = "home.5g"
mcs = 7
"#;
    let plan = Document::from_toml("plan.toml", text).unwrap().resolve().unwrap();
    let (server, station) = (Endpoint::Server, Endpoint::Station(0));
    let run = |load: Load, length: u32| {
        let flow = Flow {
            load,
            length,
            content: length - 28,
            delays: true,
            ..Flow::saturating(server, station, 0)
        };
        let mut network = Network::new(&plan).unwrap();
        let mut driver = Driver::new(&[flow], Seed(1));
        driver.run(&mut network, Instant::from_secs(1));
        driver.begin();
        driver.run(&mut network, Instant::from_secs(6));
        driver.report(0)
    };
    let rate = BitRate::from_mbps(40);
    let goodput = run(Load::Constant { rate, jitter: true }, 1_500)
        .goodput()
        .as_mbps_f64();
    assert!((goodput / 28.97 - 1.0).abs() < 0.01, "{goodput}");
    let every = Duration::from_millis(50);
    let round_trip = run(Load::Probe { every }, 92).round_trip.min.unwrap();
    assert!((10_000_000..11_000_000).contains(&round_trip), "{round_trip}");
}

#[test]
fn nothing_is_measured_before_begin() {
    let mut wire = Wire::new(100, Duration::ZERO, 100);
    let mut driver = Driver::new(&[constant(12)], Seed(1));
    driver.run(&mut wire, Instant::from_secs(1));
    let report = driver.report(0);
    assert_eq!((report.due, report.arrived, report.content.as_bytes()), (0, 0, 0));
    assert_eq!(report.loss(), None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Every due datagram is arrived, dropped or in flight, and the arrived rate is min(offered,
    /// capacity). With datagrams at random instants of their periods, any time span contains at
    /// most two fewer than the number of its periods. So an overloaded link with room for at least
    /// four packets is never idle.
    #[test]
    fn delivered_is_the_lesser_of_offered_and_rate(
        offered in 1_u64..50, rate in 1_u64..50, room in 4_usize..100, jitter: bool, seed: u64,
    ) {
        let mut wire = Wire::new(rate, Duration::from_millis(3), room);
        let flow = Flow { load: Load::Constant { rate: BitRate::from_mbps(offered), jitter }, ..constant(1) };
        let mut driver = Driver::new(&[flow], Seed(seed));
        driver.begin();
        driver.run(&mut wire, Instant::from_secs(4));
        let report = driver.report(0);
        let under_way = wire.flying.len() as u64;
        prop_assert_eq!(report.due, report.arrived + report.dropped + under_way);
        // Within 4 s of packets of 12 kbit: a few of them, the filling of the queue, and the delay.
        let packets = (offered.min(rate) * 4_000 / 12) as f64;
        let slack = 5.0 + room as f64 + packets * 0.003;
        prop_assert!((report.arrived as f64 - packets).abs() <= slack, "{} of {packets}", report.arrived);
    }

    /// The same seed yields the same result.
    #[test]
    fn deterministic(seed: u64) {
        let run = || {
            let mut wire = Wire::new(10, Duration::from_millis(1), 20);
            let flow = Flow { load: Load::Constant { rate: BitRate::from_mbps(9), jitter: true }, ..constant(1) };
            let mut driver = Driver::new(&[flow, Flow::saturating(0, 1, 5)], Seed(seed));
            driver.begin();
            driver.run(&mut wire, Instant::from_secs(1));
            (driver.report(0), driver.report(1))
        };
        prop_assert_eq!(run(), run());
    }
}
