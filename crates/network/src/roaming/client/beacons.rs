//! Beacons of the access point: the signal's average, and when a client scans.

use super::{Client, Observation, State};
use crate::beacon::INTERVAL as BEACON;
use netburn_units::{Duration, Instant};

/// Beacons before the average is used (mac80211: `IEEE80211_SIGNAL_AVE_MIN_COUNT`).
const MIN_BEACONS: u32 = 4;
/// Missing beacons after which the client probes its access point (mac80211: 7).
const MISSING_BEACONS: u32 = 7;

/// Reception of the serving access point's beacons since the client joined it.
#[derive(Debug)]
pub(super) struct Reception {
    /// Average of the signal in dBm.
    pub(super) average: Option<f64>,
    beacons: u32,
    /// Consecutive beacons that did not arrive.
    pub(super) missing: u32,
    /// Time of the last beacon that arrived.
    pub(super) heard: Instant,
    pub(super) next_beacon: Instant,
    /// Since when the average is below the limit.
    low_since: Option<Instant>,
    scans_while_low: u32,
}

impl Reception {
    pub(super) fn new(now: Instant) -> Self {
        Self {
            average: None,
            beacons: 0,
            missing: 0,
            heard: now,
            next_beacon: now + BEACON,
            low_since: None,
            scans_while_low: 0,
        }
    }
}

impl Client {
    pub(super) fn handle_beacon(&mut self, now: Instant, observed: &Observation<'_>) {
        self.reception.next_beacon = now + BEACON;
        let Some(current) = self.current else { return };
        if !observed.beacon {
            self.reception.missing += 1;
            if self.reception.missing >= MISSING_BEACONS {
                self.state = State::Probing { sent: 0, until: now };
            }
            return;
        }
        self.reception.missing = 0;
        self.reception.heard = now;
        self.reception.beacons += 1;
        let signal = observed.signals[current];
        let average = self
            .reception
            .average
            .map_or(signal, |average| average + (signal - average) / self.smoothing);
        self.reception.average = Some(average);
        if self.smoothing > 1.0 && self.reception.beacons < MIN_BEACONS {
            return;
        }
        if self.wants_scan(now, average, current) {
            self.last_scan = Some((now, average));
            self.start_scan(now, observed);
        }
    }

    fn wants_scan(&mut self, now: Instant, average: f64, current: usize) -> bool {
        let Some(trigger) = self.constants.trigger else {
            return false;
        };
        let below = trigger.below(self.targets[current].channel.band);
        let since_scan = self.last_scan.map(|(at, _)| now.since(at));
        if self.reception.low_since.is_none() && average < below {
            self.reception.low_since = Some(now);
            self.reception.scans_while_low = 0;
        } else if self.reception.low_since.is_some() && average >= below + trigger.hysteresis {
            self.reception.low_since = None;
        }
        let Some(low) = self.reception.low_since else {
            let idle = trigger.idle_interval;
            return idle.is_some_and(|interval| since_scan.unwrap_or_else(|| now.since(self.joined)) >= interval);
        };
        if now.since(low) < trigger.delay {
            return false;
        }
        let first = self.reception.scans_while_low == 0;
        let interval = match trigger.budget {
            Some(budget) if self.reception.scans_while_low >= budget => {
                trigger.idle_interval.unwrap_or(trigger.interval)
            }
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
        self.reception.scans_while_low += u32::from(wants);
        wants
    }
}
