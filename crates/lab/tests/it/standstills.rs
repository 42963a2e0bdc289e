//! Programs and the helper process while a signal stops them.

use crate::common::{open, plan, start};
use netburn_lab::ProcessExit;
use std::process::Command;
use std::time::{Duration, Instant};

const SIGCONT: i32 = 18;
const SIGSTOP: i32 = 19;

fn until(what: &str, mut done: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(60);
    while !done() {
        assert!(Instant::now() < end, "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_stopped_program_is_part_of_the_labs_health() {
    let plan = plan("anomaly", &[("baseline", "\"0s\"")]);
    let lab = open(&plan);
    let station = plan.stations[0].name.as_str();
    let mut program = start(&lab, station, &["sh", "-c", "echo up; sleep 600"]);
    assert_eq!(program.line(), "up");
    assert_eq!(lab.health().stopped, []);
    let began = Instant::now();
    program.guest.signal(SIGSTOP);
    until("the stop is seen", || !lab.health().stopped.is_empty());
    std::thread::sleep(Duration::from_millis(300));
    program.guest.signal(SIGCONT);
    // After the helper's reply to another request, it has reported the continuation.
    assert_eq!(start(&lab, "server", &["true"]).text().0, ProcessExit::Status(0));
    let most = began.elapsed().as_secs_f64() * 1e6;
    let stopped = lab.health().stopped;
    assert_eq!(
        (stopped.len(), stopped[0].station.as_str(), stopped[0].program.as_str()),
        (1, station, "sh")
    );
    assert!((300_000.0..most).contains(&stopped[0].us), "{stopped:?}");
    // The program has exited.
    until("the time stays", || {
        let before = lab.health().stopped[0].us;
        std::thread::sleep(Duration::from_millis(20));
        lab.health().stopped[0].us == before
    });
}

/// Returns the process ids of the children of a process.
fn children(of: u32) -> Vec<u32> {
    let all = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let ids = all.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    ids.filter(|id: &u32| {
        let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        // Behind the name, which may contain any character: the state, then the parent.
        let parent = stat
            .rsplit(") ")
            .next()
            .and_then(|rest| rest.split(' ').nth(1)?.parse().ok());
        parent == Some(of)
    })
    .collect()
}

fn signal(name: &str, id: u32) {
    let sent = Command::new("kill")
        .args(["-s", name, &id.to_string()])
        .status()
        .unwrap();
    assert!(sent.success());
}

/// Returns the two processes of a lab's helper: the one that was started, and the init process of its PID namespace.
fn helper(lab: &netburn_lab::Lab) -> (u32, u32) {
    // `nsenter … --mount=/proc/ID/ns/mnt …`
    let entry = lab.nsenter_command(lab.endpoint("server").unwrap());
    let id = entry.split("--mount=/proc/").nth(1).unwrap().split('/').next().unwrap();
    let outer = id.parse().unwrap();
    (outer, children(outer)[0])
}

#[test]
fn a_stopped_helper_causes_a_warning() {
    let plan = plan("anomaly", &[("baseline", "\"0s\"")]);
    let lab = open(&plan);
    let (_, inner) = helper(&lab);
    signal("STOP", inner);
    let mut warnings = Vec::new();
    until("a warning", || {
        warnings.extend(lab.take_warnings());
        !warnings.is_empty()
    });
    assert!(
        warnings[0].starts_with("the lab's helper process does not respond"),
        "{warnings:?}"
    );
    assert!(lab.health().helper_us_max >= 1e6);
    signal("CONT", inner);
    assert_eq!(start(&lab, "server", &["true"]).text().0, ProcessExit::Status(0));
    assert_eq!(lab.take_warnings(), Vec::<String>::new());
}

#[test]
fn a_lab_closes_although_its_helper_is_stopped() {
    let plan = plan("anomaly", &[("baseline", "\"0s\"")]);
    for stop_outer in [true, false] {
        let lab = open(&plan);
        let program = start(&lab, "server", &["sleep", "600"]);
        let (outer, inner) = helper(&lab);
        signal("STOP", if stop_outer { outer } else { inner });
        drop((program, lab));
        for process in [outer, inner] {
            until("its processes exit", || {
                !std::path::Path::new(&format!("/proc/{process}")).exists()
            });
        }
    }
}
