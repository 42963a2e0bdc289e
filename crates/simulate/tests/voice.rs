//! Calls in simulated time, compared with values computed by hand.

mod packets;

use netburn_units::Duration;
use netburn_workload::{Direction, Operation, Outcome};
use packets::{in_direction, operations};

/// A wired station with this link and these workloads, on a server without a link of its own.
fn wired(link: &str, workload: &str, seconds: u32) -> String {
    format!(
        "duration = \"{seconds} s\"\nbaseline = \"0 s\"\ndrain = \"3 s\"\n[server]\nlink = {{ delay = \"0 s\" }}\n\
         [station.one]\nworkload = {workload}\n[station.one.link]\n{link}\n"
    )
}

fn delays(operations: &[Operation]) -> Vec<Duration> {
    operations.iter().filter_map(Operation::latency).collect()
}

fn median(mut delays: Vec<Duration>) -> Duration {
    delays.sort_unstable();
    delays[delays.len() / 2]
}

/// A packet of 172 B is 200 B with UDP and IP, and 238 B with Ethernet's framing of 38 B: 238 · 8 /
/// 10⁷ = 190.4 µs on 10 Mbit/s, and 952 µs on 2 Mbit/s. The delay of the link is 20 ms.
#[test]
fn the_latency_of_a_packet_is_its_one_way_delay() {
    let operations = operations(&wired(
        "down = \"10 Mbit/s\"\nup = \"2 Mbit/s\"\ndelay = \"20 ms\"",
        "\"voice\"",
        10,
    ));
    for (direction, expected_us) in [(Direction::Up, 20_952.0), (Direction::Down, 20_190.4)] {
        let packets = in_direction(&operations, direction);
        assert!(
            (499..=500).contains(&packets.len()),
            "one every 20 ms: {}",
            packets.len()
        );
        assert!(packets.iter().all(|packet| packet.outcome == Outcome::Finished));
        for packet in &packets {
            let us = packet.latency().unwrap().as_nanos() as f64 / 1e3;
            // The server's card interrupts at most every 50 µs.
            assert!(
                (expected_us - 0.1..=expected_us + 50.1).contains(&us),
                "{us} µs, {direction:?}"
            );
            assert_eq!(packet.bytes, 172);
        }
    }
}

/// 5 % loss in each direction: of 3000 packets 150 on average, with a standard deviation of
/// √(3000 · 0.05 · 0.95) = 11.9. Four of them are 48. A lost packet ends 2 s after it was due.
#[test]
fn lost_packets_time_out_in_each_direction() {
    let link = "rate = \"10 Mbit/s\"\ndelay = \"5 ms\"\nloss = \"5 %\"";
    let operations = operations(&wired(link, "\"voice\"", 60));
    let lost = |direction| -> Vec<u64> {
        let packets = in_direction(&operations, direction);
        let lost = packets.iter().filter(|packet| packet.outcome == Outcome::TimedOut);
        let lost = lost.inspect(|packet| {
            assert_eq!(packet.finished.unwrap().since(packet.due), Duration::from_secs(2));
        });
        lost.map(|packet| packet.sequence / 2).collect()
    };
    let (up, down) = (lost(Direction::Up), lost(Direction::Down));
    for lost in [&up, &down] {
        assert!((102..=198).contains(&lost.len()), "{}", lost.len());
    }
    // Independent directions: 3000 · 0.05² = 7.5 packets of one number are lost in both.
    let both = up.iter().filter(|number| down.contains(number)).count();
    assert!(both < 25, "{both}");
}

/// An upload fills the uplink's queue of 125 kB behind a modem: 100 ms at 10 Mbit/s. The other
/// direction carries only its acknowledgements.
#[test]
fn an_upload_delays_one_direction_only() {
    let link = "rate = \"10 Mbit/s\"\ndelay = \"5 ms\"\ndevice = \"1 Gbit/s\"\nqueue = \"125 kB\"";
    let operations = operations(&wired(link, "[\"voice\", \"upload\"]", 30));
    let busy: Vec<Operation> = operations.into_iter().filter(|packet| packet.sequence > 1000).collect();
    let (up, down) = (
        median(delays(&in_direction(&busy, Direction::Up))),
        median(delays(&in_direction(&busy, Direction::Down))),
    );
    assert!(
        (Duration::from_millis(50)..=Duration::from_millis(112)).contains(&up),
        "{up}"
    );
    assert!(down < Duration::from_millis(8), "{down}");
}

/// In the voice category a packet is sent before waiting data of other categories, so a download in
/// best effort to the same station delays it by a transmission, and not by the queue.
#[test]
fn the_voice_category_passes_a_download() {
    let call = |priority: &str| {
        let text = format!(
            "duration = \"20 s\"\nbaseline = \"0 s\"\ndrain = \"3 s\"\n[server]\nlink = {{ rate = \"1 Gbit/s\", delay = \"1 ms\" }}\n\
             [ap.home]\nqueue = \"fifo\"\n[ap.home.radio.5g]\nwidth = \"20 MHz\"\n\
             [station.one]\njoins = \"home.5g\"\nmcs = 4\nworkload = [\"call\", \"download\"]\n\
             [workload.call]\nkind = \"voice\"\npriority = \"{priority}\"\n"
        );
        let operations = operations(&text);
        let busy: Vec<Operation> = operations.into_iter().filter(|packet| packet.sequence > 400).collect();
        median(delays(&in_direction(&busy, Direction::Down)))
    };
    let (voice, best_effort) = (call("voice"), call("best-effort"));
    assert!(voice < best_effort, "{voice}, {best_effort}");
}
