//! A client that scans.

use super::{Action, Client, Observation, PROBE_WAIT, Purpose, RoamEvent, State, Target};
use crate::roaming::scan::{Scan, ScanChannel, Step};
use netburn_medium::config::Band;
use netburn_units::{Duration, Instant};

/// A scan in progress.
#[derive(Debug)]
pub(super) struct Listening {
    pub(super) purpose: Purpose,
    pub(super) scan: Scan,
    /// Step in progress, and its end.
    pub(super) step: Option<(Step, Instant)>,
    /// Next absence: its first channel, the time on this channel, and the latest time of its start. It starts
    /// after the result of the null frame that announces it.
    pub(super) announced: Option<(ScanChannel, Duration, Instant)>,
    pub(super) found: Vec<(usize, f64)>,
    pub(super) since: Instant,
    pub(super) away: Duration,
}

impl Client {
    /// Starts a scan of its own.
    pub(super) fn start_scan(&mut self, now: Instant, observed: &Observation<'_>) {
        let connected = self.current.is_some();
        let channels = if connected { &self.channels } else { &self.every_channel };
        self.start_scan_of(now, channels.clone(), Purpose::Own, observed);
    }

    pub(super) fn start_scan_of(
        &mut self,
        now: Instant,
        channels: Vec<ScanChannel>,
        purpose: Purpose,
        observed: &Observation<'_>,
    ) {
        self.state = State::Scanning(Listening {
            purpose,
            scan: Scan::new(self.constants.scan, channels, self.current.is_some()),
            step: None,
            announced: None,
            found: Vec::new(),
            since: now,
            away: Duration::ZERO,
        });
        self.next_step(now, observed);
    }

    pub(super) fn handle_scan(&mut self, now: Instant, observed: &Observation<'_>) {
        let State::Scanning(listening) = &mut self.state else {
            return;
        };
        if let Some((Step::Listen(channel, dwell), _)) = listening.step {
            listening.away += dwell;
            for (index, target) in self.targets.iter().enumerate() {
                let same = (target.channel.band, target.channel.number) == (channel.band, channel.number);
                if same && observed.signals[index] >= target.weakest {
                    listening.found.push((index, observed.signals[index]));
                    if !channel.passive {
                        self.actions.push_back(Action::Probed(index));
                    }
                }
            }
        }
        self.next_step(now, observed);
    }

    /// Starts the next step of the scan, or ends it.
    fn next_step(&mut self, now: Instant, observed: &Observation<'_>) {
        let State::Scanning(listening) = &mut self.state else {
            return;
        };
        let connected = self.current.is_some();
        let was_away = matches!(listening.step, Some((Step::Listen(..), _)));
        let next = listening.scan.next(observed.waiting);
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
    pub(super) fn leave(&mut self, now: Instant) {
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

    /// Channels of its network.
    pub(super) fn known_channels(&self) -> Vec<ScanChannel> {
        let mut known: Vec<ScanChannel> = Vec::new();
        for target in &self.targets {
            if !known.contains(&target.channel) {
                known.push(target.channel);
            }
        }
        known
    }
}
