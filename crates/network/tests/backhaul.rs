//! Access points with a wireless backhaul, against closed forms of the throughput over several hops.
//!
//! The rates in the formulas are those that the model gives for each link alone, without
//! contention: measured here with the same settings. Sources send at a constant rate and do not adapt.

use netburn_medium::config::{Band, LinkQuality};
use netburn_medium::packet::{Ecn, Packet};
use netburn_network::{ClientEventKind, Endpoint, Network, Output};
use netburn_scenario::plan::{Backhaul, RadioName, RadioRef};
use netburn_scenario::{Document, Plan};
use netburn_units::{Dbm, Duration, Instant};
use std::fmt::Write as _;

/// Bytes of a packet: 1472 of UDP payload.
const LENGTH: u32 = 1_500;

/// A chain of access points with wireless backhaul, on the channels `channels`, the root first. The
/// link between two of them has the MCS of `backhauls`. A station joins the last one with MCS `last`.
/// The station `near` joins the root.
fn chain(radio: &str, backhauls: &[u8], channels: &[u16], last: u8) -> Plan {
    let mut text = String::from("[server]\nlink = { rate = \"10 Gbit/s\" }\n");
    for unit in 0..=backhauls.len() {
        let _ = write!(text, "[ap.u{unit}]\nqueue = \"fifo\"\n");
        // The radio to the parent, and the radio below, if it has another channel.
        let up = unit.checked_sub(1).map(|link| channels[link]);
        let down = channels[unit];
        if let Some(link) = unit.checked_sub(1) {
            let parent = if link > 0 && channels[link - 1] != channels[link] {
                "5g-2"
            } else {
                "5g"
            };
            let mcs = backhauls[link];
            let _ = write!(text, "backhaul = \"u{link}.{parent}\"\nbackhaul_mcs = {mcs}\n");
        }
        let _ = write!(text, "[ap.u{unit}.radio.5g]\n{radio}channel = {}\n", up.unwrap_or(down));
        if up.is_some_and(|up| up != down) {
            let _ = write!(text, "[ap.u{unit}.radio.5g-2]\n{radio}channel = {down}\n");
        }
    }
    let unit = backhauls.len();
    let own = if unit > 0 && channels[unit - 1] != channels[unit] {
        "5g-2"
    } else {
        "5g"
    };
    let _ = write!(text, "[station.s]\njoins = \"u{unit}.{own}\"\nmcs = {last}\n");
    let _ = write!(text, "[station.near]\njoins = \"u0.5g\"\nmcs = {last}\n");
    Document::from_toml("chain.toml", &text).unwrap().resolve().unwrap()
}

/// Throughput of the network layer in Mbit/s, from `from` to `to`, if `from` offers `offered` Mbit/s
/// for `seconds`. The first second doesn't count.
fn throughput(plan: &Plan, from: Endpoint, to: Endpoint, offered: f64, seconds: u64) -> f64 {
    let mut network: Network<()> = Network::new(plan).unwrap();
    let gap = Duration::from_nanos((f64::from(LENGTH) * 8e3 / offered) as u64);
    let (mut next, mut bytes) = (Instant::ZERO, 0);
    let end = Instant::ZERO + Duration::from_secs(seconds);
    while next < end {
        let packet = Packet {
            length: LENGTH,
            flow: 1,
            tid: 0,
            ecn: Ecn::NotEct,
            payload: (),
        };
        network.handle_packet(next, from, to, packet);
        while let Some(output) = network.poll_output() {
            if let Output::Delivered { at, .. } = output
                && at >= Instant::ZERO + Duration::from_secs(1)
            {
                bytes += u64::from(LENGTH);
            }
        }
        next += gap;
    }
    bytes as f64 * 8.0 / 1e6 / (seconds - 1) as f64
}

/// Throughput to the station at the end of a chain.
fn down(plan: &Plan, offered: f64) -> f64 {
    down_for(plan, offered, 3)
}

fn down_for(plan: &Plan, offered: f64, seconds: u64) -> f64 {
    throughput(plan, Endpoint::Server, Endpoint::Station(0), offered, seconds)
}

/// Rate of one link alone.
fn alone(radio: &str, mcs: u8) -> f64 {
    down(&chain(radio, &[], &[36], mcs), 1_000.0)
}

fn assert_near(found: f64, expected: f64, share: f64) {
    let range = expected * (1.0 - share)..=expected * (1.0 + share);
    assert!(range.contains(&found), "{found:.1} Mbit/s, expected {expected:.1}");
}

/// Aggregates of 1 ms: shorter than the window of 64 at all rates used here, so every turn takes the
/// same time. RTS keeps the collisions short, which the formulas don't have.
const AC: &str = "standard = \"802.11ac\"\nwidth = \"80 MHz\"\naggregate_time = \"1 ms\"\nrts = \"500 B\"\n";

/// One to four hops of the same rate on one channel: 1/h. The source offers a little more than that.
/// A source that offers much more takes turns from the relays behind it.
#[test]
fn a_chain_on_one_channel_divides_the_rate() {
    let rate = alone(AC, 4);
    for hops in 1..=4_usize {
        let plan = chain(AC, &vec![4; hops - 1], &vec![36; hops], 4);
        let found = down_for(&plan, 1.02 * rate / hops as f64, 8);
        assert_near(found, rate / hops as f64, 0.05);
    }
}

/// A faster second hop: S = 1/(1/R1 + 1/R2).
#[test]
fn a_faster_second_hop_adds_its_airtime() {
    let (first, second) = (alone(AC, 4), alone(AC, 5));
    let found = down(&chain(AC, &[4], &[36, 36], 5), 1_000.0);
    assert_near(found, 1.0 / (1.0 / first + 1.0 / second), 0.05);
}

/// A slower second hop and a sender that does not adapt: both hops are always backlogged, and each
/// has half of the air: R2/2. A third of what the first hop brings is lost.
#[test]
fn a_blind_sender_starves_a_slower_second_hop() {
    let (first, second) = (alone(AC, 4), alone(AC, 1));
    let found = down(&chain(AC, &[4], &[36, 36], 1), 1_000.0);
    assert_near(found, second / 2.0, 0.05);
    // A sender that offers less than both hops can carry gets more than one that does not adapt.
    let offered = 0.85 / (1.0 / first + 1.0 / second);
    assert!(offered > 1.2 * found);
    assert_near(down(&chain(AC, &[4], &[36, 36], 1), offered), offered, 0.02);
}

/// A dedicated backhaul radio: the slower link limits. A chain of them is as fast as one.
#[test]
fn a_dedicated_backhaul_has_the_rate_of_the_slower_link() {
    let slow = alone(AC, 4);
    for (backhaul, client) in [(4, 5), (5, 4)] {
        let found = down(&chain(AC, &[backhaul], &[36, 149], client), 1_000.0);
        assert_near(found, slow, 0.03);
    }
    for hops in 2..=4_usize {
        let channels: Vec<u16> = [36, 149, 52, 100][..hops].to_vec();
        let found = down(&chain(AC, &vec![4; hops - 1], &channels, 4), 1_000.0);
        assert_near(found, slow, 0.03);
    }
}

/// Upwards, and from station to station, the same formulas hold.
#[test]
fn other_directions() {
    let rate = alone(AC, 4);
    let plan = chain(AC, &[4], &[36, 36], 4);
    let up = throughput(&plan, Endpoint::Station(0), Endpoint::Server, 1_000.0, 4);
    let across = throughput(&plan, Endpoint::Station(0), Endpoint::Station(1), 1_000.0, 8);
    assert_near(up, rate / 2.0, 0.05);
    // Three hops: to the unit, to the root, to the other station.
    assert_near(across, rate / 3.0, 0.05);
}

/// Delays of single packets to the station at the end of a chain, in µs.
fn delays(plan: &Plan, packets: u64) -> Vec<f64> {
    let mut network: Network<u64> = Network::new(plan).unwrap();
    let mut delays = Vec::new();
    for number in 0..packets {
        let sent = Instant::ZERO + Duration::from_millis(20 * number);
        let packet = Packet {
            length: 100,
            flow: 1,
            tid: 0,
            ecn: Ecn::NotEct,
            payload: number,
        };
        network.handle_packet(sent, Endpoint::Server, Endpoint::Station(0), packet);
        network.handle_timeout(sent + Duration::from_millis(19));
        while let Some(output) = network.poll_output() {
            if let Output::Delivered { at, packet, .. } = output {
                assert_eq!(packet.payload, number);
                delays.push(at.since(sent).as_nanos() as f64 / 1e3);
            }
        }
    }
    delays
}

/// Idle chain: each further hop adds its frame, and a forwarding delay that is uniform between 300 and
/// 400 µs. The channel is idle for longer than AIFS, so frames start at once. With 802.11a at 6 Mbit/s a
/// frame of 100 + 54 bytes takes 20 + 4 × ⌈(22 + 154 × 8) / 24⌉ = 232 µs (clause 17.4.3). Those between
/// access points have a fourth address: 160 bytes, 240 µs.
#[test]
fn each_hop_adds_its_frame_and_a_forwarding_delay() {
    let radio = "standard = \"802.11a\"\nwidth = \"20 MHz\"\n";
    let one = delays(&chain(radio, &[], &[36], 0), 20);
    assert!(one.iter().all(|delay| (delay - 232.0).abs() < 1.0), "{one:?}");
    let four = delays(&chain(radio, &[0, 0, 0], &[36; 4], 0), 400);
    assert_eq!(four.len(), 400);
    let fixed = 232.0 + 3.0 * 240.0;
    assert!(four.iter().all(|delay| (899.0..=1_201.0).contains(&(delay - fixed))));
    let mean = four.iter().sum::<f64>() / 400.0 - fixed;
    // The standard deviation of the mean is 100/√12 × √3 / √400 = 2.5 µs.
    assert_near(mean, 1_050.0, 0.01);
}

/// A station walks from the root to a unit with a wireless backhaul. After the move its packets take
/// the way over the unit, in both directions.
#[test]
fn a_station_moves_to_a_unit() {
    let text = r#"
        [building]
        walls = ["8 m, -5 m to 8 m, 5 m", "12 m, -5 m to 12 m, 5 m"]
        [network.home]
        radios = ["root.5g", "unit.5g"]
        k = true
        [ap.root]
        position = "2 m, 0 m"
        radio.5g = { width = "20 MHz" }
        [ap.unit]
        position = "22 m, 0 m"
        backhaul = "root.5g"
        radio.5g = { width = "20 MHz" }
        [station.s]
        joins = "home"
        path = ["2 m, 0 m", "22 m, 0 m"]
        roaming = { policy = "linux", neighbour_reports = true }
    "#;
    let plan = Document::from_toml("walk.toml", text).unwrap().resolve().unwrap();
    let mut network: Network<u32> = Network::new(&plan).unwrap();
    assert_eq!(network.joined(0).as_deref(), Some("root.5g"));
    let ends = [Endpoint::Server, Endpoint::Station(0)];
    let mut lost = 0;
    // Numbers of delivered packets, by direction.
    let mut delivered = [Vec::new(), Vec::new()];
    let mut roamed = None;
    let numbers = 0..1_250_u32;
    for number in numbers {
        let now = Instant::ZERO + Duration::from_millis(20) * u64::from(number);
        for way in 0..2 {
            let packet = Packet {
                length: 200,
                flow: way as u32,
                tid: 0,
                ecn: Ecn::NotEct,
                payload: number,
            };
            network.handle_packet(now, ends[way], ends[1 - way], packet);
        }
        network.handle_timeout(now + Duration::from_millis(20));
        while let Some(output) = network.poll_output() {
            match output {
                Output::Delivered { packet, .. } => delivered[packet.flow as usize].push(packet.payload),
                Output::Dropped { .. } => lost += 1,
                Output::Sent { .. } | Output::SentTimesChanged { .. } => {}
            }
        }
        while let Some(event) = network.poll_client_event() {
            if matches!(event.kind, ClientEventKind::Roamed { .. }) {
                roamed = Some(number);
            }
        }
    }
    assert_eq!(network.joined(0).as_deref(), Some("unit.5g"));
    let roamed = roamed.unwrap();
    assert!((500..1_000).contains(&roamed), "{roamed}");
    for numbers in &delivered {
        let after = numbers.iter().filter(|number| **number > roamed + 5).count() as u32;
        assert!(after + 2 >= 1_250 - roamed - 6, "{after} of {}", 1_250 - roamed - 6);
    }
    assert!(lost <= 12, "{lost} packets lost in the gap");
}

/// Plans that are not from a file are checked as well.
#[test]
fn impossible_links() {
    let error = |change: &dyn Fn(&mut Plan)| {
        let mut plan = chain(AC, &[4, 4], &[36; 3], 4);
        change(&mut plan);
        Network::<()>::new(&plan).unwrap_err().to_string()
    };
    let to = |name: &str| {
        Backhaul::Radio(RadioRef {
            ap: name.to_owned(),
            radio: RadioName::first(Band::Ghz5),
        })
    };
    assert_eq!(
        error(&|plan| plan.aps[0].backhaul = to("u2")),
        "ap.u0.backhaul: missing signal; expected `backhaul_signal = \"-55 dBm\"`, or a `position` of both access points"
    );
    assert_eq!(
        error(&|plan| (plan.aps[0].backhaul, plan.aps[0].backhaul_quality) = (to("u2"), Some(LinkQuality::Mcs(1)))),
        "ap.u0.backhaul: the parents form a loop; one of them must be `\"wired\"`"
    );
    assert_eq!(
        error(&|plan| plan.aps[1].backhaul = to("u7")),
        "ap.u1.backhaul: unknown radio `u7.5g`"
    );
    assert_eq!(
        error(&|plan| plan.aps[1].radios[0].channel = 149),
        "ap.u1.backhaul: no own radio on channel 36 of `u0.5g`; add a 5g radio with `channel = 36`"
    );
    let weak = error(&|plan| plan.aps[1].backhaul_quality = Some(LinkQuality::Signal(Dbm::from_hundredths(-9_900))));
    assert!(weak.starts_with("ap.u1.backhaul: "), "{weak}");
    assert_eq!(
        error(&|plan| plan.aps[1].backhaul_quality = Some(LinkQuality::Mcs(12)))
            .split(':')
            .next(),
        Some("ap.u1.backhaul")
    );
}
