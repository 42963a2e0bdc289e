//! Adaptive streaming in simulated time, compared with values computed by hand.

use netburn_units::Duration;
use netburn_workload::Outcome;

#[expect(dead_code, reason = "segments have one direction only")]
mod packets;

/// Operations of a wired station on a server without a link of its own.
fn segments(seconds: u32, down: &str, dash: &str) -> Vec<netburn_workload::Operation> {
    packets::operations(&format!(
        "duration = \"{seconds} s\"\nwarmup = \"0 s\"\nbaseline = \"0 s\"\n[server]\nlink = {{ delay = \"0 s\" }}\n\
         interrupt_interval = \"0 s\"\n[station.one]\nworkload = \"film\"\n[station.one.link]\ndown = \"{down}\"\n\
         delay = \"10 ms\"\n[workload.film]\nkind = \"dash\"\ngoal = \"no stall\"\ndash = {{ {dash} }}\n"
    ))
}

/// 1 Gbit/s sends a segment of 8 Mbit/s and 1 s, which are 1 MB, within a few round trips of 20 ms. The buffer holds 4 s. So the
/// first segments follow each other, and from the fifth on the buffer has room once per second.
#[test]
fn a_fast_path_is_used_at_the_rate_of_playback() {
    let dash = "ladder = [\"8 Mbit/s\"], segment = \"1 s\", start = \"1 s\", max_buffer = \"4 s\"";
    let film = segments(10, "1 Gbit/s", dash);
    assert!(
        film.iter()
            .all(|segment| segment.outcome == Outcome::Finished && segment.bytes == 1_000_000)
    );
    // Playback starts with the end of the first segment, so that k segments fit from that time plus k - 4 s on.
    let begun = film[0].finished.unwrap();
    for (number, segment) in film.iter().enumerate().skip(5) {
        let due = begun + Duration::from_secs(number as u64 - 3);
        assert_eq!(segment.due, due, "segment {number}");
    }
    assert_eq!(film.len(), 13, "four at once, and one per second until 10 s");
}

/// A segment of TCP has 1448 B of content in 1514 B of an Ethernet frame, so a path of 12 Mbit/s carries 11.5 Mbit/s of content at
/// most. 8 Mbit/s are below this and 16 Mbit/s above it, so that the player uses both.
#[test]
fn a_slow_path_limits_the_bit_rate() {
    let dash = "ladder = [\"4 Mbit/s\", \"8 Mbit/s\", \"16 Mbit/s\"], segment = \"2 s\"";
    let film = segments(120, "12 Mbit/s", dash);
    let finished: Vec<_> = film
        .iter()
        .filter(|segment| segment.outcome == Outcome::Finished)
        .collect();
    let media = Duration::from_secs(2) * finished.len() as u64;
    let bytes: u64 = finished.iter().map(|segment| segment.bytes).sum();
    let last = finished.last().unwrap().finished.unwrap();
    // Content that arrived never exceeds the rate of the path.
    let seconds = last.as_nanos() as f64 / 1e9;
    assert!(
        bytes as f64 * 8.0 / seconds <= 12e6 * 1448.0 / 1514.0,
        "{bytes} B in {seconds} s"
    );
    // The buffer is between 0 and 30 s, so the media are those of the time that has passed.
    assert!(
        media.as_secs_f64() >= seconds - 0.5 && media.as_secs_f64() <= seconds + 30.0,
        "{media} in {seconds} s"
    );
    let sizes: std::collections::BTreeSet<u64> = finished.iter().map(|segment| segment.bytes).collect();
    assert!(sizes.contains(&1_000_000) && sizes.contains(&2_000_000), "{sizes:?}");
}
