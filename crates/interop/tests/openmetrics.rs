//! Metrics of a video call whose frames are all known.

#[path = "../../record/tests/util/mod.rs"]
mod util;

use netburn_interop::export::openmetrics;
use netburn_record::{Recorder, Row, RunStatus, Sink};
use netburn_scenario::Plan;
use netburn_units::{BitRate, ByteSize, Duration, Instant};
use netburn_workload::kinds::VideoCall;
use netburn_workload::{Config, Direction, Outcome, PacketStream, Streams};
use util::{header, operation, station};

/// 25 frames per second for 10 s in each direction, at the target of 1.8 Mbit/s of 9000 B. `frame` returns the delay in
/// ms (`None`: never complete) and the bytes of a frame.
fn text(frame: impl Fn(Direction, u64) -> (Option<u64>, u64)) -> String {
    let every = Duration::from_millis(40);
    let timeout = Duration::from_secs(1);
    let target = BitRate::from_bps(1_800_000);
    let streams = Streams::both(PacketStream::adaptive(every, target, ByteSize::from_bytes(1000)));
    let config = Config {
        timeout,
        ..Config::with(|call: &mut VideoCall| call.streams = streams)
    };
    let plan = Plan {
        duration: Duration::from_secs(10),
        stations: vec![station("laptop", &[("talk", config)])],
        ..Plan::new("call")
    };
    let folder = tempfile::tempdir().unwrap();
    let mut recorder = Recorder::create(&folder.path().join("run"), header(plan)).unwrap();
    for direction in [Direction::Up, Direction::Down] {
        for number in 0..250 {
            let (delay, bytes) = frame(direction, number);
            let (outcome, taken) = match delay {
                Some(ms) => (Outcome::Finished, Duration::from_millis(ms)),
                None => (Outcome::TimedOut, timeout),
            };
            let due = Instant::ZERO + every * number;
            let mut row = operation(0, 0, direction.operation(number), due, outcome, taken);
            if let Row::Operation(row) = &mut row {
                row.operation.bytes = delay.map_or(0, |_| bytes);
            }
            recorder.put(&row).unwrap();
        }
    }
    let run = recorder.finish(&RunStatus::Complete).unwrap();
    let mut text = Vec::new();
    openmetrics::write(&run, &mut text).unwrap();
    String::from_utf8(text).unwrap()
}

/// Values of a metric, up and down.
fn both(text: &str, name: &str) -> [Option<f64>; 2] {
    ["up", "down"].map(|direction| {
        let series = format!(
            "{name}{{scenario=\"call\",environment=\"local\",station=\"laptop\",workload=\"talk\",direction=\"{direction}\"}} "
        );
        let value = text.lines().find_map(|line| line.strip_prefix(&series))?;
        Some(value.parse().unwrap())
    })
}

/// Up, all frames take 30 ms. The first 50 of 250 have half of the target: 200 of 250 are at the target, and
/// (50 · 4500 + 200 · 9000) B in 10 s are 1.62 Mbit/s.
///
/// Down, the first 100 frames take 50 ms, and the other ones 30 ms: the median is 30 ms. Frame 200 is lost. The frame
/// before it is shown at 7990 ms, and the next one after the time-out, at 9000 ms: a freeze of 1010 ms. Observed are 50 ms
/// to 9990 ms. 249 of 250 frames have 9000 B: 1.7928 Mbit/s.
#[test]
fn a_video_call_has_metrics_of_its_frames() {
    let text = text(|direction, number| match (direction, number) {
        (Direction::Up, 0..50) => (Some(30), 4_500),
        (Direction::Down, 0..100) => (Some(50), 9_000),
        (Direction::Down, 200) => (None, 9_000),
        _ => (Some(30), 9_000),
    });
    for (name, expected) in [
        ("netburn_stream_delay_median_seconds", [0.03, 0.03]),
        ("netburn_stream_lost_ratio", [0.0, 1.0 / 250.0]),
        ("netburn_video_freezes", [0.0, 1.0]),
        ("netburn_video_freezes_seconds", [0.0, 1.01]),
        ("netburn_video_frozen_ratio", [0.0, 1010.0 / 9940.0]),
        ("netburn_video_rate_bits_per_second", [1_620_000.0, 1_792_800.0]),
        ("netburn_video_at_target_ratio", [200.0 / 250.0, 249.0 / 250.0]),
    ] {
        for (found, expected) in both(&text, name).into_iter().zip(expected) {
            let found = found.unwrap_or_else(|| panic!("{name} is missing: {text}"));
            assert!(
                (found - expected).abs() <= 1e-9 * expected.max(1.0),
                "{name}: {found}, not {expected}"
            );
        }
    }
    // Frames have no jitter, and a call has no gaps and no round trips.
    for name in [
        "netburn_stream_jitter_seconds",
        "netburn_stream_gaps_ratio",
        "netburn_round_trip_p95_seconds",
    ] {
        assert!(!text.contains(name), "{name}: {text}");
    }
    assert!(text.ends_with("# EOF\n"));
}

/// The unit of a metric is the end of its name, and each metric has one help text (the OpenMetrics specification, 1.0).
#[test]
fn each_metric_of_a_video_call_has_a_type_and_a_help_text() {
    let text = text(|_, _| (Some(30), 9_000));
    let names = text
        .lines()
        .filter_map(|line| line.strip_prefix("# TYPE netburn_video_"));
    let names: Vec<&str> = names.map(|rest| rest.split(' ').next().unwrap()).collect();
    assert_eq!(
        names,
        [
            "freezes",
            "freezes_seconds",
            "frozen_ratio",
            "rate_bits_per_second",
            "at_target_ratio"
        ]
    );
    for name in names {
        let help = format!("# HELP netburn_video_{name} ");
        assert_eq!(text.matches(&help).count(), 1, "{name}");
    }
    // Delays and losses are those of frames.
    for name in ["delay_median_seconds", "lost_ratio"] {
        let help = text
            .lines()
            .find(|line| line.starts_with(&format!("# HELP netburn_stream_{name} ")));
        assert!(
            help.is_some_and(|help| help.contains("frames of a video call")),
            "{help:?}"
        );
    }
}
