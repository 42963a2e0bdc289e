//! The same lab over each kind of device that a machine may permit.

use crate::common::{helper, plan, start};
use netburn_lab::packet::Refused;
use netburn_lab::{DeviceKind, Ended, Hold, Lab, Options};
use netburn_linux::Monotonic;

const TUN: Options = Options {
    device: Some(DeviceKind::Tun),
    hold: None,
    segments_udp: true,
};
const PAIR: Options = Options {
    device: Some(DeviceKind::Pair),
    ..TUN
};

fn open(options: &Options) -> (Lab, String) {
    let plan = plan("anomaly", &[("baseline", "\"0s\"")]);
    let lab = Lab::open_with(&plan, helper(), options).unwrap();
    lab.begin(Monotonic::now()).unwrap();
    (lab, plan.stations[0].name.clone())
}

/// 4 MiB of TCP each way, over IPv4 and IPv6.
fn carries(options: &Options) -> Lab {
    let (lab, station) = open(options);
    for words in [["-4", "-R"], ["-6", "-R"], ["-4", "--no-delay"], ["-6", "--no-delay"]] {
        let mut server = start(&lab, "server", &["iperf3", "-s", "-1", "--forceflush"]);
        server.line();
        server.line();
        let client = start(
            &lab,
            &station,
            &["iperf3", "-c", "server", "-n", "4M", words[0], words[1]],
        );
        let (ended, text) = client.text();
        assert_eq!(ended, Ended::Status(0), "{options:?} {words:?}: {text}");
        assert_eq!(server.text().0, Ended::Status(0));
    }
    // Counts are shown ten times a second.
    let until = std::time::Instant::now() + std::time::Duration::from_secs(10);
    while lab.counted().delivered < 4 * 2_897 && std::time::Instant::now() < until {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let counted = lab.counted();
    // 4 MiB are 2 897 segments of 1 448 bytes, or some more over IPv6. Bursts were split, and packets joined again.
    assert!(counted.delivered >= 4 * 2_897, "{options:?}: {counted:?}");
    assert!(counted.written < counted.delivered * 3 / 4, "{options:?}: {counted:?}");
    assert!(counted.frames < counted.packets, "{options:?}: {counted:?}");
    assert_eq!(lab.failed(), None);
    let health = lab.health();
    assert_eq!(health.write_errors, 0, "{options:?}");
    lab
}

#[test]
fn tun_devices_carry_both_ways() {
    let lab = carries(&TUN);
    assert_eq!(lab.device(), DeviceKind::Tun);
}

#[test]
fn ethernet_pairs_carry_both_ways() {
    let lab = carries(&PAIR);
    assert_eq!((lab.device(), lab.hold()), (DeviceKind::Pair, Hold::Bucket));
}

#[test]
fn what_is_read_only_when_wanted_is_carried_too() {
    let lab = carries(&Options {
        hold: Some(Hold::Ring),
        ..TUN
    });
    assert_eq!(lab.hold(), Hold::Ring);
}

#[test]
fn stations_that_nothing_holds_back_are_carried_too() {
    for device in [TUN, PAIR] {
        carries(&Options {
            hold: Some(Hold::Nothing),
            ..device
        });
    }
}

/// Sends three datagrams as one burst, and waits until one like the first has come back.
const BURST: &str = "
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(socket.SOL_UDP, 103, 1000)
s.settimeout(10)
s.sendto(b'a' * 1000 + b'b' * 1000 + b'c' * 500, ('server', 9))
print(*[f'{len(d)}{d[:1].decode()}' for d in (s.recv(2000) for _ in range(3))])
";
const ECHO: &str = "
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(('0.0.0.0', 9))
print('up', flush=True)
for _ in range(3):
    d, a = s.recvfrom(9000)
    s.sendto(d, a)
";

#[test]
fn bursts_of_datagrams_arrive_as_they_were_meant() {
    for device in [TUN, PAIR] {
        for segments_udp in [true, false] {
            for hold in [Hold::Nothing, Hold::Bucket] {
                let options = Options {
                    segments_udp,
                    hold: Some(hold),
                    ..device
                };
                let (lab, station) = open(&options);
                assert!(segments_udp || !lab.segments_udp());
                let mut echo = start(&lab, "server", &["python3", "-c", ECHO]);
                assert_eq!(echo.line(), "up");
                let (ended, text) = start(&lab, &station, &["python3", "-c", BURST]).text();
                assert_eq!(
                    (ended, text.trim()),
                    (Ended::Status(0), "1000a 1000b 500c"),
                    "{options:?}"
                );
            }
        }
    }
}

/// What the kernel counts as a TCP sender's own, in bytes, while it sends more than the air takes.
const SENDER: &str = "
import fcntl, socket, struct, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 200_000)
s.setblocking(False)
to = socket.getaddrinfo('server', 9, socket.AF_INET)[0][4]
most = sent = 0
until = time.monotonic() + 0.5
while time.monotonic() < until:
    try:
        s.sendto(bytes(1400), to); sent += 1
    except BlockingIOError:
        time.sleep(0.001)
    most = max(most, struct.unpack('i', fcntl.ioctl(s, 0x5411, b'0000'))[0])
print(most)
";

#[test]
fn what_the_bucket_holds_still_counts_as_the_senders() {
    for device in [TUN, PAIR] {
        let outstanding = |hold| {
            let options = Options {
                hold: Some(hold),
                ..device
            };
            let (lab, station) = open(&options);
            let (_, text) = start(&lab, &station, &["python3", "-c", SENDER]).text();
            text.trim().parse::<u64>().unwrap()
        };
        // The buffer fills, and the sender is told to wait.
        let held = outstanding(Hold::Bucket);
        assert!(held > 100_000, "{device:?}: {held}");
        // A TUN device takes everything at once; a packet socket takes as much as it has room for.
        if device == TUN {
            assert!(outstanding(Hold::Nothing) < 20_000);
        }
    }
}

/// What a station with an Ethernet interface can send that isn't IP, or isn't whole.
const STRANGE: &str = "
import socket
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
s.bind(('wlan0', 0))
mac = bytes.fromhex('026e6574626e')
for kind, body in [
    (0x0806, bytes(28)), (0x88cc, b'lldp' * 8), (0x0800, b''), (0x0800, b'\\x45' + bytes(30)),
    (0x86dd, b'\\x60' + bytes(60)), (0x0800, b'\\x99' * 40), (0x0003, b''),
]:
    s.send(mac * 2 + kind.to_bytes(2, 'big') + body)
print('sent')
";

#[test]
fn frames_that_are_not_ip_are_counted_and_nothing_else() {
    let (lab, station) = open(&PAIR);
    let (ended, text) = start(&lab, &station, &["python3", "-c", STRANGE]).text();
    assert_eq!((ended, text.trim()), (Ended::Status(0), "sent"));
    let refused = |why| lab.counted().refused.get(&why).copied().unwrap_or(0);
    let until = std::time::Instant::now() + std::time::Duration::from_secs(10);
    while (refused(Refused::NotIp) < 4 || refused(Refused::Malformed) < 2) && std::time::Instant::now() < until {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    // Two other EtherTypes, one that says nothing is whole, an empty packet, and one of no version: neither IPv4 nor IPv6.
    assert!(refused(Refused::NotIp) >= 4, "{:?}", lab.counted());
    assert!(refused(Refused::Malformed) >= 2, "{:?}", lab.counted());
    assert_eq!(lab.failed(), None);
}
