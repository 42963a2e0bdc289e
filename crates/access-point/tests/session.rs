//! Sessions with a shell of this machine, and with peers that do not behave.

use netburn_access_point::session::Client;
use netburn_access_point::{Addresses, Observer};
use netburn_record::{AccessPointEvent, Detail, Observable, ObservedRow, Row};
use std::process::Command;
use std::time::{Duration, Instant};

/// Time limit for what must happen at some time.
const LONG: Duration = Duration::from_secs(60);

/// A client that runs `script` in a shell of this machine, with the command of the session as $1.
fn client(script: &str) -> Client {
    let script = script.to_owned();
    Box::new(move |remote| {
        let mut command = Command::new("sh");
        command.args(["-c", &script, "sh", remote]);
        Ok(command)
    })
}

/// Rows of an observer until `is_enough`.
fn rows(client: Client, is_enough: impl Fn(&[Row]) -> bool) -> Vec<Row> {
    let mut observer = Observer::start_over("hall", Addresses::default(), client).unwrap();
    observer.begin(Instant::now());
    let until = Instant::now() + LONG;
    let mut rows = Vec::new();
    while !is_enough(&rows) {
        assert!(Instant::now() < until, "not in time: {rows:?}");
        rows.extend(observer.rows());
        std::thread::sleep(Duration::from_millis(10));
    }
    rows
}

fn observed(rows: &[Row], quantity: Observable) -> Vec<&ObservedRow> {
    rows.iter()
        .filter_map(|row| match row {
            Row::Observed(row) => (row.quantity == quantity).then_some(row),
            _ => None,
        })
        .collect()
}

fn events(rows: &[Row]) -> Vec<&AccessPointEvent> {
    rows.iter()
        .filter_map(|row| match row {
            Row::Event(event) => match &event.detail {
                Detail::AccessPoint(event) => Some(&**event),
                _ => None,
            },
            _ => None,
        })
        .collect()
}

/// The first reason for which the access point is not observed.
fn reason(script: &str) -> String {
    let is_lost = |event: &&AccessPointEvent| matches!(event, AccessPointEvent::Unreachable { .. });
    let rows = rows(client(script), |rows| events(rows).iter().any(is_lost));
    match events(&rows).into_iter().find(is_lost) {
        Some(AccessPointEvent::Unreachable { reason, .. }) => reason.clone(),
        _ => panic!("{rows:?}"),
    }
}

#[test]
fn a_shell_reports_its_machine() {
    let rows = rows(client("eval \"$1\""), |rows| {
        observed(rows, Observable::ObserverResponse).len() >= 3
    });
    let [AccessPointEvent::Described { name, facts }] = events(&rows)[..] else {
        panic!("{rows:?}");
    };
    assert_eq!(name, "hall");
    assert!(facts["kernel"].starts_with("Linux "), "{facts:?}");
    assert!(facts.contains_key("system"), "{facts:?}");
    assert!(
        observed(&rows, Observable::MemoryAvailable)
            .iter()
            .all(|row| row.value > 0)
    );
    for row in observed(&rows, Observable::ProcessorBusy) {
        assert!((0..=1_000_000).contains(&row.value), "{row:?}");
    }
    // Some kernels count processor time in steps of 10 ms.
    for row in observed(&rows, Observable::ObserverProcessor) {
        assert!((0..row.span.as_nanos() as i64).contains(&row.value), "{row:?}");
    }
}

#[test]
fn an_access_point_observes_itself() {
    let target = "hall=local".parse().unwrap();
    let mut observer = Observer::start(&target, None, Addresses::default()).unwrap();
    observer.begin(Instant::now());
    let until = Instant::now() + LONG;
    let mut rows = Vec::new();
    // Processor time of this process, which is the parent of the shell, must not count: it is more than the observation's.
    while observed(&rows, Observable::ObserverProcessor).len() < 2 {
        assert!(Instant::now() < until, "not in time: {rows:?}");
        rows.extend(observer.rows());
        std::hint::spin_loop();
    }
    assert!(matches!(events(&rows)[..], [AccessPointEvent::Described { .. }]));
    assert!(!observed(&rows, Observable::ProcessorBusy).is_empty());
    for row in observed(&rows, Observable::ObserverProcessor) {
        assert!((0..row.span.as_nanos() as i64 / 2).contains(&row.value), "{row:?}");
    }
}

#[test]
fn nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let script = format!(
        "cd {} && HOME=$PWD TMPDIR=$PWD && export HOME TMPDIR && eval \"$1\"",
        folder.path().display()
    );
    rows(client(&script), |rows| {
        observed(rows, Observable::ObserverResponse).len() >= 2
    });
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn the_program_has_no_redirection_to_a_file() {
    let program = include_str!("../src/observe.sh");
    let redirections: Vec<&str> = program.match_indices('>').map(|(at, _)| &program[at..]).collect();
    assert!(!redirections.is_empty());
    for to in redirections {
        assert!(to.starts_with(">/dev/null") || to.starts_with(">&1"), "{to}");
    }
}

#[test]
fn a_missing_program_is_no_error() {
    // Only the shell and dd. The program adds folders for programs of administrators, such as iw.
    let folder = tempfile::tempdir().unwrap();
    for name in ["sh", "dd"] {
        std::os::unix::fs::symlink(format!("/bin/{name}"), folder.path().join(name)).unwrap();
    }
    let script = format!("PATH={}; export PATH; eval \"$1\"", folder.path().display());
    let rows = rows(client(&script), |rows| {
        observed(rows, Observable::ObserverResponse).len() >= 2
    });
    assert!(!observed(&rows, Observable::ObserverProcessor).is_empty());
}

#[test]
fn a_refused_login_has_the_message_of_the_client() {
    let reason = reason("echo 'root@hall: Permission denied (publickey).' >&2; exit 255");
    assert_eq!(
        reason,
        "the connection ended (root@hall: Permission denied (publickey))"
    );
}

#[test]
fn another_shell_is_no_access_point() {
    let reason = reason("echo 'bad command name sh (line 1 column 1)'; exit 1");
    assert_eq!(reason, "the connection ended");
}

#[test]
fn a_flood_ends_the_session() {
    assert_eq!(reason("yes"), "it sent more than 1 MiB for one sample");
    assert_eq!(
        reason("tr '\\0' x </dev/zero"),
        "it sent more than 1 MiB for one sample"
    );
}

#[test]
fn a_session_that_ends_begins_again() {
    // The first connection ends in the middle of a line of its second answer.
    let folder = tempfile::tempdir().unwrap();
    let mark = folder.path().join("second");
    let mark = mark.display();
    let script =
        format!("if [ -e {mark} ]; then eval \"$1\"; else : >{mark}; timeout 2 sh -c \"$1\"; printf netburn-; fi");
    let is_back = |event: &&AccessPointEvent| matches!(event, AccessPointEvent::Returned { .. });
    let rows = rows(client(&script), |rows| events(rows).iter().any(is_back));
    let names = events(&rows).into_iter().map(|event| match event {
        AccessPointEvent::Described { .. } => "described",
        AccessPointEvent::Lost { .. } => "lost",
        AccessPointEvent::Returned { .. } => "returned",
        _ => "other",
    });
    let names: Vec<_> = names.collect();
    assert!(
        names.ends_with(&["lost", "returned"]) || names == ["lost", "returned", "described"],
        "{names:?}"
    );
}

#[test]
fn a_silent_peer_does_not_delay_the_end() {
    let mut observer = Observer::start_over("hall", Addresses::default(), client("sleep 1000")).unwrap();
    observer.begin(Instant::now());
    std::thread::sleep(Duration::from_millis(300));
    let began = Instant::now();
    assert_eq!(observer.rows(), []);
    drop(observer);
    assert!(began.elapsed() < Duration::from_secs(10));
}

#[test]
fn the_log_is_read_once_more_at_the_end() {
    // A log to which the test writes during the run, as OpenWrt's logread prints it.
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    std::fs::write(&log, "").unwrap();
    let program = folder.path().join("logread");
    std::fs::write(&program, format!("#!/bin/sh\ncat {}\n", log.display())).unwrap();
    let mut mode = std::fs::metadata(&program).unwrap().permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut mode, 0o755);
    std::fs::set_permissions(&program, mode).unwrap();
    let script = format!("PATH={}:$PATH; export PATH; eval \"$1\"", folder.path().display());
    let mut observer = Observer::start_over("hall", Addresses::default(), client(&script)).unwrap();
    observer.begin(Instant::now());
    let until = Instant::now() + LONG;
    let mut rows = Vec::new();
    while observed(&rows, Observable::ObserverResponse).is_empty() {
        assert!(Instant::now() < until, "not in time: {rows:?}");
        rows.extend(observer.rows());
        std::thread::sleep(Duration::from_millis(10));
    }
    let date = Command::new("date").arg("+%b %e %H:%M:%S").output().unwrap();
    let date = String::from_utf8(date.stdout).unwrap();
    let line = "hall hostapd: wlan0: STA 02:00:00:00:01:00 IEEE 802.11: associated (aid 1)";
    std::fs::write(&log, format!("{} {line}\n", date.trim_end())).unwrap();
    observer.end();
    observer.wait_for_end();
    let rows = observer.rows();
    let texts: Vec<String> = events(&rows).into_iter().map(ToString::to_string).collect();
    assert_eq!(
        texts,
        ["log of access point hall: wlan0: 02:00:00:00:01:00: associated"]
    );
}
