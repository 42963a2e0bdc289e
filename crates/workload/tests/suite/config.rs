//! Limits of a configuration, text form of its parts, and its volume.

use netburn_units::{BitRate, ByteSize, Dscp, Duration};
use netburn_workload::config::{PRESETS, Volume};
use netburn_workload::kinds::packets::Rating;
use netburn_workload::kinds::{Bulk, KINDS, Kind, KindSettings, Packets, Pages, Periodic, Probe, Stream};
use netburn_workload::{Config, Connections, Direction, Goal, Priority};
use std::collections::BTreeSet;

const LATENCY: Goal = Goal::Latency {
    limit: Duration::from_millis(150),
};

const RATE: Goal = Goal::Rate {
    at_least: BitRate::from_mbps(20),
    window: Duration::from_secs(2),
    step: Duration::from_millis(100),
};

fn rating(at_least: u8) -> Goal {
    Goal::Quality {
        at_least,
        window: Duration::from_secs(10),
        step: Duration::from_secs(1),
    }
}

/// A change of a configuration.
type Change = fn(&mut Config);

#[test]
fn impossible_values_are_named_by_their_key() {
    reject::<Pages>(&[
        (|c| c.requests.objects = 0, "`objects` is 0; 1 to 1000"),
        (|c| c.requests.objects = 1001, "`objects` is 1001; 1 to 1000"),
        (
            |c| c.grid.jitter = Duration::from_millis(1501),
            "`jitter` is 1.501 s; at most half of `interval`, which is 3 s",
        ),
    ]);
    reject::<Stream>(&[
        (
            |c| c.grid.interval = Duration::from_secs(86_401),
            "`interval` is 86401 s; 100 us to 24 h",
        ),
        (
            |c| c.player.as_mut().unwrap().max_buffer = Duration::from_secs(1),
            "`player` has a `max_buffer` of 1 s, which is less than its start of 2 s; playback would never start",
        ),
        (
            |c| c.player.as_mut().unwrap().start = Duration::ZERO,
            "`player` has an invalid start: found 0 s, expected more than 0 s",
        ),
        (
            |c| c.player.as_mut().unwrap().rate = BitRate::from_bps(0),
            "`player` has an invalid rate: found 0, expected more than 0",
        ),
        (|c| c.player = None, "`goal` can't be `no stall` without a `player`"),
    ]);
    reject::<Periodic>(&[
        (
            |c| c.requests.object_size = ByteSize::ZERO,
            "`object_size` is 0 B; 1 B to 16 GiB",
        ),
        (
            |c| c.grid.interval = Duration::ZERO,
            "`interval` is 0 s; 100 us to 24 h",
        ),
        (|c| c.outstanding = 0, "`outstanding` is 0; 1 to 1000"),
        (
            |c| (c.requests.objects, c.outstanding) = (500, 21),
            "`outstanding` times `objects` is 10500 requests at once; at most 10000",
        ),
    ]);
    reject::<Bulk>(&[
        (|c| c.streams = 0, "`streams` is 0; 1 to 1000"),
        (|c| c.streams = 1001, "`streams` is 1001; 1 to 1000"),
        (
            |c| (c.streams, c.requests.objects) = (1000, 11),
            "`streams` times `objects` is 11000 requests at once; at most 10000",
        ),
        (
            |c| c.requests.object_size = ByteSize::from_gib(17),
            "`object_size` is 17 GiB; 1 B to 16 GiB",
        ),
    ]);
    reject::<Probe>(&[
        (
            |c| c.size = ByteSize::from_bytes(63),
            "`object_size` is 63 B; 64 B to 1.4 kB",
        ),
        (
            |c| c.size = ByteSize::from_bytes(1401),
            "`object_size` is 1.401 kB; 64 B to 1.4 kB",
        ),
    ]);
    let voice = |interval, bytes| Config::from(Packets::voice(interval, ByteSize::from_bytes(bytes))).validate();
    assert_eq!(
        voice(Duration::from_millis(20), 31).unwrap_err().to_string(),
        "`object_size` is 31 B; 32 B to 1.4 kB"
    );
    assert_eq!(
        voice(Duration::from_millis(4), 172).unwrap_err().to_string(),
        "`interval` is 4 ms; 5 ms to 200 ms"
    );
    let different = Packets::new(Rating::Voice, Config::game().packet_streams());
    assert_eq!(Config::from(different).validate().unwrap_err().key, "up");
    let cases: &[(&str, Change, &str)] = &[
        (
            "browsing",
            |c| (c.activity.start, c.activity.stop) = (Duration::from_secs(2), Some(Duration::from_secs(1))),
            "`stop` is 1 s; at least 100 ms after `start`, which is 2 s",
        ),
        (
            "upload",
            |c| c.activity.repeat = Some(Duration::from_secs(1)),
            "`repeat` needs a `stop`",
        ),
        (
            "upload",
            |c| (c.activity.stop, c.activity.repeat) = (Some(Duration::from_secs(3)), Some(Duration::from_secs(2))),
            "`repeat` is 2 s; at least 3 s",
        ),
        (
            "voice",
            |c| (c.activity.stop, c.activity.repeat) = (Some(Duration::from_secs(1)), Some(Duration::from_secs(2))),
            "`repeat` can't be set on kind `voice`",
        ),
        ("voip", |c| c.timeout = Duration::ZERO, "`timeout` is 0 s; 10 ms to 1 h"),
        (
            "voip",
            |c| c.goals = vec![Goal::NoStall],
            "`goal` is not supported on kind `calls`; `no stall` is a goal for `stream` and `dash`",
        ),
        (
            "browsing",
            |c| c.goals = vec![RATE],
            "`goal` is not supported on kind `pages`; a rate is a goal for `stream`, `download`, `upload` and `dash`",
        ),
        (
            "download",
            |c| c.goals = vec![LATENCY],
            "`goal` is not supported on kind `download`; a time is a goal for `pages`, …",
        ),
        (
            "voip",
            |c| c.goals = vec![LATENCY, LATENCY],
            "`goal` has two goals of one type: latency ≤ 150 ms and latency ≤ 150 ms",
        ),
        (
            "voip",
            |c| c.goals = vec![Goal::Latency { limit: Duration::ZERO }],
            "`goal` has an invalid latency: found 0 s, expected more than 0 s",
        ),
        (
            "4kstream",
            |c| {
                c.goals = vec![Goal::Rate {
                    at_least: BitRate::from_mbps(20),
                    window: Duration::from_millis(1950),
                    step: Duration::from_millis(100),
                }];
            },
            "`goal` has a window of 1.95 s; expected a multiple of 100 ms",
        ),
        (
            "4kstream",
            |c| {
                c.goals = vec![Goal::Rate {
                    at_least: BitRate::from_bps(0),
                    window: Duration::from_secs(2),
                    step: Duration::from_millis(100),
                }];
            },
            "`goal` has an invalid rate: found 0, expected more than 0",
        ),
        (
            "voice",
            |c| c.timeout = Duration::from_millis(2001),
            "`timeout` is 2.001 s; 10 ms to 2 s",
        ),
        ("voice", |c| c.goals = vec![rating(0)], "`goal` is 0; 1 to 93"),
        ("voice", |c| c.goals = vec![rating(94)], "`goal` is 94; 1 to 93"),
        (
            "voice",
            |c| c.goals = vec![LATENCY],
            "`goal` is not supported on kind `voice`; a time is a goal for `pages`, …",
        ),
        (
            "voip",
            |c| c.goals = vec![rating(80)],
            "`goal` is not supported on kind `calls`; a rating is a goal for `voice`",
        ),
    ];
    for (use_, change, expected) in cases {
        let mut config = Config::preset(use_).unwrap();
        change(&mut config);
        assert_rejected(&config, expected);
    }
}

/// An edit of valid settings, and the expected error.
type Case<'a, S> = (fn(&mut S), &'a str);

fn reject<S: Default + Into<KindSettings>>(cases: &[Case<S>]) {
    for (change, expected) in cases {
        assert_rejected(&Config::with(*change), expected);
    }
}

/// `…` at the end stands for any text, such as the other kinds with a goal.
fn assert_rejected(config: &Config, expected: &str) {
    let error = config.validate().expect_err(expected);
    match expected.strip_suffix('…') {
        Some(begin) => assert!(error.to_string().starts_with(begin), "{error}"),
        None => assert_eq!(error.to_string(), expected),
    }
    assert!(expected.starts_with(&format!("`{}`", error.key)));
}

fn accept<S: Default + Into<KindSettings>>(change: fn(&mut S)) {
    let config = Config::with(change);
    assert_eq!(config.validate(), Ok(()), "{config:?}");
}

#[test]
fn values_at_their_bounds_are_possible() {
    accept::<Pages>(|c| c.requests.objects = 1000);
    accept::<Pages>(|c| c.grid.jitter = Duration::from_millis(1500));
    accept::<Bulk>(|c| c.requests.object_size = ByteSize::from_gib(16));
    accept::<Stream>(|c| c.grid.jitter = Duration::from_millis(100));
    accept::<Probe>(|c| c.size = ByteSize::from_bytes(1400));
    accept::<Probe>(|c| c.grid.interval = Duration::from_micros(100));
    for (interval, bytes) in [(5, 32), (200, 1400)] {
        let voice = Packets::voice(Duration::from_millis(interval), ByteSize::from_bytes(bytes));
        assert_eq!(Config::from(voice).validate(), Ok(()));
    }
    let cases: &[(&str, Change)] = &[
        ("download", |c| c.goals = vec![RATE]),
        ("upload", |c| c.goals = vec![RATE]),
        ("4kstream", |c| c.goals = vec![RATE, Goal::NoStall]),
        ("probe", |c| c.goals = vec![LATENCY]),
        ("voice", |c| c.goals = vec![rating(93)]),
        ("voice", |c| c.goals = Vec::new()),
    ];
    for (use_, change) in cases {
        let mut config = Config::preset(use_).unwrap();
        change(&mut config);
        assert_eq!(config.validate(), Ok(()), "{config:?}");
    }
}

#[test]
fn names_round_trip() {
    for kind in KINDS {
        assert_eq!(Kind::by_name(kind.name), Some(*kind));
    }
    // Names in scenario files and records, so they stay.
    for name in [
        "pages",
        "stream",
        "calls",
        "download",
        "upload",
        "probe",
        "voice",
        "datagrams",
        "game",
        "cloud-gaming",
        "video-call",
        "responsiveness",
        "dash",
    ] {
        assert!(Kind::by_name(name).is_some(), "{name}");
    }
    // A kind whose constructor is missing in the other list would be unknown to the manual.
    let built_in: BTreeSet<&str> = KINDS.iter().map(|kind| kind.built_in).collect();
    assert_eq!(built_in, PRESETS.iter().copied().collect());
    for priority in Priority::ALL {
        assert_eq!(priority.as_str().parse(), Ok(*priority));
    }
    for connections in Connections::ALL {
        assert_eq!(connections.as_str().parse(), Ok(*connections));
    }
    assert_eq!(Priority::NAMES, ["background", "best-effort", "video", "voice"]);
    assert_eq!(Connections::NAMES, ["new", "keep"]);
    let error = "Video".parse::<Priority>().unwrap_err();
    assert_eq!(
        error.to_string(),
        "unknown priority `Video`; known: background, best-effort, video, voice"
    );
}

#[test]
fn goals_have_a_text_form() {
    let goals: Vec<String> = PRESETS
        .iter()
        .map(|use_| Config::preset(use_).unwrap())
        .flat_map(|config| {
            config
                .goals
                .iter()
                .map(|goal| goal.describe(config.kind()))
                .collect::<Vec<_>>()
        })
        .collect();
    let expected = [
        "page load ≤ 500 ms",
        "every 2 s ≥ 20 Mbit/s",
        "no stall",
        "no stall",
        "segments ≥ 4.5 Mbit/s",
        "latency ≤ 150 ms",
        "every 10 s R ≥ 80",
        "every 10 s lost ≤ 1 %",
        "round trip ≤ 100 ms",
        "no gap of 100 ms",
        "frames on time",
        "round trip ≤ 80 ms",
        "no freeze",
        "frame delay ≤ 150 ms",
        "every 5 s ≥ 1000 rpm",
    ];
    for text in expected {
        assert!(goals.iter().any(|goal| goal == text), "{text}");
    }
    assert_eq!(LATENCY.describe(Config::probe().kind()), "round trip ≤ 150 ms");
}

#[test]
fn the_volume_is_predicted() {
    let minute = Duration::from_secs(60);
    let down = |config: &Config, span| config.volume(Direction::Down, span).scheduled;
    // 10 × 128 KiB every 3 s: 20 in a minute, 3.495 Mbit/s.
    let browsing = Config::browsing();
    assert_eq!(down(&browsing, minute), 20 * 1_310_720);
    assert_eq!(browsing.volume(Direction::Up, minute), Volume::default());
    assert_eq!(browsing.mean_rate(), Some(BitRate::from_bps(3_495_253)));
    // The last interval counts although it is cut.
    assert_eq!(down(&browsing, Duration::from_millis(60_001)), 21 * 1_310_720);
    assert_eq!(Config::stream_4k().mean_rate(), Some(BitRate::from_mbps(25)));
    // 60 s / 335.54432 ms = 178.8.
    assert_eq!(down(&Config::stream_4k(), minute), 179 << 20);
    assert_eq!(Config::voip().mean_rate(), Some(BitRate::from_mbps(1)));
    // The server returns each datagram.
    for direction in [Direction::Up, Direction::Down] {
        assert_eq!(Config::probe().volume(direction, minute).scheduled, 1200 * 64);
        assert_eq!(Config::voice().volume(direction, minute).scheduled, 3000 * 172);
    }
    // A packet every 20 ms in each direction: 2 · 172 · 8 / 0.02 = 137.6 kbit/s.
    assert_eq!(Config::voice().mean_rate(), Some(BitRate::from_bps(137_600)));
    assert_eq!(Config::responsiveness().mean_rate(), None);
    for config in [Config::download(), Config::upload()] {
        assert_eq!(config.mean_rate(), None);
        assert_ne!(config.loads(Direction::Up), config.loads(Direction::Down));
    }
}

#[test]
fn classes_carry_their_dscp() {
    // RFC 8325 §4: CS1 is AC_BK, CS0 AC_BE, CS5 AC_VI, CS6 AC_VO.
    assert_eq!(
        Priority::ALL.iter().map(|p| p.dscp()).collect::<Vec<_>>(),
        [8, 0, 40, 48]
    );
}

/// EF (46) has user priority 6 (RFC 8325 figure 1). A DSCP replaces that of the priority.
#[test]
fn a_dscp_replaces_that_of_the_priority() {
    let mut config = Config::voice();
    assert_eq!((config.marking().dscp, config.marking().tid), (48, 6));
    config.dscp = Dscp::new(46);
    assert_eq!((config.marking().dscp, config.marking().tid), (46, 6));
    config.dscp = Dscp::new(0);
    assert_eq!(config.marking(), Priority::BestEffort.marking());
}
