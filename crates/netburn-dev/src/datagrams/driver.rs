//! Flows in simulated time.

use super::{Carrier, Datagram, Fate, Flow, Load, Report};
use netburn_medium::packet::DropReason;
use netburn_stats::Distribution;
use netburn_units::{ByteSize, Duration, Instant, RandomStream, Seed};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Retry delay of a saturating flow after a full queue rejected its packet.
const RETRY_INTERVAL: Duration = Duration::from_millis(1);

/// Runs flows of datagrams in simulated time. The load is open-loop: a delay counts from the due
/// time of a datagram.
///
/// **Call order:** [`run`](Self::run) over the same network as often as needed;
/// [`begin`](Self::begin) at the start of the measurement, [`report`](Self::report) at its end.
/// Nothing is measured before `begin`.
#[derive(Debug)]
pub struct Driver<H> {
    flows: Vec<State<H>>,
    /// Due times: time, sequence number for those at one instant, flow.
    due: BinaryHeap<Reverse<(Instant, u64, u32)>>,
    sequence: u64,
    now: Instant,
    begun: Option<Instant>,
}

#[derive(Debug)]
struct State<H> {
    flow: Flow<H>,
    chance: RandomStream,
    /// Start of period 0.
    first: Instant,
    /// Datagrams sent so far.
    sent: u64,
    /// Due time of the next datagram, if a full queue rejected it.
    refused: Option<Instant>,
    tally: Tally,
}

#[derive(Debug, Default)]
struct Tally {
    due: u64,
    arrived: u64,
    dropped: u64,
    content: u64,
    delays: Vec<u64>,
    round_trips: Vec<u64>,
}

impl<H: Copy + std::fmt::Debug> Driver<H> {
    /// The first datagram of a flow at a constant rate, or of probes, is due at a random instant.
    /// The instant is in the first period after the start.
    #[must_use]
    pub fn new(flows: &[Flow<H>], seed: Seed) -> Self {
        let mut driver = Driver {
            flows: Vec::new(),
            due: BinaryHeap::new(),
            sequence: 0,
            now: Instant::ZERO,
            begun: None,
        };
        for (index, flow) in flows.iter().enumerate() {
            let mut chance = seed.stream("datagrams", index as u64);
            let phase = match flow.load {
                Load::Saturating { .. } => Duration::ZERO,
                Load::Constant { .. } | Load::Probe { .. } => chance.duration_below(flow.offset(1)),
            };
            let first = flow.start + phase;
            driver.flows.push(State {
                flow: *flow,
                chance,
                first,
                sent: 0,
                refused: None,
                tally: Tally::default(),
            });
            let turns = match flow.load {
                Load::Saturating { outstanding } => outstanding,
                Load::Constant { .. } | Load::Probe { .. } => 1,
            };
            for _ in 0..turns {
                driver.schedule(index as u32, first);
            }
        }
        driver
    }

    /// Runs the flows up to and including `until`, or to the last event before it.
    pub fn run<C: Carrier<Host = H>>(&mut self, carrier: &mut C, until: Instant) {
        loop {
            let due = self.due.peek().map(|Reverse((at, ..))| *at);
            let wake = carrier.poll_timeout();
            let Some(now) = due.into_iter().chain(wake).min().filter(|at| *at <= until) else {
                break;
            };
            self.now = self.now.max(now);
            if wake == Some(now) {
                carrier.handle_timeout(now);
            } else if let Some(Reverse((_, _, flow))) = self.due.pop() {
                self.send(carrier, flow);
            }
            while let Some(fate) = carrier.poll_output() {
                self.handle(carrier, fate);
            }
        }
        self.now = self.now.max(until);
    }

    /// Starts the measurement; earlier datagrams are not counted.
    pub fn begin(&mut self) {
        self.begun = Some(self.now);
        for state in &mut self.flows {
            state.tally = Tally::default();
        }
    }

    /// Result of a flow since [`begin`](Self::begin).
    ///
    /// # Panics
    /// If there is no such flow.
    #[must_use]
    pub fn report(&self, flow: usize) -> Report {
        let tally = &self.flows[flow].tally;
        let lost = match self.flows[flow].flow.load {
            Load::Probe { .. } => tally.dropped,
            Load::Saturating { .. } | Load::Constant { .. } => 0,
        };
        Report {
            span: self.begun.map_or(Duration::ZERO, |begun| self.now.since(begun)),
            due: tally.due,
            arrived: tally.arrived,
            dropped: tally.dropped,
            content: ByteSize::from_bytes(tally.content),
            delay: Distribution::from_samples(tally.delays.clone(), 0),
            round_trip: Distribution::from_samples(tally.round_trips.clone(), lost),
            answered: Distribution::from_samples(tally.round_trips.clone(), 0),
        }
    }

    fn schedule(&mut self, flow: u32, at: Instant) {
        self.due.push(Reverse((at, self.sequence, flow)));
        self.sequence += 1;
    }

    /// Sends the next datagram of a flow, which is due.
    fn send<C: Carrier<Host = H>>(&mut self, carrier: &mut C, index: u32) {
        let now = self.now;
        let counts = self.begun.is_some();
        let state = &mut self.flows[index as usize];
        let refused = state.refused.take();
        let datagram = Datagram {
            flow: index,
            number: state.sent,
            due: refused.unwrap_or(now),
            echoed: None,
        };
        state.sent += 1;
        state.tally.due += u64::from(counts && refused.is_none());
        carrier.handle_packet(now, state.flow.from, state.flow.to, state.flow.packet(datagram));
        if let Some(next) = state.next() {
            self.schedule(index, next.max(now));
        }
    }

    fn handle<C: Carrier<Host = H>>(&mut self, carrier: &mut C, fate: Fate) {
        match fate {
            Fate::Delivered { at, packet } => self.arrived(carrier, at, packet.payload),
            Fate::Dropped { at, reason, packet } => self.dropped(carrier, at, reason, packet.payload),
        }
    }

    fn arrived<C: Carrier<Host = H>>(&mut self, carrier: &mut C, at: Instant, datagram: Datagram) {
        let begun = self.begun;
        let state = &mut self.flows[datagram.flow as usize];
        let probe = matches!(state.flow.load, Load::Probe { .. });
        if probe && datagram.echoed.is_none() {
            let home = Datagram {
                echoed: Some(at),
                ..datagram
            };
            carrier.handle_packet(at, state.flow.to, state.flow.from, state.flow.packet(home));
            return;
        }
        if begun.is_some() {
            state.tally.content += u64::from(state.flow.content);
        }
        if begun.is_some_and(|begun| datagram.due >= begun) {
            state.tally.arrived += 1;
            if state.flow.delays {
                let until = datagram.echoed.unwrap_or(at);
                state.tally.delays.push(until.since(datagram.due).as_nanos());
            }
            if probe {
                state.tally.round_trips.push(at.since(datagram.due).as_nanos());
            }
        }
        self.send_next(carrier, datagram.flow);
    }

    fn dropped<C: Carrier<Host = H>>(
        &mut self,
        carrier: &mut C,
        at: Instant,
        reason: Option<DropReason>,
        datagram: Datagram,
    ) {
        let begun = self.begun;
        let state = &mut self.flows[datagram.flow as usize];
        let saturating = matches!(state.flow.load, Load::Saturating { .. });
        if saturating && reason == Some(DropReason::QueueFull) {
            // Not lost: a saturating flow waits for room and offers it again.
            state.refused = Some(datagram.due);
            self.schedule(datagram.flow, at + RETRY_INTERVAL);
            return;
        }
        state.tally.dropped += u64::from(begun.is_some_and(|begun| datagram.due >= begun));
        if reason != Some(DropReason::NoLink) {
            self.send_next(carrier, datagram.flow);
        }
    }

    /// Ends one of a flow's packets: a saturating flow sends the next.
    fn send_next<C: Carrier<Host = H>>(&mut self, carrier: &mut C, flow: u32) {
        if matches!(self.flows[flow as usize].flow.load, Load::Saturating { .. }) {
            self.send(carrier, flow);
        }
    }
}

impl<H> Flow<H> {
    /// Offset of period `number` from period 0.
    fn offset(&self, number: u64) -> Duration {
        match self.load {
            Load::Saturating { .. } => Duration::ZERO,
            Load::Constant { rate, .. } => {
                let bits = u128::from(self.length) * 8 * u128::from(number);
                Duration::from_nanos((bits * 1_000_000_000 / u128::from(rate.as_bps().max(1))) as u64)
            }
            Load::Probe { every } => Duration::from_nanos(every.as_nanos().max(1) * number),
        }
    }
}

impl<H> State<H> {
    /// Due time of the datagram after the last one; `None` if that depends on other packets.
    fn next(&mut self) -> Option<Instant> {
        let begins = self.flow.offset(self.sent);
        match self.flow.load {
            Load::Saturating { .. } => None,
            Load::Constant { jitter: true, .. } => {
                let period = self.flow.offset(self.sent + 1) - begins;
                Some(self.first + begins + self.chance.duration_below(period))
            }
            Load::Constant { .. } | Load::Probe { .. } => Some(self.first + begins),
        }
    }
}
