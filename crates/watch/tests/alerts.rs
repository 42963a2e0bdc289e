//! Laws of alerts, and the places of errors in rules.

use netburn_units::{Duration, Instant, Probability};
use netburn_watch::alert::{Alert, Change, Value, delay};
use netburn_watch::rule::{Condition, Limit, Rule};
use netburn_watch::{Part, Sample};
use proptest::prelude::*;

const CAUSES: [&str; 2] = ["line-down", "line-up"];

fn rule(text: &str) -> Rule {
    Rule::parse(text, &CAUSES).unwrap_or_else(|error| panic!("{error}"))
}

fn sample(second: i64, round_trip: Option<u64>) -> Sample {
    Sample {
        part: Part::Server,
        at: Instant::from_secs(second),
        round_trip: round_trip.map(Duration::from_millis),
    }
}

/// Changes with one probe per second, with the seconds of the last probe that they can depend on: the one 4 s before.
fn changes(alert: &mut Alert, from: i64, probes: impl IntoIterator<Item = Option<u64>>) -> Vec<(i64, Change)> {
    let mut found = Vec::new();
    for (second, round_trip) in (from..).zip(probes) {
        alert.handle_sample(sample(second, round_trip));
        found.extend(
            alert
                .poll(Instant::from_secs(second + 4))
                .map(|change| (second, change)),
        );
    }
    found
}

#[test]
fn a_rule_has_a_part_a_value_a_limit_and_a_time() {
    let expected = Condition::Above {
        part: Part::Server,
        limit: Limit::Delay {
            level: Probability::from_ppb(950_000_000).unwrap(),
            limit: Duration::from_millis(100),
        },
        within: Duration::from_secs(300),
    };
    for text in [
        "server p95 > 100 ms for 5 min",
        "server p95>100ms for 5min",
        "  server  p95  >  0.1 s  for  300 s ",
    ] {
        assert_eq!(rule(text).condition, expected, "{text}");
    }
    assert_eq!(
        rule("near loss > 2 % for 10 s").condition,
        Condition::Above {
            part: Part::Near,
            limit: Limit::Loss(Probability::from_ppb(20_000_000).unwrap()),
            within: Duration::from_secs(10),
        }
    );
    assert_eq!(
        rule("cause line-down").condition,
        Condition::Cause("line-down".to_owned())
    );
}

#[test]
fn an_error_has_its_place() {
    for (text, at) in [
        ("", 0),
        ("sever p95 > 100 ms for 5 min", 0),
        ("server p96 > 100 ms for 5 min", 7),
        ("server p95 < 100 ms for 5 min", 11),
        ("server p95 > 100 for 5 min", 13),
        ("server p95 > for 5 min", 13),
        ("server p95 > 100 ms", 19),
        ("server p95 > 100 ms for", 23),
        ("server p95 > 100 ms for 5 mins", 24),
        ("server p95 > 100 ms for 7 h", 24),
        ("server p95 > 100 ms for 20 s", 24),
        ("server loss > 101 % for 20 s", 14),
        ("cause", 5),
        ("cause line", 6),
        ("cause line-down now", 16),
    ] {
        let error = Rule::parse(text, &CAUSES).unwrap_err();
        assert_eq!(error.at, at, "{error}");
        let shown = error.to_string();
        assert_eq!(
            shown.lines().last().unwrap(),
            format!("  {}^", " ".repeat(at)),
            "{shown}"
        );
    }
    assert!(Rule::parse(&"x".repeat(201), &CAUSES).is_err());
    assert!(Rule::parse("server p95 >\n1 ms for 5 min", &CAUSES).is_err());
}

/// 60 s of 200 ms are above 100 ms. Then 80 ms, the end of the hysteresis, are the 95th percentile once at most 5 % of 60
/// probes are longer: 3 of 60 probes, after 57 shorter ones.
#[test]
fn an_alert_starts_and_ends_once() {
    let mut alert = Alert::new(rule("server p95 > 100 ms for 60 s"));
    let long = std::iter::repeat_n(Some(200), 100);
    let short = std::iter::repeat_n(Some(80), 100);
    let found = changes(&mut alert, 0, long.chain(short));
    let value = |ms| Some(Value::Delay(Some(Duration::from_millis(ms))));
    // At a second there are 61 probes in the last 60 s, of which the 58th is the percentile: 3 may be longer.
    assert_eq!(
        found,
        [
            (
                60,
                Change {
                    starts: true,
                    value: value(200)
                }
            ),
            (
                157,
                Change {
                    starts: false,
                    value: value(80)
                }
            ),
        ]
    );
}

#[test]
fn a_value_between_end_and_limit_changes_nothing() {
    let mut alert = Alert::new(rule("server p50 > 100 ms for 30 s"));
    assert_eq!(changes(&mut alert, 0, std::iter::repeat_n(Some(90), 300)), []);
    assert_eq!(changes(&mut alert, 300, std::iter::repeat_n(Some(150), 100)).len(), 1);
    assert_eq!(changes(&mut alert, 400, std::iter::repeat_n(Some(90), 300)), []);
    assert!(alert.is_active());
}

#[test]
fn lost_probes_are_longer_than_any_limit() {
    let mut alert = Alert::new(rule("server median > 1 h for 10 s"));
    let found = changes(&mut alert, 0, std::iter::repeat_n(None, 20));
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].1.value, Some(Value::Delay(None)));
}

/// An answer is known at once, and a lost probe after 3 s. An outage that lasts has the shortest times that a rule may have:
/// the alert starts as soon as all of them are lost and known, whatever the percentile.
#[test]
fn an_outage_whose_lost_probes_are_known_late_starts_an_alert() {
    for (text, seconds) in [
        ("server p50 > 100 ms for 10 s", 10),
        ("server p95 > 100 ms for 60 s", 60),
        ("server p99 > 100 ms for 5 min", 300),
        ("server loss > 99 % for 60 s", 60),
    ] {
        let mut alert = Alert::new(rule(text));
        let mut started = None;
        let outage = 1000;
        for second in 0..outage + 2 * seconds {
            if second < outage {
                alert.handle_sample(sample(second, Some(20)));
            }
            if second - 3 >= outage {
                alert.handle_sample(sample(second - 3, None));
            }
            if let Some(change) = alert.poll(Instant::from_secs(second)) {
                assert!(change.starts && started.replace(second).is_none(), "{text}: {second} s");
            }
        }
        let started = started.unwrap_or_else(|| panic!("{text}: no start"));
        assert!(started <= outage + seconds + 4, "{text}: {started} s");
        // The last probe before the outage is not taken for the newest one while lost ones are in flight.
        assert!(started > outage + 4, "{text}: {started} s");
    }
}

/// After a gap, the whole time must be observed again.
#[test]
fn a_gap_neither_starts_nor_ends_an_alert() {
    let mut alert = Alert::new(rule("server loss > 10 % for 60 s"));
    assert_eq!(changes(&mut alert, 0, std::iter::repeat_n(None, 59)), []);
    alert.handle_gap();
    assert_eq!(changes(&mut alert, 10_000, std::iter::repeat_n(None, 60)), []);
    assert_eq!(changes(&mut alert, 10_060, [None]).len(), 1);
    alert.handle_gap();
    assert_eq!(changes(&mut alert, 20_000, std::iter::repeat_n(Some(1), 60)), []);
    assert!(alert.is_active());
    assert_eq!(changes(&mut alert, 20_060, [Some(1)]).len(), 1);
}

#[test]
fn a_cause_starts_and_ends_with_the_hours_that_have_it() {
    let mut alert = Alert::new(rule("cause line-down"));
    let states: Vec<Option<bool>> = [&["line-up"][..], &["line-up", "line-down"], &["line-down"], &[], &[]]
        .iter()
        .map(|named| alert.handle_causes(named).map(|change| change.starts))
        .collect();
    assert_eq!(states, [None, Some(true), None, Some(false), None]);
}

proptest! {
    /// Starts and ends alternate. A start has a value above the limit, an end one of at most 80 % of it.
    #[test]
    fn starts_and_ends_alternate(probes in prop::collection::vec(prop::option::weighted(0.9, 0_u64..200), 0..400)) {
        let mut alert = Alert::new(rule("server p50 > 100 ms for 20 s"));
        let mut is_active = false;
        for (_, change) in changes(&mut alert, 0, probes) {
            prop_assert_eq!(change.starts, !is_active);
            is_active = change.starts;
            let Some(Value::Delay(value)) = change.value else { panic!("a percentile") };
            let value = value.map_or(u64::MAX, Duration::as_millis);
            let is_right = if change.starts { value > 100 } else { value <= 80 };
            prop_assert!(is_right);
        }
        prop_assert_eq!(alert.is_active(), is_active);
    }

    /// The percentile is the smallest value with at least the share of all values at or below it.
    #[test]
    fn a_percentile_is_a_nearest_rank(delays in prop::collection::vec(prop::option::of(0_u64..50), 20..60)) {
        let level = Probability::from_ppb(500_000_000).unwrap();
        let found = delay(delays.iter().map(|ms| ms.map(Duration::from_millis)), level).unwrap();
        let found = found.map_or(u64::MAX, Duration::as_millis);
        let below = |limit: u64| delays.iter().filter(|ms| ms.unwrap_or(u64::MAX) <= limit).count() * 2;
        prop_assert!(below(found) >= delays.len());
        prop_assert!(found == 0 || found == u64::MAX || below(found - 1) < delays.len());
    }

    /// Any text is a rule or has an error with a place in it.
    #[test]
    fn any_text_has_a_place_for_its_error(text in "\\PC{0,60}") {
        if let Err(error) = Rule::parse(&text, &CAUSES) {
            prop_assert!(text.is_char_boundary(error.at));
            prop_assert!(!error.to_string().is_empty());
        }
    }

    #[test]
    fn words_of_rules_in_any_order_do_not_panic(words in prop::collection::vec(prop::sample::select(vec![
        "server", "near", "cause", "p95", "loss", ">", "for", "100", "ms", "%", "5 min", "é", "<", "line-down",
    ]), 0..10)) {
        let text = words.join(" ");
        if let Err(error) = Rule::parse(&text, &CAUSES) {
            prop_assert!(error.at <= text.len());
            prop_assert!(!error.to_string().is_empty());
        }
    }
}
