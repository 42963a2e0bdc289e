//! Sessions between a server and a client that stands for a browser, without sockets.

use crate::clock::Clock;
use crate::{Answer, ChannelServer, Counters, Fingerprint, Identity, Limits, MAX_MESSAGE, Offers, crypto, stun};
use bytes::Bytes;
use dimpl::{Dtls, Output};
use netburn_units::{Duration, Instant};
use sctp_proto::{
    Association, AssociationHandle, ClientConfig, DatagramEvent, Endpoint, EndpointConfig, Event, Payload,
    PayloadProtocolIdentifier, ReliabilityType, StreamEvent,
};
use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};

const SECRET: [u8; 32] = [5; 32];
const START: Instant = Instant::from_secs(1_000);
const STEP: Duration = Duration::from_millis(5);

/// Two identities: the server's and the browser's. Their generation takes time.
fn identities() -> &'static [Identity; 2] {
    static IDENTITIES: OnceLock<[Identity; 2]> = OnceLock::new();
    IDENTITIES.get_or_init(|| [(); 2].map(|()| Identity::generate().unwrap()))
}

fn address(last: u8) -> SocketAddr {
    SocketAddr::from(([192, 0, 2, last], 4_000))
}

/// The browser's side: a DTLS client and an SCTP client.
struct Browser {
    address: SocketAddr,
    clock: Clock,
    dtls: Dtls,
    server: Fingerprint,
    endpoint: Endpoint,
    handle: AssociationHandle,
    association: Association,
    is_secure: bool,
    is_open: bool,
    received: Vec<Vec<u8>>,
}

impl Browser {
    fn new(clock: Clock, address: SocketAddr, identity: &Identity) -> Self {
        let config = Arc::new(crypto::config().unwrap());
        let mut dtls = Dtls::new_12(config, identity.certificate.clone(), clock.to_std(START));
        dtls.set_active(true);
        let mut endpoint = Endpoint::new(Arc::new(EndpointConfig::new()), None);
        let (handle, association) = endpoint
            .connect(ClientConfig::default(), "192.0.2.99:5000".parse().unwrap())
            .unwrap();
        Self {
            address,
            clock,
            dtls,
            server: identities()[0].fingerprint(),
            endpoint,
            handle,
            association,
            is_secure: false,
            is_open: false,
            received: Vec::new(),
        }
    }

    /// Processes a datagram, if any, and returns those to send.
    fn step(&mut self, now: Instant, datagram: Option<&[u8]>) -> Vec<Vec<u8>> {
        let at = self.clock.to_std(now);
        self.dtls.handle_timeout(at).unwrap();
        let mut out = Vec::new();
        self.drain(now, &mut out);
        if let Some(bytes) = datagram.filter(|bytes| bytes[0] >= 20) {
            self.dtls.handle_packet(bytes).unwrap();
            self.drain(now, &mut out);
        }
        self.association.handle_timeout(at);
        while let Some(event) = self.association.poll() {
            match event {
                Event::Connected => {
                    let mut stream = self
                        .association
                        .open_stream(0, PayloadProtocolIdentifier::Binary)
                        .unwrap();
                    stream.set_reliability_params(true, ReliabilityType::Rexmit, 0).unwrap();
                    self.is_open = true;
                }
                Event::Stream(StreamEvent::Readable { id: 0 }) => {
                    let mut stream = self.association.stream(0).unwrap();
                    while let Ok(Some(chunks)) = stream.read_sctp() {
                        let mut message = vec![0; chunks.len()];
                        chunks.read(&mut message).unwrap();
                        self.received.push(message);
                    }
                }
                _ => {}
            }
        }
        if self.is_secure {
            while let Some(sent) = self.association.poll_transmit(at) {
                let Payload::RawEncode(packets) = sent.payload else {
                    continue;
                };
                for packet in packets {
                    self.dtls.send_application_data(&packet).unwrap();
                }
            }
            self.drain(now, &mut out);
        }
        out
    }

    fn drain(&mut self, now: Instant, out: &mut Vec<Vec<u8>>) {
        let mut buffer = vec![0; 4096];
        loop {
            let bytes = match self.dtls.poll_output(&mut buffer) {
                Output::Packet(bytes) => {
                    out.push(bytes.to_vec());
                    continue;
                }
                Output::Timeout(_) => return,
                Output::Connected => {
                    self.is_secure = true;
                    continue;
                }
                Output::PeerCert(der) => {
                    assert_eq!(Fingerprint::from_certificate(der), self.server);
                    continue;
                }
                Output::ApplicationData(bytes) => Bytes::copy_from_slice(bytes),
                _ => continue,
            };
            let peer = "192.0.2.99:5000".parse().unwrap();
            let event = self.endpoint.handle(self.clock.to_std(now), peer, None, None, bytes);
            if let Some((handle, DatagramEvent::AssociationEvent(event))) = event {
                assert_eq!(handle, self.handle);
                self.association.handle_event(event);
            }
        }
    }

    fn send(&mut self, message: &[u8]) {
        let mut stream = self.association.stream(0).unwrap();
        stream
            .write_with_ppi(message, PayloadProtocolIdentifier::Binary)
            .unwrap();
    }
}

/// A server and its browsers, which exchange all datagrams every 5 ms.
struct Pair {
    server: ChannelServer,
    offers: Offers,
    clock: Clock,
    now: Instant,
    browsers: Vec<Browser>,
    /// Datagrams to the browsers.
    downward: Vec<(SocketAddr, Vec<u8>)>,
    messages: Vec<(SocketAddr, Vec<u8>)>,
    /// Number of datagrams of the server to drop.
    to_drop: usize,
}

impl Pair {
    fn new(limits: Limits) -> Self {
        let zero = std::time::Instant::now();
        let offers = Offers::new(&SECRET);
        Self {
            server: ChannelServer::new(offers.clone(), identities()[0].clone(), limits, zero),
            offers,
            clock: Clock::new(zero),
            now: START,
            browsers: Vec::new(),
            downward: Vec::new(),
            messages: Vec::new(),
            to_drop: 0,
        }
    }

    fn answer(&self) -> Answer {
        self.offers.answer(self.now, identities()[1].fingerprint())
    }

    /// A binding request from `from`. Returns the length of its response, if there is one.
    fn bind(&mut self, from: SocketAddr, answer: &Answer) -> Option<usize> {
        let request = stun::request(&format!("{}:browser", answer.ufrag), &answer.password, [1; 12]);
        self.server.handle_datagram(self.now, from, None, &request);
        let sent = self.server.poll_transmit()?;
        assert_eq!(sent.to, from);
        assert!(sent.bytes.len() < request.len(), "not an amplifier");
        Some(sent.bytes.len())
    }

    /// A browser that has proven its offer and begins with DTLS.
    fn browser(&mut self, last: u8, identity: &Identity) {
        let answer = self.answer();
        assert!(self.bind(address(last), &answer).is_some());
        self.browsers.push(Browser::new(self.clock, address(last), identity));
    }

    fn run(&mut self, span: Duration) {
        let end = self.now + span;
        while self.now < end {
            self.now += STEP;
            if self.server.poll_timeout().is_some_and(|at| at <= self.now) {
                self.server.handle_timeout(self.now);
            }
            let downward = std::mem::take(&mut self.downward);
            for index in 0..self.browsers.len() {
                let own = self.browsers[index].address;
                let mut out = self.browsers[index].step(self.now, None);
                for (_, bytes) in downward.iter().filter(|(to, _)| *to == own) {
                    out.extend(self.browsers[index].step(self.now, Some(bytes)));
                }
                for bytes in out {
                    self.server.handle_datagram(self.now, own, None, &bytes);
                }
            }
            self.collect();
        }
    }

    fn collect(&mut self) {
        while let Some(message) = self.server.poll_message() {
            self.messages.push((message.from, message.bytes));
        }
        while let Some(sent) = self.server.poll_transmit() {
            if self.to_drop > 0 {
                self.to_drop -= 1;
            } else {
                self.downward.push((sent.to, sent.bytes));
            }
        }
    }

    fn send(&mut self, to: SocketAddr, message: &[u8]) -> bool {
        let accepted = self.server.send(self.now, to, message);
        self.collect();
        accepted
    }
}

#[test]
fn messages_pass_in_both_directions() {
    let mut pair = Pair::new(Limits::default());
    pair.browser(1, &identities()[1]);
    pair.browser(2, &identities()[1]);
    assert!(!pair.send(address(1), b"too early"));
    pair.run(Duration::from_millis(500));
    assert!(pair.server.is_open(address(1)) && pair.server.is_open(address(2)));
    assert_eq!(pair.server.counters().opened, 2);
    for (browser, text) in pair.browsers.iter_mut().zip(["one", "two"]) {
        browser.send(text.as_bytes());
    }
    let largest = vec![7; MAX_MESSAGE];
    assert!(pair.send(address(2), &largest));
    pair.run(Duration::from_millis(50));
    let expected = [(address(1), b"one".to_vec()), (address(2), b"two".to_vec())];
    assert_eq!(pair.messages, expected);
    assert!(pair.browsers[0].received.is_empty());
    assert_eq!(pair.browsers[1].received, [largest]);
    // A longer message of a browser ends its session only.
    pair.browsers[0].send(&vec![0; MAX_MESSAGE + 1]);
    pair.run(Duration::from_millis(100));
    assert!(!pair.server.is_open(address(1)) && pair.server.is_open(address(2)));
    assert_eq!(pair.messages, expected);
}

/// The sender of a binding request and a ClientHello may have another address. This address gets one answer to each, and
/// no more bytes than were sent in its name (RFC 6347 §4.2.1).
#[test]
fn an_address_without_a_returned_cookie_gets_no_repetition() {
    let mut pair = Pair::new(Limits::default());
    let answer = pair.answer();
    let mut sent = stun::request(&format!("{}:browser", answer.ufrag), &answer.password, [1; 12]).len();
    let mut received = pair.bind(address(1), &answer).unwrap();
    let mut browser = Browser::new(pair.clock, address(1), &identities()[1]);
    let hello = browser.step(START, None).remove(0);
    for repetition in 0..2 {
        pair.server.handle_datagram(pair.now, address(1), None, &hello);
        sent += hello.len();
        pair.collect();
        let mut answers = std::mem::take(&mut pair.downward);
        for _ in 0..1_200 {
            pair.run(STEP);
            answers.append(&mut pair.downward);
        }
        assert_eq!(answers.len(), 1, "{repetition}");
        received += answers[0].1.len();
    }
    assert!(received < sent, "{received} of {sent}");
}

/// The first HelloVerifyRequest is lost. The browser repeats its ClientHello after a second (RFC 6347 §4.2.4.1).
#[test]
fn a_lost_hello_verify_request_delays_the_channel_only() {
    let mut pair = Pair::new(Limits::default());
    pair.browser(1, &identities()[1]);
    pair.to_drop = 1;
    pair.run(Duration::from_secs(4));
    assert!(pair.server.is_open(address(1)));
}

#[test]
fn a_lost_message_is_not_sent_again() {
    let mut pair = Pair::new(Limits::default());
    pair.browser(1, &identities()[1]);
    pair.run(Duration::from_millis(500));
    pair.to_drop = 1;
    for number in 0..20_u8 {
        assert!(pair.send(address(1), &[number]));
        pair.run(Duration::from_millis(20));
    }
    pair.run(Duration::from_secs(3));
    let numbers: Vec<u8> = pair.browsers[0].received.iter().map(|message| message[0]).collect();
    assert_eq!(numbers, (1..20).collect::<Vec<_>>());
}

#[test]
fn a_browser_with_another_certificate_gets_no_channel() {
    let mut pair = Pair::new(Limits::default());
    // The offer contains the fingerprint of the second identity.
    pair.browser(1, &identities()[0]);
    pair.run(Duration::from_millis(500));
    assert_eq!((pair.server.counters().opened, pair.server.counters().failed), (0, 1));
    assert!(pair.server.is_empty());
}

#[test]
fn without_an_offer_there_is_no_reply_and_no_state() {
    let mut pair = Pair::new(Limits::default());
    let good = pair.answer();
    let wrong = Answer {
        password: "A".repeat(43),
        ..good.clone()
    };
    let other = Offers::new(&[6; 32]).answer(pair.now, identities()[1].fingerprint());
    let foreign = Answer {
        ufrag: "abcd".into(),
        ..good.clone()
    };
    for answer in [&wrong, &other, &foreign] {
        assert_eq!(pair.bind(address(1), answer), None);
    }
    // An offer of two minutes ago.
    let late = pair.offers.answer(
        START.checked_sub(Duration::from_secs(120)).unwrap(),
        identities()[1].fingerprint(),
    );
    assert_eq!(pair.bind(address(1), &late), None);
    // A hello of DTLS from an unknown address.
    let hello = Browser::new(pair.clock, address(1), &identities()[1])
        .step(START, None)
        .remove(0);
    pair.server.handle_datagram(START, address(1), None, &hello);
    assert_eq!(pair.server.poll_transmit(), None);
    assert!(pair.server.is_empty() && pair.server.poll_timeout().is_none());
    let expected = Counters {
        unverified: 4,
        malformed: 1,
        ..Counters::default()
    };
    assert_eq!(pair.server.counters(), expected);
    // 20 header, 12 address, 24 integrity, 8 fingerprint.
    assert_eq!(pair.bind(address(1), &good), Some(64));
}

#[test]
fn peers_and_handshakes_have_limits() {
    let limits = Limits {
        peers: 5,
        of_client: 3,
        handshakes: 2,
        ..Limits::default()
    };
    let mut pair = Pair::new(limits);
    let answer = pair.answer();
    let from = |last: u8, port: u16| SocketAddr::from(([192, 0, 2, last], port));
    let bound: Vec<bool> = (0..4)
        .map(|port| pair.bind(from(1, 1 + port), &answer).is_some())
        .collect();
    assert_eq!(bound, [true, true, true, false], "three of one address");
    let bound: Vec<bool> = (0..3)
        .map(|port| pair.bind(from(2, 1 + port), &answer).is_some())
        .collect();
    assert_eq!(bound, [true, true, false], "five in all");
    let mut hello = Browser::new(pair.clock, from(1, 1), &identities()[1]);
    let hello = hello.step(START, None).remove(0);
    let mut answered = Vec::new();
    for port in 1..4 {
        pair.server.handle_datagram(pair.now, from(1, port), None, &hello);
        answered.push(pair.server.poll_transmit().is_some());
    }
    assert_eq!(answered, [true, true, false], "two handshakes");
    assert_eq!(pair.server.counters().limited, 3);
    // No handshake completes. After the maximum time all are removed.
    pair.now += limits.handshake_time;
    pair.server.handle_timeout(pair.now);
    assert!(pair.server.is_empty() && pair.server.poll_timeout().is_none());
    assert_eq!(pair.server.counters().failed, 5);
    let answer = pair.answer();
    assert!(pair.bind(from(1, 9), &answer).is_some());
}

/// A client may use all addresses of an IPv6 /64 (RFC 6177). A mapped IPv4 address is that IPv4 address.
#[test]
fn the_limit_of_a_client_is_that_of_an_ipv6_prefix() {
    let limits = Limits {
        of_client: 2,
        ..Limits::default()
    };
    let mut pair = Pair::new(limits);
    let answer = pair.answer();
    let mut bound = |addresses: &[&str]| -> Vec<bool> {
        let bind = |text: &&str| pair.bind(text.parse().unwrap(), &answer).is_some();
        addresses.iter().map(bind).collect()
    };
    let one = [
        "[2001:db8:1:2::1]:1",
        "[2001:db8:1:2:ffff::9]:1",
        "[2001:db8:1:2:8000::]:1",
    ];
    assert_eq!(bound(&one), [true, true, false]);
    assert_eq!(bound(&["[2001:db8:1:3::1]:1"]), [true], "another /64");
    let mapped = ["192.0.2.1:1", "[::ffff:192.0.2.1]:2", "192.0.2.1:3", "192.0.2.2:1"];
    assert_eq!(bound(&mapped), [true, true, false, true]);
    assert_eq!(bound(&["[::1]:1", "[::1]:2", "[::1]:3"]), [true; 3], "loopback");
}

#[test]
fn a_session_without_binding_requests_ends() {
    let mut pair = Pair::new(Limits::default());
    let answer = pair.answer();
    pair.browser(1, &identities()[1]);
    // A browser continues with its first credentials, which are too old for a new session.
    for _ in 0..20 {
        pair.run(Duration::from_secs(10));
        let request = stun::request(&format!("{}:browser", answer.ufrag), &answer.password, [2; 12]);
        pair.server.handle_datagram(pair.now, address(1), None, &request);
        pair.collect();
        assert!(pair.server.is_open(address(1)));
    }
    pair.run(Duration::from_millis(29_900));
    assert!(pair.server.is_open(address(1)));
    pair.run(Duration::from_millis(200));
    assert!(!pair.server.is_open(address(1)) && pair.server.is_empty());
    assert!(!pair.send(address(1), b"late"));
}

#[test]
fn waiting_messages_have_a_limit() {
    let mut pair = Pair::new(Limits::default());
    pair.browser(1, &identities()[1]);
    pair.run(Duration::from_millis(500));
    // The browser does not acknowledge any more: 64 KiB are 46 messages of 1400 bytes.
    let accepted = (0..200).filter(|_| pair.send(address(1), &[0; MAX_MESSAGE])).count();
    assert!((40..60).contains(&accepted), "{accepted}");
}
