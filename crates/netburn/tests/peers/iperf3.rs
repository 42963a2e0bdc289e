//! iperf3 in a lab, with netburn's server and with its own.

use crate::support::{Bench, finish, service_and_caller, small_lab};
use netburn_record::{Row, Run};
use serde_json::Value;

/// An iperf3 client that sends 200 KiB.
const IPERF3: &[&str] = &["iperf3", "-c", "server", "-n", "200K"];

#[test]
fn the_iperf3_server_answers_all_forms_of_the_client_command() {
    let bench = Bench::small();
    let script =
        "iperf3 -c server -n 200K && iperf3 -6 -c server -R -n 200K && iperf3 -c server -u -l 4000 -b 20M -n 40K";
    for call in [
        IPERF3,
        &[&["env"], IPERF3].concat(),
        &[&["timeout", "60"], IPERF3].concat(),
        &["sh", "-c", script],
        &["iperf3", "-c", "server", "-p", "5300", "-n", "200K"],
    ] {
        let ended = finish(bench.netburn(small_lab(&[&["--at", "caller", "--"], call].concat()))).expect(0);
        assert!(ended.out().contains("iperf Done."), "{call:?}: {}", ended.out());
    }
}

#[test]
fn two_stations_run_iperf3_at_once() {
    let bench = Bench::small();
    let call = ["iperf3", "-c", "server", "-t", "2"];
    let both = [
        &["--at", "caller", "--"],
        &call[..],
        &["--and", "--at", "reader", "--"],
        &call,
    ]
    .concat();
    let ended = finish(bench.netburn(small_lab(&both))).expect(0);
    for line in ["caller| iperf Done.", "reader| iperf Done."] {
        assert!(ended.out().lines().any(|printed| printed == line), "{}", ended.out());
    }
}

/// A server of the user has precedence, also if it is still starting when the client connects.
#[test]
fn an_iperf3_server_of_the_user_replaces_the_built_in_one() {
    let bench = Bench::small();
    let own = [
        "--at", "server", "--", "iperf3", "-s", "-1", "--and", "--at", "caller", "--",
    ];
    let ended = finish(bench.netburn(small_lab(&[&own, IPERF3].concat()))).expect(0);
    assert!(
        ended.out().contains("server| Accepted connection from"),
        "{}",
        ended.out()
    );
}

#[test]
fn without_built_in_servers_no_server_answers() {
    let bench = Bench::small();
    let script = "iperf3 -c server -n 1K; curl -sS http://server/; test $? -eq 7";
    let ended =
        finish(bench.netburn(small_lab(&["--no-servers", "--at", "caller", "--", "sh", "-c", script]))).expect(0);
    assert!(!ended.out().contains("iperf Done"), "{}", ended.out());
    // The port is free.
    let serve =
        "import http.server\nhttp.server.HTTPServer(('', 80), http.server.SimpleHTTPRequestHandler).serve_forever()";
    let fetch = ["curl", "-sS", "http://server/small.toml"];
    let both = service_and_caller(&["--no-servers", "--ready", "80"], &["python3", "-c", serve], &fetch);
    let ended = finish(bench.netburn(both)).expect(0);
    assert!(ended.out().contains("caller| duration = \"3 s\""), "{}", ended.out());
}

#[test]
fn a_result_of_iperf3_becomes_a_run_with_the_printed_bytes() {
    let bench = Bench::small();
    let script = "iperf3 -c server -t 2 -b 2M --json >up.json && iperf3 -c server -R -t 2 -b 2M --json >down.json";
    finish(bench.netburn(small_lab(&["--at", "caller", "--", "sh", "-c", script]))).expect(0);
    for (file, sum) in [("up", "sum_sent"), ("down", "sum_received")] {
        let result = std::fs::read(bench.path(&format!("{file}.json"))).unwrap();
        let result: Value = serde_json::from_slice(&result).unwrap();
        let folder = bench.path(file);
        let import = [
            "import",
            &format!("{file}.json"),
            "--out",
            &folder.display().to_string(),
        ]
        .map(str::to_owned);
        finish(bench.netburn(import)).expect(0);
        let mut bytes = 0;
        Run::open(&folder)
            .unwrap()
            .rows(&mut |row| {
                if let Row::Interval(row) = row {
                    bytes += if file == "up" { row.bytes_up } else { row.bytes_down };
                }
            })
            .unwrap();
        assert_eq!(bytes, result["end"][sum]["bytes"].as_u64().unwrap(), "{file}");
    }
}
