//! `netburn sqm`: simulated lines, and servers that can't be measured.

use crate::support::{Bench, Ended, Running, finish, start};
use netburn_test_support::unused_address;
use serde_json::Value;

/// ADSL: 6 Mbit/s down and 640 kbit/s up in ATM cells, 10 bytes per packet.
const ADSL: &str = "[router.wan]\ndown = \"6 Mbit/s\"\nup = \"640 kbit/s\"\nframing = \"pppoa-vcmux\"\ndelay = \"5 ms\"\nqueue_up = \
                    \"64 KiB\"\n[server.link]\ndelay = \"8 ms\"\n";

fn sqm(bench: &Bench, args: &[&str]) -> Ended {
    finish(bench.netburn(["sqm"].iter().chain(args)))
}

fn serving(bench: &Bench, args: &[&str]) -> (Running, String) {
    let mut server = start(bench.netburn(["serve", "--listen", "127.0.0.1:0"].iter().chain(args)));
    server.wait_for("its address", |s| s.stdout_so_far().ends_with('\n'));
    let url = server.stdout_so_far().trim().to_owned();
    (server, url)
}

/// The rates are 96 % and 98 % of those of the line.
#[test]
fn a_simulated_line_has_settings() {
    let bench = Bench::new();
    std::fs::write(bench.path("line.toml"), ADSL).unwrap();
    let ended = sqm(
        &bench,
        &["--line", "line.toml", "--interface", "eth1", "--format", "json"],
    )
    .expect(0);
    let report: Value = ended.json();
    assert_eq!(report["schema"], "netburn.sqm/1");
    assert_eq!(report["answer"], "set-up");
    assert_eq!(report["settings"]["interface"], "eth1");
    assert_eq!(report["settings"]["layer"]["cells"], "atm");
    assert_eq!(report["settings"]["layer"]["overhead_bytes"], 10);
    for (key, expected) in [("download_kbps", 5_760), ("upload_kbps", 627)] {
        let found = report["settings"][key].as_i64().unwrap();
        assert!((found - expected).abs() <= 6, "{key}: {found}");
    }
    let text = sqm(&bench, &["--line", "line.toml"]).expect(0);
    let text = String::from_utf8(text.stdout).unwrap();
    assert!(text.starts_with("No: a full upload delays everything else"), "{text}");
    // The line is slow, so that the processor of a router is no limit.
    let notes = report["settings"]["notes"].as_array().unwrap();
    assert_eq!(notes.len(), 2, "{notes:?}");
    assert!(notes.iter().all(|note| text.contains(note.as_str().unwrap())), "{text}");
}

#[test]
fn a_server_that_cannot_be_measured_is_an_error_before_the_measurement() {
    let bench = Bench::new();
    let nothing = format!("http://{}/", unused_address());
    let ended = sqm(&bench, &[&nothing, "--yes"]).expect(3);
    assert!(ended.stderr.contains("help: run `netburn serve`"), "{}", ended.stderr);

    let (_server, url) = serving(&bench, &["--no-datagrams"]);
    let ended = sqm(&bench, &[&url, "--yes"]).expect(3);
    assert!(ended.stderr.contains("does not return datagrams"), "{}", ended.stderr);
    assert!(ended.stdout.is_empty());
}

/// At 1 Gbit/s a measurement may transfer more than 2 GB.
#[test]
fn a_large_volume_needs_a_confirmation() {
    let bench = Bench::new();
    let (_server, url) = serving(&bench, &[]);
    let ended = sqm(&bench, &[&url]).expect(2);
    assert!(
        ended.stderr.contains("may transfer at most 3.") && ended.stderr.contains("add --yes"),
        "{}",
        ended.stderr
    );
}

#[test]
fn invalid_arguments_are_errors() {
    let bench = Bench::new();
    sqm(&bench, &[]).expect(2);
    sqm(&bench, &["--line", "missing.toml"]).expect(2);
    sqm(&bench, &["--line", "missing.toml", "--interface", "a b"]).expect(2);
    std::fs::write(bench.path("wrong.toml"), "[router.wan]\ndown = \"fast\"\n").unwrap();
    let ended = sqm(&bench, &["--line", "wrong.toml"]).expect(2);
    assert!(ended.stderr.contains("router.wan.down"), "{}", ended.stderr);
}
