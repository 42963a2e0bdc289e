//! Limits of a configuration, text form of its parts, and its volume.

use netburn_units::{BitRate, ByteSize, Dscp, Duration};
use netburn_workload::config::PRESETS;
use netburn_workload::{Config, Connections, Goal, Kind, PlayerConfig, Priority};

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
    let cases: &[(&str, Change, &str)] = &[
        ("browsing", |c| c.objects = 0, "`objects` is 0; 1 to 1000"),
        ("browsing", |c| c.objects = 1001, "`objects` is 1001; 1 to 1000"),
        ("probe", |c| c.objects = 2, "`objects` is 2; it must be 1"),
        ("upload", |c| c.streams = 0, "`streams` is 0; 1 to 1000"),
        ("download", |c| c.streams = 1001, "`streams` is 1001; 1 to 1000"),
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
        (
            "browsing",
            |c| c.streams = 2,
            "`streams` is for kinds `download` and `upload`, not `pages`",
        ),
        (
            "download",
            |c| (c.streams, c.objects) = (1000, 11),
            "`streams` times `objects` is 11000 requests at once; at most 10000",
        ),
        (
            "voip",
            |c| c.object_size = ByteSize::ZERO,
            "`object_size` is 0 B; 1 B to 16 GiB",
        ),
        (
            "download",
            |c| c.object_size = ByteSize::from_gib(17),
            "`object_size` is 17 GiB; 1 B to 16 GiB",
        ),
        (
            "probe",
            |c| c.object_size = ByteSize::from_bytes(63),
            "`object_size` is 63 B; 64 B to 1.4 kB",
        ),
        (
            "probe",
            |c| c.object_size = ByteSize::from_bytes(1401),
            "`object_size` is 1.401 kB; 64 B to 1.4 kB",
        ),
        (
            "voip",
            |c| c.interval = None,
            "`interval` or `rate` is required for kind `calls`",
        ),
        (
            "voip",
            |c| c.interval = Some(Duration::ZERO),
            "`interval` is 0 s; 100 us to 24 h",
        ),
        (
            "4kstream",
            |c| c.interval = Some(Duration::from_secs(86_401)),
            "`interval` is 86401 s; 100 us to 24 h",
        ),
        (
            "download",
            |c| c.interval = Some(Duration::from_secs(1)),
            "`interval` can't be set on kind `download`, whose objects follow each other without an interval; use kind `stream` for a fixed rate",
        ),
        (
            "browsing",
            |c| c.jitter = Duration::from_millis(1501),
            "`jitter` is 1.501 s; at most half of `interval`, which is 3 s",
        ),
        (
            "upload",
            |c| c.jitter = Duration::from_millis(1),
            "`jitter` can't be set on kind `upload`, which has no interval",
        ),
        ("voip", |c| c.outstanding = 0, "`outstanding` is 0; 1 to 1000"),
        (
            "browsing",
            |c| (c.objects, c.outstanding) = (500, 21),
            "`outstanding` times `objects` is 10500 requests at once; at most 10000",
        ),
        ("voip", |c| c.timeout = Duration::ZERO, "`timeout` is 0 s; 10 ms to 1 h"),
        (
            "voip",
            |c| c.player = Some(PlayerConfig::default()),
            "`player` is for kind `stream`, not `calls`",
        ),
        (
            "4kstream",
            |c| c.player.as_mut().unwrap().max_buffer = Duration::from_secs(1),
            "`player` has a `max_buffer` of 1 s, which is less than its start of 2 s; playback would never start",
        ),
        (
            "4kstream",
            |c| c.player.as_mut().unwrap().start = Duration::ZERO,
            "`player` has an invalid start: found 0 s, expected more than 0 s",
        ),
        (
            "4kstream",
            |c| c.player.as_mut().unwrap().rate = BitRate::from_bps(0),
            "`player` has an invalid rate: found 0, expected more than 0",
        ),
        (
            "4kstream",
            |c| c.player = None,
            "`goal` can't be `no stall` without a `player`",
        ),
        (
            "voip",
            |c| c.goals = vec![Goal::NoStall],
            "`goal` on kind `calls` can't be `no stall`; only kinds `stream` and `dash` have a player",
        ),
        (
            "browsing",
            |c| c.goals = vec![RATE],
            "`goal` on kind `pages` can't be a rate; use a latency",
        ),
        (
            "download",
            |c| c.goals = vec![LATENCY],
            "`goal` on kind `download` can't be a latency; use a rate",
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
    ];
    let voice: &[(&str, Change, &str)] = &[
        ("voice", |c| c.objects = 2, "`objects` is 2; it must be 1"),
        (
            "voice",
            |c| c.object_size = ByteSize::from_bytes(31),
            "`object_size` is 31 B; 32 B to 1.4 kB",
        ),
        (
            "voice",
            |c| c.interval = Some(Duration::from_millis(4)),
            "`interval` is 4 ms; 5 ms to 200 ms",
        ),
        (
            "voice",
            |c| c.jitter = Duration::from_millis(1),
            "`jitter` can't be set on kind `voice`, whose packets are due on a fixed grid",
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
            "`goal` on kind `voice` must be a rating",
        ),
        (
            "voip",
            |c| c.goals = vec![rating(80)],
            "`goal` on kind `calls` can't be a rating; only kind `voice` has one",
        ),
    ];
    for (use_, change, expected) in cases.iter().chain(voice) {
        let mut config = Config::preset(use_).unwrap();
        change(&mut config);
        let error = config.validate().expect_err(expected);
        assert_eq!(error.to_string(), *expected);
        assert!(expected.starts_with(&format!("`{}`", error.key)));
    }
}

#[test]
fn values_at_their_bounds_are_possible() {
    let cases: &[(&str, Change)] = &[
        ("browsing", |c| c.objects = 1000),
        ("browsing", |c| c.jitter = Duration::from_millis(1500)),
        ("download", |c| c.object_size = ByteSize::from_gib(16)),
        ("download", |c| c.goals = vec![RATE]),
        ("upload", |c| c.goals = vec![RATE]),
        ("4kstream", |c| c.goals = vec![LATENCY, RATE, Goal::NoStall]),
        ("4kstream", |c| c.jitter = Duration::from_millis(100)),
        ("probe", |c| c.goals = vec![LATENCY]),
        ("probe", |c| c.object_size = ByteSize::from_bytes(1400)),
        ("probe", |c| c.interval = Some(Duration::from_micros(100))),
        ("voice", |c| c.object_size = ByteSize::from_bytes(32)),
        ("voice", |c| c.interval = Some(Duration::from_millis(5))),
        ("voice", |c| c.interval = Some(Duration::from_millis(200))),
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
    for kind in Kind::ALL {
        assert_eq!(kind.as_str().parse(), Ok(*kind));
    }
    for priority in Priority::ALL {
        assert_eq!(priority.as_str().parse(), Ok(*priority));
    }
    for connections in Connections::ALL {
        assert_eq!(connections.as_str().parse(), Ok(*connections));
    }
    assert_eq!(
        Kind::NAMES,
        [
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
            "dash"
        ]
    );
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
                .map(|goal| goal.describe(config.kind))
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
    assert_eq!(goals, expected);
    assert_eq!(LATENCY.describe(Kind::Probe), "round trip ≤ 150 ms");
}

#[test]
fn the_volume_is_predicted() {
    let minute = Duration::from_secs(60);
    // 10 × 128 KiB every 3 s: 20 in a minute, 3.495 Mbit/s.
    let browsing = Config::browsing();
    assert_eq!(
        browsing.bytes_expected(minute),
        Some(ByteSize::from_bytes(20 * 1_310_720))
    );
    assert_eq!(browsing.mean_rate(), Some(BitRate::from_bps(3_495_253)));
    // The last interval counts although it is cut.
    assert_eq!(browsing.operations_expected(Duration::from_millis(60_001)), Some(21));
    assert_eq!(Config::stream_4k().mean_rate(), Some(BitRate::from_mbps(25)));
    // 60 s / 335.54432 ms = 178.8.
    assert_eq!(
        Config::stream_4k().bytes_expected(minute),
        Some(ByteSize::from_mib(179))
    );
    assert_eq!(Config::voip().mean_rate(), Some(BitRate::from_mbps(1)));
    assert_eq!(
        Config::probe().bytes_expected(minute),
        Some(ByteSize::from_bytes(1200 * 64))
    );
    // A packet every 20 ms in each direction: 2 · 172 · 8 / 0.02 = 137.6 kbit/s.
    assert_eq!(
        Config::voice().bytes_expected(minute),
        Some(ByteSize::from_bytes(2 * 3000 * 172))
    );
    assert_eq!(Config::voice().mean_rate(), Some(BitRate::from_bps(137_600)));
    for config in [Config::download(), Config::upload()] {
        assert_eq!((config.mean_rate(), config.bytes_expected(minute)), (None, None));
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
