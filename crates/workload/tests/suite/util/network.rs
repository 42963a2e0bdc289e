//! A server behind a link, in simulated time. Each round trip takes the same time, objects are sent
//! in sequence at the link's rate, and there are outages. So every latency has a closed form.

use netburn_units::{BitRate, ByteSize, Duration, Instant, Seed};
use netburn_workload::fuzz::{Checked, Input};
use netburn_workload::{Action, Config, Connection, Failure, Operation, Request, RequestId, Stall};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

/// Bytes are reported in pieces of this size.
pub(crate) const PIECE: u64 = 16 << 10;

/// The path between the station and its server, and the driver's behaviour.
#[derive(Debug, Clone)]
pub(crate) struct Network {
    pub(crate) round_trip: Duration,
    pub(crate) rate: BitRate,
    /// Times in which the server sends nothing.
    pub(crate) outages: Vec<(Instant, Instant)>,
    /// From this time connections are refused, one round trip after the attempt, and open ones are
    /// broken.
    pub(crate) dead_from: Option<Instant>,
    /// Delay with which the driver handles a timeout.
    pub(crate) driver_lag: Duration,
    /// Period of additional timeouts without a reason.
    pub(crate) woken_every: Option<Duration>,
}

/// Result of a run.
#[derive(Debug, Default)]
pub(crate) struct Run {
    pub(crate) operations: Vec<Operation>,
    pub(crate) stalls: Vec<Stall>,
    /// Received bytes by tenths of a second.
    pub(crate) bins: BTreeMap<Instant, u64>,
    pub(crate) requests: Vec<(Instant, Request)>,
    pub(crate) cancelled: Vec<RequestId>,
    pub(crate) first_due: Option<Instant>,
    pub(crate) startup: Option<Duration>,
    pub(crate) trace: Vec<String>,
}

impl Network {
    pub(crate) fn new(round_trip_ms: u64, mbps: u64) -> Self {
        Network {
            round_trip: Duration::from_millis(round_trip_ms),
            rate: BitRate::from_mbps(mbps),
            outages: Vec::new(),
            dead_from: None,
            driver_lag: Duration::ZERO,
            woken_every: None,
        }
    }

    pub(crate) fn outage(mut self, from: Instant, to: Instant) -> Self {
        self.outages.push((from, to));
        self
    }

    pub(crate) fn dead_from(mut self, at: Instant) -> Self {
        self.dead_from = Some(at);
        self
    }

    pub(crate) fn driver_lag(mut self, lag: Duration) -> Self {
        self.driver_lag = lag;
        self
    }

    pub(crate) fn woken_every(mut self, every: Duration) -> Self {
        self.woken_every = Some(every);
        self
    }

    /// Transmission time of `bytes` on the link.
    pub(crate) fn time_for(&self, bytes: u64) -> Duration {
        self.rate.time_for(ByteSize::from_bytes(bytes)).unwrap()
    }

    /// Runs a workload from 0 to `end`, with 5 s to drain.
    pub(crate) fn run(&self, config: &Config, end: Instant, seed: u64) -> Run {
        let settle = end + Duration::from_secs(5);
        let watched = Checked::new(config.clone(), Instant::ZERO, end, settle, Seed(seed));
        let mut driver = Driver {
            network: self,
            watched,
            events: BinaryHeap::new(),
            events_so_far: 0,
            link_free: Instant::ZERO,
            open: BTreeSet::new(),
            run: Run::default(),
        };
        driver.run.first_due = driver.watched.workload().first_due();
        if let Some(every) = self.woken_every {
            driver.later(Instant::ZERO + every, Event::Wake(every));
        }
        driver.walk();
        driver.watched.finish();
        let mut run = driver.run;
        run.startup = driver.watched.workload().startup();
        run.operations = driver.watched.ended.values().copied().collect();
        run.stalls = driver.watched.stalls.clone();
        run.trace = driver.watched.trace;
        run
    }

    /// Time at which `work` that begins at `begin` is done, without the outages.
    fn done(&self, begin: Instant, work: Duration) -> Instant {
        let mut at = begin;
        let mut left = work;
        for (from, to) in &self.outages {
            if at >= *to {
                continue;
            }
            let before = from.checked_since(at).unwrap_or_default();
            if left <= before && *from > at {
                return at + left;
            }
            left = left.saturating_sub(before);
            at = *to;
        }
        at + left
    }
}

struct Driver<'a> {
    network: &'a Network,
    watched: Checked,
    /// By time, then by the order of creation.
    events: BinaryHeap<Reverse<(Instant, u64, Event)>>,
    events_so_far: u64,
    link_free: Instant,
    /// Open persistent connections.
    open: BTreeSet<u32>,
    run: Run,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Connected(RequestId),
    Bytes(RequestId, u64),
    Finished(RequestId),
    Failed(RequestId),
    Reply(RequestId),
    Arrival(RequestId),
    /// An additional timeout, and the time to the next.
    Wake(Duration),
}

impl Driver<'_> {
    fn walk(&mut self) {
        loop {
            let event = self.events.peek().map(|Reverse((at, _, _))| *at);
            let timeout = self
                .watched
                .workload()
                .poll_timeout()
                .map(|(at, _)| at + self.network.driver_lag);
            match (event, timeout) {
                (Some(event), Some(timeout)) if event <= timeout => self.deliver(),
                (_, Some(timeout)) => {
                    let actions = self.watched.handle(timeout, Input::Timeout);
                    self.act(timeout, actions);
                }
                (_, None) => return,
            }
        }
    }

    fn deliver(&mut self) {
        let Some(Reverse((now, _, event))) = self.events.pop() else {
            return;
        };
        let id = match event {
            Event::Wake(every) => {
                let actions = self.watched.handle(now, Input::Timeout);
                self.act(now, actions);
                self.later(now + every, event);
                return;
            }
            Event::Connected(id)
            | Event::Bytes(id, _)
            | Event::Finished(id)
            | Event::Failed(id)
            | Event::Reply(id)
            | Event::Arrival(id) => id,
        };
        if !self.watched.active.contains_key(&id) {
            return;
        }
        if let Event::Bytes(_, bytes) = event {
            let bin = Instant::from_millis(now.as_nanos().div_euclid(100_000_000) * 100);
            *self.run.bins.entry(bin).or_insert(0) += bytes;
        }
        if let (Event::Failed(_), Some(Some(slot))) = (event, self.watched.active.get(&id)) {
            self.open.remove(slot);
        }
        let input = match event {
            Event::Connected(id) => Input::Connected(id),
            Event::Bytes(id, bytes) => Input::Bytes(id, bytes),
            Event::Finished(id) => Input::Finished(id),
            Event::Failed(id) => Input::Failed(id, Failure::Dial),
            Event::Reply(id) => Input::Reply(id, None),
            Event::Arrival(id) => Input::Arrival(id, now),
            Event::Wake(_) => Input::Timeout,
        };
        let actions = self.watched.handle(now, input);
        self.act(now, actions);
    }

    fn act(&mut self, now: Instant, actions: Vec<Action>) {
        for action in actions {
            match action {
                Action::Begin(request) => self.begin(now, request),
                Action::Send { id, .. } => {
                    let lost = self.network.outages.iter().any(|(from, to)| now >= *from && now < *to);
                    if !lost {
                        self.later(now + self.network.round_trip, Event::Reply(id));
                    }
                }
                Action::SendOneWay { id, .. } => {
                    let lost = self.network.outages.iter().any(|(from, to)| now >= *from && now < *to);
                    if !lost {
                        self.later(now + self.network.round_trip / 2, Event::Arrival(id));
                    }
                }
                Action::Cancel(id) => {
                    let begun = self.run.requests.iter().rev().find(|(_, r)| r.id == id);
                    if let Some((
                        _,
                        Request {
                            connection: Connection::Kept(slot),
                            ..
                        },
                    )) = begun
                    {
                        self.open.remove(slot);
                    }
                    self.run.cancelled.push(id);
                }
            }
        }
    }

    fn begin(&mut self, now: Instant, request: Request) {
        let round_trip = self.network.round_trip;
        self.run.requests.push((now, request));
        if self.network.dead_from.is_some_and(|dead| now >= dead) {
            self.later(now + round_trip, Event::Failed(request.id));
            return;
        }
        let ready = match request.connection {
            Connection::Kept(slot) if !self.open.insert(slot) => now,
            Connection::Kept(_) | Connection::New => {
                self.later(now + round_trip, Event::Connected(request.id));
                now + round_trip
            }
        };
        let begin = self.link_free.max(ready + round_trip / 2);
        let size = request.size.as_bytes();
        let mut sent = 0;
        while sent < size {
            let piece = PIECE.min(size - sent);
            sent += piece;
            let done = self.network.done(begin, self.network.time_for(sent));
            self.link_free = done;
            // Events after the end have no effect.
            if done > Instant::from_secs(3600) {
                return;
            }
            self.later(done + round_trip / 2, Event::Bytes(request.id, piece));
        }
        self.later(self.link_free + round_trip / 2, Event::Finished(request.id));
    }

    fn later(&mut self, at: Instant, event: Event) {
        self.events_so_far += 1;
        self.events.push(Reverse((at, self.events_so_far, event)));
    }
}
