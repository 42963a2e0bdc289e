//! State machine of a client: it measures, scans, moves, and recovers from a lost link.
//!
//! The machine knows no radio. Its caller reports the signals at an instant ([`Surroundings`]),
//! frames that arrived, and timers; the machine returns [`Action`]s.

use super::choose::{Heard, choose, choose_first};
use super::exchange::{Exchange, Method, Progress};
use super::policy::Constants;
use super::scan::{Scan, ScanChannel, Step};
use netburn_medium::config::{Band, Width};
use netburn_units::{Duration, Instant};
use std::collections::VecDeque;

/// Time between two beacons: 100 TU.
const BEACON: Duration = Duration::from_micros(102_400);
/// Beacons before the average is used (mac80211: `IEEE80211_SIGNAL_AVE_MIN_COUNT`).
const MIN_BEACONS: u32 = 4;
/// Missing beacons after which the client probes its access point (mac80211: 7).
const MISSING_BEACONS: u32 = 7;
/// Time to wait for the answer to a probe of the access point, and number of probes.
const PROBE_WAIT: Duration = Duration::from_millis(500);
const PROBES: u32 = 2;
/// Time until a client without any access point scans again (wpa_supplicant).
const RESCAN: Duration = Duration::from_secs(5);
/// Time for which an access point that could not be joined is avoided (wpa_supplicant's first
/// period).
const AVOIDED: Duration = Duration::from_secs(10);

/// A radio that the client can join.
#[derive(Debug, Clone, Copy)]
pub(super) struct Target {
    pub(super) channel: ScanChannel,
    pub(super) width: Width,
    /// Signal in dBm below which its frames are not received.
    pub(super) weakest: f64,
}

/// Observations of a client at an instant.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Surroundings<'a> {
    /// Signal of each target in dBm.
    pub(crate) signals: &'a [f64],
    /// True if the serving access point's beacon is received now.
    pub(crate) beacon: bool,
    /// True if packets wait in the client.
    pub(crate) waiting: bool,
    /// True if the client has sent or received packets within a second.
    pub(crate) busy: bool,
}

/// An action of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    /// Sends a null frame to its access point, to announce or to end power save, or to probe it.
    Null { asleep: bool },
    /// Leaves the channel, or returns to it.
    SetAway(bool),
    /// Leaves its access point and tunes to a target's channel.
    Tune(usize),
    /// A frame of the exchange with the target.
    Frame {
        target: usize,
        from_station: bool,
        bytes: u32,
    },
    /// The port is open.
    Joined(usize),
    /// The link is lost.
    Disconnected,
    /// An event for the record.
    Event(RoamEvent),
}

/// An event of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RoamEvent {
    /// It scanned: begin, and time away from its channel.
    Scanned { since: Instant, away: Duration },
    /// It moved: begin and end of the time without a link.
    Roamed {
        from: Option<usize>,
        to: usize,
        since: Instant,
    },
    /// It could not join a target.
    Failed { target: usize },
}

#[derive(Debug)]
enum State {
    Connected,
    Scanning(Listening),
    /// It is back on its channel and evaluates a scan.
    Choosing {
        found: Vec<(usize, f64)>,
        until: Instant,
    },
    Joining {
        target: usize,
        exchange: Exchange,
    },
    /// No beacon arrives: it sends null frames.
    Probing {
        sent: u32,
        until: Instant,
    },
    /// Without an access point until the next scan.
    Idle {
        until: Instant,
    },
}

/// A scan in progress.
#[derive(Debug)]
struct Listening {
    scan: Scan,
    /// Step in progress, and its end.
    step: Option<(Step, Instant)>,
    /// First channel of an absence that begins when the access point knows of it.
    announced: Option<ScanChannel>,
    found: Vec<(usize, f64)>,
    since: Instant,
    away: Duration,
}

/// A client.
#[derive(Debug)]
pub(crate) struct Client {
    constants: Constants,
    smoothing: f64,
    method: Method,
    /// Channels that it scans while connected, and all it can scan.
    channels: Vec<ScanChannel>,
    every_channel: Vec<ScanChannel>,
    targets: Vec<Target>,
    fast_transition: bool,
    current: Option<usize>,
    /// Time at which it joined `current`.
    joined: Instant,
    state: State,
    /// Average of the serving access point's signal.
    average: Option<f64>,
    beacons: u32,
    missing: u32,
    /// Time of the last beacon that it received.
    heard: Instant,
    next_beacon: Instant,
    low_since: Option<Instant>,
    scans_while_low: u32,
    last_scan: Option<(Instant, f64)>,
    /// Since when it has no link.
    cut_since: Option<(Instant, Option<usize>)>,
    avoided: Vec<(usize, Instant)>,
    actions: VecDeque<Action>,
}

/// Settings of a client.
#[derive(Debug)]
pub(super) struct Settings {
    pub(super) constants: Constants,
    pub(super) smoothing: u8,
    pub(super) method: Method,
    /// True if neighbour reports (802.11k) name the channels of the other access points.
    pub(super) neighbour_reports: bool,
    pub(super) every_channel: Vec<ScanChannel>,
    pub(super) targets: Vec<Target>,
}

impl Client {
    /// A client that is connected to the target `current` at `now`.
    pub(super) fn new(now: Instant, settings: Settings, current: usize) -> Self {
        let Settings {
            constants,
            smoothing,
            method,
            neighbour_reports,
            every_channel,
            targets,
        } = settings;
        let mut known: Vec<ScanChannel> = Vec::new();
        for target in &targets {
            let same = |other: &ScanChannel| (other.band, other.number) == (target.channel.band, target.channel.number);
            if !known.iter().any(same) {
                known.push(target.channel);
            }
        }
        let fast_transition = method.fast_transition;
        Client {
            constants,
            smoothing: f64::from(smoothing.max(1)),
            method,
            channels: if neighbour_reports {
                known
            } else {
                every_channel.clone()
            },
            every_channel,
            targets,
            fast_transition,
            current: Some(current),
            joined: now,
            state: State::Connected,
            average: None,
            beacons: 0,
            missing: 0,
            heard: now,
            next_beacon: now + BEACON,
            low_since: None,
            scans_while_low: 0,
            last_scan: None,
            cut_since: None,
            avoided: Vec::new(),
            actions: VecDeque::new(),
        }
    }

    /// Target to which it is connected.
    pub(crate) fn current(&self) -> Option<usize> {
        self.current
    }

    /// Returns true if it waits for beacons.
    pub(super) fn is_connected(&self) -> bool {
        matches!(self.state, State::Connected)
    }

    pub(crate) fn poll_action(&mut self) -> Option<Action> {
        self.actions.pop_front()
    }

    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        match &self.state {
            State::Connected => Some(self.next_beacon),
            State::Scanning(listening) => listening.step.map(|(_, until)| until),
            State::Joining { exchange, .. } => exchange.poll_timeout(),
            State::Choosing { until, .. } | State::Probing { until, .. } | State::Idle { until } => Some(*until),
        }
    }

    /// Processes the timers that are due.
    pub(crate) fn handle_timeout(&mut self, now: Instant, around: &Surroundings<'_>) {
        if self.poll_timeout().is_none_or(|at| at > now) {
            return;
        }
        match &mut self.state {
            State::Connected => self.handle_beacon(now, around),
            State::Scanning(_) => self.handle_scan(now, around),
            State::Choosing { found, .. } => {
                let found = std::mem::take(found);
                self.choose(now, &found, around);
            }
            State::Joining { exchange, .. } => {
                let progress = exchange.handle_timeout(now);
                self.handle_progress(now, progress);
            }
            State::Probing { sent, .. } if *sent < PROBES => {
                *sent += 1;
                let sent = *sent;
                self.state = State::Probing {
                    sent,
                    until: now + PROBE_WAIT,
                };
                self.actions.push_back(Action::Null { asleep: false });
            }
            State::Probing { .. } => {
                self.cut_since = Some((self.heard, self.current));
                self.current = None;
                self.actions.push_back(Action::Disconnected);
                self.start_scan(now, around);
            }
            State::Idle { .. } => self.start_scan(now, around),
        }
    }

    /// Reports that a null frame was acknowledged, or lost.
    pub(crate) fn handle_null(&mut self, now: Instant, arrived: bool) {
        match &self.state {
            // A client that can't reach its access point leaves as well.
            State::Scanning(Listening { announced: Some(_), .. }) => self.leave(now),
            State::Probing { .. } if arrived => {
                self.missing = 0;
                self.state = State::Connected;
                self.next_beacon = now + BEACON;
            }
            State::Connected if !arrived && self.missing == 0 => {
                self.actions.push_back(Action::Null { asleep: false });
            }
            _ => {}
        }
    }

    /// Reports that a frame of the exchange arrived, or was lost.
    pub(crate) fn handle_frame(&mut self, now: Instant, arrived: bool) {
        if let State::Joining { exchange, .. } = &mut self.state {
            let progress = exchange.handle_frame(now, arrived);
            self.handle_progress(now, progress);
        }
    }

    fn handle_beacon(&mut self, now: Instant, around: &Surroundings<'_>) {
        self.next_beacon = now + BEACON;
        let Some(current) = self.current else { return };
        if !around.beacon {
            self.missing += 1;
            if self.missing >= MISSING_BEACONS {
                self.state = State::Probing { sent: 0, until: now };
            }
            return;
        }
        self.missing = 0;
        self.heard = now;
        self.beacons += 1;
        let signal = around.signals[current];
        let average = self
            .average
            .map_or(signal, |average| average + (signal - average) / self.smoothing);
        self.average = Some(average);
        if self.smoothing > 1.0 && self.beacons < MIN_BEACONS {
            return;
        }
        if self.wants_scan(now, average, current) {
            self.last_scan = Some((now, average));
            self.start_scan(now, around);
        }
    }

    fn wants_scan(&mut self, now: Instant, average: f64, current: usize) -> bool {
        let Some(trigger) = self.constants.trigger else {
            return false;
        };
        let below = trigger.below(self.targets[current].channel.band);
        let since_scan = self.last_scan.map(|(at, _)| now.since(at));
        if self.low_since.is_none() && average < below {
            self.low_since = Some(now);
            self.scans_while_low = 0;
        } else if self.low_since.is_some() && average >= below + trigger.hysteresis {
            self.low_since = None;
        }
        let Some(low) = self.low_since else {
            let idle = trigger.idle_interval;
            return idle.is_some_and(|interval| since_scan.unwrap_or_else(|| now.since(self.joined)) >= interval);
        };
        if now.since(low) < trigger.delay {
            return false;
        }
        let first = self.scans_while_low == 0;
        let interval = match trigger.budget {
            Some(budget) if self.scans_while_low >= budget => trigger.idle_interval.unwrap_or(trigger.interval),
            _ => trigger.interval,
        };
        let dropped = |(depth, gap): (f64, Duration)| {
            self.last_scan
                .is_some_and(|(at, then)| average <= then - depth && now.since(at) >= gap)
        };
        // The first scan needs only a second since the last one.
        let wants = first && since_scan.is_none_or(|span| span >= Duration::from_secs(1))
            || since_scan.is_some_and(|span| span >= interval)
            || trigger.drop.is_some_and(dropped);
        self.scans_while_low += u32::from(wants);
        wants
    }

    fn start_scan(&mut self, now: Instant, around: &Surroundings<'_>) {
        let connected = self.current.is_some();
        let channels = if connected { &self.channels } else { &self.every_channel };
        self.state = State::Scanning(Listening {
            scan: Scan::new(self.constants.scan, channels.clone(), connected),
            step: None,
            announced: None,
            found: Vec::new(),
            since: now,
            away: Duration::ZERO,
        });
        self.next_step(now, around);
    }

    fn handle_scan(&mut self, now: Instant, around: &Surroundings<'_>) {
        let State::Scanning(listening) = &mut self.state else {
            return;
        };
        if let Some((Step::Listen(channel, dwell), _)) = listening.step {
            listening.away += dwell;
            for (index, target) in self.targets.iter().enumerate() {
                let same = (target.channel.band, target.channel.number) == (channel.band, channel.number);
                if same && around.signals[index] >= target.weakest {
                    listening.found.push((index, around.signals[index]));
                }
            }
        }
        self.next_step(now, around);
    }

    /// Starts the next step of the scan, or ends it.
    fn next_step(&mut self, now: Instant, around: &Surroundings<'_>) {
        let State::Scanning(listening) = &mut self.state else {
            return;
        };
        let connected = self.current.is_some();
        let was_away = matches!(listening.step, Some((Step::Listen(..), _)));
        let next = listening.scan.next(around.waiting);
        listening.step = None;
        match next {
            Some(Step::Listen(channel, _)) if !was_away && connected => {
                listening.announced = Some(channel);
                self.actions.push_back(Action::Null { asleep: true });
            }
            Some(step @ Step::Listen(_, dwell)) => listening.step = Some((step, now + dwell)),
            Some(step @ Step::Home(span)) => {
                listening.step = Some((step, now + span));
                self.actions.push_back(Action::SetAway(false));
                self.actions.push_back(Action::Null { asleep: false });
            }
            None => self.end_scan(now),
        }
    }

    /// Leaves the channel for the announced absence.
    fn leave(&mut self, now: Instant) {
        let State::Scanning(listening) = &mut self.state else {
            return;
        };
        if let Some(channel) = listening.announced.take() {
            let dwell = listening.scan.dwell(channel);
            listening.step = Some((Step::Listen(channel, dwell), now + dwell));
            self.actions.push_back(Action::SetAway(true));
        }
    }

    /// Ends a scan. A connected client returns to its access point, which delivers what it has kept.
    fn end_scan(&mut self, now: Instant) {
        let State::Scanning(listening) = std::mem::replace(&mut self.state, State::Connected) else {
            return;
        };
        let mut until = now;
        if self.current.is_some() {
            self.actions.push_back(Action::SetAway(false));
            self.actions.push_back(Action::Null { asleep: false });
            let event = RoamEvent::Scanned {
                since: listening.since,
                away: listening.away,
            };
            self.actions.push_back(Action::Event(event));
            until = now + self.method.processing;
        }
        self.state = State::Choosing {
            found: listening.found,
            until,
        };
    }

    /// Moves, joins or stays, after a scan.
    fn choose(&mut self, now: Instant, found: &[(usize, f64)], around: &Surroundings<'_>) {
        self.avoided.retain(|(_, until)| *until > now);
        let heard = |candidate: usize, signal: f64| {
            let target = &self.targets[candidate];
            Heard {
                candidate,
                signal,
                band: target.channel.band,
                width: target.width,
                fast_transition: self.fast_transition,
            }
        };
        let found: Vec<Heard> = found
            .iter()
            .filter(|(candidate, _)| !self.avoided.iter().any(|(avoided, _)| avoided == candidate))
            .map(|(candidate, signal)| heard(*candidate, *signal))
            .collect();
        let target = match self.current {
            Some(current) => {
                let own = heard(current, self.average.unwrap_or(around.signals[current]));
                choose(self.constants.rule, &own, &found, around.busy)
            }
            None => choose_first(self.constants.rule, &found),
        };
        match (target, self.current) {
            (Some(target), _) => self.join(now, target),
            (None, Some(_)) => {
                self.state = State::Connected;
                self.next_beacon = now + BEACON;
            }
            (None, None) => self.state = State::Idle { until: now + RESCAN },
        }
    }

    fn join(&mut self, now: Instant, target: usize) {
        let before = self.current.take();
        self.cut_since.get_or_insert((now, before));
        self.actions.push_back(Action::Tune(target));
        self.state = State::Joining {
            target,
            exchange: Exchange::new(now, self.method),
        };
    }

    fn handle_progress(&mut self, now: Instant, progress: Progress) {
        let State::Joining { target, .. } = self.state else {
            return;
        };
        match progress {
            Progress::Wait => {}
            Progress::Send { from_station, bytes } => self.actions.push_back(Action::Frame {
                target,
                from_station,
                bytes,
            }),
            Progress::Failed => {
                self.avoided.push((target, now + AVOIDED));
                self.actions.push_back(Action::Event(RoamEvent::Failed { target }));
                self.state = State::Idle { until: now };
            }
            Progress::Done => {
                self.current = Some(target);
                (self.joined, self.heard) = (now, now);
                (self.average, self.beacons, self.missing) = (None, 0, 0);
                (self.low_since, self.last_scan) = (None, None);
                self.next_beacon = now + BEACON;
                self.state = State::Connected;
                self.actions.push_back(Action::Joined(target));
                if let Some((since, from)) = self.cut_since.take() {
                    let event = RoamEvent::Roamed {
                        from,
                        to: target,
                        since,
                    };
                    self.actions.push_back(Action::Event(event));
                }
            }
        }
    }
}

/// Band and number of a radio's channel, for scans. Channels with radar detection are passive.
pub(super) fn scan_channel(band: Band, number: u16) -> ScanChannel {
    ScanChannel {
        band,
        number,
        passive: band == Band::Ghz5 && (52..=144).contains(&number),
    }
}
