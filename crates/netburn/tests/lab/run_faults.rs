//! Runs on this machine with a full disk or without a network, which need a namespace.

use crate::support::{Bench, LOOPBACK_UP, finish, one_station};

#[test]
fn a_full_disk_is_reported_once_and_leaves_no_partial_record() {
    let bench = Bench::new();
    // 1000 probes a second are about 60 kB of rows a second.
    bench.write(
        "probes.toml",
        format!(
            "{}\n[workload.often]\nkind = \"probe\"\ninterval = \"1ms\"\n",
            one_station("often", 20, 10)
        ),
    );
    let script = "mkdir full && mount -t tmpfs -o size=64k tmpfs full && \"$@\"; code=$?; ls -R full >&3; exit $code";
    let script = format!("{{ {script}; }} 3>&1 >&2");
    let ended = finish(bench.inside(&["--mount"], &script, ["run", "probes.toml", "--out", "full/saved"])).expect(3);
    assert_eq!(ended.stderr.matches("No space left").count(), 1, "{}", ended.stderr);
    assert!(ended.stderr.contains("netburn report full/saved"), "{}", ended.stderr);
    assert!(
        ended.out().contains("spool") && !ended.out().contains("run.json"),
        "{}",
        ended.out()
    );
}

#[test]
fn a_disk_that_is_full_at_the_start_is_an_error() {
    let bench = Bench::new();
    bench.write("calls.toml", one_station("voip", 20, 5));
    let script = "mkdir full && mount -t tmpfs -o size=4k tmpfs full && head -c 4096 /dev/zero >full/all; \"$@\"";
    let ended = finish(bench.inside(&["--mount"], script, ["run", "calls.toml", "--out", "full/saved"])).expect(3);
    assert_eq!(ended.stderr.matches("No space left").count(), 1, "{}", ended.stderr);
}

#[test]
fn a_run_without_a_network_prints_the_reason() {
    // In a network namespace whose loopback device is down, no agent can join.
    let bench = Bench::new();
    bench.write("calls.toml", one_station("voip", 20, 2));
    let down = finish(bench.inside(&["--net"], "exec \"$@\"", ["run", "calls.toml"]));
    assert_eq!(down.code(), 3, "{}{}", down.out(), down.stderr);
    assert!(
        down.out().contains("no server to measure against") && down.stderr.contains("Network is unreachable"),
        "{}{}",
        down.out(),
        down.stderr
    );
    let up = format!("{LOOPBACK_UP} exec \"$@\"");
    let up = finish(bench.inside(&["--net"], &up, ["run", "calls.toml"]));
    assert!(up.out().starts_with("local:"), "{}{}", up.out(), up.stderr);
}
