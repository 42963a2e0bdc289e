//! Runs and labs in which SIGSTOP suspends a process. Schedulers have no record of this.

use crate::support::clocks::Clocks;
use crate::support::{Bench, LOOPBACK_UP, Running, SMALL, is_root, signal, start};
use serde_json::Value;
use std::process::Command;
use std::time::Duration;

/// Longer than any limit of a suspension, and shorter than any timeout between the processes.
const STOP: Duration = Duration::from_millis(400);

/// Suspends a process for [`STOP`].
fn stop(pid: u32) {
    signal(pid, "STOP");
    std::thread::sleep(STOP);
    signal(pid, "CONT");
}

/// The small scenario in the lab with a load of 15 s, in which a test disturbs it even if each process of the test waits
/// for a processor.
const RUN: [&str; 8] = ["run", "small.toml", "--on", "lab", "--out", "run", "--duration", "15s"];

/// Runs the small scenario in the lab, and suspends one of its processes during the load. Returns `run.json`.
fn run_with_stop(whom: impl Fn(&Running) -> u32) -> Value {
    let bench = Bench::new();
    bench.write("small.toml", SMALL);
    let mut run = start(bench.netburn(RUN));
    run.wait_for_load();
    std::thread::sleep(Duration::from_millis(500));
    stop(whom(&run));
    run.finish().expect(3);
    serde_json::from_slice(&std::fs::read(bench.path("run/run.json")).unwrap()).unwrap()
}

#[track_caller]
fn expect_unreliable(run: &Value, station: usize, reason: &str) {
    let found = &run["summary"]["stations"][station];
    assert_eq!(found["verdict"], "inconclusive", "{found:#}");
    assert!(found["reasons"].to_string().contains(reason), "{found:#}");
}

/// Checks a suspension's length, within the polling interval of a thread.
#[track_caller]
fn as_long(micros: &Value) {
    let millis = micros.as_f64().unwrap() / 1e3;
    assert!((370.0..20_000.0).contains(&millis), "{millis} ms");
}

#[test]
fn a_suspended_lab_makes_its_run_inconclusive() {
    let run = run_with_stop(Running::id);
    for station in [0, 1] {
        expect_unreliable(&run, station, "the lab had ");
    }
    as_long(&run["lab"]["standstill_us_max"]);
    assert!(run["lab"]["standstills"].as_u64().unwrap() >= 1, "{run:#}");
    assert!(run["lab"]["lateness_count"].as_u64().unwrap() > 0, "{run:#}");
}

#[test]
fn a_suspended_agent_makes_its_station_inconclusive() {
    let run = run_with_stop(|run| run.processes_with_subcommand("agent")[0]);
    // Its parent is the helper process, which is informed.
    let stopped = run["lab"]["stopped"].as_array().unwrap();
    assert_eq!(stopped.len(), 1, "{stopped:?}");
    as_long(&stopped[0]["us"]);
    let name = stopped[0]["station"].as_str().unwrap();
    let health = run["health"].as_array().unwrap();
    let own = health.iter().find(|of| of["name"] == name).unwrap();
    as_long(&own["standstill_us_max"]);
    let station = usize::from(name == "reader");
    let reason = format!("agent {name} had a standstill of ");
    expect_unreliable(&run, station, &reason);
    // On a busy machine the other agent may have standstills of its own.
    let other = &run["summary"]["stations"][1 - station];
    assert!(!other["reasons"].to_string().contains(&reason), "{other:#}");
}

#[test]
fn a_suspended_server_makes_every_station_inconclusive() {
    let run = run_with_stop(|run| run.processes_with_subcommand("serve")[0]);
    for station in [0, 1] {
        expect_unreliable(&run, station, "the server had a standstill of ");
    }
}

/// No packet is queued at an idle interface that is down for a moment. But it has no routes afterwards.
#[test]
fn a_station_whose_interface_went_down_makes_the_run_inconclusive() {
    let bench = Bench::new();
    bench.write("small.toml", SMALL);
    let mut run = start(bench.netburn(RUN));
    run.wait_for_load();
    let agent = run.processes_with_subcommand("agent")[0].to_string();
    let mut inside = Command::new("nsenter");
    inside.args(["--target", &agent, "--net"]);
    if !is_root() {
        inside.args(["--user", "--preserve-credentials"]);
    }
    let script = "ip link set wlan0 down && ip link set wlan0 up";
    assert!(inside.args(["--", "sh", "-c", script]).status().unwrap().success());
    run.finish().expect(3);
    let run = serde_json::from_slice(&std::fs::read(bench.path("run/run.json")).unwrap()).unwrap();
    for station in [0, 1] {
        expect_unreliable(&run, station, "was taken down during the run");
    }
    let reasons = run["summary"]["self_check"]["reasons"].to_string();
    assert_eq!(reasons.matches("was taken down").count(), 1, "{reasons}");
}

#[test]
fn a_run_whose_loopback_device_went_down_is_inconclusive() {
    let bench = Bench::new();
    bench.write("small.toml", SMALL);
    let blink = "( until [ -e blink ]; do sleep 0.05; done; ip link set lo down; ip link set lo up ) &";
    let script = format!("{LOOPBACK_UP} true; {blink} exec \"$@\"");
    let args = [
        "run",
        "small.toml",
        "--on",
        "local",
        "--out",
        "run",
        "--duration",
        "15s",
    ];
    let mut run = start(bench.inside(&["--net"], &script, args));
    run.wait_for_load();
    bench.write("blink", "");
    run.finish().expect(3);
    let run = serde_json::from_slice(&std::fs::read(bench.path("run/run.json")).unwrap()).unwrap();
    for station in [0, 1] {
        expect_unreliable(&run, station, "the loopback interface was taken down during the run");
    }
}

#[test]
fn a_lab_reports_that_it_was_suspended_while_programs_ran() {
    let bench = Bench::new();
    bench.write("small.toml", SMALL);
    let ping = "ping -c 1 server; until [ -e done ]; do sleep 0.05; done";
    let mut lab = start(bench.netburn(["lab", "small.toml", "--at", "caller", "--", "sh", "-c", ping]));
    lab.wait_for("the first answer", |lab| lab.stdout_so_far().contains("bytes from"));
    stop(lab.id());
    bench.write("done", "");
    let ended = lab.finish().expect(0);
    assert!(
        ended
            .stderr
            .contains("warning: results may be unreliable: the lab had "),
        "{}",
        ended.stderr
    );
}

/// A suspended machine: its clock stops as well, so the clock alone does not show it.
#[test]
fn a_lab_reports_that_the_machine_was_suspended() {
    let bench = Bench::new();
    bench.write("small.toml", SMALL);
    let clocks = Clocks::new(&bench);
    let words = [
        "lab",
        "small.toml",
        "--at",
        "caller",
        "--",
        "sh",
        "-c",
        "echo up; until [ -e done ]; do sleep 0.05; done",
    ];
    let mut command = bench.netburn(words);
    clocks.apply_to(&bench, &mut command);
    let mut lab = start(command);
    lab.wait_for("the command", |lab| lab.stdout_so_far().contains("up\n"));
    signal(lab.id(), "STOP");
    std::thread::sleep(Duration::from_secs(1));
    clocks.slept(1_000_000_000);
    signal(lab.id(), "CONT");
    bench.write("done", "");
    let ended = lab.finish().expect(0);
    let line = ended
        .stderr
        .lines()
        .find(|line| line.contains("the machine was suspended for "));
    let line = line.unwrap_or_else(|| panic!("{}", ended.stderr));
    assert!(
        line.starts_with("warning: results may be unreliable: ") && line.ends_with(" s; the limit is 0"),
        "{line}"
    );
}
