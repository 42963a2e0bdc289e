//! Client side of the datagram echo: handshake and probes.

use super::arrivals::Arrivals;
use super::machine::DatagramMachine;
use super::wire::{self, Cookie, Datagram};
use netburn_units::{ByteSize, Duration, Instant};
use netburn_workload::operation::RemoteTimestamps;
use std::collections::VecDeque;

/// A client of one echo server, without its socket. The commands are its own, the rest is [`DatagramMachine`].
#[derive(Debug)]
pub struct Prober {
    token: u64,
    dscp: u8,
    cookie: Option<Held>,
    /// Previous cookie, whose echoes may still arrive.
    previous: Option<Cookie>,
    hello: Hello,
    /// Time of the first probe since the last received datagram.
    unheard: Option<Instant>,
    waiting: VecDeque<(u64, usize)>,
    out: VecDeque<Vec<u8>>,
    events: VecDeque<Event>,
    /// Probes as the server reported them, and their echoes.
    pub(super) arrivals: Arrivals,
    overflowed: u64,
}

#[derive(Debug, Clone, Copy)]
struct Held {
    cookie: Cookie,
    until: Instant,
}

/// Due time of the next hello, and the interval after it.
#[derive(Debug, Clone, Copy)]
struct Hello {
    at: Instant,
    wait: Duration,
}

/// Result of a datagram from the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// The handshake is complete (again): probes are sent at once.
    Ready,
    /// A probe was echoed.
    Echo {
        /// The id given to [`Prober::probe`].
        id: u64,
        /// Time at which the echo was received.
        at: Instant,
        /// Times at which the server received and echoed the probe, by its own clock.
        far: RemoteTimestamps,
        /// DSCP with which the probe arrived at the server, 0 to 63, if the server reports it.
        arrived: Option<u8>,
    },
}

/// Reason of a timeout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Wake {
    /// A hello is due: the first, a retry, or a renewal of the cookie.
    Hello,
    /// Probes were sent for a while without an echo: the server may have restarted.
    Silence,
}

/// Interval after the first hello. It doubles with each retry.
const INITIAL_RETRY_INTERVAL: Duration = Duration::from_secs(1);
/// Maximum interval between hellos.
const MAX_RETRY_INTERVAL: Duration = Duration::from_secs(8);
/// Time without an echo, while probes are sent, after which the handshake is repeated.
const SILENCE: Duration = Duration::from_secs(2);
/// Maximum number of probes queued during the handshake. The oldest are dropped and count as lost.
const MAX_QUEUED: usize = 64;

impl Prober {
    /// Creates a client whose first hello is due at `now`. `token` must be unpredictable.
    #[must_use]
    pub fn new(now: Instant, token: u64) -> Self {
        Self {
            token,
            dscp: 0,
            cookie: None,
            previous: None,
            hello: Hello {
                at: now,
                wait: INITIAL_RETRY_INTERVAL,
            },
            unheard: None,
            waiting: VecDeque::new(),
            out: VecDeque::new(),
            events: VecDeque::new(),
            arrivals: Arrivals::default(),
            overflowed: 0,
        }
    }

    /// Sets the DSCP of the echoes, 0 to 63. The DSCP of the probes is set at their socket.
    #[must_use]
    pub fn marked(mut self, dscp: u8) -> Self {
        self.dscp = dscp;
        self
    }

    /// Returns whether probes are sent at once.
    #[must_use]
    pub fn is_ready(&self, now: Instant) -> bool {
        self.cookie.is_some_and(|held| now < held.until)
    }

    /// Returns the cookie, if it is valid.
    #[must_use]
    pub fn cookie(&self, now: Instant) -> Option<Cookie> {
        self.cookie.filter(|held| now < held.until).map(|held| held.cookie)
    }

    /// Returns the number of probes dropped because too many were queued during the handshake.
    #[must_use]
    pub fn overflowed(&self) -> u64 {
        self.overflowed
    }

    /// Sends a probe of `size` bytes, clamped to [`wire::MIN_SIZE`] and [`wire::MAX_SIZE`], now or after the handshake.
    /// [`Event::Echo`] returns `id`.
    pub fn probe(&mut self, now: Instant, id: u64, size: ByteSize) {
        let size = usize::try_from(size.as_bytes()).unwrap_or(usize::MAX);
        if let Some(held) = self.cookie
            && now < held.until
        {
            self.send(now, held.cookie, id, size);
            return;
        }
        if self.waiting.len() == MAX_QUEUED {
            self.waiting.pop_front();
            self.overflowed += 1;
        }
        self.waiting.push_back((id, size));
    }

    /// Returns the time of the next timeout, and its reason.
    #[must_use]
    pub fn next_wake(&self) -> (Instant, Wake) {
        let hello = (self.hello.at, Wake::Hello);
        match self.silent_from() {
            Some(at) if at < hello.0 => (at, Wake::Silence),
            _ => hello,
        }
    }

    /// The server has accepted the hello.
    fn welcome(&mut self, now: Instant, cookie: Cookie, good_for: Duration) {
        let Some(until) = now.checked_add(good_for) else { return };
        self.previous = self.cookie.replace(Held { cookie, until }).map(|held| held.cookie);
        // The cookie is renewed after half of its validity, which leaves time for retries.
        self.hello = Hello {
            at: now + (good_for / 2).max(INITIAL_RETRY_INTERVAL),
            wait: INITIAL_RETRY_INTERVAL,
        };
        self.unheard = None;
        while let Some((id, size)) = self.waiting.pop_front() {
            self.send(now, cookie, id, size);
        }
        self.events.push_back(Event::Ready);
    }

    fn is_ours(&self, cookie: Cookie) -> bool {
        self.cookie.is_some_and(|held| held.cookie == cookie) || self.previous == Some(cookie)
    }

    fn send(&mut self, now: Instant, cookie: Cookie, id: u64, size: usize) {
        self.unheard.get_or_insert(now);
        self.out.push_back(wire::probe(cookie, id, size, self.dscp));
    }

    /// Returns the time at which the silence is too long, counted from the first probe without a response.
    fn silent_from(&self) -> Option<Instant> {
        self.unheard?.checked_add(SILENCE)
    }
}

impl DatagramMachine for Prober {
    type Event = Event;

    fn handle_datagram(&mut self, now: Instant, dscp: Option<u8>, bytes: &[u8]) {
        match wire::read(bytes) {
            Ok(Datagram::Welcome {
                token,
                cookie,
                good_for,
            }) if token == self.token => self.welcome(now, cookie, good_for),
            Ok(Datagram::Echo {
                cookie,
                id,
                far,
                arrived,
            }) if self.is_ours(cookie) => {
                self.unheard = None;
                self.arrivals.up.put(arrived);
                self.arrivals.down.put(dscp);
                self.events.push_back(Event::Echo {
                    id,
                    at: now,
                    far,
                    arrived,
                });
            }
            _ => {}
        }
    }

    fn handle_timeout(&mut self, now: Instant) {
        if self.silent_from().is_some_and(|at| now >= at) {
            // Starts counting again, and sends a hello at once unless a handshake is in progress.
            self.unheard = None;
            if self.hello.wait == INITIAL_RETRY_INTERVAL {
                self.hello.at = self.hello.at.min(now);
            }
        }
        if now >= self.hello.at {
            self.out.push_back(wire::hello(self.token));
            self.hello.at = now + self.hello.wait;
            self.hello.wait = (self.hello.wait * 2).min(MAX_RETRY_INTERVAL);
        }
    }

    fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    fn poll_transmit(&mut self) -> Option<Vec<u8>> {
        self.out.pop_front()
    }

    fn poll_timeout(&self) -> Instant {
        self.next_wake().0
    }

    fn arrivals(&self) -> &Arrivals {
        &self.arrivals
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::datagram::{Echo, EchoLimits};
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
}
