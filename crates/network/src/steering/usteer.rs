//! usteer (openwrt/usteer): `main.c`, `policy.c`, `band_steering.c`, with its defaults of 2026.
//!
//! With every default it moves no station between access points: `roam_scan_snr`,
//! `roam_trigger_snr` and `signal_diff_threshold` are off.
//!
//! `sta_block_timeout` (30 s) blocks no station: after this time the count of rejected requests starts
//! again (`sta.c`). Requests are rejected only with `assoc_steering`, `probe_steering` or `min_snr`, which
//! are off. A station that was disassociated (`del_client` without `ban_time`) may join again at once.

use super::{Decision, Order, Policy, StationView, SteeringReason, dbm};
use netburn_medium::config::{Band, Steering};
use netburn_units::{Duration, Instant};
use std::collections::BTreeMap;

/// `band_steering_interval`: samples in a row, one per second (`local_sta_update`).
const BAND_SAMPLES: u32 = 30;
/// `band_steering_min_snr` in dBm, and `band_steering_threshold` in dB.
const BAND_SIGNAL: f64 = -60.0;
const BAND_GAIN: f64 = 5.0;
/// `roam_scan_tries`, `roam_scan_interval`, `roam_trigger_interval`.
const SCAN_TRIES: u32 = 3;
const SCAN_INTERVAL: Duration = Duration::from_secs(10);
const TRIGGER_INTERVAL: Duration = Duration::from_secs(60);
/// A station that has been connected for a shorter time is not moved.
const MIN_CONNECTED: Duration = Duration::from_secs(60);
/// `steer_reject_timeout`, and the pause after an accepted request.
const REJECT_PAUSE: Duration = Duration::from_secs(60);
const ACCEPT_PAUSE: Duration = Duration::from_secs(10);
/// `roam_kick_delay`: time until a station that does not answer is disassociated.
const KICK_DELAY: Duration = Duration::from_secs(10);
/// `aggressiveness` 3: requests have a timer of 10 s, in beacons of 100 TU.
const TIMER: Duration = Duration::from_micros(100 * 102_400);
/// `seen_policy_timeout`: maximum age of a signal at another access point.
const MAX_AGE: Duration = Duration::from_secs(30);

#[derive(Debug)]
pub(super) struct Usteer {
    /// `roam_scan_snr` and `roam_trigger_snr` in dBm; `None`: off.
    trigger: Option<f64>,
    /// `signal_diff_threshold` in dB; `None`: off.
    margin: Option<f64>,
    disassociates: bool,
    stations: BTreeMap<usize, Station>,
}

/// State of a station.
#[derive(Debug)]
struct Station {
    joined: usize,
    /// Signal at the time of the connection; 1 dB less after each weaker sample.
    reference: f64,
    strong_samples: u32,
    /// Beacon requests since the signal became weak.
    scans: u32,
    next_scan: Option<Instant>,
    paused_until: Option<Instant>,
    /// Time at which the station is disassociated, unless it answers.
    kick_at: Option<Instant>,
}

impl Usteer {
    pub(super) fn new(config: &Steering) -> Self {
        Usteer {
            trigger: config.trigger.map(netburn_units::Dbm::as_dbm_f64),
            margin: config.margin.map(netburn_units::Db::as_db_f64),
            disassociates: config.disassociate.unwrap_or(true),
            stations: BTreeMap::new(),
        }
    }

    fn decide(&mut self, now: Instant, view: &StationView) -> Option<Order> {
        let signal = view.signal;
        let fresh = || Station {
            joined: view.current,
            reference: signal,
            strong_samples: 0,
            scans: 0,
            next_scan: None,
            paused_until: None,
            kick_at: None,
        };
        let station = self.stations.entry(view.client).or_insert_with(fresh);
        if station.joined != view.current {
            *station = Station {
                paused_until: station.paused_until,
                ..fresh()
            };
        }
        if station.kick_at.is_some_and(|at| at <= now) {
            station.kick_at = None;
            station.paused_until = Some(now + REJECT_PAUSE);
            return self.disassociates.then_some(Order::Disassociate);
        }
        let order = station.steer_band(view);
        let is_paused = station.paused_until.is_some_and(|until| now < until);
        if is_paused || view.connected < MIN_CONNECTED || !view.transitions {
            return None;
        }
        if order.is_some() {
            station.strong_samples = 0;
            station.wait_for_answer(now);
            return order;
        }
        let (Some(trigger), Some(margin)) = (self.trigger, self.margin) else {
            return None;
        };
        station.roam(now, view, trigger, margin)
    }
}

impl Station {
    fn wait_for_answer(&mut self, now: Instant) {
        self.paused_until = Some(now + ACCEPT_PAUSE);
        self.kick_at = Some(now + KICK_DELAY);
    }

    /// Counts strong samples on 2.4 GHz. Returns a request after 30 in a row. The signal at the other
    /// radio is not considered.
    fn steer_band(&mut self, view: &StationView) -> Option<Order> {
        let at = &view.targets[view.current];
        let strong = view.signal >= BAND_SIGNAL && view.signal >= self.reference + BAND_GAIN;
        if view.signal < self.reference {
            self.reference -= 1.0;
        }
        if at.band != Band::Ghz2_4 || !strong {
            self.strong_samples = 0;
            return None;
        }
        self.strong_samples += 1;
        let targets = view.targets.iter().enumerate();
        let higher = targets.filter(|(_, target)| target.ap == at.ap && target.band > at.band);
        let candidates: Vec<usize> = higher.map(|(index, _)| index).collect();
        (self.strong_samples >= BAND_SAMPLES && !candidates.is_empty()).then(|| Order::Request {
            candidates,
            imminent: true,
            reason: SteeringReason::StrongSignal(dbm(view.signal)),
        })
    }

    /// Requests beacon reports while the signal is weak, and a transition once a better access point
    /// is known.
    fn roam(&mut self, now: Instant, view: &StationView, trigger: f64, margin: f64) -> Option<Order> {
        if view.signal >= trigger {
            (self.scans, self.next_scan) = (0, None);
            return None;
        }
        let mut better: Vec<(usize, f64)> = Vec::new();
        for (index, target) in view.targets.iter().enumerate() {
            if let Some((signal, age)) = target.known
                && index != view.current
                && age <= MAX_AGE
                && signal >= view.signal + margin
            {
                better.push((index, signal));
            }
        }
        if !better.is_empty() {
            better.sort_by(|a, b| b.1.total_cmp(&a.1));
            (self.scans, self.next_scan) = (0, None);
            self.wait_for_answer(now);
            return Some(Order::Request {
                candidates: better.into_iter().map(|(index, _)| index).collect(),
                imminent: true,
                reason: SteeringReason::WeakSignal(dbm(view.signal)),
            });
        }
        if !view.reports || self.next_scan.is_some_and(|at| now < at) {
            return None;
        }
        self.scans += 1;
        let interval = if self.scans.is_multiple_of(SCAN_TRIES) {
            TRIGGER_INTERVAL
        } else {
            SCAN_INTERVAL
        };
        self.next_scan = Some(now + interval);
        Some(Order::Measure)
    }
}

impl Policy for Usteer {
    fn handle_view(&mut self, now: Instant, stations: &[StationView]) -> Vec<Decision> {
        let mut decisions = Vec::new();
        for view in stations {
            if let Some(order) = self.decide(now, view) {
                decisions.push(Decision {
                    client: view.client,
                    order,
                });
            }
        }
        decisions
    }

    fn handle_answer(&mut self, now: Instant, client: usize, accepted: bool) {
        if let Some(station) = self.stations.get_mut(&client) {
            let pause = if accepted { ACCEPT_PAUSE } else { REJECT_PAUSE };
            station.paused_until = Some(now + pause);
            station.kick_at = None;
        }
    }

    fn disassociation_timer(&self) -> Option<Duration> {
        Some(TIMER)
    }
}
