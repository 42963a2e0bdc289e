//! State machine of a client: it measures, scans, moves, and recovers from a lost link.
//!
//! The machine has no radio. Its caller reports the signals at an instant ([`Surroundings`]),
//! frames that arrived, and timers; the machine returns [`Action`]s.

use super::choose::{Heard, choose, choose_first, choose_named};
use super::exchange::{Exchange, FastTransition, Method, Progress};
use super::policy::Constants;
use super::scan::{Scan, ScanChannel, Step};
use crate::beacon::INTERVAL as BEACON;
use netburn_medium::config::{Band, Security, TransitionAnswer, Width};
use netburn_units::{Duration, Instant};
use std::collections::VecDeque;

/// Beacons before the average is used (mac80211: `IEEE80211_SIGNAL_AVE_MIN_COUNT`).
const MIN_BEACONS: u32 = 4;
/// Missing beacons after which the client probes its access point (mac80211: 7).
const MISSING_BEACONS: u32 = 7;
/// Time to wait for the answer to a probe of the access point, and number of probes. Also the time to wait for the
/// result of a null frame before an absence.
const PROBE_WAIT: Duration = Duration::from_millis(500);
const PROBES: u32 = 2;
/// Time until a client without any access point scans again (wpa_supplicant).
const RESCAN: Duration = Duration::from_secs(5);
/// Time for which an access point that could not be joined is avoided (wpa_supplicant's first
/// period).
const AVOIDED: Duration = Duration::from_secs(10);

/// Age up to which a scan's results answer a transition request without another scan
/// (wpa_supplicant's wnm_sta.c).
const FRESH: Duration = Duration::from_secs(2);

/// A radio that the client can join.
#[derive(Debug, Clone, Copy)]
pub(super) struct Target {
    pub(super) channel: ScanChannel,
    pub(super) width: Width,
    /// Signal in dBm below which its frames are not received.
    pub(super) weakest: f64,
    /// Number of its access point.
    pub(super) ap: usize,
}

/// A request of the access point to move (802.11v BSS transition management request).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TransitionRequest {
    /// Targets that it names, the preferred one first.
    pub(crate) candidates: Vec<usize>,
    /// It announces that it will disassociate the client.
    pub(crate) imminent: bool,
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
    /// A target received a probe request.
    Probed(usize),
    /// Answers a transition request.
    Answer { accepted: bool },
    /// Answers a beacon request with the results of its scan.
    Report,
    /// An event for the record.
    Event(RoamEvent),
}

/// An event of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RoamEvent {
    /// It scanned: start, and time away from its channel.
    Scanned { since: Instant, away: Duration },
    /// It moved: start and end of the time without a link.
    Roamed {
        from: Option<usize>,
        to: usize,
        since: Instant,
    },
    /// It could not join a target.
    Failed { target: usize },
    /// It has detected that its link is lost: last beacon.
    LinkLost { target: usize, since: Instant },
}

#[derive(Debug)]
enum State {
    Connected,
    Scanning(Listening),
    /// It is back on its channel and evaluates a scan.
    Choosing {
        purpose: Purpose,
        found: Vec<(usize, f64)>,
        until: Instant,
    },
    /// It has accepted a request and leaves after its answer.
    Leaving {
        target: usize,
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

/// Reason of a scan.
#[derive(Debug, Clone)]
enum Purpose {
    /// Its own choice.
    Own,
    /// A beacon request of the access point (802.11k).
    Report,
    /// A transition request.
    Request(TransitionRequest),
}

/// A scan in progress.
#[derive(Debug)]
struct Listening {
    purpose: Purpose,
    scan: Scan,
    /// Step in progress, and its end.
    step: Option<(Step, Instant)>,
    /// Next absence: its first channel, the time on this channel, and the latest time of its start. It starts
    /// after the result of the null frame that announces it.
    announced: Option<(ScanChannel, Duration, Instant)>,
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
    keys: Keys,
    transition: TransitionAnswer,
    /// 2.4 GHz radios withhold their answers to probe requests of a client that 5 GHz hears.
    probe_suppression: bool,
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
    /// Results of the last scan.
    results: Option<(Instant, Vec<(usize, f64)>)>,
    actions: VecDeque<Action>,
}

/// Keys that access points have cached.
#[derive(Debug, Clone)]
pub(super) struct Keys {
    pub(super) caching: bool,
    /// All access points share them (OKC).
    pub(super) shared: bool,
    /// By target.
    pub(super) known: Vec<bool>,
}

impl Keys {
    /// Returns whether a target has the client's keys.
    fn are_known(&self, target: usize) -> bool {
        self.caching && self.known[target] || self.shared && self.known.contains(&true)
    }
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
    /// True if access points cache keys, and if they share them.
    pub(super) key_caching: bool,
    pub(super) shared_keys: bool,
    pub(super) transition: TransitionAnswer,
    pub(super) probe_suppression: bool,
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
            key_caching,
            shared_keys,
            transition,
            probe_suppression,
        } = settings;
        let keys = Keys {
            caching: key_caching,
            shared: shared_keys,
            known: (0..targets.len()).map(|target| target == current).collect(),
        };
        let mut client = Client {
            constants,
            smoothing: f64::from(smoothing.max(1)),
            method,
            channels: Vec::new(),
            every_channel,
            targets,
            keys,
            transition,
            probe_suppression,
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
            results: None,
            actions: VecDeque::new(),
        };
        // A client also scans the channels of its network that are not in the list, as those in 6 GHz. It reads
        // them in the reduced neighbour reports of other bands.
        for known in client.known_channels() {
            let is_known = |channel: &ScanChannel| (channel.band, channel.number) == (known.band, known.number);
            if !client.every_channel.iter().any(is_known) {
                client.every_channel.push(known);
            }
        }
        client.channels = if neighbour_reports {
            client.known_channels()
        } else {
            client.every_channel.clone()
        };
        client
    }

    /// Target to which it is connected.
    pub(crate) fn current(&self) -> Option<usize> {
        self.current
    }

    /// Targets that the last scan found, with their signals in dBm.
    pub(crate) fn results(&self) -> &[(usize, f64)] {
        self.results.as_ref().map_or(&[], |(_, found)| found)
    }

    /// Returns true if it neither scans nor joins, and does not probe its access point.
    pub(crate) fn is_connected(&self) -> bool {
        matches!(self.state, State::Connected)
    }

    /// Returns true if it scans: the next timeout may need the signals of all targets.
    pub(crate) fn is_scanning(&self) -> bool {
        matches!(self.state, State::Scanning(_))
    }

    /// Returns true if actions are pending.
    pub(crate) fn has_actions(&self) -> bool {
        !self.actions.is_empty()
    }

    pub(crate) fn poll_action(&mut self) -> Option<Action> {
        self.actions.pop_front()
    }

    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        match &self.state {
            State::Connected => Some(self.next_beacon),
            State::Scanning(listening) => {
                let announced = listening.announced.map(|(.., latest)| latest);
                announced.or(listening.step.map(|(_, until)| until))
            }
            State::Joining { exchange, .. } => exchange.poll_timeout(),
            State::Choosing { until, .. }
            | State::Leaving { until, .. }
            | State::Probing { until, .. }
            | State::Idle { until } => Some(*until),
        }
    }

    /// Processes the timers that are due.
    pub(crate) fn handle_timeout(&mut self, now: Instant, around: &Surroundings<'_>) {
        if self.poll_timeout().is_none_or(|at| at > now) {
            return;
        }
        match &mut self.state {
            State::Connected => self.handle_beacon(now, around),
            // The result of the null frame is missing.
            State::Scanning(Listening { announced: Some(_), .. }) => self.leave(now),
            State::Scanning(_) => self.handle_scan(now, around),
            State::Choosing { purpose, found, .. } => {
                let (purpose, found) = (purpose.clone(), std::mem::take(found));
                match purpose {
                    Purpose::Own => self.choose(now, &found, around),
                    Purpose::Report => self.report(now),
                    Purpose::Request(request) => self.answer(now, &request, &found, around),
                }
            }
            State::Leaving { target, .. } => {
                let target = *target;
                self.join(now, target);
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
                if let Some(target) = self.current.take() {
                    let since = self.heard;
                    self.actions
                        .push_back(Action::Event(RoamEvent::LinkLost { target, since }));
                }
                self.actions.push_back(Action::Disconnected);
                self.start_scan(now, around);
            }
            State::Idle { .. } => self.start_scan(now, around),
        }
    }

    /// Reports that a null frame was acknowledged, or lost. `asleep`: it announced power save.
    pub(crate) fn handle_null(&mut self, now: Instant, asleep: bool, arrived: bool) {
        match &self.state {
            // A client that can't reach its access point leaves as well.
            State::Scanning(Listening { announced: Some(_), .. }) if asleep => self.leave(now),
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

    /// Reports a transition request. A client that scans or joins does not process it. `willing`: the
    /// client accepts if it can.
    pub(crate) fn handle_request(
        &mut self,
        now: Instant,
        request: TransitionRequest,
        willing: bool,
        around: &Surroundings<'_>,
    ) {
        if !matches!(self.state, State::Connected) || self.transition == TransitionAnswer::Ignore {
            return;
        }
        if self.transition == TransitionAnswer::Reject || !willing {
            self.actions.push_back(Action::Answer { accepted: false });
            return;
        }
        if let Some((_, results)) = self.results.as_ref().filter(|(at, _)| now.since(*at) <= FRESH) {
            let found = results.clone();
            self.answer(now, &request, &found, around);
            return;
        }
        let mut channels: Vec<ScanChannel> = Vec::new();
        for candidate in &request.candidates {
            let channel = self.targets[*candidate].channel;
            if !channels.contains(&channel) {
                channels.push(channel);
            }
        }
        self.start_scan_of(now, channels, Purpose::Request(request), around);
    }

    /// Reports a beacon request for the channels of its network.
    pub(crate) fn handle_beacon_request(&mut self, now: Instant, around: &Surroundings<'_>) {
        if matches!(self.state, State::Connected) {
            let channels = self.known_channels();
            self.start_scan_of(now, channels, Purpose::Report, around);
        }
    }

    /// Reports that the access point has disassociated the client.
    pub(crate) fn handle_disassociated(&mut self, now: Instant, around: &Surroundings<'_>) {
        let Some(current) = self.current.take() else { return };
        // hostapd removes the cached keys (wnm_ap.c).
        self.keys.known[current] = false;
        self.cut_since = Some((now, Some(current)));
        self.actions.push_back(Action::Disconnected);
        self.start_scan(now, around);
    }

    /// Reports that the kernel has reported lost packets. wpa_supplicant ignores this in a station.
    pub(crate) fn handle_packet_loss(&mut self, now: Instant, around: &Surroundings<'_>) {
        if self.constants.roams_on_loss && matches!(self.state, State::Connected) {
            self.start_scan(now, around);
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

    /// Starts a scan of its own.
    fn start_scan(&mut self, now: Instant, around: &Surroundings<'_>) {
        let connected = self.current.is_some();
        let channels = if connected { &self.channels } else { &self.every_channel };
        self.start_scan_of(now, channels.clone(), Purpose::Own, around);
    }

    fn start_scan_of(&mut self, now: Instant, channels: Vec<ScanChannel>, purpose: Purpose, around: &Surroundings<'_>) {
        self.state = State::Scanning(Listening {
            purpose,
            scan: Scan::new(self.constants.scan, channels, self.current.is_some()),
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
                    if !channel.passive {
                        self.actions.push_back(Action::Probed(index));
                    }
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
            Some(Step::Listen(channel, dwell)) if !was_away && connected => {
                listening.announced = Some((channel, dwell, now + PROBE_WAIT));
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
        if let Some((channel, dwell, _)) = listening.announced.take() {
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
        let mut found = listening.found;
        if self.probe_suppression {
            let on_5ghz: Vec<usize> = found
                .iter()
                .map(|(target, _)| &self.targets[*target])
                .filter(|target| target.channel.band != Band::Ghz2_4)
                .map(|target| target.ap)
                .collect();
            let is_silent = |target: &Target| target.channel.band == Band::Ghz2_4 && on_5ghz.contains(&target.ap);
            found.retain(|(target, _)| !is_silent(&self.targets[*target]));
        }
        self.results = Some((now, found.clone()));
        self.state = State::Choosing {
            purpose: listening.purpose,
            found,
            until,
        };
    }

    /// Moves, joins or stays, after a scan.
    fn choose(&mut self, now: Instant, found: &[(usize, f64)], around: &Surroundings<'_>) {
        let found = self.usable(now, found);
        let target = match self.current {
            Some(current) => {
                let own = self.heard(current, self.average.unwrap_or(around.signals[current]));
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

    fn heard(&self, candidate: usize, signal: f64) -> Heard {
        let target = &self.targets[candidate];
        Heard {
            candidate,
            signal,
            band: target.channel.band,
            width: target.width,
            fast_transition: self.method.fast_transition != FastTransition::Off,
        }
    }

    /// Scan results without the targets that could not be joined recently.
    fn usable(&mut self, now: Instant, found: &[(usize, f64)]) -> Vec<Heard> {
        self.avoided.retain(|(_, until)| *until > now);
        found
            .iter()
            .filter(|(candidate, _)| !self.avoided.iter().any(|(avoided, _)| avoided == candidate))
            .map(|(candidate, signal)| self.heard(*candidate, *signal))
            .collect()
    }

    /// Answers a transition request after a scan, and moves if it accepts.
    fn answer(&mut self, now: Instant, request: &TransitionRequest, found: &[(usize, f64)], around: &Surroundings<'_>) {
        let Some(current) = self.current else { return };
        let own = self.heard(current, self.average.unwrap_or(around.signals[current]));
        let mut named = self.usable(now, found);
        named.retain(|heard| request.candidates.contains(&heard.candidate));
        let target = choose_named(self.constants.rule, &own, &named, request.imminent);
        self.actions.push_back(Action::Answer {
            accepted: target.is_some(),
        });
        self.next_beacon = now + BEACON;
        self.state = match target {
            Some(target) => State::Leaving {
                target,
                until: now + self.method.processing,
            },
            None => State::Connected,
        };
    }

    /// Answers a beacon request.
    fn report(&mut self, now: Instant) {
        self.actions.push_back(Action::Report);
        self.next_beacon = now + BEACON;
        self.state = State::Connected;
    }

    /// Channels of its network.
    fn known_channels(&self) -> Vec<ScanChannel> {
        let mut known: Vec<ScanChannel> = Vec::new();
        for target in &self.targets {
            if !known.contains(&target.channel) {
                known.push(target.channel);
            }
        }
        known
    }

    fn join(&mut self, now: Instant, target: usize) {
        let mut method = self.method;
        method.cached = self.keys.are_known(target);
        if self.current.is_none() && method.fast_transition == FastTransition::OverTheDs {
            method.fast_transition = FastTransition::OverTheAir;
        }
        let exchange = Exchange::new(now, method);
        if !exchange.through_old() {
            self.leave_for(now, target);
        }
        self.state = State::Joining { target, exchange };
    }

    /// Leaves the access point, if any, and tunes to a target's channel.
    fn leave_for(&mut self, now: Instant, target: usize) {
        let before = self.current.take();
        self.cut_since.get_or_insert((now, before));
        self.actions.push_back(Action::Tune(target));
    }

    fn handle_progress(&mut self, now: Instant, progress: Progress) {
        let State::Joining { target, exchange } = &self.state else {
            return;
        };
        let (target, through_old) = (*target, exchange.through_old());
        match progress {
            Progress::Wait => {}
            Progress::Send { from_station, bytes } => self.actions.push_back(Action::Frame {
                target: self.current.filter(|_| through_old).unwrap_or(target),
                from_station,
                bytes,
            }),
            Progress::Prepared => self.leave_for(now, target),
            Progress::Failed if through_old => {
                let mut method = self.method;
                method.fast_transition = FastTransition::OverTheAir;
                self.leave_for(now, target);
                let exchange = Exchange::new(now, method);
                self.state = State::Joining { target, exchange };
            }
            Progress::Failed => {
                self.avoided.push((target, now + AVOIDED));
                self.actions.push_back(Action::Event(RoamEvent::Failed { target }));
                self.state = State::Idle { until: now };
            }
            Progress::Done => {
                self.current = Some(target);
                if self.method.security != Security::Open {
                    self.keys.known[target] = true;
                }
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
