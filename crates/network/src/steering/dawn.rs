//! DAWN (berlin-open-wireless-lab/DAWN): `dawn_uci.c`, `datastorage.c`, with its defaults of 2026.

use super::{Decision, Order, Policy, StationView, SteeringReason, TargetView, dbm};
use netburn_medium::config::{Band, Steering};
use netburn_units::{BitRate, Duration, Instant};
use std::collections::BTreeMap;

/// Time between two rounds (`update_client`).
const ROUND: Duration = Duration::from_secs(10);
/// Rounds in a row for which the condition must hold (`min_number_to_kick`).
const ROUNDS: u32 = 3;
/// Difference of scores (`kicking_threshold`).
const SCORE: i32 = 20;
/// Signal of the absolute rule in dBm (`rssi_center`).
const CENTRE: f64 = -70.0;
/// A station whose last frame had a higher rate is in use, and not moved (`bandwidth_threshold`).
const IDLE_RATE: BitRate = BitRate::from_mbps(6);
/// `duration` of a request: 150 beacons of 100 TU.
const TIMER: Duration = Duration::from_micros(150 * 102_400);
/// Maximum age of a probe request (`remove_probe`).
const MAX_AGE: Duration = Duration::from_secs(30);
/// Time between two beacon requests (`update_beacon_reports`).
const REPORT_INTERVAL: Duration = Duration::from_secs(20);
/// Views over which the channel's use is averaged: three samples of 5 s.
const LOAD_VIEWS: f64 = 15.0;
/// Use of the channel above which the score is lower (`chan_util_val`).
const BUSY: f64 = 170.0 / 255.0;

#[derive(Debug)]
pub(super) struct Dawn {
    score: i32,
    centre: f64,
    next_round: Instant,
    next_reports: Instant,
    /// Rounds in a row for which the condition held, by client.
    rounds: BTreeMap<usize, u32>,
    /// Average use of each radio's channel.
    loads: BTreeMap<usize, f64>,
}

impl Dawn {
    pub(super) fn new(begin: Instant, config: &Steering) -> Self {
        let score = config.score.and_then(|score| i32::try_from(score).ok());
        Dawn {
            score: score.unwrap_or(SCORE),
            centre: config.trigger.map_or(CENTRE, netburn_units::Dbm::as_dbm_f64),
            next_round: begin + ROUND,
            next_reports: begin + REPORT_INTERVAL,
            rounds: BTreeMap::new(),
            loads: BTreeMap::new(),
        }
    }

    fn average_loads(&mut self, stations: &[StationView]) {
        let mut now = BTreeMap::new();
        for target in stations.iter().flat_map(|view| &view.targets) {
            now.insert(target.radio, target.load);
        }
        for (radio, load) in now {
            let average = self.loads.entry(radio).or_insert(load);
            *average += (load - *average) / LOAD_VIEWS;
        }
    }

    fn load(&self, target: &TargetView) -> f64 {
        self.loads.get(&target.radio).copied().unwrap_or(target.load)
    }

    /// Request to a station if the condition holds: another radio's score, or the absolute rule.
    fn condition(&self, view: &StationView) -> Option<Order> {
        let own = &view.targets[view.current];
        let own_score = score(own, view.signal, self.load(own));
        let mut others: Vec<(usize, i32)> = Vec::new();
        for (index, target) in view.targets.iter().enumerate() {
            if let Some((signal, age)) = target.known
                && index != view.current
                && age <= MAX_AGE
            {
                others.push((index, score(target, signal, self.load(target))));
            }
        }
        others.sort_by_key(|(_, score)| std::cmp::Reverse(*score));
        if let Some((_, best)) = others
            .first()
            .copied()
            .filter(|(_, best)| *best >= own_score + self.score)
        {
            others.retain(|(_, score)| *score >= own_score + self.score);
            return Some(Order::Request {
                candidates: others.into_iter().map(|(index, _)| index).collect(),
                imminent: true,
                reason: SteeringReason::Score(own_score, best),
            });
        }
        (view.signal < self.centre).then(|| Order::Request {
            candidates: (0..view.targets.len()).filter(|index| *index != view.current).collect(),
            imminent: false,
            reason: SteeringReason::WeakSignal(dbm(view.signal)),
        })
    }
}

/// Score of a radio for a station.
pub(super) fn score(target: &TargetView, signal: f64, load: f64) -> i32 {
    let mut score = if target.band == Band::Ghz2_4 { 80 } else { 100 };
    score += 5 * i32::from(target.ht) + 5 * i32::from(target.vht);
    if signal >= -60.0 {
        score += 15;
    } else if signal <= -80.0 {
        score -= 15;
    }
    if load > BUSY {
        score -= 15;
    }
    score
}

impl Policy for Dawn {
    fn handle_view(&mut self, now: Instant, stations: &[StationView]) -> Vec<Decision> {
        self.average_loads(stations);
        let mut decisions = Vec::new();
        if now >= self.next_reports {
            self.next_reports = now + REPORT_INTERVAL;
            let reporting = stations.iter().filter(|view| view.reports);
            decisions.extend(reporting.map(|view| Decision {
                client: view.client,
                order: Order::Measure,
            }));
        }
        if now < self.next_round {
            return decisions;
        }
        self.next_round = now + ROUND;
        // One station per access point and round.
        let mut moved: Vec<usize> = Vec::new();
        for view in stations {
            let idle = view.uplink_rate <= IDLE_RATE;
            let Some(order) = self.condition(view).filter(|_| idle && view.transitions) else {
                self.rounds.remove(&view.client);
                continue;
            };
            let rounds = self.rounds.entry(view.client).or_default();
            *rounds += 1;
            let ap = view.targets[view.current].ap;
            if *rounds >= ROUNDS && !moved.contains(&ap) {
                *rounds = 0;
                moved.push(ap);
                decisions.retain(|decision| decision.client != view.client);
                decisions.push(Decision {
                    client: view.client,
                    order,
                });
            }
        }
        decisions
    }

    fn handle_answer(&mut self, _now: Instant, _client: usize, _accepted: bool) {}

    fn disassociation_timer(&self) -> Option<Duration> {
        Some(TIMER)
    }
}
