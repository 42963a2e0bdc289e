//! Exports and imports, as far as they need no other program.

use crate::support::{Bench, SMALL, export, finish, simulated, station};
use serde_json::Value;

#[test]
fn several_runs_are_one_csv_file() {
    let bench = Bench::new();
    simulated(&bench, SMALL, &["--repeat", "3"]);
    let text = export(&bench, "csv", &[]).out();
    let seeds: Vec<&str> = text
        .lines()
        .skip(1)
        .map(|line| line.rsplit(',').next().unwrap())
        .collect();
    assert_eq!(seeds.len(), 3 * 2);
    assert!(
        seeds[0] == seeds[1] && seeds[1] != seeds[2] && seeds[2] != seeds[4],
        "{seeds:?}"
    );
}

#[test]
fn json_contains_the_whole_record() {
    let bench = Bench::new();
    let summary = simulated(&bench, SMALL, &[]);
    let document = export(&bench, "json", &[]).json();
    assert_eq!(document["schema"], "netburn.export/1");
    assert_eq!(document["summary"], summary);
    let kept: Value = serde_json::from_slice(&std::fs::read(bench.path("run/run.json")).unwrap()).unwrap();
    for (table, facts) in kept["tables"].as_object().unwrap() {
        let rows = document["runs"][0][table].as_array().unwrap();
        assert_eq!(facts["rows"], rows.len(), "{table}");
    }
    // The rows agree with the summary.
    let operations = document["runs"][0]["operations"].as_array().unwrap();
    let mut latency: Vec<i64> = operations
        .iter()
        .filter(|row| row["workload"] == "probe" && row["outcome"] == "finished")
        .map(|row| row["finished"].as_i64().unwrap() - row["due"].as_i64().unwrap())
        .collect();
    latency.sort_unstable();
    let of = &station(&summary, "reader")["workloads"][0]["latency_ms"];
    assert_eq!(of["count"], latency.len());
    assert_eq!(of["min"].as_f64().unwrap(), latency[0] as f64 / 1e6);
    assert_eq!(
        of["p50"].as_f64().unwrap(),
        latency[latency.len().div_ceil(2) - 1] as f64 / 1e6
    );
}

#[test]
fn invalid_exports_are_errors() {
    let bench = Bench::new();
    let stopped = finish(bench.netburn(["export", "nowhere", "--to", "csv"])).expect(2);
    assert!(
        stopped.stderr.contains("nowhere is not a run folder"),
        "{}",
        stopped.stderr
    );
    simulated(&bench, SMALL, &[]);
    let stopped = finish(bench.netburn(["export", "run", "--to", "csv", "--out", "no/such/folder.csv"])).expect(2);
    assert!(stopped.stderr.contains("no/such/folder.csv"), "{}", stopped.stderr);
    let path = bench.path("run/operations.parquet");
    let whole = std::fs::read(&path).unwrap();
    std::fs::write(&path, &whole[..whole.len() - 1]).unwrap();
    for format in ["csv", "json"] {
        let stopped = finish(bench.netburn(["export", "run", "--to", format])).expect(2);
        assert!(stopped.stderr.contains("is damaged"), "{}", stopped.stderr);
    }
}

#[test]
fn several_runs_are_several_flent_files() {
    let bench = Bench::new();
    simulated(&bench, SMALL, &["--repeat", "2"]);
    let wrong = ["export", "run", "--to", "flent", "--out", "one.flent.gz"];
    let stopped = finish(bench.netburn(wrong)).expect(2);
    assert!(stopped.stderr.contains("there are 2 runs"), "{}", stopped.stderr);
    export(&bench, "flent", &["--out", "files"]);
    let names: Vec<_> = std::fs::read_dir(bench.path("files")).unwrap().collect();
    assert_eq!(names.len(), 2);
}

#[test]
fn a_file_that_cannot_be_imported_is_an_error() {
    let bench = Bench::new();
    let good = r#"{"version": 4, "metadata": {"NAME": "ping", "LENGTH": 2, "LOCAL_HOST": "box"}, "x_values": [0.0, 1.0],
                   "results": {"Ping (ms) ICMP": [10.0, 12.0]}, "raw_values": {}}"#;
    bench.write("good.flent", good);
    bench.write("cut.flent", &good[..100]);
    bench.write("other.flent", good.replace("Ping (ms)", "Qdisc"));
    let stopped =
        finish(bench.netburn(["import", "cut.flent", "other.flent", "good.flent", "nowhere.flent.gz"])).expect(2);
    for wanted in [
        "cut.flent: incomplete JSON",
        "other.flent: flent's test `ping` has no supported series",
        "nowhere.flent.gz: ",
    ] {
        assert!(stopped.stderr.contains(wanted), "{}", stopped.stderr);
    }
    // An imported run can be compared with others, as far as one run allows it.
    finish(bench.netburn(["import", "good.flent", "--out", "other"])).expect(0);
    let compared = finish(bench.netburn(["compare", "other", "--against", stopped.out().trim_end()]))
        .expect(0)
        .out();
    assert!(
        compared.starts_with("imported: measured by another program") && compared.contains("CAN'T TELL"),
        "{compared}"
    );
    // The valid files are imported all the same.
    let folder = stopped.out();
    assert!(
        folder.starts_with("runs/") && folder.trim_end().ends_with("-ping"),
        "{folder}"
    );
    finish(bench.netburn(["report", folder.trim_end()])).expect(0);
    let both = finish(bench.netburn(["import", "good.flent", "cut.flent", "--out", "one"])).expect(2);
    assert!(both.stderr.contains("--out is for one file"), "{}", both.stderr);
}

/// Outputs of other programs: what an access point dumped is a run, and an unknown file names what netburn imports.
#[test]
fn dumps_become_runs_and_other_files_are_named() {
    let bench = Bench::new();
    bench.write(
        "dump",
        "Station 02:00:00:00:01:00 (on wlan0)\n\tsignal:  \t-30 dBm\n\ttx bytes:\t1000\n",
    );
    finish(bench.netburn(["import", "dump", "--out", "run"])).expect(0);
    let report = finish(bench.netburn(["report", "run"])).expect(0).out();
    assert!(
        report.contains("02:00:00:00:01:00") && report.contains("-30"),
        "{report}"
    );
    bench.write("letter", "Dear reader,\n");
    bench.write("dump-cut", "[{\"kind\": \"cake\", \"dev\"");
    let stopped = finish(bench.netburn(["import", "letter", "dump-cut"])).expect(2);
    for wanted in [
        "letter: this is text of another program; netburn imports a result of crusader",
        "`tc -s -j qdisc`",
        "dump-cut: dump of an access point: line 1: invalid output of `tc -j`",
    ] {
        assert!(stopped.stderr.contains(wanted), "{}", stopped.stderr);
    }
}

/// Throughput of UDP and of TCP are not compared.
#[test]
fn results_of_different_protocols_are_not_compared() {
    let bench = Bench::new();
    for protocol in ["TCP", "UDP"] {
        let sum = r#"{"start": 0, "end": 10, "bytes": 25000000, "sender": true}"#;
        let start = format!(r#"{{"system_info": "Linux laptop", "test_start": {{"protocol": "{protocol}"}}}}"#);
        let file = format!(r#"{{"start": {start}, "intervals": [{{"sum": {sum}}}], "end": {{}}}}"#);
        bench.write(protocol, file);
        finish(bench.netburn(["import", protocol, "--out", &format!("run-{protocol}")])).expect(0);
    }
    let compared = finish(bench.netburn(["compare", "run-TCP", "--against", "run-UDP"]))
        .expect(3)
        .out();
    assert!(compared.contains("laptop (TCP against UDP)"), "{compared}");
    assert!(compared.contains("no comparable metric"), "{compared}");
    finish(bench.netburn(["compare", "run-TCP", "--against", "run-TCP"])).expect(0);
}

#[test]
fn packets_are_exported_for_one_simulated_run_only() {
    let bench = Bench::new();
    simulated(&bench, SMALL, &["--repeat", "2"]);
    let several = finish(bench.netburn(["export", "run", "--to", "pcapng"])).expect(2);
    assert!(several.stderr.contains("name one of them: run/1"), "{}", several.stderr);
    let piped = finish(bench.netburn(["export", "run/1", "--to", "pcapng", "--out", "-"])).expect(2);
    assert!(piped.stderr.contains("give a folder"), "{}", piped.stderr);
    bench.write(
        "old.flent",
        r#"{"metadata": {"NAME": "ping", "LENGTH": 2}, "x_values": [0.0], "results": {"Ping (ms) ICMP": [10.0]}}"#,
    );
    finish(bench.netburn(["import", "old.flent", "--out", "old"])).expect(0);
    let foreign = finish(bench.netburn(["export", "old", "--to", "pcapng"])).expect(2);
    assert!(
        foreign.stderr.contains("this one's environment is imported"),
        "{}",
        foreign.stderr
    );
}
