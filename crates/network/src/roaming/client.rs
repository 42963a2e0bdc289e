//! State machine of a client: it measures, scans, moves, and recovers from a lost link.
//!
//! The machine has no radio. Its caller reports the signals at an instant ([`Observation`]),
//! frames that arrived, and timers; the machine returns [`Action`]s.
//!
//! - [`beacons`] – when it scans, and when its link is lost
//! - [`scanning`] – a scan in progress
//! - [`decision`] – the choice after a scan, and answers to its access point
//! - [`joining`] – the exchange with a new access point

mod beacons;
mod decision;
mod joining;
mod scanning;

use super::exchange::{Exchange, Method};
use super::policy::Constants;
use super::scan::ScanChannel;
use crate::beacon::INTERVAL as BEACON;
use beacons::Reception;
use joining::Keys;
use netburn_medium::config::{Band, TransitionAnswer, Width};
use netburn_units::{Duration, Instant};
use scanning::Listening;
use std::collections::VecDeque;

/// Time to wait for the answer to a probe of the access point, and number of probes. Also the time to wait for the
/// result of a null frame before an absence.
const PROBE_WAIT: Duration = Duration::from_millis(500);
const PROBES: u32 = 2;
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
pub(crate) struct Observation<'a> {
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
    reception: Reception,
    last_scan: Option<(Instant, f64)>,
    /// Since when it has no link.
    cut_since: Option<(Instant, Option<usize>)>,
    avoided: Vec<(usize, Instant)>,
    /// Results of the last scan.
    results: Option<(Instant, Vec<(usize, f64)>)>,
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
            reception: Reception::new(now),
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
            State::Connected => Some(self.reception.next_beacon),
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
    pub(crate) fn handle_timeout(&mut self, now: Instant, observed: &Observation<'_>) {
        if self.poll_timeout().is_none_or(|at| at > now) {
            return;
        }
        match &mut self.state {
            State::Connected => self.handle_beacon(now, observed),
            // The result of the null frame is missing.
            State::Scanning(Listening { announced: Some(_), .. }) => self.leave(now),
            State::Scanning(_) => self.handle_scan(now, observed),
            State::Choosing { purpose, found, .. } => {
                let (purpose, found) = (purpose.clone(), std::mem::take(found));
                match purpose {
                    Purpose::Own => self.choose(now, &found, observed),
                    Purpose::Report => self.report(now),
                    Purpose::Request(request) => self.answer(now, &request, &found, observed),
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
                self.cut_since = Some((self.reception.heard, self.current));
                if let Some(target) = self.current.take() {
                    let since = self.reception.heard;
                    self.actions
                        .push_back(Action::Event(RoamEvent::LinkLost { target, since }));
                }
                self.actions.push_back(Action::Disconnected);
                self.start_scan(now, observed);
            }
            State::Idle { .. } => self.start_scan(now, observed),
        }
    }

    /// Reports that a null frame was acknowledged, or lost. `asleep`: it announced power save.
    pub(crate) fn handle_null(&mut self, now: Instant, asleep: bool, arrived: bool) {
        match &self.state {
            // A client that can't reach its access point leaves as well.
            State::Scanning(Listening { announced: Some(_), .. }) if asleep => self.leave(now),
            State::Probing { .. } if arrived => {
                self.reception.missing = 0;
                self.state = State::Connected;
                self.reception.next_beacon = now + BEACON;
            }
            State::Connected if !arrived && self.reception.missing == 0 => {
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
        observed: &Observation<'_>,
    ) {
        if !matches!(self.state, State::Connected) || self.transition == TransitionAnswer::Ignore {
            return;
        }
        let accepts = match self.transition {
            TransitionAnswer::Accept => willing,
            TransitionAnswer::Imminent => willing && request.imminent,
            TransitionAnswer::Reject | TransitionAnswer::Ignore => false,
        };
        if !accepts {
            self.actions.push_back(Action::Answer { accepted: false });
            return;
        }
        if let Some((_, results)) = self.results.as_ref().filter(|(at, _)| now.since(*at) <= FRESH) {
            let found = results.clone();
            self.answer(now, &request, &found, observed);
            return;
        }
        let mut channels: Vec<ScanChannel> = Vec::new();
        for candidate in &request.candidates {
            let channel = self.targets[*candidate].channel;
            if !channels.contains(&channel) {
                channels.push(channel);
            }
        }
        self.start_scan_of(now, channels, Purpose::Request(request), observed);
    }

    /// Reports a beacon request for the channels of its network.
    pub(crate) fn handle_beacon_request(&mut self, now: Instant, observed: &Observation<'_>) {
        if matches!(self.state, State::Connected) {
            let channels = self.known_channels();
            self.start_scan_of(now, channels, Purpose::Report, observed);
        }
    }

    /// Reports that the access point has disassociated the client.
    pub(crate) fn handle_disassociated(&mut self, now: Instant, observed: &Observation<'_>) {
        let Some(current) = self.current.take() else { return };
        // hostapd removes the cached keys (wnm_ap.c).
        self.keys.known[current] = false;
        self.cut_since = Some((now, Some(current)));
        self.actions.push_back(Action::Disconnected);
        self.start_scan(now, observed);
    }

    /// Reports that the kernel has reported lost packets. wpa_supplicant ignores this in a station.
    pub(crate) fn handle_packet_loss(&mut self, now: Instant, observed: &Observation<'_>) {
        if self.constants.roams_on_loss && matches!(self.state, State::Connected) {
            self.start_scan(now, observed);
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
