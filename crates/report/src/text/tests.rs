use super::*;
use crate::sanitise::painted_width;
use netburn_record::GoalKind;
use netburn_record::QualityIssue;
use netburn_workload::Verdict;
use proptest::prelude::*;
use serde_json::{Value, json};

fn latency(count: u64, unbounded: u64, metrics: [Option<f64>; 5]) -> Value {
    let [p50, p95, p99, min, max] = metrics;
    json!({ "count": count, "unbounded": unbounded, "min": min, "p50": p50, "p75": null, "p90": null, "p95": p95, "p99": p99, "max": max })
}

fn workload(name: &str, kind: &str, verdict: &str, latency: Value, goals: Value) -> Value {
    json!({ "name": name, "kind": kind, "verdict": verdict, "provisional": false, "operations": latency["count"], "goal_misses": 0,
            "failures": 0, "unfinished": 0, "throughput_mbps": 3.4, "latency_ms": latency, "goals": goals })
}

fn station(name: &str, verdict: &str, workloads: Vec<Value>) -> Value {
    json!({ "name": name, "verdict": verdict, "throughput_mbps": 3.4, "airtime_share": null, "idle_latency_ms": 0.42,
            "workloads": workloads })
}

fn summary(verdict: &str, stations: Vec<Value>) -> Value {
    json!({ "schema": "netburn.summary/1", "run": "runs/x", "scenario": "house", "environment": "local", "seed": 7,
            "title": "Four stations, one link", "question": "Which fails first?",
            "duration_s": 60.0, "verdict": verdict, "provisional": false,
            "self_check": { "ok": true, "timer_lateness_us": { "p50": 10.0, "p99": 40.0, "max": 2500.0 }, "reasons": [] },
            "totals": { "throughput_mbps": 156.8, "airtime_jain": null },
            "stations": stations, "repeats": [], "intervals": {} })
}

/// Browsing: 88 of 100 pages within 500 ms are 88 %, and the slowest at 2050 ms is 4.1 times the goal. 100
/// operations support p95 (60) and not p99 (300). 4K: windows at worst 40 % of the rate are an excess of 2.5. Voice:
/// 299 of 300 are 99.6 %, and the slowest at 400 ms 2.67 times: marginal. The download has no goal.
fn four() -> Summary {
    let browsing = latency(100, 0, [Some(312.0), Some(1210.0), None, Some(95.0), Some(2050.0)]);
    let stream = latency(178, 0, [Some(211.0), Some(903.5), None, Some(60.0), Some(1500.0)]);
    let voip = latency(300, 0, [Some(3.21), Some(12.5), Some(120.4), Some(0.9), Some(400.0)]);
    let mut tv = workload(
        "4kstream",
        "stream",
        "fail",
        stream,
        json!([
            { "goal": "every 2 s ≥ 20 Mbit/s", "kind": "rate", "met": 0.43, "excess": 2.5, "verdict": "fail", "samples": 581 },
            { "goal": "no stall", "kind": "no_stall", "met": 0.93, "excess": null, "verdict": "fail", "samples": 1 }
        ]),
    );
    tv["player"] = json!({ "stalls": 2, "stalled_ms": 4200.0, "longest_stall_ms": 3000.0, "stalled_share": 0.07 });
    let stations = vec![
        station(
            "laptop",
            "fail",
            vec![workload(
                "browsing",
                "pages",
                "fail",
                browsing,
                json!([{ "goal": "page load ≤ 500 ms", "kind": "latency", "met": 0.88, "excess": 4.1, "verdict": "fail", "samples": 100 }]),
            )],
        ),
        station("tv", "fail", vec![tv]),
        station(
            "phone",
            "marginal",
            vec![workload(
                "voip",
                "calls",
                "marginal",
                voip,
                json!([{ "goal": "latency ≤ 150 ms", "kind": "latency", "met": 299.0 / 300.0, "excess": 400.0 / 150.0, "verdict": "marginal", "samples": 300 }]),
            )],
        ),
        station(
            "desktop",
            "none",
            vec![workload(
                "download",
                "download",
                "none",
                latency(1, 0, [None, None, None, Some(9000.0), Some(9000.0)]),
                json!([]),
            )],
        ),
    ];
    serde_json::from_value(summary("fail", stations)).unwrap()
}

#[test]
fn a_wide_terminal_has_one_table() {
    insta::assert_snapshot!(text(&four(), 120, false), @"
    local: server and stations ran on this machine, over the loopback device; no Wi-Fi was tested. To test your own network,
    run `netburn ui`.

    FAIL – Four stations, one link
    Which fails first?
    laptop and tv missed their goals; phone only just met its goals.
    60 s, seed 7, 4 stations, 156.8 Mbit/s total; saved to runs/x

    STATION  VERDICT   WORKLOAD     MET  GOAL                   Mbit/s  IDLE ms  p50 ms  p95 ms  p99 ms  max ms
    laptop   fail      browsing    88 %  page load ≤ 500 ms        3.4     0.42     312    1210       –    2050
    tv       fail      4kstream    43 %  every 2 s ≥ 20 Mbit/s     3.4     0.42     211     904       –    1500
                                   93 %  no stall
    phone    marginal  voip      99.6 %  latency ≤ 150 ms          3.4     0.42    3.21    12.5     120     400
    desktop  –         download       –  none                      3.4     0.42       –       –       –    9000

    laptop fails: 88 % of 100 browsing operations met `page load ≤ 500 ms` (pass needs 99 %, marginal 95 %); slowest 2.05 s,
      4.1 × the goal.
    tv fails: 4kstream was fast enough (`every 2 s ≥ 20 Mbit/s`) for 43 % of the time (pass needs 99 %, marginal 95 %); the
      slowest reached 40 % of it.
    tv fails: 4kstream stalled twice, 4.20 s in total (7 % of the time), longest 3.00 s.
    phone is marginal: 99.6 % of 300 voip operations met `latency ≤ 150 ms`; slowest 400 ms, 2.67 × the goal (pass allows
      2).

    Self-check passed: operations started within 40 µs of schedule at p99 (worst 2.50 ms).
    ");
}

#[test]
fn a_narrow_terminal_has_two() {
    insta::assert_snapshot!(text(&four(), 80, false), @"
    local: server and stations ran on this machine, over the loopback device; no
    Wi-Fi was tested. To test your own network, run `netburn ui`.

    FAIL – Four stations, one link
    Which fails first?
    laptop and tv missed their goals; phone only just met its goals.
    60 s, seed 7, 4 stations, 156.8 Mbit/s total; saved to runs/x

    STATION  VERDICT   WORKLOAD     MET  GOAL                   Mbit/s
    laptop   fail      browsing    88 %  page load ≤ 500 ms        3.4
    tv       fail      4kstream    43 %  every 2 s ≥ 20 Mbit/s     3.4
                                   93 %  no stall
    phone    marginal  voip      99.6 %  latency ≤ 150 ms          3.4
    desktop  –         download       –  none                      3.4

    STATION  VERDICT   WORKLOAD  IDLE ms  p50 ms  p95 ms  p99 ms  max ms
    laptop   fail      browsing     0.42     312    1210       –    2050
    tv       fail      4kstream     0.42     211     904       –    1500
    phone    marginal  voip         0.42    3.21    12.5     120     400
    desktop  –         download     0.42       –       –       –    9000

    laptop fails: 88 % of 100 browsing operations met `page load ≤ 500 ms` (pass
      needs 99 %, marginal 95 %); slowest 2.05 s, 4.1 × the goal.
    tv fails: 4kstream was fast enough (`every 2 s ≥ 20 Mbit/s`) for 43 % of the
      time (pass needs 99 %, marginal 95 %); the slowest reached 40 % of it.
    tv fails: 4kstream stalled twice, 4.20 s in total (7 % of the time), longest
      3.00 s.
    phone is marginal: 99.6 % of 300 voip operations met `latency ≤ 150 ms`; slowest
      400 ms, 2.67 × the goal (pass allows 2).

    Self-check passed: operations started within 40 µs of schedule at p99 (worst
      2.50 ms).
    ");
}

#[test]
fn unbounded_percentiles_are_shown_as_never() {
    // Of 100, 60 never ended: p50 and p95 fall among them, p99 isn't supported by 100.
    let voip = latency(100, 60, [None, None, None, Some(1.0), Some(90.0)]);
    let goals = json!([{ "goal": "latency ≤ 150 ms", "kind": "latency", "met": 0.4, "excess": 0.6, "verdict": "fail", "samples": 100 }]);
    let mut use_ = workload("voip", "calls", "fail", voip, goals);
    use_["failures"] = json!(50);
    use_["timeouts"] = json!(20);
    let summary: Summary = serde_json::from_value(summary("fail", vec![station("phone", "fail", vec![use_])])).unwrap();
    insta::assert_snapshot!(text(&summary, 120, false).lines().skip(7).collect::<Vec<_>>().join("\n"), @"
    STATION  VERDICT  WORKLOAD   MET  GOAL              Mbit/s  IDLE ms      p50 ms      p95 ms  p99 ms      max ms
    phone    fail     voip      40 %  latency ≤ 150 ms     3.4     0.42  never (60)  never (60)       –  never (60)

    phone fails: 40 % of 100 voip operations met `latency ≤ 150 ms` (pass needs 99 %, marginal 95 %); 60 never finished,
      slowest of the others 90.0 ms.
    phone had 50 failures in 100 voip operations, 20 of them timeouts.

    Self-check passed: operations started within 40 µs of schedule at p99 (worst 2.50 ms).
    ");
}

#[test]
fn a_single_failure_is_not_plural() {
    for (failures, timeouts, operations, sentence) in [
        (1, 0, 60, "phone had 1 failure in 60 voip operations."),
        (1, 1, 1, "phone had 1 failure in 1 voip operation, a timeout."),
        (
            2,
            1,
            60,
            "phone had 2 failures in 60 voip operations, 1 of them a timeout.",
        ),
    ] {
        let mut voip = workload("voip", "calls", "none", latency(60, 0, [None; 5]), json!([]));
        voip["failures"] = json!(failures);
        voip["timeouts"] = json!(timeouts);
        voip["operations"] = json!(operations);
        let summary = summary("none", vec![station("phone", "none", vec![voip])]);
        let summary: Summary = serde_json::from_value(summary).unwrap();
        let text = text(&summary, 120, false);
        assert!(text.contains(sentence), "{text}");
    }
}

#[test]
fn quality_issues_and_runs_are_listed() {
    let calls = |met: f64| {
        workload(
            "voip",
            "calls",
            "pass",
            latency(6, 0, [Some(1.0), None, None, Some(1.0), Some(1.0)]),
            json!([{ "goal": "latency ≤ 150 ms", "kind": "latency", "met": met, "excess": 0.1, "verdict": "pass", "samples": 6 }]),
        )
    };
    let self_check = "the server s1 used 97 % of one core; the limit is 95 %";
    let mut phone = station("phone", "inconclusive", vec![calls(1.0)]);
    let self_check = json!({ "code": "processor_busy", "text": self_check });
    phone["reasons"] = json!([self_check]);
    let mut tablet = station("tablet", "inconclusive", vec![calls(1.0)]);
    tablet["reasons"] = json!([self_check, { "code": "agent_lost", "text": "its agent was lost after 3 s" }]);
    let mut whole = summary("inconclusive", vec![phone, tablet]);
    whole["provisional"] = json!(true);
    whole["reasons"] = json!([{ "code": "run_interrupted", "text": "it was interrupted after 4 s" }]);
    whole["self_check"]["ok"] = json!(false);
    whole["self_check"]["reasons"] = json!([self_check]);
    let one = serde_json::from_value::<Summary>(summary("pass", vec![])).unwrap();
    let mut whole: Summary = serde_json::from_value(whole).unwrap();
    whole.repeats = vec![one.clone(), Summary { seed: 99, ..one }];
    whole.intervals = [
        ("stations.phone.throughput_mbps".to_owned(), [0.9, 1.1]),
        ("stations.phone.workloads.voip.goals.0.met".to_owned(), [0.98, 1.0]),
        ("stations.phone.workloads.voip.timeouts".to_owned(), [0.0, 0.0]),
    ]
    .into();
    insta::assert_snapshot!(text(&whole, 100, false), @"
    local: server and stations ran on this machine, over the loopback device; no Wi-Fi was tested. To
    test your own network, run `netburn ui`.

    INCONCLUSIVE* – Four stations, one link
    Which fails first?
    2 runs of 60 s, seed 7, 2 stations, 156.8 Mbit/s total; saved to runs/x

    STATION  VERDICT       WORKLOAD    MET  GOAL              Mbit/s
    phone    inconclusive  voip      100 %  latency ≤ 150 ms     3.4
    tablet   inconclusive  voip      100 %  latency ≤ 150 ms     3.4

    STATION  VERDICT       WORKLOAD  IDLE ms  p50 ms  p95 ms  p99 ms  max ms
    phone    inconclusive  voip         0.42    1.00       –       –    1.00
    tablet   inconclusive  voip         0.42    1.00       –       –    1.00

    The run could not be measured: it was interrupted after 4 s

    tablet could not be measured: its agent was lost after 3 s.
    phone could not be measured: see the self-check below.

    Self-check failed:
    - the server s1 used 97 % of one core; the limit is 95 %
    The results above may reflect the test machine rather than the network. Run the test again with less
      load on the machine, on a faster machine, with fewer stations or with a lower rate.

    * provisional: too few samples to be sure (a pass needs 59 operations or 300 windows). Use a longer
      --duration or --repeat.

    RUN  VERDICT  Mbit/s  SEED  FOLDER
      1  pass      156.8     7  runs/x
      2  pass      156.8    99  runs/x

    STATION  METRIC, 95 % INTERVAL  LOW  HIGH
    phone    Mbit/s                 0.9   1.1
             voip met %              98   100
    … and 1 more with --format json
    ");
}

#[test]
fn simulated_runs_show_airtime_and_no_self_check() {
    let mut whole = four();
    whole.environment = netburn_record::Environment::Simulate;
    whole.totals.airtime_jain = Some(0.5263);
    for (station, share) in whole.stations.iter_mut().zip([0.03, 0.6049, 0.0, 0.3651]) {
        station.airtime_share = Some(share);
    }
    insta::assert_snapshot!(text(&whole, 120, false).lines().take(14).collect::<Vec<_>>().join("\n"), @"
    simulate: a model of Wi-Fi and TCP in simulated time, not your own Wi-Fi. To test your own network, run `netburn ui`.

    FAIL – Four stations, one link
    Which fails first?
    laptop and tv missed their goals; phone only just met its goals.
    60 s, seed 7, 4 stations, 156.8 Mbit/s total, Jain index of airtime 0.53; saved to runs/x

    STATION  VERDICT   WORKLOAD     MET  GOAL                   Mbit/s  AIRTIME  IDLE ms  p50 ms  p95 ms  p99 ms  max ms
    laptop   fail      browsing    88 %  page load ≤ 500 ms        3.4      3 %     0.42     312    1210       –    2050
    tv       fail      4kstream    43 %  every 2 s ≥ 20 Mbit/s     3.4   60.5 %     0.42     211     904       –    1500
                                   93 %  no stall
    phone    marginal  voip      99.6 %  latency ≤ 150 ms          3.4      0 %     0.42    3.21    12.5     120     400
    desktop  –         download       –  none                      3.4   36.5 %     0.42       –       –       –    9000
    ");
    let text = text(&whole, 120, false);
    assert!(!text.contains("Self-check"), "{text}");
}

#[test]
fn modelled_environments_explain_how_to_test_a_real_network() {
    use netburn_record::Environment;
    for environment in [Environment::Simulate, Environment::Lab] {
        let sentence = crate::environment::sentence(environment);
        assert!(sentence.starts_with(environment.name()), "{sentence}");
        for part in ["a model of", "not your own Wi-Fi", "netburn ui"] {
            assert!(sentence.contains(part), "{sentence}");
        }
    }
}

#[test]
fn a_goal_without_samples_is_reported_once() {
    let goal = json!([{ "goal": "page load ≤ 500 ms", "kind": "latency", "met": null, "excess": null, "verdict": "inconclusive", "samples": 0 }]);
    let browsing = workload("browsing", "pages", "inconclusive", latency(0, 0, [None; 5]), goal);
    let mut laptop = station("laptop", "inconclusive", vec![browsing]);
    let of = |laptop: &Value| {
        let summary = serde_json::from_value(summary("inconclusive", vec![laptop.clone()])).unwrap();
        let text = text(&summary, 200, false);
        text.lines()
            .filter(|line| line.contains("no samples"))
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    // Older records have no reasons.
    assert_eq!(
        of(&laptop),
        ["laptop is inconclusive: browsing has no samples for `page load ≤ 500 ms`."]
    );
    let reason = QualityIssue::NoSamples {
        workload: "browsing".into(),
        goal: 0,
        kind: GoalKind::Latency,
        goal_text: "page load ≤ 500 ms".into(),
    };
    laptop["reasons"] = json!([reason]);
    assert_eq!(
        of(&laptop),
        [
            "laptop could not be measured: browsing has no samples for `page load ≤ 500 ms`: no counted operation was due in the evaluated time."
        ]
    );
}

#[test]
fn a_failed_station_is_not_called_inconclusive() {
    let mut whole = four();
    let goal = &mut whole.stations[1].workloads[0].goals[1];
    (goal.met, goal.verdict) = (None, Verdict::Inconclusive);
    let text = text(&whole, 200, false);
    assert!(
        text.contains("tv has an inconclusive goal: 4kstream has no samples for `no stall`."),
        "{text}"
    );
    assert!(
        text.contains("tv fails: 4kstream was fast enough (`every 2 s ≥ 20 Mbit/s`) for 43 % of the"),
        "{text}"
    );
    assert!(!text.contains("tv is inconclusive"), "{text}");
}

#[test]
fn an_inconclusive_station_has_not_failed() {
    let mut whole = four();
    whole.stations[0].verdict = Verdict::Inconclusive;
    let text = text(&whole, 120, false);
    assert!(
        text.contains("laptop would fail: 88 % of 100 browsing operations"),
        "{text}"
    );
    assert!(
        text.contains("tv fails: 4kstream was fast enough (`every 2 s ≥ 20 Mbit/s`) for 43 % of the"),
        "{text}"
    );
}

#[test]
fn colour_changes_nothing_but_colour() {
    let plain = text(&four(), 120, false);
    let coloured = text(&four(), 120, true);
    assert!(!plain.contains('\x1b'));
    assert!(coloured.contains("\x1b[1;31mfail\x1b[0m"), "{coloured:?}");
    let widths = |text: &str| text.lines().map(painted_width).collect::<Vec<_>>();
    assert_eq!(widths(&plain), widths(&coloured));
}

#[test]
fn a_summary_of_nothing_is_still_a_report() {
    let empty: Summary = serde_json::from_value(summary("none", vec![])).unwrap();
    let text = text(&empty, 80, false);
    assert!(text.contains("no goals") && text.contains("0 stations"), "{text}");
}

proptest! {
    #[test]
    fn foreign_text_is_sanitised(evil in any::<String>()) {
        let mut summary = four();
        let evil = format!("{evil}\x1b]0;x\x07");
        summary.scenario = evil.clone();
        summary.title = Some(evil.clone());
        summary.question = Some(evil.clone());
        summary.run = evil.clone();
        let reason = QualityIssue::ResultsMissing { cause: evil.clone() };
        summary.reasons = vec![reason.clone()];
        summary.self_check.reasons = vec![reason.clone()];
        summary.stations[0].name = evil.clone();
        summary.stations[0].reasons = vec![reason];
        summary.stations[0].workloads[0].name = evil.clone();
        summary.stations[0].workloads[0].goals[0].goal = evil.clone();
        summary.intervals.insert(evil.clone(), [0.0, 1.0]);
        summary.repeats = vec![Summary { run: evil, ..four() }];
        let text = text(&summary, 80, false);
        prop_assert!(text.chars().all(|c| c == '\n' || !c.is_control()));
    }

    #[test]
    fn lines_fit_if_words_do(width in 60_usize..200) {
        for line in text(&four(), width, false).lines() {
            prop_assert!(painted_width(line) <= width, "{line:?} in {width}");
        }
    }
}

fn voice_stream(rating: Value, lost: f64, longest: u64) -> Value {
    json!({ "packets": 3000, "delay_ms": latency(3000, 6, [Some(21.4), Some(34.0), Some(58.2), Some(20.1), Some(61.0)]),
            "lost_share": lost, "longest_loss_packets": longest, "mean_loss_packets": null, "jitter_ms": 1.31,
            "rating": rating, "mos": 4.361, "buffer_ms": 34.2, "late_share": 0.00004, "burst_ratio": 1.0,
            "mos_flent": 4.376, "gaps": 3, "gap_share": 0.01 })
}

/// MOS has two decimals, R one. 0.002 are 0.2 % of the packets, and 0.00004 are less than 0.01 %.
#[test]
fn each_direction_of_a_call_has_a_line() {
    let mut call = workload(
        "voice",
        "voice",
        "marginal",
        latency(6000, 6, [Some(21.4), Some(34.0), None, Some(20.1), Some(61.0)]),
        json!([{ "goal": "every 10 s R ≥ 80", "kind": "quality", "met": 0.97, "excess": 1.5, "verdict": "marginal", "samples": 100 }]),
    );
    let mut silent = voice_stream(Value::Null, 1.0, 3000);
    (silent["mos"], silent["buffer_ms"]) = (Value::Null, Value::Null);
    call["failures"] = json!(6);
    call["voice"] =
        json!({ "codec": "G.711 with concealment", "up": voice_stream(json!(91.17), 0.002, 2), "down": silent });
    let summary: Summary =
        serde_json::from_value(summary("marginal", vec![station("phone", "marginal", vec![call])])).unwrap();
    assert_eq!(
        voice::lines(&summary),
        [
            "phone, voice up: R 91.2 (MOS 4.36) with a playout buffer of 34.2 ms; one-way delay 21.4 ms median, 34.0 ms p95, \
             61.0 ms max; 0.2 % lost, at most 2 packets in a row; <0.01 % late; jitter 1.31 ms; gaps in 1 % of the time; \
             MOS (flent) 4.38.",
            "phone, voice down: none of 3000 packets arrived.",
        ]
    );
    let text = text(&summary, 200, false);
    assert!(
        text.contains("97 % of 100 windows of voice met `every 10 s R ≥ 80` in its worse direction (pass needs 99 %); the worst is 5 points below it"),
        "{text}"
    );
    assert!(
        !text.contains("failure"),
        "lost packets are in the line of the call: {text}"
    );
}

/// 0.002 are 0.2 %. A direction that the workload does not have has no line.
#[test]
fn each_stream_of_datagrams_has_a_line() {
    let delay = |count, lost| {
        latency(
            count,
            lost,
            [Some(21.4), Some(34.0), Some(58.2), Some(20.1), Some(61.0)],
        )
    };
    let stream = |lost: f64, longest: u64| {
        json!({ "packets": 3000, "delay_ms": delay(3000, 6), "lost_share": lost, "longest_loss_packets": longest,
                "mean_loss_packets": 1.5, "jitter_ms": 1.31 })
    };
    let mut both = workload(
        "load",
        "datagrams",
        "fail",
        delay(6000, 12),
        json!([{ "goal": "every 10 s lost ≤ 0.1 %", "kind": "loss", "met": 0.5, "excess": 2.0, "verdict": "fail", "samples": 100 },
               { "goal": "one-way delay ≤ 50 ms", "kind": "latency", "met": 0.98, "excess": 1.22, "verdict": "marginal", "samples": 3000 }]),
    );
    both["failures"] = json!(6);
    both["streams"] = json!({ "up": stream(0.002, 2), "down": stream(0.0, 0) });
    let mut one = workload("one", "datagrams", "none", latency(10, 10, [None; 5]), json!([]));
    let mut silent = stream(1.0, 10);
    (silent["packets"], silent["delay_ms"]) = (json!(10), latency(10, 10, [None; 5]));
    one["streams"] = json!({ "up": null, "down": silent });
    let summary: Summary =
        serde_json::from_value(summary("fail", vec![station("tv", "fail", vec![both, one])])).unwrap();
    assert_eq!(
        streams::lines(&summary),
        [
            "tv, load up: one-way delay 21.4 ms median, 34.0 ms p95, 61.0 ms max; 0.2 % lost, at most 2 packets in a row; \
             jitter 1.31 ms.",
            "tv, load down: one-way delay 21.4 ms median, 34.0 ms p95, 61.0 ms max; no loss; jitter 1.31 ms.",
            "tv, one down: none of 10 packets arrived.",
        ]
    );
    let text = text(&summary, 200, false);
    for expected in [
        "50 % of 100 windows of load met `every 10 s lost ≤ 0.1 %` in its worse direction (pass needs 99 %, marginal 95 %); the worst has 2 × the goal",
        "98 % of 3000 packets of load met `one-way delay ≤ 50 ms` in its worse direction (pass needs 99 %); the worst has 1.22 × the goal",
    ] {
        assert!(text.contains(expected), "{text}");
    }
    assert!(!text.contains("failure"), "{text}");
}

#[test]
fn a_game_has_a_line_for_its_round_trips() {
    let delay = latency(2560, 0, [Some(21.4), Some(34.0), Some(58.2), Some(20.1), Some(61.0)]);
    let stream = |gaps: Value| {
        json!({ "packets": 2560, "delay_ms": delay, "lost_share": 0.0, "longest_loss_packets": 0,
                "mean_loss_packets": null, "jitter_ms": 1.31, "gaps": gaps })
    };
    let mut game = workload(
        "game",
        "game",
        "fail",
        delay.clone(),
        json!([{ "goal": "round trip ≤ 100 ms", "kind": "latency", "met": 0.9, "excess": 3.0, "verdict": "fail", "samples": 2560 },
               { "goal": "no gap of 100 ms", "kind": "no_gap", "met": 0.98, "excess": null, "verdict": "fail", "samples": 400 }]),
    );
    game["streams"] = json!({
        "up": stream(json!({ "count": 0, "longest_ms": 0.0, "share": 0.0 })),
        "down": stream(json!({ "count": 3, "longest_ms": 412.0, "share": 0.02 })),
        "round_trip_ms": delay,
        "qoo": 83.6,
    });
    let summary: Summary =
        serde_json::from_value(summary("fail", vec![station("console", "fail", vec![game])])).unwrap();
    assert_eq!(
        streams::lines(&summary),
        [
            "console, game up: one-way delay 21.4 ms median, 34.0 ms p95, 61.0 ms max; no loss; jitter 1.31 ms; no gap of 100 ms.",
            "console, game down: one-way delay 21.4 ms median, 34.0 ms p95, 61.0 ms max; no loss; jitter 1.31 ms; \
             3 gaps of 100 ms or more, the longest 412 ms, 2 % of the time.",
            "console, game: round trip 21.4 ms median, 34.0 ms p95, 61.0 ms max; quality of outcome 83 of 100.",
        ]
    );
    let text = text(&summary, 200, false);
    for expected in [
        "90 % of 2560 round trips of game met `round trip ≤ 100 ms` (pass needs 99 %, marginal 95 %); the worst has 3 × the goal",
        "game has 3 gaps of 100 ms or more in its worse direction (2 % of the time), longest 412 ms",
    ] {
        assert!(text.contains(expected), "{text}");
    }
}

#[test]
fn cloud_gaming_has_frames() {
    let delay = latency(600, 3, [Some(21.4), Some(34.0), Some(58.2), Some(20.1), Some(61.0)]);
    let stream = |frames: Value| {
        json!({ "packets": 600, "delay_ms": delay, "lost_share": 0.0, "longest_loss_packets": 0,
                "mean_loss_packets": null, "jitter_ms": 1.31, "frames": frames })
    };
    let mut cloud = workload(
        "cloud",
        "cloud-gaming",
        "fail",
        delay.clone(),
        json!([{ "goal": "frames on time", "kind": "frames", "met": 0.94, "excess": null, "verdict": "fail", "samples": 600 }]),
    );
    let frames = json!({ "frames": 600, "delay_ms": delay, "late_share": 0.055, "incomplete_share": 0.005, "missed_share": 0.06 });
    cloud["streams"] = json!({ "up": null, "down": stream(frames) });
    let summary: Summary = serde_json::from_value(summary("fail", vec![station("tv", "fail", vec![cloud])])).unwrap();
    assert_eq!(
        streams::lines(&summary),
        [
            "tv, cloud down: one-way delay 21.4 ms median, 34.0 ms p95, 61.0 ms max; no loss; jitter 1.31 ms; \
             of 600 frames 5.5 % late and 0.5 % incomplete; frame delay 21.4 ms median, 34.0 ms p95, 61.0 ms max.",
        ]
    );
    let text = text(&summary, 200, false);
    assert!(
        text.contains("94 % of 600 frames of cloud were on time (pass needs 99 %, marginal 95 %)"),
        "{text}"
    );
}

#[test]
fn a_video_call_has_freezes_and_a_rate() {
    let delay = latency(600, 3, [Some(21.4), Some(34.0), Some(58.2), Some(20.1), Some(61.0)]);
    let stream = |lost: f64, longest: u64, video: Value| {
        json!({ "packets": 600, "delay_ms": delay, "lost_share": lost, "longest_loss_packets": longest,
                "mean_loss_packets": null, "jitter_ms": null, "video": video })
    };
    let video = |freezes: u64, total: f64, longest: f64, share: f64| {
        json!({ "freezes": freezes, "total_freezes_ms": total, "longest_freeze_ms": longest, "frozen_share": share,
                "rate_mbps": 2.31, "target_mbps": 2.501, "at_target_share": 0.8 })
    };
    let mut call = workload(
        "talk",
        "video-call",
        "fail",
        delay.clone(),
        json!([{ "goal": "no freeze", "kind": "no_freeze", "met": 0.98, "excess": null, "verdict": "fail", "samples": 600 },
               { "goal": "frame delay ≤ 150 ms", "kind": "latency", "met": 0.97, "excess": 1.5, "verdict": "marginal", "samples": 600 }]),
    );
    call["streams"] = json!({ "up": stream(0.005, 2, video(2, 1_200.0, 900.0, 0.02)), "down": stream(0.0, 0, video(0, 0.0, 0.0, 0.0)) });
    let summary: Summary = serde_json::from_value(summary("fail", vec![station("tv", "fail", vec![call])])).unwrap();
    assert_eq!(
        streams::lines(&summary),
        [
            "tv, talk up: frame delay 21.4 ms median, 34.0 ms p95, 61.0 ms max; 0.5 % of the frames lost, at most 2 in a row; \
             2 freezes, 1.20 s in all (2 % of the time), the longest 900 ms; 2.3 Mbit/s on average, at the target of 2.5 Mbit/s \
             for 80 % of the time.",
            "tv, talk down: frame delay 21.4 ms median, 34.0 ms p95, 61.0 ms max; no frame lost; no freeze; 2.3 Mbit/s on average, \
             at the target of 2.5 Mbit/s for 80 % of the time.",
        ]
    );
    let text = text(&summary, 200, false);
    for expected in [
        "talk has 2 freezes in its worse direction (2 % of the time), longest 900 ms",
        "97 % of 600 frames of talk met `frame delay ≤ 150 ms` in its worse direction",
    ] {
        assert!(text.contains(expected), "{text}");
    }
}

/// A call that meets its goals because it lowers its rate is a pass, and the text says so.
#[test]
fn a_video_call_far_below_its_target_is_named() {
    let delay = latency(600, 3, [Some(21.4), Some(34.0), Some(58.2), Some(20.1), Some(61.0)]);
    let of = |sent: f64, received: f64| {
        let stream = |rate: f64| {
            json!({ "packets": 600, "delay_ms": delay, "lost_share": 0.0, "longest_loss_packets": 0, "mean_loss_packets": null,
                    "jitter_ms": null, "video": { "freezes": 0, "total_freezes_ms": 0.0, "longest_freeze_ms": 0.0,
                    "frozen_share": 0.0, "rate_mbps": rate, "target_mbps": 2.5, "at_target_share": 0.1 } })
        };
        let goals = json!([{ "goal": "no freeze", "kind": "no_freeze", "met": 1.0, "excess": null, "verdict": "pass", "samples": 600 }]);
        let mut call = workload("talk", "video-call", "pass", delay.clone(), goals);
        call["streams"] = json!({ "up": stream(sent), "down": stream(received) });
        let summary: Summary =
            serde_json::from_value(summary("pass", vec![station("tv", "pass", vec![call])])).unwrap();
        text(&summary, 200, false)
    };
    let reduced = of(0.9, 1.3);
    let expected = "tv: talk sent its picture at 0.90 instead of 2.5 Mbit/s. No goal is about that.";
    assert!(reduced.contains(expected), "{reduced}");
    assert!(of(2.4, 1.2).contains("talk received its picture at 1.2 instead of 2.5"));
    assert!(!of(1.25, 2.5).contains("its picture at"));
}

/// Airtime of 8.575 % is 8.6 % everywhere: in the table, on the card, and in the chart.
#[test]
fn a_share_has_one_rounding() {
    let mut summary = four();
    summary.stations[0].airtime_share = Some(0.08575);
    let table = text(&summary, 200, false);
    assert!(table.contains("8.6 %") && !table.contains("8.5 %"), "{table}");
    let markdown = crate::markdown(&summary, &netburn_analysis::explain::Explanation::default());
    assert!(!markdown.contains("8.5 %"), "{markdown}");
    for thousandth in 0..=10_000 {
        let share = f64::from(thousandth) / 10_000.0;
        assert_eq!(
            crate::chart::Unit::Share.write(share),
            netburn_analysis::format::percent(share)
        );
    }
}
