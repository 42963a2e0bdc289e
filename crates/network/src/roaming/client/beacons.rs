//! Beacons of the access point: the signal's average, and when a client scans.

use super::{Client, Observation, State};
use crate::beacon::INTERVAL as BEACON;
use netburn_units::{Duration, Instant};

/// Beacons before the average is used (mac80211: `IEEE80211_SIGNAL_AVE_MIN_COUNT`).
const MIN_BEACONS: u32 = 4;
/// Missing beacons after which the client probes its access point (mac80211: 7).
const MISSING_BEACONS: u32 = 7;

impl Client {
    pub(super) fn handle_beacon(&mut self, now: Instant, observed: &Observation<'_>) {
        self.next_beacon = now + BEACON;
        let Some(current) = self.current else { return };
        if !observed.beacon {
            self.missing += 1;
            if self.missing >= MISSING_BEACONS {
                self.state = State::Probing { sent: 0, until: now };
            }
            return;
        }
        self.missing = 0;
        self.heard = now;
        self.beacons += 1;
        let signal = observed.signals[current];
        let average = self
            .average
            .map_or(signal, |average| average + (signal - average) / self.smoothing);
        self.average = Some(average);
        if self.smoothing > 1.0 && self.beacons < MIN_BEACONS {
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
}
