//! WAN links: their queues, shapers, policers, traces and outages. The air is much faster than the link.

use netburn_medium::packet::{Ecn, Packet};
use netburn_network::{DropSite, Endpoint, Network, Output};
use netburn_scenario::plan::{ApSetting, Setting};
use netburn_scenario::{Document, Plan};
use netburn_units::{BitRate, Duration, Instant};

/// An access point whose WAN link has these keys, with two stations. The link to the server has no delay.
fn plan(wan: &str) -> Plan {
    let text = format!(
        "[ap.x]\nqueue_limit = \"100000 packets\"\n[ap.x.radio.5g]\nstandard = \"802.11ac\"\n[ap.x.wan]\n{wan}\n\
         [station]\na = {{ joins = \"x.5g\", mcs = 9 }}\nb = {{ joins = \"x.5g\", mcs = 9 }}\n"
    );
    Document::from_toml("x.toml", &text).unwrap().resolve().unwrap()
}

fn packet(flow: u32) -> Packet<u32> {
    Packet {
        length: 1_500,
        flow,
        tid: 0,
        ecn: Ecn::NotEct,
        payload: flow,
    }
}

/// Times of deliveries in ns, and the number of drops in wires, up to `until`.
fn run(network: &mut Network<u32>, until: Instant) -> (Vec<i64>, usize) {
    let (mut delivered, mut dropped) = (Vec::new(), 0);
    loop {
        while let Some(output) = network.poll_output() {
            match output {
                Output::Delivered { at, .. } => delivered.push(at.as_nanos()),
                Output::Dropped { by: DropSite::Wire, .. } => dropped += 1,
                Output::Dropped { by, .. } => panic!("{by:?}"),
                Output::Sent { .. } | Output::SentTimesChanged { .. } => {}
            }
        }
        match network.poll_timeout() {
            Some((at, _)) if at <= until => network.handle_timeout(at),
            _ => return (delivered, dropped),
        }
    }
}

/// Sends packets of the server to the stations in turn, one each `gap`, and returns the deliveries and drops.
fn download(wan: &str, packets: u32, gap: Duration) -> (Vec<i64>, usize) {
    let mut network = Network::new(&plan(wan)).unwrap();
    let (mut delivered, mut dropped) = (Vec::new(), 0);
    let mut now = Instant::ZERO;
    for number in 0..packets {
        let (times, drops) = run(&mut network, now);
        delivered.extend(times);
        dropped += drops;
        let to = Endpoint::Station((number % 2) as u16);
        network.handle_packet(now, Endpoint::Server, to, packet(number % 10));
        now += gap;
    }
    let (times, drops) = run(&mut network, Instant::from_secs(1_000));
    delivered.extend(times);
    (delivered, dropped + drops)
}

/// Rate of 1500 bytes per delivery in bit/s, between the first and the last one.
fn rate(times: &[i64]) -> f64 {
    let span = (times[times.len() - 1] - times[0]) as f64 / 1e9;
    (times.len() - 1) as f64 * 12_000.0 / span
}

fn assert_near(value: f64, expected: f64) {
    assert!((value / expected - 1.0).abs() < 0.01, "{value} instead of {expected}");
}

/// 10 Mbit/s with a queue of 150 000 bytes: 100 packets wait behind the one in transmission. 38 bytes of framing:
/// 1.2304 ms each. The 110 packets come from the server in 1.35 ms, 12.3 µs each, so that one more leaves before the
/// last one comes. The last of the 102 packets leaves 125.5 ms after the first one entered. The air takes less than 2 ms.
#[test]
fn a_full_fifo_delays_by_its_bytes() {
    let (times, dropped) = download("down = \"10 Mbit/s\"\nqueue = \"150 kB\"", 110, Duration::from_nanos(1));
    assert_eq!((times.len(), dropped), (102, 8));
    let last = times[101] as f64 / 1e6;
    let expected = 102.0 * 1.2304 + 0.0123;
    assert!(
        (expected..expected + 2.0).contains(&last),
        "{last} ms, {expected} at least"
    );
}

/// Goodput = rate × 1500 ÷ bytes on the link: 10 Mbit/s × 1500/1518 with `docsis`, × 1500/1749 with `pppoe-llcsnap`. A
/// shaper counts the framing too.
#[test]
fn goodput_is_the_rate_without_framing() {
    for (framing, bytes) in [("raw", 1_500.0), ("docsis", 1_518.0), ("pppoe-llcsnap", 1_749.0)] {
        let gap = Duration::from_millis(1);
        let (times, _) = download(&format!("down = \"10 Mbit/s\"\nframing = \"{framing}\""), 3_000, gap);
        assert_near(rate(&times), 10e6 * 1_500.0 / bytes);
        for discipline in ["fifo", "fq-codel", "cake"] {
            let keys = format!(
                "down = \"10 Mbit/s\"\nframing = \"{framing}\"\ndiscipline = \"{discipline}\"\nshaper_down = \"80 %\""
            );
            let (times, _) = download(&keys, 3_000, gap);
            assert_near(rate(&times), 8e6 * 1_500.0 / bytes);
        }
    }
}

/// Without a shaper, a discipline gets the whole rate, also after the rate changed.
#[test]
fn a_discipline_of_the_link_gets_its_rate() {
    for discipline in ["fq-codel", "cake"] {
        let keys = format!("down = \"10 Mbit/s\"\nframing = \"raw\"\ndiscipline = \"{discipline}\"");
        let (times, _) = download(&keys, 3_000, Duration::from_millis(1));
        assert_near(rate(&times), 10e6);
        let mut network = Network::new(&plan(&keys)).unwrap();
        network.set(
            Instant::ZERO,
            &Setting::Ap("x".to_owned(), ApSetting::WanDown(BitRate::from_mbps(20))),
        );
        for number in 0..500 {
            network.handle_packet(
                Instant::ZERO,
                Endpoint::Server,
                Endpoint::Station(0),
                packet(number % 10),
            );
        }
        let (times, _) = run(&mut network, Instant::from_millis(100));
        assert_near(rate(&times), 20e6);
    }
}

/// An upload at 20 Mbit/s over a link of 10 Mbit/s whose modem holds ten packets. Without a shaper the modem drops half of
/// them. With one the packets wait in the router, which holds 1000: the modem drops nothing.
#[test]
fn a_shaper_moves_the_queue_into_the_router() {
    let dropped = |shaper: &str| {
        let keys = format!("up = \"10 Mbit/s\"\nqueue = \"15 kB\"\nframing = \"raw\"\n{shaper}");
        let mut network = Network::new(&plan(&keys)).unwrap();
        let (mut times, mut drops) = (Vec::new(), 0);
        for number in 0..1_000 {
            let now = Instant::from_micros(600 * number);
            let (delivered, dropped) = run(&mut network, now);
            times.extend(delivered);
            drops += dropped;
            network.handle_packet(now, Endpoint::Station(0), Endpoint::Server, packet(1));
        }
        let (delivered, dropped) = run(&mut network, Instant::from_secs(10));
        times.extend(delivered);
        assert_eq!(times.len() + drops + dropped, 1_000);
        (drops + dropped, rate(&times))
    };
    let (without, rate) = dropped("");
    assert!((450..=500).contains(&without), "{without}");
    assert_near(rate, 10e6);
    let (with, rate) = dropped("shaper_up = \"90 %\"");
    assert_eq!(with, 0);
    assert_near(rate, 9e6);
}

/// A policer at 5 Mbit/s with 30 000 bytes: twenty packets at once, then its rate. Of 10 Mbit/s for 6 s, 3.75 MB and the
/// burst pass: 2520 packets.
#[test]
fn a_policer_drops_above_its_rate() {
    for (wan, up) in [("policer_down", false), ("policer_up", true)] {
        let keys = format!("framing = \"raw\"\n{wan} = {{ rate = \"5 Mbit/s\", burst = \"30 kB\" }}");
        let gap = Duration::from_micros(1_200);
        let (passed, dropped) = if up {
            let mut network = Network::new(&plan(&keys)).unwrap();
            let (mut passed, mut dropped) = (0, 0);
            for number in 0..5_000 {
                let now = Instant::from_micros(1_200 * number);
                let (times, drops) = run(&mut network, now);
                (passed, dropped) = (passed + times.len(), dropped + drops);
                network.handle_packet(now, Endpoint::Station(0), Endpoint::Server, packet(1));
            }
            let (times, drops) = run(&mut network, Instant::from_secs(10));
            (passed + times.len(), dropped + drops)
        } else {
            let (times, drops) = download(&keys, 5_000, gap);
            (times.len(), drops)
        };
        assert_eq!(passed + dropped, 5_000);
        assert!((2_515..=2_522).contains(&passed), "{passed}");
    }
}

/// A trace with one opportunity of 1500 bytes per ms is 12 Mbit/s. Each packet arrives within an opportunity of the time
/// on a link with this rate.
#[test]
fn a_constant_trace_is_a_rate() {
    let gap = Duration::from_micros(900);
    let fixed = download("down = \"12 Mbit/s\"\nframing = \"raw\"\nqueue = \"10 MB\"", 2_000, gap);
    let trace = download("trace_down = [1]\nframing = \"raw\"\nqueue = \"10 MB\"", 2_000, gap);
    assert_eq!((fixed.0.len(), trace.0.len()), (2_000, 2_000));
    for (fixed, trace) in fixed.0.iter().zip(&trace.0) {
        assert!((fixed - trace).abs() <= 1_500_000, "{fixed} and {trace}");
    }
}

/// In an outage from 0.5 to 1.5 s nothing leaves. The packets of that time wait, and follow at the rate.
#[test]
fn an_outage_delays_packets() {
    for rate in ["down = \"12 Mbit/s\"", "trace_down = [1]", ""] {
        let keys = format!(
            "{rate}\nframing = \"raw\"\nqueue = \"10 MB\"\noutages = [{{ start = \"500 ms\", length = \"1 s\" }}]"
        );
        let (times, dropped) = download(&keys, 1_000, Duration::from_millis(2));
        assert_eq!((times.len(), dropped), (1_000, 0));
        // A packet in transmission, or on the air, still arrives.
        let within = times.iter().filter(|at| (505_000_000..1_500_000_000).contains(*at));
        assert_eq!(within.count(), 0, "{rate}");
        assert!(times.iter().filter(|at| **at < 505_000_000).count() >= 249);
    }
}
