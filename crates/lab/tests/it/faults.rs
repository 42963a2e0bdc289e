//! Faults that programs cause to themselves and to their station.

use crate::common::{Running, open, plan, start};
use netburn_lab::packet::RejectReason;
use netburn_lab::{DeviceKind, Lab, Options, ProcessExit};
use netburn_platform::Monotonic;
use netburn_record::{EventKind, Row};
use std::time::{Duration, Instant};

/// Sends datagrams to the server's echo until one has returned.
const ASK: &str = "
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.settimeout(0.2)
for _ in range(100):
    s.sendto(b'there?', ('server', 9))
    try:
        print(s.recv(9).decode()); break
    except OSError:
        pass
";
const ECHO: &str = "
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(('0.0.0.0', 9))
print('up', flush=True)
while True:
    d, a = s.recvfrom(9000)
    s.sendto(d, a)
";

fn until(what: &str, mut done: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(60);
    while !done() {
        assert!(Instant::now() < end, "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Starts a server that echoes datagrams.
fn echo(lab: &Lab) -> Running {
    let mut echo = start(lab, "server", &["python3", "-c", ECHO]);
    assert_eq!(echo.line(), "up");
    echo
}

#[test]
fn a_removed_device_affects_only_its_own_station() {
    for device in [DeviceKind::Tun, DeviceKind::Pair] {
        let plan = plan("anomaly", &[("baseline", "\"0s\"")]);
        let options = Options {
            device: Some(device),
            ..Options::default()
        };
        let lab = Lab::open_with(&plan, crate::common::helper(), &options).unwrap();
        lab.start(Monotonic::now()).unwrap();
        let (one, other) = (plan.stations[0].name.as_str(), plan.stations[1].name.as_str());
        let _echo = echo(&lab);
        assert_eq!(start(&lab, one, &["python3", "-c", ASK]).text().1.trim(), "there?");
        // With the device down, and then removed, packets to it cannot be delivered and are counted.
        for words in [&["set", "wlan0", "down"][..], &["del", "wlan0"]] {
            let all = [&["ip", "link"], words].concat();
            assert_eq!(
                start(&lab, one, &all).text().0,
                ProcessExit::Status(0),
                "{device:?} {all:?}"
            );
            assert_eq!(
                start(&lab, one, &["python3", "-c", ASK]).text().0,
                ProcessExit::Status(1)
            );
            let (ended, text) = start(&lab, other, &["python3", "-c", ASK]).text();
            assert_eq!(
                (ended, text.trim()),
                (ProcessExit::Status(0), "there?"),
                "{device:?} {all:?}"
            );
        }
        assert_eq!(lab.failed(), None);
        // One warning and one event in the record, with the station's name.
        let warnings = lab.take_warnings();
        assert_eq!(warnings.len(), 1, "{warnings:?}");
        assert!(
            warnings[0].starts_with(&format!("{one}: its network device")),
            "{warnings:?}"
        );
        assert_eq!(lab.take_warnings(), Vec::<String>::new());
        let said = |row: &Row| matches!(row, Row::Event(event) if event.kind == EventKind::Warning);
        let rows: Vec<Row> = lab.take_rows().into_iter().filter(said).collect();
        assert!(
            matches!(&rows[..], [Row::Event(event)] if event.station == Some(0)),
            "{rows:?}"
        );
    }
}

#[test]
fn exit_statuses_and_signals_are_reported() {
    let plan = plan("anomaly", &[("baseline", "\"0s\"")]);
    let lab = open(&plan);
    let station = plan.stations[0].name.as_str();
    assert_eq!(
        start(&lab, station, &["sh", "-c", "exit 3"]).text().0,
        ProcessExit::Status(3)
    );
    assert_eq!(
        start(&lab, station, &["sh", "-c", "kill -SEGV $$"]).text().0,
        ProcessExit::Signal(11)
    );
    let missing = netburn_lab::Program {
        arguments: vec!["no-such-program".into()],
        environment: vec![],
        files: [0; 3].map(|_| std::fs::File::open("/dev/null").unwrap().into()),
        own_group: true,
    };
    let error = lab.spawn(lab.endpoint(station).unwrap(), missing).unwrap_err();
    assert!(error.to_string().contains("no-such-program"), "{error}");
    // A program that ignores all signals but SIGKILL.
    let mut deaf = start(
        &lab,
        station,
        &["sh", "-c", "trap '' TERM INT HUP; echo up; while :; do sleep 1; done"],
    );
    assert_eq!(deaf.line(), "up");
    deaf.guest.signal(15);
    deaf.guest.signal(2);
    let (ended, _) = start(&lab, station, &["true"]).text();
    assert_eq!(ended, ProcessExit::Status(0));
    assert_eq!(deaf.guest.ended(), None);
    deaf.guest.signal(9);
    assert_eq!(deaf.guest.wait(), ProcessExit::Signal(9));
    // The exit is reported although a child process continues and has its output open.
    let parent = start(&lab, station, &["sh", "-c", "setsid sleep 600 & exit 4"]);
    assert_eq!(parent.guest.wait(), ProcessExit::Status(4));
    // Many programs at once, several times.
    let many: Vec<Running> = (0..50)
        .map(|number| start(&lab, station, &["sh", "-c", &format!("exit {number}")]))
        .collect();
    for (running, number) in many.into_iter().zip(0..) {
        assert_eq!(running.guest.wait(), ProcessExit::Status(number));
    }
    // Signals after the exit have no effect.
    parent.guest.signal(9);
    assert_eq!(parent.guest.ended(), Some(ProcessExit::Status(4)));
}

#[test]
fn a_hanging_program_is_killed_with_its_handle() {
    let plan = plan("anomaly", &[("baseline", "\"0s\"")]);
    let lab = open(&plan);
    let mark = format!("netburn-hangs-{}", std::process::id());
    let script = "import signal, sys, time; [signal.signal(n, signal.SIG_IGN) for n in (1, 2, 15)]; print('up', flush=True); time.sleep(600)";
    let mut hangs = start(&lab, "server", &["python3", "-c", script, &mark]);
    assert_eq!(hangs.line(), "up");
    let there = || {
        let all = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
        let lines = all.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
        lines
            .filter(|line| line.ends_with(format!("\0{mark}\0").as_bytes()))
            .count()
    };
    assert_eq!(there(), 1);
    drop(hangs);
    until("it is killed", || there() == 0);
}

/// Sends, through raw sockets of a station, all kinds of frames that the documentation lists as not forwarded.
const NOT_CARRIED: &str = "
import socket, sys
def packet(source, to, protocol=17, body=b'12345678', **other):
    total = other.get('total', 20 + len(body))
    head = bytes([0x45, 0, total >> 8, total & 255, 0, 1, other.get('flags', 0), 0, 64, protocol, 0, 0])
    return head + socket.inet_aton(source) + socket.inet_aton(to) + body
own, server = sys.argv[1], '198.18.0.1'
raw = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM)
raw.bind(('wlan0', 0))
send = lambda kind, bytes: raw.sendto(bytes, ('wlan0', kind, 0, 0, b''))
for _ in range(3):
    send(0x0800, packet(own, '224.0.0.251'))
    send(0x0800, packet(own, '255.255.255.255'))
    send(0x0800, packet(own, '198.18.200.200'))
    send(0x0800, packet(own, '1.1.1.1'))
    send(0x0800, packet(own, '224.0.0.22', protocol=2))
    send(0x0800, packet('198.18.0.1', server))
    send(0x0800, packet('8.8.8.8', server))
    send(0x0800, packet(own, server, total=900))
    send(0x0800, b'\\x70' * 40)
send(0x0800, packet(own, server, flags=0x20))
print('sent')
";

#[test]
fn rejected_frames_are_counted_without_side_effects() {
    let plan = plan("anomaly", &[("baseline", "\"0s\"")]);
    let lab = open(&plan);
    let station = plan.stations[0].name.as_str();
    let own = netburn_lab::address::v4(lab.endpoint(station).unwrap()).to_string();
    let (ended, text) = start(&lab, station, &["python3", "-c", NOT_CARRIED, &own]).text();
    assert_eq!((ended, text.trim()), (ProcessExit::Status(0), "sent"));
    let rejected = |why| lab.counters().rejected.get(&why).copied().unwrap_or(0);
    until("they are counted", || rejected(RejectReason::NotIp) >= 3);
    for once in [
        RejectReason::Multicast,
        RejectReason::Broadcast,
        RejectReason::UnknownAddress,
        RejectReason::Outside,
    ] {
        assert_eq!(rejected(once), 3, "{once:?}: {:?}", lab.counters());
    }
    // Multicast discovery of kernels is counted separately.
    assert!(rejected(RejectReason::Discovery) >= 3, "{:?}", lab.counters());
    assert_eq!(lab.health().not_carried.get("multicast"), Some(&3));
    assert_eq!(rejected(RejectReason::Spoofed), 6, "{:?}", lab.counters());
    assert_eq!(rejected(RejectReason::Malformed), 3, "{:?}", lab.counters());
    // A fragmented datagram arrives whole.
    let _echo = echo(&lab);
    let large = ASK
        .replace("b'there?'", "b'x' * 5000")
        .replace("s.recv(9).decode()", "len(s.recv(9000))");
    assert_eq!(start(&lab, station, &["python3", "-c", &large]).text().1.trim(), "5000");
    assert_eq!(lab.failed(), None);
}
