//! Several commands in one lab: servers and the clients that wait for them, their output, and the end.

use crate::support::{Bench, Running, finish, service_and_caller, small_lab, start};
use serde_json::Value;
use std::os::unix::process::ExitStatusExt;
use std::time::{Duration, Instant};

/// A number in a command is not a port.
#[test]
fn a_command_that_contains_80_does_not_replace_the_server() {
    let bench = Bench::small();
    // Longer than the time limit of the test: the service ends with the others.
    let service = ["sh", "-c", "sleep 600", "80"];
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
    let ended = finish(bench.netburn(both)).expect(0);
    assert_eq!(ended.out(), "caller| 200\n");
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
for number in (1, 2, 15):
    signal.signal(number, told)
print('up', flush=True)
time.sleep(600)
";

/// Prints the signals that it gets, and continues.
const IGNORES_SIGNALS: &str = "
import signal, time
def told(number, frame):
    print('told', number, flush=True)
for number in (1, 2, 15):
    signal.signal(number, told)
print('up', flush=True)
time.sleep(600)
";

fn up(bench: &Bench, script: &str, more: &[&str]) -> Running {
    let words = [more, &["--at", "caller", "--", "python3", "-c", script]].concat();
    let mut running = start(bench.netburn(small_lab(&words)));
    running.wait_for("the command", |lab| lab.stdout_so_far().contains("up\n"));
    running
}

#[test]
fn the_first_signal_is_passed_on_and_ends_the_command() {
    let bench = Bench::small();
    for (signal, number) in [("TERM", 15), ("HUP", 1), ("INT", 2)] {
        for more in [&[][..], &["--serve"]] {
            let running = up(&bench, HANDLES_SIGNALS, more);
            running.signal(signal);
            let ended = running.finish().expect(128 + number);
            assert_eq!(ended.status.signal(), None, "netburn exits by itself");
            assert_eq!(ended.out(), format!("up\ntold {number}\n"));
        }
    }
}

/// Runs the arguments on a terminal of their own, and presses Ctrl-C after the line `up`.
const IN_A_TERMINAL: &str = "
import os, pty, sys
pid, terminal = pty.fork()
if pid == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
shown = b''
while True:
    try:
        more = os.read(terminal, 4096)
    except OSError:
        break
    if not more:
        break
    if b'up' in more and b'up' not in shown:
        os.write(terminal, b'\\x03')
    shown += more
sys.stdout.buffer.write(shown.replace(b'\\r', b''))
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
";

/// The terminal sends SIGINT to the command too, which gets it once. Its status is that of the lab.
#[test]
fn ctrl_c_in_a_terminal_is_for_the_command() {
    let bench = Bench::small();
    let lab = small_lab(&["--at", "caller", "--", "python3", "-c", HANDLES_SIGNALS]);
    let mut terminal = std::process::Command::new("python3");
    terminal
        .args(["-c", IN_A_TERMINAL, env!("CARGO_BIN_EXE_netburn")])
        .args(lab);
    let ended = finish(bench.prepared(terminal)).expect(0);
    assert_eq!(ended.out().matches("told 2\n").count(), 1, "{}", ended.out());
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
    let mut running = up(&bench, IGNORES_SIGNALS, &[]);
    running.signal("HUP");
    running.wait_for("the first signal", |lab| lab.stdout_so_far().contains("told 1"));
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
    // In files, lines have no names. An empty folder is used, such as one of mktemp(1).
    std::fs::create_dir(bench.path("saved")).unwrap();
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
    // Another lab leaves these files as they are.
    let again = [
        "--log", "saved", "--pcap", "saved", "--at", "caller", "--", "echo", "later",
    ];
    let ended = finish(bench.netburn(small_lab(&again))).expect(0);
    let note = "note: saved is not empty; the results go to saved-2";
    assert!(ended.stderr.contains(note), "{}", ended.stderr);
    assert_eq!(
        (kept("caller.out"), kept("../saved-2/caller.out")),
        ("one\n".to_owned(), "later\n".to_owned())
    );
    assert!(bench.path("saved-2").join("server.pcapng").exists() && !bench.path("saved-3").exists());
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
    let script = "echo up; until [ -e done ]; do sleep 0.05; done; exit 7";
    for (check, status) in [(&["--check"][..], 3), (&[], 7)] {
        let _ = std::fs::remove_file(bench.path("done"));
        let words = [check, &["--at", "caller", "--", "sh", "-c", script]].concat();
        let mut running = start(bench.netburn(small_lab(&words)));
        running.wait_for("the command", |lab| lab.stdout_so_far().contains("up\n"));
        running.signal("STOP");
        std::thread::sleep(Duration::from_millis(300));
        running.signal("CONT");
        bench.write("done", "");
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

/// A DNS server (RFC 1035) that answers each query with 198.18.0.1, the address of the server.
const NAME_SERVER: &str = "
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(('0.0.0.0', 53))
ready = socket.create_server(('', 5353))
while True:
    query, at = s.recvfrom(512)
    end = query.index(0, 12) + 5
    is_a = query[end - 4:end - 2] == bytes([0, 1])
    answer = bytes([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 9, 0, 4, 198, 18, 0, 1]) if is_a else b''
    s.sendto(query[:2] + bytes([0x81, 0x80, 0, 1, 0, int(is_a), 0, 0, 0, 0]) + query[12:end] + answer, at)
";

/// Programs of libc find names of a DNS server in the lab, and the users of the machine.
#[test]
fn a_dns_server_in_the_lab_answers_programs() {
    let bench = Bench::small();
    let ask = "echo nameserver 198.18.0.1 >/etc/resolv.conf; getent ahostsv4 shop.test; getent hosts server; id -un";
    let service = ["python3", "-c", NAME_SERVER];
    let both = service_and_caller(&["--ready=5353"], &service, &["sh", "-c", ask]);
    let own = std::fs::read("/etc/resolv.conf").ok();
    let ended = finish(bench.netburn(both)).expect(0);
    let user = std::process::Command::new("id").arg("-un").output().unwrap().stdout;
    let user = String::from_utf8(user).unwrap();
    let out = ended.out();
    let lines: Vec<&str> = out.lines().collect();
    assert!(lines[0].starts_with("caller| 198.18.0.1 "), "{lines:?}");
    assert!(lines.iter().any(|line| line.ends_with(" server")), "{lines:?}");
    assert_eq!(*lines.last().unwrap(), format!("caller| {}", user.trim()));
    assert_eq!(
        std::fs::read("/etc/resolv.conf").ok(),
        own,
        "the host's file does not change"
    );
}

/// Prints how the kernel uses ECN, and whether a connection to the server has negotiated it (TCPI_OPT_ECN, 8, in
/// `tcpi_options`, byte 5 of `struct tcp_info`).
const ECN: &str = "
import socket
print(open('/proc/sys/net/ipv4/tcp_ecn').read().strip(), flush=True)
s = socket.create_connection(('server', 80))
print(bool(s.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 8)[5] & 8))
";

/// Linux accepts ECN and does not request it (`tcp_ecn` 2).
#[test]
fn ecn_is_negotiated_as_the_scenario_says() {
    let bench = Bench::small();
    for (station, server, printed) in [
        (false, true, "2\nFalse"),
        (true, true, "1\nTrue"),
        (true, false, "1\nFalse"),
    ] {
        let (station, server) = (format!("station.caller.ecn={station}"), format!("server.ecn={server}"));
        let words = [
            "--set", &station, "--set", &server, "--at", "caller", "--", "python3", "-c", ECN,
        ];
        let ended = finish(bench.netburn(small_lab(&words))).expect(0);
        assert_eq!(ended.out().trim(), printed, "{station} {server}");
    }
}
