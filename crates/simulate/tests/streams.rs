//! Streams of datagrams in simulated time, compared with values computed by hand.

mod packets;

use netburn_units::Duration;
use netburn_workload::{Direction, Operation, Outcome};
use packets::in_direction;

/// A wired station with this link, on a server without a link of its own.
fn operations(link: &str, workload: &str) -> Vec<Operation> {
    let text = format!(
        "duration = \"10 s\"\nbaseline = \"0 s\"\ndrain = \"3 s\"\n[server]\nlink = {{ delay = \"0 s\" }}\n\
         interrupt_interval = \"0 s\"\n[station.one]\nworkload = \"own\"\n[station.one.link]\n{link}\n\
         [workload.own]\n{workload}\n"
    );
    packets::operations(&text)
}

/// A packet of 962 B is 990 B with UDP and IP, and 1028 B with Ethernet's framing of 38 B. At 10 Mbit/s it takes 822.4 µs.
/// The packets of a burst are sent at once, so packet k of a burst arrives after k + 1 of these times, and after the delay of
/// 5 ms. With a spacing of 1 ms none waits for another.
#[test]
fn the_packets_of_a_burst_wait_for_each_other() {
    let link = "rate = \"10 Mbit/s\"\ndelay = \"5 ms\"";
    for (spacing, waits) in [("0 s", true), ("1 ms", false)] {
        let stream = format!("{{ interval = \"20 ms\", burst = 10, size = \"962 B\", spacing = \"{spacing}\" }}");
        let all = operations(link, &format!("kind = \"datagrams\"\ndown = {stream}\nup = {stream}"));
        for direction in [Direction::Up, Direction::Down] {
            let packets = in_direction(&all, direction);
            // 500 bursts, the first one within 20 ms or 40 ms.
            assert!((4_980..=5_000).contains(&packets.len()), "{}", packets.len());
            for packet in packets {
                let place = if waits { packet.sequence / 2 % 10 } else { 0 };
                let expected = 5_000.0 + 822.4 * (place + 1) as f64;
                let us = packet.latency().unwrap().as_nanos() as f64 / 1e3;
                // The station's card interrupts at most every 50 µs.
                assert!(
                    (expected - 0.1..=expected + 50.1).contains(&us),
                    "{us} µs, {direction:?}"
                );
                assert_eq!(packet.bytes, 962);
            }
        }
    }
}

/// 20 Mbit/s of payload in packets of 962 B are 20 · 1028 / 962 = 21.372 Mbit/s on a wire of 10 Mbit/s: of the packets down,
/// 53.2 % are lost once the queue is full. Up nothing is sent.
#[test]
fn a_stream_does_not_adapt_to_the_line() {
    let link = "rate = \"10 Mbit/s\"\ndelay = \"5 ms\"\nqueue = \"20 kB\"";
    let all = operations(
        link,
        "kind = \"datagrams\"\ndown = { rate = \"20 Mbit/s\", size = \"962 B\" }",
    );
    assert!(in_direction(&all, Direction::Up).is_empty());
    let late: Vec<&Operation> = all.iter().filter(|packet| packet.sequence / 2 > 5_000).collect();
    let lost = late.iter().filter(|packet| packet.outcome == Outcome::TimedOut);
    let share = lost.count() as f64 / late.len() as f64;
    assert!((share - 0.532).abs() < 0.01, "{share}");
    // 20 kB take 16 ms, and a packet 0.8 ms.
    let longest = late.iter().filter_map(|packet| packet.latency()).max().unwrap();
    assert!(longest < Duration::from_micros(5_000 + 16_000 + 2 * 830), "{longest}");
}

/// 100 B up are 166 B on the wire, 250 B down are 316 B. At 10 Mbit/s they take 132.8 µs and 252.8 µs.
#[test]
fn a_game_has_updates_in_both_directions() {
    let all = operations("rate = \"10 Mbit/s\"\ndelay = \"15 ms\"", "kind = \"game\"");
    for (direction, expected) in [(Direction::Up, 15_132.8), (Direction::Down, 15_252.8)] {
        let packets = in_direction(&all, direction);
        assert!((638..=640).contains(&packets.len()), "{}", packets.len());
        for packet in packets {
            let us = packet.latency().unwrap().as_nanos() as f64 / 1e3;
            assert!(
                (expected - 0.1..=expected + 50.1).contains(&us),
                "{us} µs, {direction:?}"
            );
        }
    }
}

/// A packet of 1200 B is 1266 B on the wire: 101.28 µs at 100 Mbit/s, less than the spacing of 155 µs, so none waits. At 50
/// Mbit/s it is 202.56 µs: packet k of a frame waits for the k packets before it, which are due k times 155.038 µs earlier.
#[test]
fn the_packets_of_a_frame_are_paced() {
    for (rate, time, wait) in [("100 Mbit/s", 101.28, 0.0), ("50 Mbit/s", 202.56, 202.56 - 155.038)] {
        let all = operations(
            &format!("rate = \"{rate}\"\ndelay = \"5 ms\""),
            "kind = \"cloud-gaming\"",
        );
        for packet in in_direction(&all, Direction::Down) {
            let place = (packet.sequence / 2 % 43) as f64;
            let expected = 5_000.0 + time + place * wait;
            let us = packet.latency().unwrap().as_nanos() as f64 / 1e3;
            // The station's card interrupts at most every 50 µs.
            assert!(
                (expected - 0.1..=expected + 50.1).contains(&us),
                "{us} µs, {place}, {rate}"
            );
        }
    }
}
