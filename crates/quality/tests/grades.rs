//! Grades at every limit of their published scales, and their laws.

use netburn_quality::grade::aim::{
    Class, Input, Measured, Score, Use, delay_points, jitter_points, loss_points, rate_points,
};
use netburn_quality::grade::bufferbloat::{Letter, Scale, increase, mean_increase};
use netburn_quality::grade::qoo::{GORESPONSIVENESS, LIBREQOS, PROFILES, Profile};
use netburn_units::{BitRate, Duration, Probability};
use proptest::prelude::*;

const NANO: Duration = Duration::from_nanos(1);

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn profile(name: &str, source: &str) -> Profile {
    let mut profiles = PROFILES.into_iter();
    let found = profiles.find(|profile| (profile.name, profile.source) == (name, source));
    found.unwrap()
}

/// "Less than 5ms (average of down bloat and up bloat) - A+, less than 30ms - A, less than 60ms - B,
/// less than 200ms - C, less than 400ms - D, 400ms+ - F" (dslreports.com/faq/17930).
#[test]
fn letters_change_at_the_limits_of_dslreports() {
    let scale = Scale::DSLREPORTS;
    assert_eq!(scale.letter(Duration::ZERO), Letter::APlus);
    for (limit, below, from) in [
        (5, "A+", "A"),
        (30, "A", "B"),
        (60, "B", "C"),
        (200, "C", "D"),
        (400, "D", "F"),
    ] {
        assert_eq!(scale.letter(ms(limit) - NANO).as_str(), below, "below {limit} ms");
        assert_eq!(scale.letter(ms(limit)).as_str(), from, "from {limit} ms");
    }
    assert_eq!(scale.letter(Duration::from_nanos(u64::MAX)), Letter::F);
}

/// 12 ms idle, 40 ms and 20 ms loaded: 28 ms and 8 ms, in the mean 18 ms. A loaded path that is faster
/// than the idle one has no increase.
#[test]
fn the_increase_is_the_mean_of_both_directions() {
    let (download, upload) = (increase(ms(12), ms(40)), increase(ms(12), ms(20)));
    assert_eq!((download, upload), (ms(28), ms(8)));
    assert_eq!(mean_increase(download, upload), ms(18));
    assert_eq!(increase(ms(12), ms(11)), Duration::ZERO);
    let most = Duration::from_nanos(u64::MAX);
    assert_eq!(mean_increase(most, most), most);
}

/// At ROP a requirement has 100 points and at CPUP none. In the middle between them it has 50. The
/// limits are those of the files that the profiles name.
#[test]
fn scores_fall_from_the_optimal_to_the_unacceptable_value() {
    for (name, source, percentile, optimal, unacceptable) in [
        ("games", GORESPONSIVENESS, 50, 30, 150),
        ("games", GORESPONSIVENESS, 95, 65, 200),
        ("games", GORESPONSIVENESS, 99, 100, 250),
        ("real-time games", LIBREQOS, 95, 50, 100),
        ("video conference", LIBREQOS, 95, 50, 100),
        ("browsing", LIBREQOS, 90, 50, 150),
        ("streaming", LIBREQOS, 95, 50, 100),
        ("audio", LIBREQOS, 95, 50, 100),
        ("backup", LIBREQOS, 95, 100, 150),
    ] {
        let profile = profile(name, source);
        let level = Probability::from_ppb(percentile * 10_000_000).unwrap();
        let at = |found: Duration| profile.score(|asked| Some(if asked == level { found } else { ms(1) }), 0.0);
        assert!((at(ms(optimal)) - 100.0).abs() < 1e-9, "{name} p{percentile}");
        assert!(at(ms(optimal + 1)) < 100.0, "{name} p{percentile}");
        let middle = Duration::from_micros((optimal + unacceptable) * 500);
        assert!((at(middle) - 50.0).abs() < 1e-9, "{name} p{percentile}");
        assert!(at(ms(unacceptable - 1)) > 0.0, "{name} p{percentile}");
        assert!(at(ms(unacceptable)).abs() < 1e-9, "{name} p{percentile}");
        assert!(at(ms(10 * unacceptable)).abs() < 1e-9, "{name} p{percentile}");
        let lost = profile.score(|asked| (asked != level).then_some(ms(1)), 0.0);
        assert!(lost.abs() < 1e-9, "a percentile among lost packets has no points");
    }
}

/// Loss in percent. In the middle between ROP and CPUP: (0.5 + 1) / 2 = 0.75 % for browsing.
#[test]
fn loss_counts_like_a_latency() {
    for (name, optimal, middle, unacceptable) in [
        ("real-time games", 0.5, 0.75, 1.0),
        ("video conference", 0.1, 0.3, 0.5),
        ("browsing", 0.5, 0.75, 1.0),
        ("streaming", 0.1, 0.55, 1.0),
        ("audio", 0.1, 0.55, 1.0),
        ("backup", 0.1, 0.55, 1.0),
    ] {
        let profile = profile(name, LIBREQOS);
        for (percent, expected) in [
            (0.0, 100.0),
            (optimal, 100.0),
            (middle, 50.0),
            (unacceptable, 0.0),
            (50.0, 0.0),
        ] {
            let score = profile.score(|_| Some(ms(1)), percent / 100.0);
            assert!((score - expected).abs() < 1e-6, "{name} at {percent} %: {score}");
        }
    }
    let games = profile("games", GORESPONSIVENESS);
    assert!(
        (games.score(|_| Some(ms(1)), 0.5) - 100.0).abs() < 1e-9,
        "it has no limit of loss"
    );
}

/// p50 60 ms: (150 − 60) / 120 = 75 points. p95 92 ms: (200 − 92) / 135 = 80. p99 200 ms: (250 − 200) / 150 = 33.3.
/// The lowest one counts.
#[test]
fn the_worst_requirement_counts() {
    let games = profile("games", GORESPONSIVENESS);
    let score = games.score(
        |level| {
            Some(ms(match level.as_ppb() {
                500_000_000 => 60,
                950_000_000 => 92,
                _ => 200,
            }))
        },
        0.0,
    );
    assert!((score - 100.0 / 3.0).abs() < 1e-9, "{score}");
}

/// Points at each limit of internalConfig.ts: the value at a limit has the points of the next class.
#[test]
fn points_change_at_the_limits_of_cloudflare() {
    for (limit, below, from) in [(10, 20, 10), (20, 10, 5), (50, 5, 0), (100, 0, -10), (500, -10, -20)] {
        assert_eq!((delay_points(ms(limit) - NANO), delay_points(ms(limit))), (below, from));
    }
    for (limit, below, from) in [(10, 10, 5), (20, 5, 0), (100, 0, -10), (500, -10, -20)] {
        assert_eq!(
            (jitter_points(ms(limit) - NANO), jitter_points(ms(limit))),
            (below, from)
        );
    }
    for (limit, below, from) in [(0.01, 10, 5), (0.05, 5, 0), (0.25, 0, -10), (0.5, -10, -20)] {
        assert_eq!((loss_points(limit - 1e-9), loss_points(limit)), (below, from));
    }
    for (limit, below, from) in [(1, 0, 5), (10, 5, 10), (50, 10, 20), (100, 20, 30)] {
        let limit = BitRate::from_mbps(limit);
        let under = BitRate::from_bps(limit.as_bps() - 1);
        assert_eq!((rate_points(under), rate_points(limit)), (below, from));
    }
    assert_eq!(
        (
            delay_points(Duration::ZERO),
            jitter_points(Duration::ZERO),
            loss_points(0.0)
        ),
        (20, 10, 10)
    );
    assert_eq!((rate_points(BitRate::from_bps(0)), loss_points(1.0)), (0, -20));
}

/// 15 ms idle has 10 points, 30 ms more under load 5, 2 ms of jitter 10, no loss 10, 60 Mbit/s 20. Streaming:
/// 10 + 10 + 20 + 5 = 45, good (40 to 59). Gaming: 10 + 10 + 5 = 25, good (25 to 29). Calls: 10 + 10 + 10 + 5 = 35,
/// good (25 to 39).
#[test]
fn a_use_adds_the_points_of_its_values() {
    let measured = Measured {
        latency: Some(ms(15)),
        increase: Some(ms(30)),
        jitter: Some(ms(2)),
        lost: Some(0.0),
        download: Some(BitRate::from_mbps(60)),
    };
    let scores = Use::ALL.map(|of| of.score(&measured).unwrap());
    let good = |points| Score {
        points,
        class: Class::Good,
    };
    assert_eq!(scores, [good(45), good(25), good(35)]);
}

/// The class limits of internalConfig.ts, each reached and missed by combinations of points. With loss unmeasured (0
/// points), gaming is latency + increase: 5 + 0 = 5 is poor and 0 + 0 is bad; 10 + 5 = 15 is average and 5 + 5 = 10 is
/// poor; 20 + 5 = 25 is good and 10 + 10 = 20 is average; 20 + 10 = 30 is great.
#[test]
fn classes_change_at_the_limits_of_cloudflare() {
    for (latency, increase, points, class) in [
        (60, 60, 0, Class::Bad),
        (30, 60, 5, Class::Poor),
        (30, 30, 10, Class::Poor),
        (15, 30, 15, Class::Average),
        (15, 15, 20, Class::Average),
        (5, 30, 25, Class::Good),
        (5, 15, 30, Class::Great),
    ] {
        let measured = Measured {
            latency: Some(ms(latency)),
            increase: Some(ms(increase)),
            ..Measured::default()
        };
        assert_eq!(Use::Gaming.score(&measured), Ok(Score { points, class }));
    }
    assert_eq!(Use::Streaming.class_limits(), [15, 20, 40, 60]);
    assert_eq!(Use::Gaming.class_limits(), [5, 15, 25, 30]);
    assert_eq!(Use::Calls.class_limits(), [5, 15, 25, 40]);
}

/// −20 − 20 = −40 becomes 0.
#[test]
fn a_sum_is_never_negative() {
    let measured = Measured {
        latency: Some(ms(600)),
        increase: Some(ms(600)),
        ..Measured::default()
    };
    let bad = Score {
        points: 0,
        class: Class::Bad,
    };
    assert_eq!(Use::Gaming.score(&measured), Ok(bad));
}

#[test]
fn missing_values_are_listed() {
    let nothing = Measured::default();
    assert_eq!(
        Use::Streaming.score(&nothing),
        Err(vec![Input::Latency, Input::Download, Input::Increase])
    );
    assert_eq!(
        Use::Calls.score(&nothing),
        Err(vec![Input::Latency, Input::Jitter, Input::Increase])
    );
    let idle = Measured {
        latency: Some(ms(5)),
        ..nothing
    };
    assert_eq!(Use::Gaming.score(&idle), Err(vec![Input::Increase]));
}

fn delay() -> impl Strategy<Value = Duration> {
    (0_u64..1_000_000_000).prop_map(Duration::from_nanos)
}

fn measured() -> impl Strategy<Value = Measured> {
    let rate = (0_u64..200_000_000).prop_map(BitRate::from_bps);
    (delay(), delay(), delay(), 0.0..=1.0_f64, rate).prop_map(|(latency, increase, jitter, lost, download)| Measured {
        latency: Some(latency),
        increase: Some(increase),
        jitter: Some(jitter),
        lost: Some(lost),
        download: Some(download),
    })
}

proptest! {
    #[test]
    fn a_larger_increase_never_has_a_better_letter(one in delay(), more in delay()) {
        let scale = Scale::DSLREPORTS;
        prop_assert!(scale.letter(one) <= scale.letter(one + more));
        prop_assert!(increase(ms(3), one) <= increase(ms(3), one + more));
        prop_assert!(mean_increase(one, ms(7)) <= mean_increase(one + more, ms(7)));
    }

    #[test]
    fn a_worse_path_never_has_a_better_score(
        delays in prop::collection::vec(delay(), 4),
        more in delay(),
        lost in 0.0..=1.0_f64,
        more_lost in 0.0..=1.0_f64,
    ) {
        let at = |level: Probability, delays: &[Duration]| match level.as_ppb() {
            500_000_000 => delays[0],
            900_000_000 => delays[1],
            950_000_000 => delays[2],
            _ => delays[3],
        };
        for profile in PROFILES {
            let score = profile.score(|level| Some(at(level, &delays)), lost);
            prop_assert!((0.0..=100.0).contains(&score));
            for worse in 0..delays.len() {
                let mut later = delays.clone();
                later[worse] += more;
                prop_assert!(profile.score(|level| Some(at(level, &later)), lost) <= score);
            }
            prop_assert!(profile.score(|level| Some(at(level, &delays)), lost.max(more_lost)) <= score);
            prop_assert!(profile.score(|_| None, lost) <= score);
        }
    }

    #[test]
    fn a_worse_value_never_has_a_better_class(of in measured(), worse in measured()) {
        let later = |one: Option<Duration>, other: Option<Duration>| one.zip(other).map(|(one, other)| one + other);
        let (lost, more_lost) = (of.lost.unwrap(), worse.lost.unwrap());
        let changes = [
            Measured { latency: later(of.latency, worse.latency), ..of },
            Measured { increase: later(of.increase, worse.increase), ..of },
            Measured { jitter: later(of.jitter, worse.jitter), ..of },
            Measured { lost: Some(lost.max(more_lost)), ..of },
            Measured { download: of.download.min(worse.download), ..of },
        ];
        for subject in Use::ALL {
            let before = subject.score(&of).unwrap();
            for change in &changes {
                let after = subject.score(change).unwrap();
                prop_assert!(after.points <= before.points && after.class <= before.class);
            }
        }
    }
}
