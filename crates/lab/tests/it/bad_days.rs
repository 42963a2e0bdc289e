//! What programs do to themselves and to their station.

use crate::common::{Running, open, plan, start};
use netburn_lab::packet::Refused;
use netburn_lab::{DeviceKind, Ended, Lab, Options};
use netburn_linux::Monotonic;
use netburn_record::{EventKind, Row};
use std::time::{Duration, Instant};

/// Sends datagrams to the server's echo until one has come back.
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
    let end = Instant::now() + Duration::from_secs(20);
    while !done() {
        assert!(Instant::now() < end, "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A server that sends back what it gets.
fn echo(lab: &Lab) -> Running {
    let mut echo = start(lab, "server", &["python3", "-c", ECHO]);
    assert_eq!(echo.line(), "up");
    echo
}

#[test]
fn a_device_that_is_taken_away_ends_its_own_station_only() {
    for device in [DeviceKind::Tun, DeviceKind::Pair] {
        let plan = plan("anomaly", &[("baseline", "\"0s\"")]);
        let options = Options {
            device: Some(device),
            ..Options::default()
        };
        let lab = Lab::open_with(&plan, crate::common::helper(), &options).unwrap();
        lab.begin(Monotonic::now()).unwrap();
        let (one, other) = (plan.stations[0].name.as_str(), plan.stations[1].name.as_str());
        let _echo = echo(&lab);
        assert_eq!(start(&lab, one, &["python3", "-c", ASK]).text().1.trim(), "there?");
        // Its device down, and then gone: what is under way to it can't be delivered, and that is counted.
        for words in [&["set", "wlan0", "down"][..], &["del", "wlan0"]] {
            let all = [&["ip", "link"], words].concat();
            assert_eq!(start(&lab, one, &all).text().0, Ended::Status(0), "{device:?} {all:?}");
            assert_eq!(start(&lab, one, &["python3", "-c", ASK]).text().0, Ended::Status(1));
            let (ended, text) = start(&lab, other, &["python3", "-c", ASK]).text();
            assert_eq!((ended, text.trim()), (Ended::Status(0), "there?"), "{device:?} {all:?}");
        }
        assert_eq!(lab.failed(), None);
        // Said once, by name, and once in the record.
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
fn programs_end_as_they_end() {
    let plan = plan("anomaly", &[("baseline", "\"0s\"")]);
    let lab = open(&plan);
    let station = plan.stations[0].name.as_str();
    assert_eq!(start(&lab, station, &["sh", "-c", "exit 3"]).text().0, Ended::Status(3));
    assert_eq!(
        start(&lab, station, &["sh", "-c", "kill -SEGV $$"]).text().0,
        Ended::Signal(11)
    );
    let missing = netburn_lab::Program {
        arguments: vec!["no-such-program".into()],
        environment: vec![],
        files: [0; 3].map(|_| std::fs::File::open("/dev/null").unwrap().into()),
        own_group: true,
    };
    let error = lab.spawn(lab.end(station).unwrap(), missing).unwrap_err();
    assert!(error.to_string().contains("no-such-program"), "{error}");
    // One that heeds nothing but the last word.
    let mut deaf = start(
        &lab,
        station,
        &["sh", "-c", "trap '' TERM INT HUP; echo up; while :; do sleep 1; done"],
    );
    assert_eq!(deaf.line(), "up");
    deaf.guest.signal(15);
    deaf.guest.signal(2);
    let (ended, _) = start(&lab, station, &["true"]).text();
    assert_eq!(ended, Ended::Status(0));
    assert_eq!(deaf.guest.ended(), None);
    deaf.guest.signal(9);
    assert_eq!(deaf.guest.wait(), Ended::Signal(9));
    // Its end is told although what it left behind runs on and holds its output.
    let parent = start(&lab, station, &["sh", "-c", "setsid sleep 600 & exit 4"]);
    assert_eq!(parent.guest.wait(), Ended::Status(4));
    // Many at once, and more than once.
    let many: Vec<Running> = (0..50)
        .map(|number| start(&lab, station, &["sh", "-c", &format!("exit {number}")]))
        .collect();
    for (running, number) in many.into_iter().zip(0..) {
        assert_eq!(running.guest.wait(), Ended::Status(number));
    }
    // Signals to what has ended reach nobody.
    parent.guest.signal(9);
    assert_eq!(parent.guest.ended(), Some(Ended::Status(4)));
}

#[test]
fn a_guest_that_hangs_ends_with_its_handle() {
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

/// Everything that the lab's documentation says is not carried, from a station that may open raw sockets.
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
fn what_is_not_carried_is_counted_and_harms_nobody() {
    let plan = plan("anomaly", &[("baseline", "\"0s\"")]);
    let lab = open(&plan);
    let station = plan.stations[0].name.as_str();
    let own = netburn_lab::address::v4(lab.end(station).unwrap()).to_string();
    let (ended, text) = start(&lab, station, &["python3", "-c", NOT_CARRIED, &own]).text();
    assert_eq!((ended, text.trim()), (Ended::Status(0), "sent"));
    let refused = |why| lab.counted().refused.get(&why).copied().unwrap_or(0);
    until("they are counted", || refused(Refused::NotIp) >= 3);
    for once in [
        Refused::Multicast,
        Refused::Broadcast,
        Refused::Nobody,
        Refused::Outside,
    ] {
        assert_eq!(refused(once), 3, "{once:?}: {:?}", lab.counted());
    }
    // What kernels look for by multicast on their own is told apart.
    assert!(refused(Refused::Discovery) >= 3, "{:?}", lab.counted());
    assert_eq!(lab.health().not_carried.get("multicast"), Some(&3));
    assert_eq!(refused(Refused::Spoofed), 6, "{:?}", lab.counted());
    assert_eq!(refused(Refused::Malformed), 3, "{:?}", lab.counted());
    // A datagram that has to be fragmented arrives whole.
    let _echo = echo(&lab);
    let large = ASK
        .replace("b'there?'", "b'x' * 5000")
        .replace("s.recv(9).decode()", "len(s.recv(9000))");
    assert_eq!(start(&lab, station, &["python3", "-c", &large]).text().1.trim(), "5000");
    assert_eq!(lab.failed(), None);
}
