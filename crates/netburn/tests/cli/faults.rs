//! Faults of a run: killed processes, a full disk, an unauthenticated connection, no network.

use crate::support::{Bench, finish, one_station, signal, start, station, text};
use netburn_record::{EventKind, Row, Run, RunStatus};
use netburn_workload::Outcome;
use serde_json::Value;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::Path;
use std::time::{Duration, Instant};

/// A scenario of two stations that call.
fn two_calls(seconds: u64) -> String {
    format!(
        "{}\n[station.two]\nworkload = \"voip\"\n",
        one_station("voip", 20, seconds)
    )
}

/// The operations in the record of a run.
fn rows(path: &Path) -> Vec<Row> {
    let mut rows = Vec::new();
    Run::open(path).unwrap().rows(&mut |row| rows.push(row)).unwrap();
    rows
}

/// The number of finished operations of a station.
fn finished(rows: &[Row], number: u16) -> usize {
    let of = |row: &&Row| {
        matches!(row, Row::Operation(o) if o.station == number && o.workload == 0
                 && o.operation.outcome == Outcome::Finished)
    };
    rows.iter().filter(of).count()
}

#[test]
fn the_run_ends_on_schedule_after_its_server_died() {
    let bench = Bench::new();
    bench.write("calls.toml", one_station("voip", 20, 15));
    let begun = Instant::now();
    let mut run = start(bench.netburn(["run", "calls.toml", "--out", "saved", "--format", "json"]));
    run.wait_for_load();
    std::thread::sleep(Duration::from_secs(1));
    signal(run.processes_with_subcommand("serve")[0], "KILL");
    let ended = run.finish().expect(3);
    assert!(begun.elapsed() < Duration::from_secs(90), "{:?}", begun.elapsed());
    let summary = ended.json();
    let calls = &station(&summary, "one")["workloads"][0];
    assert!(calls["failures"].as_u64().unwrap() > 0, "{summary:#}");
    assert!(
        summary["self_check"]["reasons"].to_string().contains("server"),
        "{summary:#}"
    );
    // A call every 131 ms for a second, and not all 114 of the 15 s.
    let calls = finished(&rows(&bench.path("saved")), 0);
    assert!((1..113).contains(&calls), "{calls} calls");
}

#[test]
fn a_killed_agent_makes_its_station_inconclusive_and_its_rows_stay() {
    let bench = Bench::new();
    bench.write("calls.toml", two_calls(15));
    let mut run = start(bench.netburn(["run", "calls.toml", "--out", "saved", "--format", "json"]));
    run.wait_for_load();
    std::thread::sleep(Duration::from_secs(2));
    let agents = run.processes_with_subcommand("agent");
    assert_eq!(agents.len(), 2, "{agents:?}");
    signal(agents[0], "KILL");
    let summary = run.finish().expect(3).json();
    let rows = rows(&bench.path("saved"));
    let lost: Vec<u16> = rows
        .iter()
        .filter_map(|row| match row {
            Row::Event(event) if event.kind == EventKind::Lost => event.station,
            _ => None,
        })
        .collect();
    let [lost] = lost[..] else {
        panic!("lost {lost:?}: {summary:#}")
    };
    let (gone, left) = (
        &summary["stations"][usize::from(lost)],
        &summary["stations"][usize::from(1 - lost)],
    );
    assert_eq!(gone["verdict"], "inconclusive", "{summary:#}");
    assert!(!gone["reasons"].as_array().unwrap().is_empty(), "{summary:#}");
    // The record has the rows of its two seconds. The other station ran to the end: 15 s / 131 ms are 114 calls.
    assert!((1..113).contains(&finished(&rows, lost)), "{}", finished(&rows, lost));
    assert!(
        left["workloads"][0]["operations"].as_u64().unwrap() >= 113,
        "{summary:#}"
    );
}

#[test]
fn a_killed_controller_leaves_every_spooled_row() {
    let bench = Bench::new();
    bench.write("calls.toml", two_calls(60));
    let mut run = start(bench.netburn(["run", "calls.toml", "--out", "saved"]));
    run.wait_for_load();
    // 3 s / 131 ms.
    let enough = |rows: &[Row]| [0, 1].iter().all(|number| finished(rows, *number) >= 20);
    let mut stored = Vec::new();
    run.wait_for("rows of three seconds", |_| {
        stored = bench.rows_so_far("saved");
        enough(&stored)
    });
    // `report` of a run in progress prints that it is still being recorded.
    let early = finish(bench.netburn(["report", "saved"])).expect(2);
    assert!(early.stderr.contains("still being recorded"), "{}", early.stderr);
    run.signal("KILL");
    run.finish().expect(128 + 9);
    let spooled = std::fs::metadata(bench.path("saved").join("spool")).unwrap().len();
    assert!(!bench.path("saved").join("run.json").exists());
    // `runs` lists the run as unfinished and changes nothing.
    let list = finish(bench.netburn(["runs", "."])).expect(0).out();
    assert!(list.contains("unfinished") && list.contains("netburn report"), "{list}");
    assert!(!bench.path("saved").join("run.json").exists());

    // An export reads the spool, and only the report finishes the record.
    let exported = finish(bench.netburn(["export", "saved", "--to", "json"]))
        .expect(0)
        .json();
    assert!(!bench.path("saved").join("run.json").exists());

    let reported = finish(bench.netburn(["report", "saved", "--format", "json"])).expect(0);
    assert!(
        reported.stderr.contains("its record is now finished"),
        "{}",
        reported.stderr
    );
    let report = reported.json();
    assert_eq!(exported["summary"], report);
    assert_eq!(report["verdict"], "inconclusive", "{report:#}");
    assert!(!report["reasons"].as_array().unwrap().is_empty(), "{report:#}");
    let rows = rows(&bench.path("saved"));
    for row in stored.iter().filter(|row| matches!(row, Row::Operation(_))) {
        assert!(rows.contains(row), "{row:?} of {} rows, {spooled} bytes", rows.len());
    }
    let again = finish(bench.netburn(["report", "saved", "--format", "json"]))
        .expect(0)
        .json();
    assert_eq!(report, again, "the second report is the same");
}

#[test]
fn ctrl_c_saves_the_rows_so_far() {
    let bench = Bench::new();
    bench.write("calls.toml", two_calls(600));
    let started = Instant::now();
    let mut run = start(bench.netburn(["run", "calls.toml", "--out", "saved", "--format", "json", "--check"]));
    run.wait_for_load();
    run.wait_for("calls of both stations", |_| {
        let rows = bench.rows_so_far("saved");
        [0, 1].iter().all(|number| finished(&rows, *number) >= 8)
    });
    let stopped = Instant::now();
    run.signal_group("INT");
    let ended = run.finish().expect(3);
    // Without the 600 s of the load.
    assert!(stopped.elapsed() < Duration::from_secs(90), "{:?}", stopped.elapsed());
    assert!(ended.stderr.contains("stopping"), "{}", ended.stderr);
    let summary = ended.json();
    assert_eq!(summary["verdict"], "inconclusive", "{summary:#}");
    assert_eq!(
        *Run::open(&bench.path("saved")).unwrap().status(),
        RunStatus::Interrupted
    );
    // A call every 131 ms until the end.
    let calls = finished(&rows(&bench.path("saved")), 0);
    let most = started.elapsed().as_millis() as usize / 131 + 1;
    assert!((8..=most).contains(&calls), "{calls} calls");
    let report = finish(bench.netburn(["report", "saved", "--format", "json"]))
        .expect(0)
        .json();
    assert_eq!(report, summary);
}

#[test]
fn ctrl_c_before_the_load_ends_the_run() {
    let bench = Bench::new();
    bench.write("calls.toml", two_calls(60));
    let mut run = start(bench.netburn(["run", "calls.toml", "--out", "saved", "--format", "json"]));
    run.wait_for("a beginning", |run| {
        run.stderr_so_far().contains("synchronising clocks")
    });
    run.signal_group("INT");
    let ended = run.finish().expect(3);
    assert_eq!(ended.json()["verdict"], "inconclusive", "{}", ended.out());
}

#[test]
fn a_second_ctrl_c_aborts_and_report_finishes_the_folder() {
    let bench = Bench::new();
    bench.write("calls.toml", two_calls(60));
    let mut run = start(bench.netburn(["run", "calls.toml", "--out", "saved"]));
    run.wait_for_load();
    // While the server is stopped, the run can't end normally.
    signal(run.processes_with_subcommand("serve")[0], "STOP");
    run.signal("INT");
    run.wait_for("an answer", |run| run.stderr_so_far().contains("stopping"));
    run.signal("INT");
    let ended = run.finish().expect(3);
    assert!(ended.stderr.contains("netburn report"), "{}", ended.stderr);
    finish(bench.netburn(["report", "saved"])).expect(0);
}

#[test]
#[cfg_attr(not(feature = "all-tests"), ignore = "takes many seconds: scripts/test runs it")]
fn unauthenticated_connections_to_the_controller_do_not_disturb_a_run() {
    let bench = Bench::new();
    bench.write("calls.toml", two_calls(15));
    let mut run = start(bench.netburn(["run", "calls.toml", "--format", "json", "-v"]));
    run.wait_for_load();
    let control = listening(run.id());
    let [port] = control[..] else {
        panic!("the controller listens at {control:?}")
    };
    let dial = || {
        let stream = TcpStream::connect(SocketAddr::from((Ipv4Addr::LOCALHOST, port))).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        stream.set_write_timeout(Some(Duration::from_secs(30))).unwrap();
        stream
    };
    let silent = dial();
    let mut noise = dial();
    let _ = noise.write_all(&[0xff; 100_000]);
    let mut browser = dial();
    browser.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
    let mut page = Vec::new();
    let _ = browser.take(4096).read_to_end(&mut page);
    assert!(!page.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&page));
    // A valid message with a wrong token.
    let mut guest = dial();
    let upgrade = "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
                   Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n";
    guest.write_all(upgrade.as_bytes()).unwrap();
    let mut answer = [0; 1024];
    let length = guest.read(&mut answer).unwrap();
    assert!(
        answer[..length].starts_with(b"HTTP/1.1 101"),
        "{}",
        text(&answer[..length])
    );
    let hello = br#"{"type":"hello","protocol":1,"role":"agent","name":"one","token":"guess","version":"x"}"#;
    // RFC 6455 section 5.2: a final text frame, masked with zeros.
    let mut frame = vec![0x81, 0x80 | u8::try_from(hello.len()).unwrap(), 0, 0, 0, 0];
    frame.extend_from_slice(hello);
    let _ = guest.write_all(&frame);

    let ended = run.finish();
    drop((silent, noise, guest));
    assert!(ended.stderr.contains("message rejected"), "{}", ended.stderr);
    let summary = ended.json();
    assert_eq!(summary["stations"].as_array().unwrap().len(), 2);
    for name in ["one", "two"] {
        let calls = &station(&summary, name)["workloads"][0];
        // 15 s / 131 ms are 114 calls.
        assert!(calls["operations"].as_u64().unwrap() >= 113, "{summary:#}");
        assert_eq!(calls["failures"], Value::from(0), "{summary:#}");
    }
}

/// The TCP ports on which a process listens on 127.0.0.1 (proc(5), `/proc/net/tcp`).
fn listening(pid: u32) -> Vec<u16> {
    let sockets: Vec<String> = std::fs::read_dir(format!("/proc/{pid}/fd"))
        .unwrap()
        .filter_map(|fd| std::fs::read_link(fd.ok()?.path()).ok()?.to_str().map(str::to_owned))
        .collect();
    let table = std::fs::read_to_string(format!("/proc/{pid}/net/tcp")).unwrap();
    let ports = table.lines().skip(1).filter_map(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        // State 0A is LISTEN; the tenth field is the inode.
        let ours = fields[3] == "0A" && sockets.contains(&format!("socket:[{}]", fields[9]));
        let port = fields[1].split(':').next_back()?;
        ours.then(|| u16::from_str_radix(port, 16).unwrap())
    });
    ports.collect()
}
