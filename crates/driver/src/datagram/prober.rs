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
    /// Upper 32 bits of the ids on the wire, if clients share a cookie; else 0.
    prefix: u64,
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
            prefix: 0,
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

    /// Several clients have one address, as those of one data channel, and so they get the same cookie. The upper half of
    /// an id on the wire then identifies the client, so ids are below 2³².
    #[must_use]
    pub fn sharing_address(mut self) -> Self {
        self.prefix = self.token << 32;
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
        self.out
            .push_back(wire::probe(cookie, id ^ self.prefix, size, self.dscp));
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
            }) if self.is_ours(cookie) && (self.prefix == 0 || (id ^ self.prefix) >> 32 == 0) => {
                self.unheard = None;
                self.arrivals.up.put(arrived);
                self.arrivals.down.put(dscp);
                self.events.push_back(Event::Echo {
                    id: id ^ self.prefix,
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
