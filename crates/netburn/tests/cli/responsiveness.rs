//! `netburn rpm` with `netburn serve`.

use crate::support::{Bench, Ended, Running, finish, start};
use serde_json::Value;

/// A server with TLS on a free port of loopback, and its URL. Its rate is one that a busy machine carries as well, so that
/// probes are answered in time.
fn serving(bench: &Bench) -> (Running, String) {
    let listen = [
        "serve",
        "--listen",
        "127.0.0.1:0",
        "--listen-tls",
        "127.0.0.1:0",
        "--rpm",
        "local",
        "--rate",
        "20 Mbit/s",
    ];
    let mut server = start(bench.netburn(listen));
    server.wait_for("its addresses", |s| {
        s.stderr_so_far().contains("responsiveness tests") && s.stdout_so_far().ends_with('\n')
    });
    let printed = server.stdout_so_far();
    let url = printed.lines().find(|line| line.starts_with("https://")).unwrap();
    (server, url.to_owned())
}

fn rpm(bench: &Bench, args: &[&str]) -> Ended {
    finish(bench.netburn(["rpm"].iter().chain(args)))
}

/// Intervals of 200 ms and any goodput, so that the test takes some seconds.
const SHORT: [&str; 10] = [
    "--id", "200ms", "--mad", "2", "--sdt", "100", "--time", "60s", "--idle", "300ms",
];

#[test]
fn a_server_on_this_machine_has_a_score_for_each_direction() {
    let bench = Bench::new();
    let (server, url) = serving(&bench);
    let json = rpm(
        &bench,
        &[&[url.as_str(), "-k", "--format", "json"], &SHORT[..]].concat(),
    )
    .expect(0);
    let report: Value = json.json();
    assert_eq!(report["schema"], "netburn.rpm/1");
    assert_eq!(report["url"], format!("{url}.well-known/nq"));
    assert_eq!(report["consent"], "this machine");
    assert_eq!(report["parameters"]["mad"], 2);
    let tests = report["tests"].as_array().unwrap();
    assert_eq!(tests.len(), 2);
    for (test, load) in tests.iter().zip(["download", "upload"]) {
        assert_eq!(test["load"][0], load);
        let draft = &test["rpm"]["draft"];
        let number = |value: &Value| value.as_f64().unwrap();
        let mean = (number(&draft["foreign"]) + number(&draft["loaded"])) / 2.0;
        assert!((number(&draft["rpm"]) - mean).abs() < 1e-6 * mean, "{draft}");
        assert!(number(&test["rpm"]["goresponsiveness"]["rpm"]) > 0.0);
        assert!(number(&test["goodput"][0]["mbps"]) > 0.0);
        let probes = &test["probes"]["self"];
        let sum: u64 = ["answered", "failed", "timed_out", "not_sent"]
            .iter()
            .map(|name| probes[*name].as_u64().unwrap())
            .sum();
        assert_eq!(probes["due"], sum);
    }
    assert!(tests[0]["idle_rpm"]["draft"]["rpm"].as_f64().is_some() && tests[1]["idle_rpm"].is_null());

    let upload = rpm(
        &bench,
        &[&[url.as_str(), "-k", "--direction", "up"], &SHORT[..]].concat(),
    )
    .expect(0);
    let text = upload.out();
    assert!(
        text.contains(
            "
upload: "
        ) && !text.contains("download"),
        "{text}"
    );
    assert!(
        upload.stderr.lines().next().unwrap().starts_with("load "),
        "{}",
        upload.stderr
    );
    let both = rpm(&bench, &[&[url.as_str(), "-k", "--concurrent"], &SHORT[..]].concat()).expect(0);
    let text = both.out();
    assert!(text.contains("\ndownload and upload: "), "{text}");
    server.signal("TERM");
    server.finish().expect(0);
}

#[test]
fn invalid_input_is_explained() {
    let bench = Bench::new();
    let (server, url) = serving(&bench);
    let untrusted = rpm(&bench, &[&url]).expect(3);
    // Without the system's roots, the error is another one.
    let lines = [
        "help: --insecure accepts any certificate",
        "the system has no root certificates",
    ];
    assert!(
        lines.iter().any(|line| untrusted.stderr.contains(line)),
        "{}",
        untrusted.stderr
    );
    let cleartext = url.replace("https://", "http://");
    for (args, printed) in [
        (
            &[url.as_str(), "--time", "24s"][..],
            "time: found 24 s, expected 25 s to 10 min (at least MAD + 1 intervals)",
        ),
        (&[&url, "--mnp", "65"], "mnp: found 65, expected 1 to 64"),
        (&[&url, "--ptc", "0"], "ptc: found 0, expected more than 0 %"),
        (&[&url, "--sdt", "101"], "--sdt"),
        (&[&url, "--concurrent", "--direction", "up"], "--direction"),
        (
            &[&cleartext],
            "found http://, expected https://\nhelp: https://127.0.0.1:",
        ),
    ] {
        let ended = rpm(&bench, args).expect(2);
        assert!(ended.stderr.contains(printed), "{args:?}: {}", ended.stderr);
        assert!(ended.stdout.is_empty());
    }
    let elsewhere = rpm(&bench, &[&format!("{url}bytes/1KiB"), "-k"]).expect(3);
    assert!(
        elsewhere
            .stderr
            .contains("expected a JSON object with `version` and `urls`"),
        "{}",
        elsewhere.stderr
    );
    server.signal("TERM");
    server.finish().expect(0);
}
