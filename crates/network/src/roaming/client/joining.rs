//! A client that joins an access point.

use super::beacons::Reception;
use super::{Action, Client, RoamEvent, State};
use crate::roaming::exchange::{Exchange, FastTransition, Progress};
use netburn_medium::config::Security;
use netburn_units::{Duration, Instant};

/// Time for which an access point that could not be joined is avoided (wpa_supplicant's first
/// period).
const AVOIDED: Duration = Duration::from_secs(10);

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

impl Client {
    pub(super) fn join(&mut self, now: Instant, target: usize) {
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

    pub(super) fn handle_progress(&mut self, now: Instant, progress: Progress) {
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
                self.joined = now;
                self.reception = Reception::new(now);
                self.last_scan = None;
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
