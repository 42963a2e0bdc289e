//! State machine of a station that dozes.
//!
//! The machine has no radio. Its caller reports timers, packets and frames, and the machine returns
//! [`Action`]s. It follows 802.11-2020 clause 11.2.3, and mac80211's dynamic power save
//! (`ieee80211_dynamic_ps_enable_work`, `ieee80211_tx_h_dynamic_ps`, `ieee80211_rx_mgmt_beacon`).

use crate::beacon;
use netburn_medium::config::{PowerSave, PowerSaveMode};
use netburn_units::{Duration, Instant};
use std::collections::VecDeque;

/// Time between two checks whether the access point's last frame of a service period has ended: the
/// unit of the durations of 802.11ax.
const CLOSING: Duration = Duration::from_micros(256);

/// A frame without data that the machine sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PowerSaveFrame {
    /// Null frame with the power management bit.
    Doze,
    /// Null frame without it.
    Wake,
    /// QoS null frame that triggers a service period.
    Trigger,
    /// QoS null frame of the access point that ends a service period in which nothing waited.
    End,
}

/// An action of a station.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    /// Switches the receiver off, or on.
    SetAway(bool),
    /// The access point learns from a frame, or knows by agreement, that the station dozes or is awake.
    SetAsleep(bool),
    /// Sends a frame.
    Send(PowerSaveFrame),
}

/// Observations at an instant.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Observation {
    /// True if the access point's beacon is received now.
    pub(crate) beacon: bool,
    /// True if packets for the station wait in its access point.
    pub(crate) waiting: bool,
    /// True if packets wait in the station.
    pub(crate) backlog: bool,
    /// True while the access point is in a frame exchange with the station.
    pub(crate) arriving: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Another machine, which scans or joins, controls the receiver.
    Suspended,
    /// Legacy: it receives, until a time without packets.
    Awake { until: Instant },
    /// Legacy: its null frame with the power management bit is on its way.
    Announcing,
    /// The receiver is off until a beacon or a service period.
    Dozing { until: Instant },
    /// Legacy: its null frame without the power management bit is on its way.
    Waking,
    /// U-APSD: it has something to send. `ended`: the end of its service period is on its way.
    Sending { ended: bool },
    /// U-APSD: its access point delivers what waits.
    Served,
    /// TWT: a service period.
    Period { until: Instant },
    /// TWT: after a service period, until the access point's frame has ended.
    Closing { until: Instant },
}

/// A station that dozes.
///
/// **Call order:** after every `handle_*`, [`suspend`](Self::suspend) and [`resume`](Self::resume),
/// drain [`poll_action`](Self::poll_action).
#[derive(Debug)]
pub(crate) struct Sleeper {
    settings: PowerSave,
    /// Phase of the beacons of its access point.
    beacons: Duration,
    /// Phase of its service periods.
    periods: Duration,
    /// Time of the last packet.
    last: Instant,
    state: State,
    actions: VecDeque<Action>,
}

impl Sleeper {
    /// A station whose service periods have this phase. It is suspended until
    /// [`resume`](Self::resume).
    pub(crate) fn new(now: Instant, settings: PowerSave, periods: Duration) -> Self {
        Sleeper {
            settings,
            beacons: Duration::ZERO,
            periods,
            last: now,
            state: State::Suspended,
            actions: VecDeque::new(),
        }
    }

    pub(crate) fn poll_action(&mut self) -> Option<Action> {
        self.actions.pop_front()
    }

    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        match self.state {
            State::Awake { until } | State::Dozing { until } | State::Period { until } | State::Closing { until } => {
                Some(until)
            }
            State::Suspended | State::Announcing | State::Waking | State::Sending { .. } | State::Served => None,
        }
    }

    /// True if the receiver is off until a beacon or a service period.
    pub(crate) fn is_dozing(&self) -> bool {
        matches!(self.state, State::Dozing { .. })
    }

    /// Lets another machine control the receiver, which is on from now.
    pub(crate) fn suspend(&mut self) {
        if matches!(self.state, State::Dozing { .. }) {
            self.actions.push_back(Action::SetAway(false));
        }
        self.state = State::Suspended;
    }

    /// Controls the receiver again. `beacons`: phase of the beacons of its access point.
    pub(crate) fn resume(&mut self, now: Instant, beacons: Duration, backlog: bool) {
        if self.state != State::Suspended {
            return;
        }
        self.beacons = beacons;
        match self.settings.mode {
            PowerSaveMode::Off => {}
            PowerSaveMode::Legacy => self.stay_awake(now),
            PowerSaveMode::UApsd if backlog => {
                self.actions.push_back(Action::SetAsleep(true));
                self.state = State::Sending { ended: false };
            }
            PowerSaveMode::UApsd | PowerSaveMode::Twt => {
                self.actions.push_back(Action::SetAsleep(true));
                self.doze(now);
            }
        }
    }

    /// Processes a timer that is due.
    pub(crate) fn handle_timeout(&mut self, now: Instant, observed: &Observation) {
        if self.poll_timeout().is_none_or(|at| at > now) {
            return;
        }
        match self.state {
            State::Awake { .. } => {
                if observed.backlog {
                    self.last = now;
                }
                // Packets since the timer was set only have moved `last`.
                let until = self.last + self.settings.timeout;
                if until > now {
                    self.state = State::Awake { until };
                } else {
                    self.state = State::Announcing;
                    self.actions.push_back(Action::Send(PowerSaveFrame::Doze));
                }
            }
            State::Dozing { .. } => self.wake(now, observed),
            State::Period { .. } => {
                self.actions.push_back(Action::SetAsleep(true));
                self.close(now, observed);
            }
            State::Closing { .. } => self.close(now, observed),
            State::Suspended | State::Announcing | State::Waking | State::Sending { .. } | State::Served => {}
        }
    }

    /// A packet is about to enter the station's queue.
    pub(crate) fn handle_uplink(&mut self, now: Instant) {
        self.last = now;
        match (self.settings.mode, self.state) {
            (PowerSaveMode::Legacy, State::Dozing { .. }) => {
                self.actions.push_back(Action::SetAway(false));
                self.stay_awake(now);
            }
            // The null frame arrives first or last: `handle_frame` restores the access point's view.
            (PowerSaveMode::Legacy, State::Announcing) => self.stay_awake(now),
            (PowerSaveMode::UApsd, State::Dozing { .. }) => {
                self.actions.push_back(Action::SetAway(false));
                self.state = State::Sending { ended: false };
            }
            _ => {}
        }
    }

    /// A data frame of the station has arrived at its access point.
    pub(crate) fn handle_sent(&mut self, now: Instant, observed: &Observation) {
        self.last = now;
        match self.state {
            // Its power management bit is not set.
            State::Awake { .. } | State::Waking => self.actions.push_back(Action::SetAsleep(false)),
            State::Sending { ended: false } => self.trigger(observed),
            _ => {}
        }
    }

    /// A data frame of the station was dropped.
    pub(crate) fn handle_lost(&mut self, now: Instant, observed: &Observation) {
        if self.state == (State::Sending { ended: false }) && !observed.backlog {
            self.doze(now);
        }
    }

    /// A packet for the station has arrived, or was dropped.
    pub(crate) fn handle_downlink(&mut self, now: Instant, arrived: bool, observed: &Observation) {
        if arrived {
            self.last = now;
        }
        if self.state == State::Served && !observed.waiting {
            // The last frame has the bit "end of service period".
            self.actions.push_back(Action::SetAsleep(true));
            self.end_period(now, observed);
        }
    }

    /// A frame of [`Action::Send`] arrived, or was lost after its last retry.
    pub(crate) fn handle_frame(&mut self, now: Instant, frame: PowerSaveFrame, arrived: bool, observed: &Observation) {
        match (frame, arrived, self.state) {
            (PowerSaveFrame::Doze, true, State::Announcing) => {
                self.actions.push_back(Action::SetAsleep(true));
                self.doze(now);
            }
            (PowerSaveFrame::Doze, false, State::Announcing) => self.stay_awake(now),
            // A packet came in between, so the access point takes the station as dozing although it is awake.
            (PowerSaveFrame::Doze, true, State::Awake { .. }) => {
                self.actions.push_back(Action::SetAsleep(true));
                self.actions.push_back(Action::Send(PowerSaveFrame::Wake));
            }
            (PowerSaveFrame::Wake, true, State::Waking | State::Awake { .. }) => {
                self.actions.push_back(Action::SetAsleep(false));
                self.stay_awake(now);
            }
            (PowerSaveFrame::Wake, false, State::Waking) => self.doze(now),
            (PowerSaveFrame::Trigger, true, State::Sending { ended: false }) => self.trigger(observed),
            (PowerSaveFrame::Trigger, false, State::Sending { ended: false }) if !observed.backlog => self.doze(now),
            // If it is lost, the station times out at about the same time.
            (PowerSaveFrame::End, _, State::Sending { ended: true }) => self.end_period(now, observed),
            _ => {}
        }
    }

    /// Wakes for a beacon or for a service period.
    fn wake(&mut self, now: Instant, observed: &Observation) {
        let reported = observed.beacon && observed.waiting;
        match self.settings.mode {
            PowerSaveMode::Twt => {
                self.actions.push_back(Action::SetAway(false));
                self.actions.push_back(Action::SetAsleep(false));
                self.state = State::Period {
                    until: now + self.settings.twt_service_period,
                };
            }
            PowerSaveMode::Legacy if reported => {
                self.actions.push_back(Action::SetAway(false));
                self.actions.push_back(Action::Send(PowerSaveFrame::Wake));
                self.state = State::Waking;
            }
            PowerSaveMode::UApsd if reported => {
                self.actions.push_back(Action::SetAway(false));
                self.actions.push_back(Action::Send(PowerSaveFrame::Trigger));
                self.state = State::Sending { ended: false };
            }
            _ => self.state = State::Dozing { until: self.next(now) },
        }
    }

    /// Begins a service period, or ends it at once if nothing waits.
    fn trigger(&mut self, observed: &Observation) {
        if observed.waiting {
            self.actions.push_back(Action::SetAsleep(false));
            self.state = State::Served;
        } else {
            self.actions.push_back(Action::Send(PowerSaveFrame::End));
            self.state = State::Sending { ended: true };
        }
    }

    fn end_period(&mut self, now: Instant, observed: &Observation) {
        if observed.backlog {
            self.state = State::Sending { ended: false };
        } else {
            self.doze(now);
        }
    }

    /// Switches the receiver off after a service period, once the access point's frame has ended.
    fn close(&mut self, now: Instant, observed: &Observation) {
        if observed.arriving {
            self.state = State::Closing { until: now + CLOSING };
        } else {
            self.doze(now);
        }
    }

    fn stay_awake(&mut self, now: Instant) {
        self.last = now;
        self.state = State::Awake {
            until: now + self.settings.timeout,
        };
    }

    fn doze(&mut self, now: Instant) {
        self.actions.push_back(Action::SetAway(true));
        self.state = State::Dozing { until: self.next(now) };
    }

    /// Time of the next beacon or service period for which it wakes.
    fn next(&self, now: Instant) -> Instant {
        match self.settings.mode {
            PowerSaveMode::Twt => beacon::next(now, self.periods, self.settings.twt_interval),
            _ => {
                let listened = beacon::INTERVAL * u64::from(self.settings.listen_interval);
                beacon::next(now, self.beacons, listened)
            }
        }
    }
}
