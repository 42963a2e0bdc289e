//! The client's end: the handshake, and probes out and back.

use super::wire::{self, Cookie, Datagram};
use netburn_units::{ByteSize, Duration, Instant};
use netburn_workload::operation::FarTimes;
use std::collections::VecDeque;

/// One client of one echo server, without its socket.
///
/// **Call order:** after every `handle_*` and command, drain [`poll_transmit`](Self::poll_transmit), then sleep until
/// [`poll_timeout`](Self::poll_timeout) or the next datagram.
#[derive(Debug)]
pub struct Prober {
    token: u64,
    dscp: u8,
    cookie: Option<Held>,
    /// The one before: its echoes may still be under way.
    previous: Option<Cookie>,
    hello: Hello,
    /// The first probe since which nothing was heard.
    unheard: Option<Instant>,
    waiting: VecDeque<(u64, usize)>,
    out: VecDeque<Vec<u8>>,
    overflowed: u64,
}

#[derive(Debug, Clone, Copy)]
struct Held {
    cookie: Cookie,
    until: Instant,
}

/// When the next hello is due, and how long to wait after it.
#[derive(Debug, Clone, Copy)]
struct Hello {
    at: Instant,
    wait: Duration,
}

/// What a datagram from the server brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// The handshake is done (again): probes go out at once from here on.
    Ready,
    /// A probe came back.
    Echo {
        /// As given to [`Prober::probe`].
        id: u64,
        /// When the server got it and sent it back, by its own clock.
        far: FarTimes,
    },
}

/// Why a prober wants to be woken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Wake {
    /// A hello is due: the first one, again without an answer, or because the cookie grows old.
    Hello,
    /// Probes have been sent for a while and none came back: the server may have forgotten us.
    Silence,
}

/// After the first hello it waits so long, then twice as long each time.
const INITIAL_RETRY_INTERVAL: Duration = Duration::from_secs(1);
/// It never waits longer.
const MAX_RETRY_INTERVAL: Duration = Duration::from_secs(8);
/// So long without an echo, though probes went out, has it say hello again.
const SILENCE: Duration = Duration::from_secs(2);
/// So many probes are held back until the handshake is done; beyond, the oldest are dropped (and so are lost).
const MAX_QUEUED: usize = 64;

impl Prober {
    /// A client that says its first hello at `now`. `token` is a number that nobody else can guess.
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
            overflowed: 0,
        }
    }

    /// Its echoes are to carry this DSCP, 0 to 63, as the probes do by their socket.
    #[must_use]
    pub fn marked(mut self, dscp: u8) -> Self {
        self.dscp = dscp;
        self
    }

    /// Whether probes go out at once.
    #[must_use]
    pub fn is_ready(&self, now: Instant) -> bool {
        self.cookie.is_some_and(|held| now < held.until)
    }

    /// Probes given up because too many waited for the handshake.
    #[must_use]
    pub fn overflowed(&self) -> u64 {
        self.overflowed
    }

    /// Sends a probe of `size` ([`wire::MIN_SIZE`] to [`wire::MAX_SIZE`], what is outside becomes the nearer of the
    /// two), now or once the handshake is done. `id` names it in [`Event::Echo`].
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

    /// Takes what came from the server; `None` for what is malformed, unasked for, or not ours.
    pub fn handle_datagram(&mut self, now: Instant, bytes: &[u8]) -> Option<Event> {
        match wire::read(bytes).ok()? {
            Datagram::Welcome {
                token,
                cookie,
                good_for,
            } if token == self.token => {
                let held = Held {
                    cookie,
                    until: now.checked_add(good_for)?,
                };
                self.previous = self.cookie.replace(held).map(|held| held.cookie);
                // Renewed when half of it is over, so that there is time to ask several times.
                self.hello = Hello {
                    at: now + (good_for / 2).max(INITIAL_RETRY_INTERVAL),
                    wait: INITIAL_RETRY_INTERVAL,
                };
                self.unheard = None;
                while let Some((id, size)) = self.waiting.pop_front() {
                    self.send(now, cookie, id, size);
                }
                Some(Event::Ready)
            }
            Datagram::Echo { cookie, id, far } if self.is_ours(cookie) => {
                self.unheard = None;
                Some(Event::Echo { id, far })
            }
            _ => None,
        }
    }

    /// Time has come to `now`.
    pub fn handle_timeout(&mut self, now: Instant) {
        if self.silent_from().is_some_and(|at| now >= at) {
            // Counted anew from here; asked at once, unless we are asking already.
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

    /// The next datagram to send to the server.
    pub fn poll_transmit(&mut self) -> Option<Vec<u8>> {
        self.out.pop_front()
    }

    /// When to call [`handle_timeout`](Self::handle_timeout), and why.
    #[must_use]
    pub fn poll_timeout(&self) -> (Instant, Wake) {
        let hello = (self.hello.at, Wake::Hello);
        match self.silent_from() {
            Some(at) if at < hello.0 => (at, Wake::Silence),
            _ => hello,
        }
    }

    fn is_ours(&self, cookie: Cookie) -> bool {
        self.cookie.is_some_and(|held| held.cookie == cookie) || self.previous == Some(cookie)
    }

    fn send(&mut self, now: Instant, cookie: Cookie, id: u64, size: usize) {
        self.unheard.get_or_insert(now);
        self.out.push_back(wire::probe(cookie, id, size, self.dscp));
    }

    /// When silence has lasted too long: counted from the first probe that nothing came after.
    fn silent_from(&self) -> Option<Instant> {
        self.unheard?.checked_add(SILENCE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::datagram::{Echo, EchoLimits};
    use std::net::SocketAddr;

    /// Prober and server, 5 ms apart; a server that is `down` hears nothing.
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

        /// Runs to `until`, timeouts included.
        fn run(&mut self, until: Instant) {
            loop {
                self.exchange();
                let (at, _) = self.prober.poll_timeout();
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
                    if let Some(event) = self.prober.handle_datagram(back, &bytes) {
                        self.events.push((back.as_nanos() / 1_000_000, event));
                    }
                }
            }
        }
    }

    #[test]
    fn a_handshake_then_probes_come_back_with_the_servers_times() {
        let mut pair = Pair::new();
        pair.prober.probe(Instant::ZERO, 1, ByteSize::from_bytes(64));
        assert!(!pair.prober.is_ready(Instant::ZERO));
        pair.run(Instant::from_millis(20));
        assert_eq!(pair.events[0], (10, Event::Ready));
        pair.prober.probe(pair.now, 2, ByteSize::from_bytes(500));
        pair.run(Instant::from_millis(40));
        let nanos = 25_000_000;
        let far = FarTimes {
            received: nanos,
            sent: nanos,
        };
        assert_eq!(pair.events[2], (30, Event::Echo { id: 2, far }));
        assert!(
            matches!(pair.events[1], (_, Event::Echo { id: 1, .. })),
            "what waited went out"
        );
        assert_eq!(pair.sent, 3);
    }

    #[test]
    fn without_an_answer_hellos_grow_rarer() {
        let mut prober = Prober::new(Instant::ZERO, 1);
        let mut at = Vec::new();
        for _ in 0..7 {
            let (due, why) = prober.poll_timeout();
            assert_eq!(why, Wake::Hello);
            prober.handle_timeout(due);
            assert!(prober.poll_transmit().is_some());
            at.push(due.as_nanos() / 1_000_000_000);
        }
        // 1, 2, 4, 8 s apart, and then every 8 s.
        assert_eq!(at, [0, 1, 3, 7, 15, 23, 31]);
    }

    #[test]
    fn the_cookie_is_renewed_before_it_is_old() {
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
        assert_eq!(pair.echo.counters().strangers, 0);
    }

    #[test]
    fn a_server_that_started_anew_is_greeted_again() {
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
        // From 3.0 s on: 3.0 itself goes out just after the hello.
        assert_eq!(pair.echo.counters().echoed, 30);
    }

    #[test]
    fn strangers_are_not_believed() {
        let mut prober = Prober::new(Instant::ZERO, 7);
        let now = Instant::from_millis(1);
        let mut welcome = wire::hello(8);
        wire::make_welcome(&mut welcome, [1; 16], Duration::from_secs(60));
        assert_eq!(prober.handle_datagram(now, &welcome), None, "another token");
        let mut welcome = wire::hello(7);
        wire::make_welcome(&mut welcome, [1; 16], Duration::from_secs(60));
        assert_eq!(prober.handle_datagram(now, &welcome), Some(Event::Ready));
        let mut echo = wire::probe([2; 16], 1, 64, 0);
        wire::make_echo(&mut echo, now);
        assert_eq!(prober.handle_datagram(now, &echo), None, "another cookie");
        assert_eq!(prober.handle_datagram(now, b"noise"), None);
    }

    #[test]
    fn too_many_waiting_probes_drop_the_oldest() {
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
