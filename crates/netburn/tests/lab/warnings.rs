//! Problems of a lab are reported in sentences.

use crate::support::{Bench, Ended, SMALL, finish, start};

/// Checks that no line looks like a log line.
#[track_caller]
fn is_plain(printed: &str) {
    for mark in ["WARN", "ERROR", "netburn_lab"] {
        assert!(!printed.contains(mark), "{mark}:\n{printed}");
    }
}

/// Runs a script at a station of the small scenario. The script's lab stays open until the warning is printed. Checks
/// that there is one.
#[track_caller]
fn expect_warning(station: &str, script: &str, warning: &str) -> Ended {
    let bench = Bench::new();
    bench.write("small.toml", SMALL);
    let script = format!("{script}\nuntil [ -e printed ]; do sleep 0.05; done");
    let mut lab = start(bench.netburn(["lab", "small.toml", "--at", station, "--", "sh", "-c", &script]));
    lab.wait_for("the warning", |lab| lab.stderr_so_far().contains(warning));
    bench.write("printed", "");
    let ended = lab.finish().expect(0);
    assert_eq!(ended.stderr.matches(warning).count(), 1, "{}", ended.stderr);
    ended
}

#[test]
fn a_station_without_its_device_is_named() {
    let warning = "warning: reader: its network device can no longer be read";
    let ended = expect_warning("reader", "ip link del wlan0", warning);
    is_plain(&ended.stderr);
}

#[test]
fn log_lines_are_printed_only_with_v() {
    let bench = Bench::new();
    bench.write("small.toml", SMALL);
    let run = |more: &[&str]| {
        let words = [&["lab", "small.toml"], more, &["--at", "reader", "--", "true"]].concat();
        finish(bench.netburn(words)).expect(0).stderr
    };
    let logged = run(&["-v"]);
    for line in [
        "the lab is open",
        "forwarding has started",
        "a program was started",
        "a program has exited",
    ] {
        let found = logged
            .lines()
            .any(|printed| printed.contains("INFO") && printed.contains(line));
        assert!(found, "{line}: {logged}");
    }
    is_plain(&run(&[]));
}

#[test]
fn captures_on_a_full_disk_print_a_warning() {
    let bench = Bench::new();
    bench.write("small.toml", SMALL);
    let script = "mkdir full && mount -t tmpfs -o size=64k tmpfs full && exec \"$@\"";
    let load = "curl --silent --output /dev/null http://server/bytes/200KiB";
    let args = [
        "lab",
        "small.toml",
        "--pcap",
        "full",
        "--at",
        "caller",
        "--",
        "sh",
        "-c",
        load,
    ];
    // The command succeeded. Only the capture is lost.
    let ended = finish(bench.inside(&["--mount"], script, args)).expect(3);
    let warning = "warning: can't write captures, which end here: No space left on device";
    assert_eq!(ended.stderr.matches(warning).count(), 1, "{}", ended.stderr);
    is_plain(&ended.stderr);
}

/// A file at the limit of its size (`ulimit -f`) is no signal that kills netburn. The unit of the limit is 512 or 1024 bytes.
/// The lab's server can't start with it, so the packets are those of `ping`.
#[test]
fn captures_at_the_limit_of_a_files_size_print_a_warning() {
    let bench = Bench::new();
    bench.write("small.toml", SMALL);
    let mut command = std::process::Command::new("sh");
    let limit = "ulimit -f 64 && exec \"$@\"";
    command.args(["-c", limit, "sh", env!("CARGO_BIN_EXE_netburn")]);
    command.args(["lab", "small.toml", "--pcap", "captured", "--at", "caller", "--"]);
    command.args(["sh", "-c", "ping -q -c 100 -i 0.01 -s 1400 server"]);
    let ended = finish(bench.prepared(command)).expect(3);
    let warning = "warning: can't write captures, which end here: File too large";
    assert_eq!(ended.stderr.matches(warning).count(), 1, "{}", ended.stderr);
    is_plain(&ended.stderr);
}

/// The lab limits what waits in a station's device with a qdisc of its own. Without it the rates stay right, and the queue does
/// not.
#[test]
fn a_program_that_replaces_the_qdisc_of_the_lab_is_reported_once() {
    let warning = "warning: reader: a program has replaced the qdisc of its device: found pfifo, expected tbf";
    let ended = expect_warning("reader", "tc qdisc replace dev wlan0 root pfifo", warning);
    is_plain(&ended.stderr);
}

#[test]
fn captures_that_cannot_start_end_the_lab_before_commands_run() {
    let bench = Bench::new();
    bench.write("small.toml", SMALL);
    // The only inode is that of the folder itself, which is empty, so that no other folder is taken instead.
    let script = "mkdir full && mount -t tmpfs -o nr_inodes=1 tmpfs full && exec \"$@\"";
    let args = [
        "lab",
        "small.toml",
        "--pcap",
        "full",
        "--at",
        "caller",
        "--",
        "echo",
        "ran",
    ];
    let ended = finish(bench.inside(&["--mount"], script, args)).expect(3);
    assert_eq!(ended.out(), "");
    let why = "can't write captures: No space left on device";
    assert!(ended.stderr.contains(why), "{}", ended.stderr);
}

#[test]
fn a_missing_server_at_port_80_is_reported() {
    // Programs of the lab see only its own processes.
    let kill = "for process in /proc/[0-9]*; do\n\
                \x20tr '\\0' ' ' <$process/cmdline 2>/dev/null | grep -q 'serv[e] --listen' && kill -9 ${process#/proc/}\n\
                done";
    expect_warning(
        "caller",
        kill,
        "warning: netburn's server at port 80 was killed by signal 9",
    );
}

#[test]
fn dropped_packet_types_are_reported_in_one_line() {
    let bench = Bench::new();
    bench.write("small.toml", SMALL);
    let send = "import socket\ns = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n\
                s.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)\n\
                for to in ['224.0.0.251'] * 3 + ['255.255.255.255'] * 2: s.sendto(b'there?', (to, 5353))";
    let at = ["lab", "small.toml", "--at", "caller", "--", "python3", "-c", send];
    let ended = finish(bench.netburn(at)).expect(0);
    let line = "packets not carried: 3 multicast, 2 broadcast";
    assert_eq!(
        ended.stderr.lines().filter(|printed| *printed == line).count(),
        1,
        "{}",
        ended.stderr
    );
    // Packets that kernels send by themselves are not reported.
    let ended = finish(bench.netburn(["lab", "small.toml", "--at", "caller", "--", "true"])).expect(0);
    assert!(!ended.stderr.contains("not carried"), "{}", ended.stderr);
}
