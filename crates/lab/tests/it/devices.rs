//! The same lab over each kind of device.

use crate::common::{helper, plan, start};
use netburn_lab::packet::RejectReason;
use netburn_lab::{Backpressure, DeviceKind, Lab, Options, ProcessExit};
use netburn_platform::Monotonic;

const TUN: Options = Options {
    device: Some(DeviceKind::Tun),
    backpressure: None,
    segments_udp: true,
};
const PAIR: Options = Options {
    device: Some(DeviceKind::Pair),
    ..TUN
};

fn open(options: &Options) -> (Lab, String) {
    let plan = plan("anomaly", &[("baseline", "\"0s\"")]);
    let lab = Lab::open_with(&plan, helper(), options).unwrap();
    lab.start(Monotonic::now()).unwrap();
    (lab, plan.stations[0].name.clone())
}

/// Sends 4 MiB over TCP in each direction, over IPv4 and IPv6.
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
        assert_eq!(ended, ProcessExit::Status(0), "{options:?} {words:?}: {text}");
        assert_eq!(server.text().0, ProcessExit::Status(0));
    }
    // Counters are published ten times a second.
    let until = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while lab.counters().delivered < 4 * 2_897 && std::time::Instant::now() < until {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let counters = lab.counters();
    // 4 MiB are 2897 segments of 1448 bytes, and slightly more over IPv6. Bursts were segmented, and packets coalesced.
    assert!(counters.delivered >= 4 * 2_897, "{options:?}: {counters:?}");
    assert!(
        counters.written < counters.delivered * 3 / 4,
        "{options:?}: {counters:?}"
    );
    assert!(counters.frames < counters.packets, "{options:?}: {counters:?}");
    assert_eq!(lab.failed(), None);
    let health = lab.health();
    assert_eq!(health.write_errors, 0, "{options:?}");
    lab
}

#[test]
fn tun_devices_forward_in_both_directions() {
    let lab = carries(&TUN);
    assert_eq!(lab.device(), DeviceKind::Tun);
}

#[test]
fn ethernet_pairs_forward_in_both_directions() {
    let lab = carries(&PAIR);
    assert_eq!(
        (lab.device(), lab.backpressure()),
        (DeviceKind::Pair, Backpressure::TokenBucket)
    );
}

#[test]
fn the_tun_queue_forwards_in_both_directions() {
    let lab = carries(&Options {
        backpressure: Some(Backpressure::TunQueue),
        ..TUN
    });
    assert_eq!(lab.backpressure(), Backpressure::TunQueue);
}

#[test]
fn stations_without_backpressure_forward_in_both_directions() {
    for device in [TUN, PAIR] {
        carries(&Options {
            backpressure: Some(Backpressure::None),
            ..device
        });
    }
}

/// Sends three datagrams as one burst, and waits until one equal to the first has returned.
const BURST: &str = "
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(socket.SOL_UDP, 103, 1000)
s.settimeout(60)
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
fn bursts_of_datagrams_arrive_as_separate_datagrams() {
    for device in [TUN, PAIR] {
        for segments_udp in [true, false] {
            for backpressure in [Backpressure::None, Backpressure::TokenBucket] {
                let options = Options {
                    segments_udp,
                    backpressure: Some(backpressure),
                    ..device
                };
                let (lab, station) = open(&options);
                assert!(segments_udp || !lab.segments_udp());
                let mut echo = start(&lab, "server", &["python3", "-c", ECHO]);
                assert_eq!(echo.line(), "up");
                let (ended, text) = start(&lab, &station, &["python3", "-c", BURST]).text();
                assert_eq!(
                    (ended, text.trim()),
                    (ProcessExit::Status(0), "1000a 1000b 500c"),
                    "{options:?}"
                );
            }
        }
    }
}

/// Prints the largest number of bytes that the kernel counts as unsent while a sender exceeds the modelled rate. It ends
/// at a number, or after 0.5 s in which it sent.
const SENDER: &str = "
import fcntl, socket, struct, sys, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 200_000)
s.setblocking(False)
to = socket.getaddrinfo('server', 9, socket.AF_INET)[0][4]
most = sent = 0
enough = int(sys.argv[1])
until = time.monotonic() + (60 if enough else 0.5)
while time.monotonic() < until and (not enough or most <= enough):
    try:
        s.sendto(bytes(1400), to); sent += 1
    except BlockingIOError:
        time.sleep(0.001)
    most = max(most, struct.unpack('i', fcntl.ioctl(s, 0x5411, b'0000'))[0])
print(most)
";

#[test]
fn packets_in_the_token_bucket_count_as_unsent() {
    for device in [TUN, PAIR] {
        let outstanding = |backpressure, enough: &str| {
            let options = Options {
                backpressure: Some(backpressure),
                ..device
            };
            let (lab, station) = open(&options);
            let (_, text) = start(&lab, &station, &["python3", "-c", SENDER, enough]).text();
            text.trim().parse::<u64>().unwrap()
        };
        // The buffer fills, and the sender has to wait.
        let held = outstanding(Backpressure::TokenBucket, "100000");
        assert!(held > 100_000, "{device:?}: {held}");
        // A TUN device accepts all packets at once; a packet socket accepts them up to its receive buffer.
        if device == TUN {
            assert!(outstanding(Backpressure::None, "0") < 20_000);
        }
    }
}

/// Sends frames that are not IP or are incomplete, through an Ethernet interface.
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
fn frames_that_are_not_ip_are_only_counted() {
    let (lab, station) = open(&PAIR);
    let (ended, text) = start(&lab, &station, &["python3", "-c", STRANGE]).text();
    assert_eq!((ended, text.trim()), (ProcessExit::Status(0), "sent"));
    let rejected = |why| lab.counters().rejected.get(&why).copied().unwrap_or(0);
    let until = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while (rejected(RejectReason::NotIp) < 4 || rejected(RejectReason::Malformed) < 2)
        && std::time::Instant::now() < until
    {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    // Two other EtherTypes, one that claims an incomplete header, an empty packet, and one with an unknown IP version.
    assert!(rejected(RejectReason::NotIp) >= 4, "{:?}", lab.counters());
    assert!(rejected(RejectReason::Malformed) >= 2, "{:?}", lab.counters());
    assert_eq!(lab.failed(), None);
}
