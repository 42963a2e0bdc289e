//! Decisions after a scan: to move or to stay, and the answers to requests of the access point.

use super::{Action, Client, Observation, State, TransitionRequest};
use crate::beacon::INTERVAL as BEACON;
use crate::roaming::choose::{Heard, choose, choose_first, choose_named};
use crate::roaming::exchange::FastTransition;
use netburn_units::{Duration, Instant};

/// Time until a client without any access point scans again (wpa_supplicant).
const RESCAN: Duration = Duration::from_secs(5);

impl Client {
    /// Moves, joins or stays, after a scan.
    pub(super) fn choose(&mut self, now: Instant, found: &[(usize, f64)], observed: &Observation<'_>) {
        let found = self.usable(now, found);
        let target = match self.current {
            Some(current) => {
                let own = self.heard(current, self.reception.average.unwrap_or(observed.signals[current]));
                choose(self.constants.rule, &own, &found, observed.busy)
            }
            None => choose_first(self.constants.rule, &found),
        };
        match (target, self.current) {
            (Some(target), _) => self.join(now, target),
            (None, Some(_)) => {
                self.state = State::Connected;
                self.reception.next_beacon = now + BEACON;
            }
            (None, None) => self.state = State::Idle { until: now + RESCAN },
        }
    }

    /// Answers a transition request after a scan, and moves if it accepts.
    pub(super) fn answer(
        &mut self,
        now: Instant,
        request: &TransitionRequest,
        found: &[(usize, f64)],
        observed: &Observation<'_>,
    ) {
        let Some(current) = self.current else { return };
        let own = self.heard(current, self.reception.average.unwrap_or(observed.signals[current]));
        let mut named = self.usable(now, found);
        named.retain(|heard| request.candidates.contains(&heard.candidate));
        let target = choose_named(self.constants.rule, &own, &named, request.imminent);
        self.actions.push_back(Action::Answer {
            accepted: target.is_some(),
        });
        self.reception.next_beacon = now + BEACON;
        self.state = match target {
            Some(target) => State::Leaving {
                target,
                until: now + self.method.processing,
            },
            None => State::Connected,
        };
    }

    /// Answers a beacon request.
    pub(super) fn report(&mut self, now: Instant) {
        self.actions.push_back(Action::Report);
        self.reception.next_beacon = now + BEACON;
        self.state = State::Connected;
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
}
