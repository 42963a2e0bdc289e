//! The datagram echo over real sockets.

use crate::util::{PATIENCE, Served, config, get, serve};
use netburn_platform::Monotonic;
use netburn_traffic::consent::fleet::FleetKey;
use netburn_traffic::datagram::{DatagramMachine, Event, Prober, wire};
use netburn_traffic::server::ServerConfig;
use netburn_units::{BitRate, ByteSize, Instant};
use std::net::UdpSocket;

fn now() -> Instant {
    Instant::from_nanos(Monotonic::now().as_nanos())
}

struct Line {
    socket: UdpSocket,
    prober: Prober,
}

impl Line {
    fn to(served: &Served) -> Self {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.connect(served.addresses.datagrams[0]).unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        Self {
            socket,
            prober: Prober::new(now(), 4711),
        }
    }

    fn flush(&mut self) {
        while let Some(bytes) = self.prober.poll_transmit() {
            self.socket.send(&bytes).unwrap();
        }
    }

    fn next(&mut self) -> (Event, usize) {
        let mut buffer = [0; 2000];
        let length = self.socket.recv(&mut buffer).unwrap();
        self.prober.handle_datagram(now(), None, &buffer[..length]);
        (self.prober.poll_event().expect("something for us"), length)
    }

    fn shake_hands(&mut self) {
        self.prober.handle_timeout(now());
        self.flush();
        assert_eq!(self.next().0, Event::Ready);
    }

    fn probe(&mut self, id: u64, size: u64) -> usize {
        let before = Monotonic::now().as_nanos();
        self.prober.probe(now(), id, ByteSize::from_bytes(size));
        self.flush();
        let (event, length) = self.next();
        let after = Monotonic::now().as_nanos();
        match event {
            // All processes of a machine share a monotonic clock: the server's times are between the client's.
            Event::Echo {
                id: same, far, arrived, ..
            } => {
                assert_eq!((same, arrived), (id, Some(0)));
                assert!(before <= far.received && far.received <= far.sent && far.sent <= after);
            }
            other => panic!("{other:?}"),
        }
        length
    }
}

#[test]
fn probes_are_echoed_after_a_handshake() {
    let served = serve(config());
    let mut line = Line::to(&served);
    line.shake_hands();
    for (id, size) in [(0, 64), (1, 65), (2, 1000), (3, 1400)] {
        assert_eq!(line.probe(id, size), size as usize);
    }
}

#[test]
fn with_a_rate_cap_too() {
    let served = serve(ServerConfig {
        rate: Some(BitRate::from_mbps(2)),
        ..config()
    });
    let mut line = Line::to(&served);
    line.shake_hands();
    for id in 0..20 {
        line.probe(id, 200);
    }
    assert!(served.handle.health().lateness_count > 0);
}

#[test]
fn without_a_handshake_no_probe_is_echoed() {
    let served = serve(config());
    let mut line = Line::to(&served);
    line.socket.send(&wire::probe([0; 16], 1, 64, 0)).unwrap();
    line.socket.send(b"what is this?").unwrap();
    line.socket.send(&[0; 1500]).unwrap();
    let mut welcome = wire::hello(1);
    wire::make_welcome(&mut welcome, [0; 16], netburn_units::Duration::from_secs(1));
    line.socket.send(&welcome).unwrap();
    // Loopback datagrams between two sockets keep their order: a reply to any of these would arrive before the welcome.
    line.shake_hands();
}

#[test]
fn a_server_may_do_without() {
    let served = serve(ServerConfig {
        datagrams: false,
        ..config()
    });
    assert!(served.addresses.datagrams.is_empty());
}

/// A server of a fleet has data channels. Without a proven offer it answers no datagram of WebRTC.
#[test]
fn only_members_of_the_fleet_can_offer_a_data_channel() {
    let key = FleetKey::new("token");
    let served = serve(ServerConfig {
        fleet: Some(key.clone()),
        ..config()
    });
    let (nonce, certificate) = ("0123456789abcdef", "07".repeat(32));
    let offer = |key: &FleetKey| {
        let proof = key.offer(nonce, &certificate).unwrap();
        get(&format!(
            "/.well-known/netburn/channel?fleet={nonce}&certificate={certificate}&proof={proof}"
        ))
    };
    let (head, body) = served.connect().ask(offer(&key));
    assert_eq!(head.status, 200);
    let answer: serde_json::Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(answer["port"], served.addresses.datagrams[0].port());
    assert_eq!(served.connect().ask(offer(&FleetKey::new("other"))).0.status, 403);
    assert_eq!(served.connect().ask(get("/.well-known/netburn/channel")).0.status, 400);

    let mut line = Line::to(&served);
    // A header of a binding request, a header of a DTLS handshake, and noise.
    let binding = [&[0, 1, 0, 0, 0x21, 0x12, 0xa4, 0x42][..], &[0; 12]].concat();
    let handshake = [&[22, 0xfe, 0xfd][..], &[0; 60]].concat();
    for datagram in [binding, handshake, vec![0; 1500], vec![20; 2040], vec![63]] {
        line.socket.send(&datagram).unwrap();
    }
    // Loopback datagrams between two sockets keep their order: a reply to any of these would arrive before the welcome.
    line.shake_hands();

    let alone = serve(config());
    assert_eq!(alone.connect().ask(offer(&key)).0.status, 404);
}
