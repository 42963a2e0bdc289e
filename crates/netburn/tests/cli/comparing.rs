//! Comparisons of runs, their exit statuses for CI, and `git bisect`.

use crate::support::{Bench, Ended, finish, house};
use serde_json::Value;
use std::fs;

/// A scenario with one caller.
fn calling() -> Bench {
    let bench = Bench::new();
    bench.write("house.toml", house("4 s", "1 s"));
    bench
}

fn compare(bench: &Bench, args: &[&str]) -> Ended {
    finish(bench.netburn(std::iter::once("compare").chain(args.iter().copied())))
}

fn judgement(document: &Value, path: &str) -> String {
    let metrics = document["metrics"].as_array().unwrap();
    let found = metrics.iter().find(|metric| metric["metric"] == path);
    found.unwrap_or_else(|| panic!("no {path} in {document:#}"))["judgement"]
        .as_str()
        .unwrap()
        .to_owned()
}

#[test]
fn only_the_longer_wire_is_found() {
    let bench = calling();
    bench.recorded("old", "5 ms", 7);
    bench.recorded("new", "25 ms", 7);
    let text = compare(&bench, &["new", "--against", "old"]).expect(0).out();
    assert!(text.starts_with("simulate: a model of Wi-Fi and TCP"), "{text}");
    assert!(text.contains("WORSE – new against old"), "{text}");
    assert!(text.contains("Differences: server.link.delay 5 ms → 25 ms"), "{text}");
    let json = compare(&bench, &["new", "--against", "old", "--format", "json"])
        .expect(0)
        .json();
    assert_eq!(json["schema"], "netburn.comparison/1");
    // The round trip is 40 ms longer than before, when it was a little over 10 ms.
    let p50 = "stations.caller.workloads.probe.latency_ms.p50";
    let metric = json["metrics"]
        .as_array()
        .unwrap()
        .iter()
        .find(|metric| metric["metric"] == p50)
        .unwrap();
    let difference = metric["difference"].as_f64().unwrap();
    assert!((39.5..40.5).contains(&difference), "{metric}");
    assert!(metric["low"].as_f64().unwrap() <= difference && difference <= metric["high"].as_f64().unwrap());
    assert_eq!(metric["runs"], serde_json::json!([7, 7]));
    assert_eq!(judgement(&json, p50), "worse");
    assert_eq!(judgement(&json, "stations.caller.throughput_mbps"), "same");
    // The same seed gives the same interval, another seed another one.
    assert_eq!(
        json,
        compare(&bench, &["new", "--against", "old", "--format", "json"])
            .expect(0)
            .json()
    );

    compare(&bench, &["new", "--against", "old", "--fail-on", "worse"]).expect(1);
    compare(&bench, &["new", "--against", "old", "--bisect"]).expect(1);
    compare(&bench, &["old", "--against", "new", "--fail-on", "worse=5%"]).expect(0);
    compare(&bench, &["old", "--against", "new", "--bisect"]).expect(0);
    // Four times as long; up to five times counts as the same.
    compare(&bench, &["new", "--against", "old", "--fail-on", "worse=500%"]).expect(0);
    // A summary file is accepted instead of its folder.
    let summary = finish(bench.netburn(["report", "old", "--format", "json"]))
        .expect(0)
        .out();
    bench.write("old.json", summary);
    compare(&bench, &["new", "--against", "old.json", "--fail-on", "worse"]).expect(1);
}

#[test]
fn too_few_runs_are_inconclusive_and_git_bisect_skips_them() {
    let bench = calling();
    bench.recorded("old", "5 ms", 2);
    bench.recorded("new", "25 ms", 2);
    let args = ["new", "--against", "old"];
    let text = compare(&bench, &args).expect(0).out();
    assert!(
        text.contains("CAN'T TELL") && text.contains("at least 3 runs"),
        "{text}"
    );
    compare(&bench, &["new", "--against", "old", "--fail-on", "worse"]).expect(3);
    compare(&bench, &["new", "--against", "old", "--bisect"]).expect(125);
    compare(&bench, &["new", "--against", "nowhere", "--bisect"]).expect(125);
}

#[test]
fn a_run_that_is_named_twice_counts_once() {
    let bench = calling();
    bench.recorded("old", "5 ms", 2);
    bench.recorded("new", "25 ms", 2);
    // The run, one run of its set, and its document: two runs in all, too few for a result.
    let twice = [
        "new",
        "./new",
        "new/1",
        "new/run.json",
        "--against",
        "old",
        "--format",
        "json",
    ];
    let ended = compare(&bench, &twice);
    assert_eq!(
        ended.stderr.matches("is given twice; it counts once").count(),
        3,
        "{}",
        ended.stderr
    );
    let once = compare(&bench, &["new", "--against", "old", "--format", "json"]);
    assert_eq!(ended.expect(0).out(), once.expect(0).out());
}

#[test]
fn runs_that_cannot_be_compared_are_an_error() {
    let bench = calling();
    bench.recorded("old", "5 ms", 3);
    let ended = compare(&bench, &["old", "--against", "nowhere"]).expect(2);
    assert!(ended.stderr.contains("nowhere"), "{}", ended.stderr);
    // One of several can't be read: the others are shown.
    let ended = compare(&bench, &["old", "--against", "old", "nowhere"]).expect(3);
    assert!(ended.stderr.contains("nowhere"), "{}", ended.stderr);
    assert!(ended.out().contains("SAME"));
    // A record of a newer version.
    let text = fs::read_to_string(bench.path("old/run.json")).unwrap();
    fs::create_dir(bench.path("newer")).unwrap();
    bench.write("newer/run.json", text.replacen("netburn.run/1", "netburn.run/9", 1));
    let ended = compare(&bench, &["newer", "--against", "old"]).expect(2);
    assert!(
        ended.stderr.contains('9') && ended.stderr.contains("newer"),
        "{}",
        ended.stderr
    );
    // A truncated file.
    for share in 0..8 {
        bench.write("cut.json", &text[..text.len() * share / 8]);
        let ended = compare(&bench, &["cut.json", "--against", "old"]).expect(2);
        assert!(ended.stderr.contains("cut.json"), "{}", ended.stderr);
    }
    // No common station.
    bench.write(
        "other.toml",
        house("4 s", "1 s").replace("station.caller", "station.visitor"),
    );
    bench.simulate("other.toml", "other", &["--repeat", "3"]);
    let ended = compare(&bench, &["other", "--against", "old"]).expect(3);
    assert!(ended.out().contains("have no station"));
    for wrong in [
        &["old"][..],
        &["--against", "old"],
        &["old", "--against", "old", "--fail-on", "better"],
    ] {
        compare(&bench, wrong).expect(2);
    }
}

#[test]
#[cfg_attr(not(feature = "all-tests"), ignore = "takes many seconds: scripts/test runs it")]
fn interleaved_scenarios_are_compared() {
    let bench = Bench::new();
    bench.write("a.toml", house("2 s", "500 ms"));
    bench.write(
        "b.toml",
        house("2 s", "500 ms").replace("delay = \"5 ms\"", "delay = \"45 ms\""),
    );
    let on = |environment: &str, repeat: &str, out: &str| {
        let args = [
            "run",
            "--interleave",
            "a.toml",
            "b.toml",
            "--repeat",
            repeat,
            "--on",
            environment,
            "--out",
            out,
            "--format",
            "json",
        ];
        finish(bench.netburn(args))
    };
    let ended = on("simulate", "6", "virtual").expect(0);
    let json = ended.json();
    assert_eq!(json["these"]["name"], "b");
    assert_eq!(
        judgement(&json, "stations.caller.workloads.probe.latency_ms.p50"),
        "worse"
    );
    assert!(bench.path("virtual/a/6/run.json").exists() && bench.path("virtual/b/6/run.json").exists());
    // In real time each run is separate, in an order that follows from the seed.
    let ended = on("local", "2", "real");
    // Other tests run at the same time, so the self-check may report that the machine was too busy.
    assert!(matches!(ended.code(), 0 | 3), "{}", ended.stderr);
    let turns: Vec<&str> = ended.stderr.lines().filter(|line| line.starts_with("run ")).collect();
    assert_eq!(turns.len(), 4, "{}", ended.stderr);
    assert!(bench.path("real/a/2/run.json").exists() && bench.path("real/b/2/run.json").exists());
    finish(bench.netburn(["run", "--interleave", "a.toml"])).expect(2);
    finish(bench.netburn(["run", "a.toml", "b.toml"])).expect(2);
}

#[test]
fn variants_are_ranked_and_several_scenarios_give_a_matrix() {
    let bench = calling();
    for (place, delay) in [
        ("calm/base", "5 ms"),
        ("calm/one", "5 ms"),
        ("wild/base", "5 ms"),
        ("wild/one", "45 ms"),
        ("wild/two", "25 ms"),
    ] {
        bench.recorded(place, delay, 8);
    }
    let ranked = ["wild/one", "wild/base", "wild/two", "--ranked"];
    let text = compare(&bench, &ranked).expect(0).out();
    assert!(text.contains("3 variants, ranked"), "{text}");
    let json = compare(&bench, &[&ranked[..], &["--format", "json"]].concat())
        .expect(0)
        .json();
    let names: Vec<&str> = json["variants"]
        .as_array()
        .unwrap()
        .iter()
        .map(|v| v["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["base", "two", "one"]);
    // Several variants without a baseline are ranked. One variant alone needs a baseline.
    assert_eq!(compare(&bench, &ranked[..3]).expect(0).out(), text);
    compare(&bench, &ranked[..1]).expect(2);
    compare(&bench, &[&ranked[..2], &["--fail-on", "worse"]].concat()).expect(2);
    fs::create_dir(bench.path("all")).unwrap();
    for scenario in ["calm", "wild"] {
        fs::rename(bench.path(scenario), bench.path("all").join(scenario)).unwrap();
    }
    let json = compare(&bench, &["--matrix", "all", "--format", "json"])
        .expect(0)
        .json();
    assert_eq!(json["baseline"], "base");
    assert_eq!(json["rows"][0]["scenario"], "wild");
    assert_eq!(json["rows"][0]["cells"][0]["judgement"], "worse");
    let text = compare(&bench, &["--matrix", "all", "--fail-on", "worse"])
        .expect(1)
        .out();
    assert!(
        text.contains("netburn compare all/wild/one --against all/wild/base"),
        "{text}"
    );
    compare(&bench, &["--matrix", "all", "--baseline", "three"]).expect(2);
}

#[test]
fn a_sweep_is_a_matrix_over_its_last_key() {
    let bench = Bench::new();
    bench.write("house.toml", house("4 s", "1 s"));
    let args = [
        "sweep",
        "house.toml",
        "--vary",
        "ap.home.queue=fifo,airtime",
        "--vary",
        "server.link.delay=5ms,45ms",
        "--repeat",
        "8",
        "--out",
        "swept",
    ];
    finish(bench.netburn(args)).expect(0);
    let json = compare(&bench, &["--matrix", "swept", "--format", "json"])
        .expect(0)
        .json();
    assert_eq!(
        (&json["baseline"], &json["variants"][0]),
        (&"5ms".into(), &"45ms".into())
    );
    let scenarios: Vec<&str> = json["comparisons"]
        .as_array()
        .unwrap()
        .iter()
        .map(|c| c["these"]["sources"][0].as_str().unwrap())
        .collect();
    assert_eq!(scenarios, ["swept/runs/9.json", "swept/runs/25.json"]);
    assert_eq!(json["rows"][0]["cells"][0]["judgement"], "worse");
    assert!(
        json["rows"]
            .as_array()
            .unwrap()
            .iter()
            .any(|row| row["scenario"] == "ap.home.queue=airtime")
    );
    // The comparison of one cell.
    let text = compare(&bench, &["--matrix", "swept"]).expect(0).out();
    let line = text.lines().find(|line| line.starts_with("[1] netburn ")).unwrap();
    let words: Vec<&str> = line.split(' ').skip(2).collect();
    assert!(finish(bench.netburn(words)).expect(0).out().contains("WORSE"));
}
