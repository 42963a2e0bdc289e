//! A station that walks from one access point to another.

use netburn_medium::packet::{Ecn, Packet};
use netburn_network::{ClientEvent, ClientEventKind, Endpoint, Network, Output};
use netburn_scenario::{Document, Plan};
use netburn_units::{Duration, Instant};

mod places;
mod steering;

/// The walk of `walk-with-a-call`: access points at x = 2 and 22 m with 20 dBm, walls of 5 dB at 4, 8,
/// 12, 16 and 20 m, 1 m/s.
const WALK: &str = include_str!("../../../../scenarios/walk-with-a-call.toml");

fn plan(settings: &[(&str, &str)]) -> Plan {
    let mut document = Document::from_toml("walk.toml", WALK).unwrap();
    for (key, value) in settings {
        document.set(key, value).unwrap();
    }
    document.resolve().unwrap()
}

/// Result of a walk.
struct Walk {
    events: Vec<ClientEvent>,
    /// Sending time and delay of each packet from the server to the phone; `None`: lost.
    packets: Vec<(Instant, Option<Duration>)>,
    at_end: String,
}

impl Walk {
    /// Sends the phone a packet of 200 bytes each 20 ms for 30 s.
    fn new(settings: &[(&str, &str)]) -> Walk {
        let plan = plan(settings);
        let mut network: Network<usize> = Network::new(&plan).unwrap();
        let mut packets = Vec::new();
        let (mut events, mut now) = (Vec::new(), Instant::ZERO - plan.baseline);
        let end = Instant::ZERO + Duration::from_secs(32);
        let mut next = Instant::ZERO;
        while now < end {
            let due = network.poll_timeout().map_or(end, |(at, _)| at);
            now = due.min(next).min(end);
            if now == next && now < Instant::ZERO + Duration::from_secs(30) {
                let packet = Packet {
                    length: 200,
                    flow: 7,
                    tid: 6,
                    ecn: Ecn::NotEct,
                    payload: packets.len(),
                };
                packets.push((now, None));
                network.handle_packet(now, Endpoint::Server, Endpoint::Station(0), packet);
                next = now + Duration::from_millis(20);
            } else if now == next {
                next = end;
            } else {
                network.handle_timeout(now);
            }
            while let Some(output) = network.poll_output() {
                if let Output::Delivered { at, packet, .. } = output {
                    let (sent, delay) = &mut packets[packet.payload];
                    *delay = Some(at.since(*sent));
                }
            }
            events.extend(std::iter::from_fn(|| network.poll_client_event()));
        }
        Walk {
            events,
            packets,
            at_end: network.joined(0).unwrap(),
        }
    }

    /// Start and length in ms of each change of the access point.
    fn roams(&self) -> Vec<(u64, u64)> {
        let roams = self.events.iter();
        let roams = roams.filter(|event| matches!(event.kind, ClientEventKind::Roamed { .. }));
        roams
            .map(|event| (event.at.since(Instant::ZERO).as_millis(), event.length.as_millis()))
            .collect()
    }

    /// First scan, and its time away from the channel.
    fn first_scan(&self) -> (&ClientEvent, Duration) {
        let scan = self.events.iter().find_map(|event| match event.kind {
            ClientEventKind::Scanned { away } => Some((event, away)),
            _ => None,
        });
        scan.unwrap()
    }

    fn lost(&self) -> usize {
        self.packets.iter().filter(|(_, delay)| delay.is_none()).count()
    }
}

/// The signal falls below −65 dBm in the wall at 12 m, after 10 s. The average of the beacons, of which
/// each counts a quarter, follows within six beacons (0.61 s). With neighbour reports the scan of two
/// channels takes 120 ms. Joining takes 8 frames of 8 ms and 0.3 ms of air. Of the packets, one each
/// 20 ms, four or five arrive at the old access point in this time.
#[test]
fn linux_with_neighbour_reports_moves_in_the_middle() {
    let walk = Walk::new(&[("network.home.k", "true")]);
    let [(at, length)] = walk.roams()[..] else {
        panic!("{:?}", walk.events);
    };
    assert!((10_000..=11_100).contains(&at), "{at} ms");
    assert!((64..=80).contains(&length), "{length} ms");
    assert_eq!(walk.at_end, "attic.5g");
    assert!((3..=5).contains(&walk.lost()), "{} lost", walk.lost());
}

/// Without them a scan of 36 channels takes 8 to 10 s, and the station moves at the end of its walk.
#[test]
fn linux_without_neighbour_reports_moves_late() {
    let walk = Walk::new(&[]);
    let (at, _) = walk.roams()[0];
    assert!((18_000..=21_000).contains(&at), "{at} ms");
    // 20 × 60 ms and 16 × 111 ms away. The returns of 200 ms are 25 to 35, and each absence begins with a null frame.
    let (scan, away) = walk.first_scan();
    let length = scan.length.as_millis();
    assert_eq!(away.as_millis(), 2_976);
    assert!((7_976..=10_200).contains(&length), "{length} ms");
}

/// With a fixed rate the data are lost long before the beacons, which are sent at 6 Mbit/s. hostapd disassociates
/// the station after 50 lost packets (one each 20 ms) and a second without an acknowledgement. The frame arrives.
/// Then the station scans 36 channels without a return (2.976 s) and joins with 8 frames (66 ms).
#[test]
fn an_access_point_disassociates_a_station_that_does_not_answer() {
    let fixed = ("station.phone.rate_control", "fixed");
    let walk = Walk::new(&[("station.phone.roaming", "never"), fixed]);
    let disassociated = |event: &&ClientEvent| matches!(event.kind, ClientEventKind::Disassociated { .. });
    let first = walk.events.iter().find(disassociated).expect("a disassociation").at;
    let before = walk.packets.iter().rev();
    let arrived = before.filter_map(|(sent, delay)| Some(*sent + (*delay)?));
    let last = arrived.filter(|at| *at < first).max().expect("a packet that arrived");
    let silent = first.since(last).as_millis();
    assert!((1_000..=1_100).contains(&silent), "{silent} ms");
    let (at, length) = walk.roams()[0];
    assert!(at - first.since(Instant::ZERO).as_millis() <= 10, "{at} ms");
    assert!((3_040..=3_060).contains(&length), "{length} ms");
    assert_eq!(walk.at_end, "attic.5g");
}

/// Fast transition needs 4 frames of 8 ms, 802.1X 24 frames and 8 round trips of 5 ms.
#[test]
fn gaps_by_key_management() {
    for (settings, shortest, longest) in [
        (&[("network.home.r", "true")][..], 32, 45),
        (&[("network.home.security", "open")], 32, 45),
        (&[("network.home.security", "psk")], 64, 80),
        (&[("network.home.security", "sae")], 80, 98),
        (&[("network.home.security", "802.1x")], 232, 255),
        (
            &[("network.home.security", "802.1x"), ("network.home.r", "true")],
            32,
            45,
        ),
    ] {
        let mut all = vec![("network.home.k", "true")];
        all.extend(settings);
        let walk = Walk::new(&all);
        let (_, length) = walk.roams()[0];
        assert!((shortest..=longest).contains(&length), "{settings:?}: {length} ms");
    }
}

/// Instants at which the conditions of other policies are met, by the signals of the walk: −70 dBm at
/// 12.7 s, −75 dBm at 14 s (in the wall at 16 m), −78 dBm at 15.5 s; iwd waits for 5 s below −76 dBm.
/// Each then scans two channels within 0.6 s.
#[test]
fn policies_move_at_the_instants_of_their_triggers() {
    for (policy, condition) in [
        ("apple-phone", 12_700),
        ("apple-laptop", 14_000),
        ("broadcom", 14_000),
        ("qualcomm", 15_500),
    ] {
        let settings = format!("{{ policy = \"{policy}\", beacon_smoothing = 1, neighbour_reports = true }}");
        let walk = Walk::new(&[("network.home.k", "true"), ("station.phone.roaming", &settings)]);
        let (at, _) = walk.roams()[0];
        let scan = at
            .checked_sub(condition)
            .unwrap_or_else(|| panic!("{policy} at {at} ms"));
        assert!(scan <= 800, "{policy} at {at} ms");
    }
}

/// It never scans. 20 MHz carry the lowest rate to the end of the walk.
#[test]
fn never_stays_while_the_link_holds() {
    let settings = [("station.phone.roaming", "never"), ("ap.*.radio.5g.width", "20 MHz")];
    let walk = Walk::new(&settings);
    assert!(walk.roams().is_empty(), "{:?}", walk.events);
    assert_eq!(walk.at_end, "hall.5g");
}

/// The same seed gives the same walk.
#[test]
fn deterministic() {
    let walk = || Walk::new(&[("network.home.k", "true"), ("building.shadowing", "4 dB")]);
    let (one, other) = (walk(), walk());
    assert_eq!(one.packets, other.packets);
    assert_eq!(one.events, other.events);
}

/// The scan of two channels is one absence of 120 ms. The first packet in it waits longest, and none is
/// lost.
#[test]
fn packets_wait_for_the_end_of_an_absence() {
    let walk = Walk::new(&[("network.home.k", "true"), ("station.phone.rate_control", "ideal")]);
    let (scan, away) = walk.first_scan();
    assert_eq!(away.as_millis(), 120);
    let longest = walk.packets.iter().filter_map(|(sent, delay)| {
        let during = *sent >= scan.at && *sent < scan.at + Duration::from_millis(400);
        delay.filter(|_| during)
    });
    let longest = longest.max().unwrap().as_millis();
    assert!((100..=125).contains(&longest), "{longest} ms");
    let kept = walk
        .packets
        .iter()
        .filter(|(sent, _)| *sent >= scan.at && *sent < scan.at + away);
    assert!(kept.clone().count() == 6 && kept.clone().all(|(_, delay)| delay.is_some()));
}

/// After 5 s the access point is not received any more. Seven beacons are missing after 0.72 s, and two null
/// frames take 0.5 s each. A scan of 36 channels without a return takes 2.976 s, and joining 8 frames: 4.8 s.
#[test]
fn a_silent_access_point_is_left_after_a_scan() {
    let settings = [
        ("station.phone.roaming", "never"),
        ("station.phone.path", "[\"11.9 m, 0 m\", \"11.8 m, 0 m\"]"),
        ("ap.*.radio.5g.width", "20 MHz"),
        (
            "at",
            "[{ time = \"5 s\", set = { \"ap.hall.radio.5g.power\" = \"-20 dBm\" } }]",
        ),
    ];
    let walk = Walk::new(&settings);
    let [(at, length)] = walk.roams()[..] else {
        panic!("{:?}", walk.events);
    };
    assert!((4_890..=5_010).contains(&at), "{at} ms");
    assert!((4_500..=5_100).contains(&length), "{length} ms");
    assert_eq!(walk.at_end, "attic.5g");
}

/// A walk back and forth: each crossing moves the station once.
#[test]
fn every_crossing_is_one_move() {
    let settings = [
        ("network.home.k", "true"),
        ("station.phone.path", "[\"2 m, 0 m\", \"22 m, 0 m\", \"2 m, 0 m\"]"),
        ("station.phone.speed", "2 m/s"),
    ];
    let walk = Walk::new(&settings);
    assert_eq!(walk.roams().len(), 2, "{:?}", walk.events);
    assert_eq!(walk.at_end, "hall.5g");
}
