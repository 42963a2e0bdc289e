//! Several commands in one lab: servers and the clients that wait for them, their output, and the end.

use crate::support::{Bench, Running, finish, service_and_caller, small_lab, start};
use serde_json::Value;
use std::os::unix::process::ExitStatusExt;
use std::time::{Duration, Instant};

/// A number in a command is not a port.
#[test]
fn a_command_that_contains_80_does_not_replace_the_server() {
    let bench = Bench::small();
    let service = ["timeout", "80", "sleep", "70"];
    let fetch = [
        "curl",
        "-sS",
        "-o",
        "/dev/null",
        "-w",
        "%{http_code}\\n",
        "http://server/bytes/1KiB",
    ];
    let both = service_and_caller(&[], &service, &fetch);
    let began = Instant::now();
    let ended = finish(bench.netburn(both)).expect(0);
    assert_eq!(ended.out(), "caller| 200\n");
    assert!(
        began.elapsed() < Duration::from_secs(60),
        "the service ends with the others"
    );
}

/// A server that listens after a second, and one that never listens.
#[test]
fn commands_wait_for_the_port_of_the_previous_one() {
    let bench = Bench::small();
    let serve = "import socket, time\ntime.sleep(1)\ns = socket.create_server(('', 8080))\nwhile True: s.accept()[0].sendall(b'here')";
    let ask = "import socket\nprint(socket.create_connection(('server', 8080)).recv(9).decode())";
    let both = service_and_caller(&["--ready=8080"], &["python3", "-c", serve], &["python3", "-c", ask]);
    assert_eq!(finish(bench.netburn(both)).expect(0).out(), "caller| here\n");
    let never = [
        "--at", "server", "--ready", "8080", "--", "sh", "-c", "exit 5", "--and", "--at", "caller", "--", "echo", "ran",
    ];
    let ended = finish(bench.netburn(small_lab(&never))).expect(5);
    assert_eq!(ended.out(), "");
    let why = "the command at server ended before it listened at port 8080";
    assert!(ended.stderr.contains(why), "{}", ended.stderr);
}

/// Prints the signals that it gets, and then ends.
const HANDLES_SIGNALS: &str = "
import signal, sys, time
def told(number, frame):
    print('told', number, flush=True)
    sys.exit(0)
for number in (1, 15):
    signal.signal(number, told)
print('up', flush=True)
time.sleep(600)
";

const IGNORES_SIGNALS: &str = "
import signal, time
for number in (1, 2, 15):
    signal.signal(number, signal.SIG_IGN)
print('up', flush=True)
time.sleep(600)
";

fn up(bench: &Bench, script: &str, more: &[&str]) -> Running {
    let words = [more, &["--at", "caller", "--", "python3", "-c", script]].concat();
    let mut running = start(bench.netburn(small_lab(&words)));
    running.wait_for("the command", |lab| lab.stdout_so_far().contains("up"));
    running
}

#[test]
fn the_first_signal_is_passed_on_and_ends_the_command() {
    let bench = Bench::small();
    for (signal, number) in [("TERM", 15), ("HUP", 1)] {
        for more in [&[][..], &["--serve"]] {
            let running = up(&bench, HANDLES_SIGNALS, more);
            running.signal(signal);
            let ended = running.finish().expect(128 + number);
            assert_eq!(ended.status.signal(), None, "netburn exits by itself");
            assert_eq!(ended.out(), format!("up\ntold {number}\n"));
        }
    }
}

#[test]
fn a_command_that_ignores_signals_is_killed_after_a_timeout_or_the_next_signal() {
    let bench = Bench::small();
    let running = up(&bench, IGNORES_SIGNALS, &[]);
    let began = Instant::now();
    running.signal("TERM");
    running.finish().expect(143);
    assert!(began.elapsed() >= Duration::from_secs(3), "{:?}", began.elapsed());
    // The first signal determines the status, whatever follows.
    let running = up(&bench, IGNORES_SIGNALS, &[]);
    running.signal("HUP");
    std::thread::sleep(Duration::from_millis(100));
    running.signal("TERM");
    running.finish().expect(129);
}

#[test]
fn a_service_that_ignores_signals_ends_with_the_other_commands() {
    let bench = Bench::small();
    let service = ["python3", "-c", IGNORES_SIGNALS];
    let both = service_and_caller(&[], &service, &["sh", "-c", "sleep 1; exit 4"]);
    finish(bench.netburn(both)).expect(4);
}

#[test]
fn a_command_that_cannot_start_has_the_status_that_shells_use() {
    let bench = Bench::small();
    let path = bench.write("plain", "no program");
    let path = path.to_str().unwrap();
    for (words, status) in [
        (&["--", "/no/such/command"][..], 127),
        (&["--", path], 126),
        (&["--", "true", "--and", "--at", "reader", "--", "no-such-command"], 127),
    ] {
        let ended = finish(bench.netburn(small_lab(words))).expect(status);
        assert!(ended.stderr.contains("can't start "), "{}", ended.stderr);
    }
}

#[test]
fn output_lines_begin_with_the_station_name() {
    let bench = Bench::small();
    let both = [
        "--at",
        "caller",
        "--",
        "sh",
        "-c",
        "echo one; echo two >&2",
        "--and",
        "--at",
        "caller",
        "--",
        "printf",
        "three",
        "--and",
        "--at",
        "server",
        "--",
        "hostname",
    ];
    let ended = finish(bench.netburn(small_lab(&both))).expect(0);
    let mut lines: Vec<String> = ended.out().lines().map(str::to_owned).collect();
    lines.sort();
    assert_eq!(lines, ["caller#2| three", "caller| one", "server| server"]);
    assert!(ended.stderr.contains("caller| two\n"), "{}", ended.stderr);
    // In files, lines have no names.
    let ended = finish(bench.netburn(small_lab(&[&["--log", "saved"], &both[..]].concat()))).expect(0);
    assert_eq!(ended.out(), "");
    let kept = |name: &str| std::fs::read_to_string(bench.path("saved").join(name)).unwrap();
    assert_eq!(
        (kept("caller.out"), kept("caller.err")),
        ("one\n".to_owned(), "two\n".to_owned())
    );
    assert_eq!(
        (kept("caller#2.out"), kept("server.out")),
        ("three".to_owned(), "server\n".to_owned())
    );
    let record: Value = serde_json::from_str(&kept("lab.json")).unwrap();
    assert_eq!(record["commands"][1]["name"], "caller#2", "{record:#}");
    assert_eq!(record["commands"][1]["status"], 0);
    assert!(record["health"]["standstill_us_max"].as_f64().is_some(), "{record:#}");
}

#[test]
fn a_single_command_has_the_terminal_and_the_station_as_host_name() {
    let bench = Bench::small();
    let script = "printf \"$(hostname) $NETBURN_STATION\"; exit 3";
    let ended = finish(bench.netburn(small_lab(&["--at", "reader", "--", "sh", "-c", script]))).expect(3);
    assert_eq!(ended.out(), "reader reader");
    // With --quiet, nothing else is printed.
    let printed = ended
        .stderr
        .lines()
        .filter(|line| !line.starts_with("warning: results may be unreliable: "));
    assert_eq!(printed.count(), 0, "{}", ended.stderr);
}

#[test]
fn an_unknown_station_is_an_error_before_the_lab_starts() {
    let bench = Bench::small();
    let ended = finish(bench.netburn(["lab", "small.toml", "--at", "missing", "--", "true"])).expect(2);
    assert_eq!(ended.stderr.lines().count(), 1, "{}", ended.stderr);
    assert!(
        ended
            .stderr
            .contains("unknown station `missing`; expected one of: server, caller, reader")
    );
}

/// If netburn itself stops inside a lab, the exit status shows it on request.
#[test]
fn a_disturbed_lab_has_its_own_exit_status() {
    let bench = Bench::small();
    let script = "echo up; sleep 1; exit 7";
    for (check, status) in [(&["--check"][..], 3), (&[], 7)] {
        let words = [check, &["--at", "caller", "--", "sh", "-c", script]].concat();
        let mut running = start(bench.netburn(small_lab(&words)));
        running.wait_for("the command", |lab| lab.stdout_so_far().contains("up"));
        running.signal("STOP");
        std::thread::sleep(Duration::from_millis(300));
        running.signal("CONT");
        let ended = running.finish().expect(status);
        assert!(
            ended
                .stderr
                .contains("warning: results may be unreliable: the lab had "),
            "{}",
            ended.stderr
        );
    }
}

#[test]
fn many_stations_need_no_higher_limit_of_open_files() {
    let bench = Bench::small();
    let mut text = "[ap.home.radio.5g]\n".to_owned();
    for number in 0..40 {
        text.push_str(&format!(
            "[station.s{number}]\nlink = {{ rate = \"100 Mbit/s\" }}\nworkload = \"probe\"\n"
        ));
    }
    bench.write("many.toml", text);
    // 41 nodes with seven files each. The shell sets the limit for netburn, which sets it back for programs.
    let limited = |limits: &str| {
        let mut command = std::process::Command::new("sh");
        let script = format!("{limits} && exec \"$@\"");
        command.args(["-c", &script, "sh", env!("CARGO_BIN_EXE_netburn")]);
        command.args([
            "lab",
            "many.toml",
            "-q",
            "--at",
            "s39",
            "--",
            "sh",
            "-c",
            "ulimit -Sn; ping -c 1 -q server",
        ]);
        finish(bench.prepared(command))
    };
    let ended = limited("ulimit -Sn 100").expect(0);
    assert!(ended.out().starts_with("100\n"), "{}", ended.out());
    assert!(ended.out().contains("1 received"), "{}", ended.out());
    let ended = limited("ulimit -n 100").expect(2);
    let why = "the limit of open files is too low: found 100 (`ulimit -Hn`), expected 351 for 40 stations";
    assert!(ended.stderr.contains(why), "{}", ended.stderr);
}
