//! Devices and the packets that pass through them.

use netburn_lab_kernel::ethernet::{ETHERNET, Frames};
use netburn_lab_kernel::namespace::{self, Isolation};
use netburn_lab_kernel::route::{Link, Route};
use netburn_lab_kernel::tun::{DEVICE, HEADER, Tun};
use netburn_lab_kernel::{offload, raw, sockets};
use netburn_platform::{ethtool, interface};
use netburn_test_support::skip;
use std::io::{ErrorKind, Read, Write};
use std::net::{IpAddr, Ipv4Addr, UdpSocket};
use std::os::fd::AsFd;
use std::time::Duration;

const HERE: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);
const THERE: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 2);
const UP: Link = Link {
    mtu: Some(1500),
    queue: Some(100),
    segments: None,
    address: None,
    resolves: None,
};

/// Creates a TUN device that is up, has [`HERE`] and the default route. Returns `None` if this user may not open
/// [`DEVICE`].
fn device() -> Option<(Tun, Route, u32)> {
    let opened = std::fs::File::options().read(true).write(true).open(DEVICE);
    let tun = match (Tun::new("wlan0", true), opened) {
        (Ok(tun), _) => tun,
        (Err(error), Err(opened)) => {
            assert_eq!(error.kind(), opened.kind());
            return None;
        }
        (Err(error), Ok(_)) => panic!("{error}"),
    };
    let (mut route, index) = (Route::new().unwrap(), interface::number("wlan0").unwrap());
    // Otherwise the kernel sends Neighbor Discovery.
    std::fs::write("/proc/sys/net/ipv6/conf/wlan0/disable_ipv6", "1").unwrap();
    configure(&mut route, index, &UP);
    Some((tun, route, index))
}

fn configure(route: &mut Route, index: u32, link: &Link) {
    route.bring_up(index, link).unwrap();
    route.add_address(index, IpAddr::V4(HERE)).unwrap();
    route.add_default(index, IpAddr::V4(HERE), Some("reno")).unwrap();
}

/// Returns an IPv4 header with its checksum, and a datagram without one (RFC 791, RFC 768).
fn datagram(from: Ipv4Addr, to: Ipv4Addr, port: u16, text: &[u8]) -> Vec<u8> {
    let mut packet = vec![0x45, 0, 0, 0, 0, 0, 0x40, 0, 64, 17, 0, 0];
    packet[2..4].copy_from_slice(&(28 + text.len() as u16).to_be_bytes());
    packet.extend([from.octets(), to.octets()].concat());
    let words = packet
        .chunks(2)
        .map(|word| u32::from(u16::from_be_bytes([word[0], word[1]])));
    let sum: u32 = words.sum();
    let sum = !((sum & 0xffff) + (sum >> 16)) as u16;
    packet[10..12].copy_from_slice(&sum.to_be_bytes());
    packet.extend(9_u16.to_be_bytes());
    packet.extend(port.to_be_bytes());
    packet.extend((8 + text.len() as u16).to_be_bytes());
    packet.extend([0, 0]);
    packet.extend(text);
    packet
}

fn bound() -> UdpSocket {
    let socket = UdpSocket::bind((HERE, 0)).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    socket
}

pub(crate) fn tun(_: Isolation) {
    assert_eq!(
        Tun::new("sixteen-letters-", true).unwrap_err().kind(),
        ErrorKind::InvalidInput
    );
    assert_eq!(Tun::new("", true).unwrap_err().kind(), ErrorKind::InvalidInput);
    let Some((mut tun, mut route, index)) = device() else {
        return skip("this user may not open /dev/net/tun");
    };
    let mut frame = [0; 2000];
    assert_eq!(tun.file.read(&mut frame).unwrap_err().kind(), ErrorKind::WouldBlock);
    let socket = bound();
    socket.send_to(b"out", (THERE, 7)).unwrap();
    let length = tun.file.read(&mut frame).unwrap();
    assert_eq!(length, HEADER + 20 + 8 + 3);
    assert_eq!(
        frame[HEADER + 12..HEADER + 20],
        [HERE.octets(), THERE.octets()].concat()
    );
    assert_eq!(&frame[length - 3..length], b"out");
    let port = socket.local_addr().unwrap().port();
    let packet = [&[0; HEADER], datagram(THERE, HERE, port, b"in").as_slice()].concat();
    assert_eq!(tun.file.write(&packet).unwrap(), packet.len());
    let mut text = [0; 9];
    assert_eq!(socket.recv_from(&mut text).unwrap(), (2, (THERE, 9).into()));
    assert_eq!(&text[..2], b"in");
    // A frame with an incomplete header is an error.
    assert!(tun.file.write(&[0; HEADER - 1]).is_err());
    let counters = route.counters(index).unwrap();
    assert_eq!((counters.received, counters.sent), (1, 1));
    // The name is in use.
    assert!(Tun::new("wlan0", true).is_err());
    assert!(!Tun::new("wlan1", false).unwrap().segments_udp);
    drop(tun);
    assert!(interface::number("wlan0").is_err(), "it goes with its file");
}

pub(crate) fn routes(_: Isolation) {
    let mut route = Route::new().unwrap();
    let loopback = interface::number("lo").unwrap();
    let there = namespace::network().unwrap();
    route.add_pair("one", "other", there.as_fd()).unwrap();
    assert!(
        route.add_pair("one", "third", there.as_fd()).is_err(),
        "the name is in use"
    );
    let (one, other) = (interface::number("one").unwrap(), interface::number("other").unwrap());
    assert!(one != other && loopback != one);
    let link = Link {
        address: Some([2, 0, 0, 0, 0, 1]),
        resolves: Some(false),
        segments: Some(1),
        ..UP
    };
    configure(&mut route, one, &link);
    let of_one = |name: &str| std::fs::read_to_string(format!("/proc/thread-self/net/{name}")).unwrap_or_default();
    // Destination and mask of all zeros, by `one`.
    let default = of_one("route").lines().any(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        (words[0], words[1], words[7]) == ("one", "00000000", "00000000")
    });
    assert!(default, "{}", of_one("route"));
    route.add_address(one, "fd00::1".parse().unwrap()).unwrap();
    let v6 = of_one("if_inet6");
    assert!(v6.contains("fd000000000000000000000000000001"), "{v6}");
    // No other interface has the address, so it is not tentative (IFA_F_TENTATIVE is 0x40).
    let flags = v6
        .lines()
        .find(|line| line.starts_with("fd00"))
        .unwrap()
        .split_whitespace()
        .nth(4);
    assert_eq!(u32::from_str_radix(flags.unwrap(), 16).unwrap() & 0x40, 0);
    assert!(
        route
            .add_default(other, IpAddr::V4(HERE), Some("no-such-control"))
            .is_err()
    );
    assert!(route.add_address(9999, IpAddr::V4(THERE)).is_err());
    assert!(route.bring_up(9999, &UP).is_err());
    assert!(route.counters(9999).is_err());
    assert!(interface::number("nowhere").is_err());
    assert_eq!(route.add_fifo(one, 5).map_err(|error| error.kind()), Ok(()));
    // The socket stays in the namespace in which it was opened.
    namespace::new_network().unwrap();
    assert!(interface::number("one").is_err());
    assert_eq!(route.counters(one).unwrap().received_dropped, 0);
}

pub(crate) fn buckets(_: Isolation) {
    let Some((mut tun, mut route, index)) = device() else {
        return skip("this user may not open /dev/net/tun");
    };
    // At the trickle rate one of these packets takes 2.5 s; the test takes milliseconds.
    let link = Link { mtu: Some(5_000), ..UP };
    route.bring_up(index, &link).unwrap();
    route.add_token_bucket(index, 15_000).unwrap();
    let socket = bound();
    let packet = [7_u8; 4_972];
    for _ in 0..20 {
        socket.send_to(&packet, (THERE, 7)).unwrap();
    }
    let mut frame = [0; 6000];
    let mut read = || std::iter::from_fn(|| tun.file.read(&mut frame).ok()).count();
    // Three packets of 5000 bytes; the trickle rate releases no other.
    assert_eq!(read(), 3);
    // Seventeen are queued and count as unsent.
    assert!(sockets::unsent(&socket).unwrap() >= 85_000);
    let sender = raw::sender(index).unwrap();
    let nudge = datagram(HERE, HERE, 9, b"");
    route.grant(index, 25_500).unwrap();
    raw::send(&sender, index, 0x0800, &nudge).unwrap();
    assert_eq!(read(), 5);
    // A grant replaces the last one.
    route.grant(index, 45_000).unwrap();
    route.grant(index, 10_500).unwrap();
    raw::send(&sender, index, 0x0800, &nudge).unwrap();
    assert_eq!(read(), 2);
    route.grant(index, 60_000).unwrap();
    raw::send(&sender, index, 0x0800, &nudge).unwrap();
    // Ten datagrams, and three wake-up packets behind them.
    assert_eq!(read(), 13);
    assert_eq!(sockets::unsent(&socket).unwrap(), 0);
    assert_eq!(route.counters(index).unwrap().sent_dropped, 0);
}

pub(crate) fn pairs(_: Isolation) {
    let mut here = Route::new().unwrap();
    let ours = namespace::network().unwrap();
    namespace::new_network().unwrap();
    let theirs = namespace::network().unwrap();
    let mut there = Route::new().unwrap();
    here.add_pair("pair1", "wlan0", theirs.as_fd()).unwrap();
    let index = interface::number("wlan0").unwrap();
    let link = Link {
        address: Some([2, 0, 0, 0, 0, 1]),
        resolves: Some(false),
        ..UP
    };
    configure(&mut there, index, &link);
    let socket = bound();
    namespace::enter_network(&ours).unwrap();
    let other = interface::number("pair1").unwrap();
    here.bring_up(
        other,
        &Link {
            resolves: Some(false),
            ..UP
        },
    )
    .unwrap();
    let until = std::time::Instant::now() + Duration::from_secs(60);
    for (route, index) in [(&mut here, other), (&mut there, index)] {
        while !route.is_running(index).unwrap() {
            assert!(std::time::Instant::now() < until, "it doesn't run");
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    let frames = Frames::new(other).unwrap();
    let (mut before, mut packet) = ([0; ETHERNET], vec![0; 70_000]);
    let mut next = || loop {
        match frames.read(&mut before, &mut packet) {
            // The kernel still sends Neighbor Discovery.
            Ok(_) if before[12..] == [0x86, 0xdd] => {}
            Ok(length) => return Ok((before, packet[HEADER..length].to_vec())),
            Err(error) => return Err(error),
        }
    };
    assert_eq!(next().unwrap_err().kind(), ErrorKind::WouldBlock);
    socket.send_to(b"out", (THERE, 7)).unwrap();
    // Another kernel thread may deliver it.
    let until = std::time::Instant::now() + Duration::from_secs(60);
    let (ethernet, bytes) = loop {
        match next() {
            Ok(frame) => break frame,
            Err(error) => assert!(std::time::Instant::now() < until, "{error}"),
        }
        std::thread::sleep(Duration::from_millis(1));
    };
    // Addresses are not resolved, so both are the sender's.
    assert_eq!(ethernet, [2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 1, 0x08, 0x00]);
    assert_eq!((bytes.len(), &bytes[28..]), (31, &b"out"[..]));
    let port = socket.local_addr().unwrap().port();
    let answer = datagram(THERE, HERE, port, b"in");
    let written = frames.write(&[0; HEADER], &ethernet, &answer).unwrap();
    assert_eq!(written, HEADER + ETHERNET + answer.len());
    let mut text = [0; 9];
    assert_eq!(socket.recv_from(&mut text).unwrap(), (2, (THERE, 9).into()));
    // A socket does not receive its own frames.
    assert_eq!(next().unwrap_err().kind(), ErrorKind::WouldBlock);
    // Exceeds every buffer; the counter is reset by reading.
    assert_eq!(frames.dropped().unwrap(), 0);
    for _ in 0..40_000 {
        let _ = socket.send_to(&[0; 1400], (THERE, 7));
    }
    let dropped = frames.dropped().unwrap();
    assert!(dropped > 0);
    let waiting = std::iter::from_fn(|| next().ok()).count() as u32;
    assert!(waiting > 0 && waiting + dropped <= 40_000, "{waiting} + {dropped}");
}

pub(crate) fn offloads(_: Isolation) {
    let there = namespace::network().unwrap();
    Route::new().unwrap().add_pair("one", "other", there.as_fd()).unwrap();
    for feature in ["tx-udp-segmentation", "tx-tcp-segmentation"] {
        offload::set("one", feature, false).unwrap();
        offload::set("one", feature, true).unwrap();
    }
    let unknown = offload::set("one", "tx-of-nothing", false).unwrap_err();
    assert_eq!(unknown.kind(), ErrorKind::NotFound);
    assert!(offload::set("nowhere", "tx-udp-segmentation", false).is_err());
    assert_eq!(
        offload::set("", "rx-gro", false).unwrap_err().kind(),
        ErrorKind::InvalidInput
    );
}

/// The texts are those of the kernel's source (drivers/net/veth.c).
pub(crate) fn drivers(_: Isolation) {
    let there = namespace::network().unwrap();
    Route::new().unwrap().add_pair("one", "other", there.as_fd()).unwrap();
    let veth = ethtool::driver("one").unwrap();
    assert_eq!((veth.name.as_str(), veth.version.as_str()), ("veth", "1.0"));
    assert!(veth.firmware.is_empty() && veth.bus.is_empty());
    let unknown = ethtool::driver("nowhere").unwrap_err();
    assert_eq!(unknown.raw_os_error(), Some(19), "ENODEV");
    assert_eq!(ethtool::driver("").unwrap_err().kind(), ErrorKind::InvalidInput);
}
