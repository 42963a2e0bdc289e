//! A prober and an echo server, in virtual time.

use super::{DatagramMachine, Echo, EchoLimits, Event, Prober, Wake, wire};
use netburn_units::{ByteSize, Duration, Instant};
use netburn_workload::operation::RemoteTimestamps;
use std::net::SocketAddr;

/// Prober and server with a delay of 5 ms; a server that is `down` receives nothing.
struct Pair {
    prober: Prober,
    echo: Echo,
    down: bool,
    now: Instant,
    sent: usize,
    events: Vec<(i64, Event)>,
}

const DELAY: Duration = Duration::from_millis(5);

impl Pair {
    fn new() -> Self {
        Self {
            prober: Prober::new(Instant::ZERO, 99),
            echo: Echo::new(&[1; 32], EchoLimits::default()),
            down: false,
            now: Instant::ZERO,
            sent: 0,
            events: Vec::new(),
        }
    }

    /// Runs until `until`, including timeouts.
    fn run(&mut self, until: Instant) {
        loop {
            self.exchange();
            let at = self.prober.poll_timeout();
            if at > until {
                self.now = until;
                return;
            }
            self.now = self.now.max(at);
            self.prober.handle_timeout(self.now);
        }
    }

    fn exchange(&mut self) {
        let client: SocketAddr = "192.0.2.1:5000".parse().unwrap();
        while let Some(mut bytes) = self.prober.poll_transmit() {
            self.sent += 1;
            if !self.down
                && self
                    .echo
                    .handle_datagram(self.now + DELAY, client, |_| false, &mut bytes)
                    .is_some()
            {
                let back = self.now + DELAY * 2;
                self.prober.handle_datagram(back, None, &bytes);
                while let Some(event) = self.prober.poll_event() {
                    self.events.push((back.as_nanos() / 1_000_000, event));
                }
            }
        }
    }
}

#[test]
fn after_the_handshake_probes_return_with_the_servers_times() {
    let mut pair = Pair::new();
    pair.prober.probe(Instant::ZERO, 1, ByteSize::from_bytes(64));
    assert!(!pair.prober.is_ready(Instant::ZERO));
    pair.run(Instant::from_millis(20));
    assert_eq!(pair.events[0], (10, Event::Ready));
    pair.prober.probe(pair.now, 2, ByteSize::from_bytes(500));
    pair.run(Instant::from_millis(40));
    let nanos = 25_000_000;
    let far = RemoteTimestamps {
        received: nanos,
        sent: nanos,
    };
    let echo = Event::Echo {
        id: 2,
        at: Instant::from_millis(30),
        far,
        arrived: None,
    };
    assert_eq!(pair.events[2], (30, echo));
    assert!(
        matches!(pair.events[1], (_, Event::Echo { id: 1, .. })),
        "what waited went out"
    );
    assert_eq!(pair.sent, 3);
}

#[test]
fn without_a_reply_hellos_are_retried_with_growing_intervals() {
    let mut prober = Prober::new(Instant::ZERO, 1);
    let mut at = Vec::new();
    for _ in 0..7 {
        let (due, why) = prober.next_wake();
        assert_eq!(why, Wake::Hello);
        prober.handle_timeout(due);
        assert!(prober.poll_transmit().is_some());
        at.push(due.as_nanos() / 1_000_000_000);
    }
    // Intervals of 1, 2, 4, 8 s, then 8 s.
    assert_eq!(at, [0, 1, 3, 7, 15, 23, 31]);
}

#[test]
fn the_cookie_is_renewed_before_it_expires() {
    let mut pair = Pair::new();
    for second in 0..2_000 {
        pair.run(Instant::from_secs(second));
        pair.prober.probe(pair.now, second as u64, ByteSize::from_bytes(64));
    }
    pair.run(Instant::from_secs(2_000));
    let echoes = pair
        .events
        .iter()
        .filter(|(_, event)| matches!(event, Event::Echo { .. }))
        .count();
    assert_eq!(echoes, 2_000);
    assert_eq!(pair.echo.counters().unverified, 0);
}

#[test]
fn the_handshake_is_repeated_after_a_server_restart() {
    let mut pair = Pair::new();
    pair.run(Instant::from_secs(1));
    pair.echo = Echo::new(&[2; 32], EchoLimits::default());
    for tenth in 10..60 {
        pair.run(Instant::from_millis(tenth * 100));
        pair.prober.probe(pair.now, tenth as u64, ByteSize::from_bytes(64));
    }
    pair.run(Instant::from_secs(6));
    let readies: Vec<i64> = pair
        .events
        .iter()
        .filter(|(_, event)| *event == Event::Ready)
        .map(|(at, _)| *at)
        .collect();
    assert_eq!(
        readies,
        [10, 3_010],
        "2 s after the first probe that nothing came back for"
    );
    // From 3.0 s: the probe at 3.0 s is sent just after the hello.
    assert_eq!(pair.echo.counters().echoed, 30);
}

#[test]
fn datagrams_of_other_senders_are_ignored() {
    let mut prober = Prober::new(Instant::ZERO, 7);
    let now = Instant::from_millis(1);
    let mut handle = |bytes: &[u8]| {
        prober.handle_datagram(now, None, bytes);
        prober.poll_event()
    };
    let mut welcome = wire::hello(8);
    wire::make_welcome(&mut welcome, [1; 16], Duration::from_secs(60));
    assert_eq!(handle(&welcome), None, "another token");
    let mut welcome = wire::hello(7);
    wire::make_welcome(&mut welcome, [1; 16], Duration::from_secs(60));
    assert_eq!(handle(&welcome), Some(Event::Ready));
    let mut echo = wire::probe([2; 16], 1, 64, 0);
    wire::make_echo(&mut echo, now);
    assert_eq!(handle(&echo), None, "another cookie");
    assert_eq!(handle(b"noise"), None);
}

#[test]
fn too_many_queued_probes_drop_the_oldest() {
    let mut pair = Pair::new();
    for id in 0..70 {
        pair.prober.probe(Instant::ZERO, id, ByteSize::from_bytes(64));
    }
    assert_eq!(pair.prober.overflowed(), 6);
    pair.run(Instant::from_millis(20));
    pair.run(Instant::from_millis(40));
    assert!(matches!(pair.events[1], (_, Event::Echo { id: 6, .. })));
    assert_eq!(pair.events.len(), 65);
}
