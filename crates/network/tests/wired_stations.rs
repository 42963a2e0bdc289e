//! Wired stations, computed by hand: uplink and downlink, the ring, byte queue limits, a modem's
//! queue, and changes.

use netburn_medium::packet::{DropReason, Ecn, Packet};
use netburn_medium::queue::QueueKind;
use netburn_network::{DropSite, Endpoint, Network, Output};
use netburn_scenario::plan::{Setting, StationSetting, Wan};
use netburn_scenario::{Document, Plan};
use netburn_units::{BitRate, Instant};

const DESK: Endpoint = Endpoint::Station(0);

/// A server 2 ms away behind 100 Mbit/s, and one station with this link.
fn desk(link: &str) -> Network<u32> {
    Network::new(&plan(link, "fifo")).unwrap()
}

fn plan(link: &str, queue: &str) -> Plan {
    let text = format!(
        "[server]\nlink = {{ rate = \"100 Mbit/s\", delay = \"2 ms\" }}\n[station.desk]\nlink = {link}\nqueue = \"{queue}\"\n"
    );
    Document::from_toml("desk.toml", &text).unwrap().resolve().unwrap()
}

fn packet(number: u32) -> Packet<u32> {
    Packet {
        length: 1_500,
        flow: 1,
        tid: 0,
        ecn: Ecn::NotEct,
        payload: number,
    }
}

/// Outputs until `until`: nanoseconds, kind, and the packet or the number of bytes.
fn run(network: &mut Network<u32>, until: Instant) -> Vec<(i64, &'static str, u32)> {
    let mut all = Vec::new();
    loop {
        while let Some(output) = network.poll_output() {
            all.push(match output {
                Output::Delivered { at, packet, .. } => (at.as_nanos(), "delivered", packet.payload),
                Output::Sent { at, bytes, .. } => (at.as_nanos(), "sent", bytes),
                Output::SentTimesChanged { at } => (at.as_nanos(), "times", 0),
                Output::Dropped { at, by, packet, .. } => {
                    let word = match by {
                        DropSite::Wire => "wire",
                        DropSite::Sender(DropReason::QueueFull) => "full",
                        DropSite::Sender(DropReason::QueueReplaced) => "replaced",
                        _ => "other",
                    };
                    (at.as_nanos(), word, packet.payload)
                }
            });
        }
        match network.poll_timeout() {
            Some((at, _)) if at <= until => network.handle_timeout(at),
            _ => return all,
        }
    }
}

/// 1500 bytes and 38 of framing take 12 304 ns at 1 Gbit/s and 5 ms of propagation. Then they take
/// 123 040 ns at 100 Mbit/s and 2 ms. The host has freed the packet after serialisation on its own
/// wire.
#[test]
fn up_and_down() {
    let mut network = desk(r#"{ rate = "1 Gbit/s", delay = "5 ms" }"#);
    network.handle_packet(Instant::ZERO, DESK, Endpoint::Server, packet(7));
    let way = 12_304 + 5_000_000 + 123_040 + 2_000_000;
    assert_eq!(
        run(&mut network, Instant::from_secs(1)),
        [(12_304, "sent", 1_500), (way, "delivered", 7)]
    );
    let begun = Instant::from_secs(1);
    network.handle_packet(begun, Endpoint::Server, DESK, packet(8));
    assert_eq!(
        run(&mut network, Instant::from_secs(2)),
        [
            (begun.as_nanos() + 123_040, "sent", 1_500),
            (begun.as_nanos() + way, "delivered", 8)
        ]
    );
    assert_eq!(network.joined(0), None);
    let seen = network.link_stats(0);
    assert_eq!((seen.signal, seen.rate_up), (None, BitRate::from_mbps(1_000)));
    assert_eq!(network.station_stats(0).up.delivered, 1);
    assert_eq!(network.station_stats(0).air, Default::default());
}

/// Of ten packets the ring keeps those it has taken when the queue is replaced. With BQL of 3000
/// bytes these are three: after two it holds no more than the limit. With a ring of four these are
/// four. Both are sent at 1 Mbit/s.
#[test]
fn the_ring_limits_the_device() {
    for (ring, kept) in [
        (r#"{ rate = "1 Mbit/s", bql = "3000 B" }"#, 3),
        (r#"{ rate = "1 Mbit/s", bql = "2999 B" }"#, 2),
        (r#"{ rate = "1 Mbit/s", ring = 4 }"#, 4),
        (r#"{ rate = "1 Mbit/s", ring = 2, bql = "3000 B" }"#, 2),
        (r#"{ rate = "1 Mbit/s" }"#, 10),
    ] {
        let mut network = desk(ring);
        for number in 0..10 {
            network.handle_packet(Instant::ZERO, DESK, Endpoint::Server, packet(number));
        }
        let other = Setting::Station("desk".to_owned(), StationSetting::Queue(QueueKind::FqCodel));
        network.set(Instant::ZERO, &other);
        let all = run(&mut network, Instant::from_secs(1));
        let count = |word: &str| all.iter().filter(|(_, what, _)| *what == word).count();
        assert_eq!(
            (count("sent"), count("delivered"), count("replaced")),
            (kept, kept, 10 - kept),
            "{ring}"
        );
    }
}

/// Behind a modem a packet has left the host when the modem has it: 10 of them in 10 × 123 040 ns.
/// At 1 Mbit/s one of them takes 12 304 000 ns, and three find room in 4500 bytes. Six are dropped
/// on the wire, which is not reported to the host.
#[test]
fn a_modem_has_a_queue_of_its_own() {
    let mut network = desk(r#"{ rate = "1 Mbit/s", device = "100 Mbit/s", queue = "4500 B" }"#);
    for number in 0..10 {
        network.handle_packet(Instant::ZERO, DESK, Endpoint::Server, packet(number));
    }
    let all = run(&mut network, Instant::from_secs(1));
    let of = |word: &str| -> Vec<(i64, u32)> {
        let of = all.iter().filter(|(_, what, _)| *what == word);
        of.map(|(at, _, number)| (*at, *number)).collect()
    };
    let sent: Vec<(i64, u32)> = (1..=10).map(|nth| (nth * 123_040, 1_500)).collect();
    assert_eq!(of("sent"), sent);
    let arrives = |nth: i64| 123_040 + nth * 12_304_000 + 123_040 + 2_000_000;
    assert_eq!(
        of("delivered"),
        [(arrives(1), 0), (arrives(2), 1), (arrives(3), 2), (arrives(4), 3)]
    );
    let dropped: Vec<(i64, u32)> = (4..10_u32)
        .map(|number| (i64::from(number + 1) * 123_040, number))
        .collect();
    assert_eq!(of("wire"), dropped);
    assert_eq!(network.link_stats(0).rate_up, BitRate::from_mbps(1));
}

/// A queue of the default 1000 packets above a ring of 256: of 1500 packets at once 244 are
/// rejected, and their sender is informed.
#[test]
fn a_full_host_queue_rejects() {
    let mut network = desk(r#"{ rate = "1 Gbit/s" }"#);
    for number in 0..1_500 {
        network.handle_packet(Instant::ZERO, DESK, Endpoint::Server, packet(number));
    }
    let all = run(&mut network, Instant::ZERO);
    let refused: Vec<u32> = all
        .iter()
        .map(|(_, what, number)| (*what == "full").then_some(*number).unwrap())
        .collect();
    assert_eq!(refused, (1_256..1_500).collect::<Vec<u32>>());
}

/// From 1 Gbit/s to 1 Mbit/s: the packet in serialisation isn't affected, the following ones are.
#[test]
fn a_rate_that_changes() {
    let mut network = desk(r#"{ rate = "1 Gbit/s" }"#);
    for number in 0..2 {
        network.handle_packet(Instant::ZERO, DESK, Endpoint::Server, packet(number));
    }
    let slower = Setting::Station("desk".to_owned(), StationSetting::LinkRate(BitRate::from_mbps(1)));
    network.set(Instant::ZERO, &slower);
    let all = run(&mut network, Instant::from_secs(1));
    let sent: Vec<i64> = all
        .iter()
        .filter(|(_, what, _)| *what == "sent")
        .map(|(at, ..)| *at)
        .collect();
    assert_eq!(sent, [12_304, 12_304 + 12_304_000]);
}

#[test]
fn a_wired_station_rejects_a_queue_for_wifi_stations() {
    let mut plan = plan("{}", "fifo");
    plan.stations[0].air.queue = QueueKind::Airtime;
    let message = Network::<u32>::new(&plan).unwrap_err().to_string();
    let expected = "station.desk.queue: `airtime` is no queue discipline of a wired station; expected `fifo`,";
    assert!(message.starts_with(expected) && message.contains("` or `"), "{message}");
}

/// Plans that no scenario file gives: CAKE at a radio, and a queue per station in front of a WAN link.
#[test]
fn each_place_rejects_the_disciplines_of_others() {
    let message = |plan: &Plan| Network::<u32>::new(plan).unwrap_err().to_string();
    let house =
        "[ap.home.radio.5g]\n[station.tv]\njoins = \"home.5g\"\nsignal = \"-50 dBm\"\nworkload = \"download\"\n";
    let house = Document::from_toml("house.toml", house).unwrap().resolve().unwrap();
    let mut at_radio = house.clone();
    at_radio.aps[0].queue = QueueKind::Cake;
    let found = message(&at_radio);
    assert!(
        found.starts_with("ap.home.queue: `cake` is no queue discipline of a radio; expected `fifo`,"),
        "{found}"
    );
    let mut at_line = house;
    at_line.aps[0].wan = Some(Wan {
        discipline: QueueKind::Airtime,
        ..Wan::default()
    });
    let found = message(&at_line);
    assert!(
        found.starts_with(
            "ap.home.wan.discipline_down: `airtime` is no queue discipline of a WAN link; expected `fifo`,"
        ),
        "{found}"
    );
}

/// Between a wired station and a Wi-Fi station a packet passes the access point, between two wired
/// stations no other hop; neither passes the server.
#[test]
fn from_a_wire_to_the_air_and_to_another() {
    let text = r#"
[server]
link = { rate = "1 kbit/s" }
[ap.home]
forwarding = "100 Mbit/s"
[ap.home.radio.5g]
standard = "802.11a"
[station.desk]
link = { rate = "100 Mbit/s" }
[station.phone]
joins = "home.5g"
mcs = 7
[station.nas]
link = { rate = "1 Gbit/s" }
"#;
    let plan = Document::from_toml("house.toml", text).unwrap().resolve().unwrap();
    let mut network: Network<u32> = Network::new(&plan).unwrap();
    let (phone, nas) = (Endpoint::Station(1), Endpoint::Station(2));
    let mut takes = |second: i64, from, to, number| {
        network.handle_packet(Instant::from_secs(second), from, to, packet(number));
        let all = run(&mut network, Instant::from_secs(second + 1));
        let delivered: Vec<_> = all.into_iter().filter(|(_, what, _)| *what == "delivered").collect();
        assert_eq!(delivered.len(), 1);
        assert_eq!(delivered[0].2, number);
        delivered[0].0 - second * 1_000_000_000
    };
    // Forwarding carries the 1500 bytes alone: 120 µs. The frame takes 252 µs (see path.rs).
    assert_eq!(takes(0, DESK, phone, 1), 123_040 + 120_000 + 252_000);
    assert_eq!(takes(1, DESK, nas, 2), 123_040 + 12_304);
}
