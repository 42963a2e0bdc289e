//! Rate control by probing, similar to Linux's `minstrel_ht`.
//!
//! Every [`update`](MinstrelParameters::update) averages the share of MPDUs that arrived, per rate
//! ([`statistics`]). Then it selects three rates: the one with the highest goodput, the second, and
//! a robust one. A PPDU is tried with the first, then the second, then the robust one, and finally
//! with the slowest of all. Sometimes a short aggregate is sent at a rate without recent statistics
//! ([`probe`]).
//!
//! Differences from Linux: a PPDU that was lost completely, without any response, may have
//! collided. A collision is independent of the rate, so it takes the same share of every rate's
//! PPDUs. A bad link takes more from the fast ones. So the loss share of the rate with the fewest
//! losses is attributed to the channel. Only the additional losses of a rate count against it.
//! Partial loss always counts: some of the aggregate was decoded, so there was no collision. A rate
//! that worked may then lose consecutive aggregates. It is marked unusable, without waiting for
//! averages, as soon as collisions at the usual share don't explain the losses. Without aggregation
//! every loss is complete and can't be attributed, so each counts, as in Linux. Collisions then
//! lower every rate's share equally and keep their order.

mod probe;
mod statistics;

use super::{Choice, RateAlgorithm, RateSet, Report};
use crate::phy::TxVector;
use netburn_units::{Duration, Instant, RandomStream};
use probe::Probes;
use statistics::{CommonLoss, Statistics};
use std::collections::BTreeMap;

/// Parameters of Minstrel.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MinstrelParameters {
    /// Interval of averaging and selection. Default 50 ms, as in Linux since 5.13; 100 ms before.
    pub update: Duration,
    /// Weight of an interval in the average. Default 0.25 (the old average keeps `EWMA_LEVEL` 96 of
    /// 128).
    pub weight: f64,
    /// Minimum time between probes. Default 20 ms (`MINSTREL_SAMPLE_INTERVAL`).
    pub probe: Duration,
    /// MPDUs in a probe. Default 8: enough to distinguish a good rate from a bad one, a fraction of
    /// a full aggregate.
    pub probe_frames: u32,
}

impl Default for MinstrelParameters {
    fn default() -> Self {
        MinstrelParameters {
            update: Duration::from_millis(50),
            weight: 0.25,
            probe: Duration::from_millis(20),
            probe_frames: 8,
        }
    }
}

/// State machine of Minstrel.
#[derive(Debug)]
pub struct Minstrel {
    set: RateSet,
    place: BTreeMap<TxVector, usize>,
    parameters: MinstrelParameters,
    statistics: Vec<Statistics>,
    common: CommonLoss,
    picked: Selection,
    /// Success share of each rate and its expected number of frames, from the last selection. Most shares do not
    /// change from one to the next.
    expected: Vec<(f64, f64)>,
    /// Buffer for the usable rates: index, success share, goodput.
    usable: Vec<(usize, f64, f64)>,
    probes: Probes,
    /// Size of aggregates, as a share of that of a saturated sender, 0 to 1.
    fullness: f64,
    /// Average number of MPDUs in a saturated sender's aggregates at the first rate and its
    /// success.
    aggregate: f64,
    next_update: Option<Instant>,
}

/// Selected rates, by index in the set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Selection {
    first: usize,
    second: usize,
    robust: usize,
}

/// A rate with a smaller success share is not used (`minstrel_ht_get_tp_avg`).
const MIN_SUCCESS: f64 = 0.1;
/// Minimum success share of a robust rate.
const ROBUST_SUCCESS: f64 = 0.95;

impl Minstrel {
    /// Starts without statistics, with the slowest rate of `set`. `rng`: random stream for
    /// probes.
    #[must_use]
    pub fn new(set: RateSet, parameters: MinstrelParameters, rng: RandomStream) -> Self {
        let place = set.entries().iter().enumerate().map(|(at, e)| (e.vector, at)).collect();
        Minstrel {
            statistics: vec![Statistics::default(); set.entries().len()],
            place,
            common: CommonLoss::default(),
            parameters,
            picked: Selection {
                first: 0,
                second: 0,
                robust: 0,
            },
            expected: vec![(-1.0, 0.0); set.entries().len()],
            usable: Vec::new(),
            probes: Probes::new(&set, rng),
            fullness: 1.0,
            aggregate: set.entries()[0].expected_frames(1.0),
            next_update: None,
            set,
        }
    }

    /// Statistics of the rates: vector, average success share (`None`: unknown), expected goodput
    /// in bit/s.
    pub fn rates(&self) -> impl Iterator<Item = (TxVector, Option<f64>, f64)> + '_ {
        let entries = self.set.entries().iter().enumerate();
        entries.map(|(at, entry)| (entry.vector, self.statistics[at].success(), self.goodput(at)))
    }

    fn goodput(&self, at: usize) -> f64 {
        match self.statistics[at].success() {
            Some(success) if success >= MIN_SUCCESS => self.set.entries()[at].goodput(self.fullness, success),
            _ => 0.0,
        }
    }

    fn update_when_due(&mut self, now: Instant) {
        let due = *self.next_update.get_or_insert(now + self.parameters.update);
        if now < due {
            return;
        }
        self.next_update = Some(now + self.parameters.update);
        let (first, weight) = (self.picked.first, self.parameters.weight);
        statistics::update(&mut self.statistics, &mut self.common, first, weight);
        self.pick();
    }

    fn pick(&mut self) {
        // Most rates are unknown or unusable.
        let mut usable = std::mem::take(&mut self.usable);
        usable.clear();
        for (at, statistics) in self.statistics.iter().enumerate() {
            if let Some(success) = statistics.success().filter(|success| *success >= MIN_SUCCESS) {
                let entry = &self.set.entries()[at];
                let expected = &mut self.expected[at];
                if expected.0.to_bits() != success.to_bits() {
                    *expected = (success, entry.expected_frames(success));
                }
                usable.push((at, success, entry.goodput_of(expected.1, self.fullness, success)));
            }
        }
        // Of equal rates the slowest: it needs less signal.
        let best = |except: &[usize], least: f64| {
            let mut best = (None, 0.0);
            for (at, success, goodput) in &usable {
                if *goodput > best.1 && *success >= least && !except.contains(at) {
                    best = (Some(*at), *goodput);
                }
            }
            best.0
        };
        let first = best(&[], 0.0).unwrap_or(0);
        let second = best(&[first], 0.0).unwrap_or(first);
        let robust = best(&[first, second], ROBUST_SUCCESS).unwrap_or(0);
        self.picked = Selection { first, second, robust };
        self.usable = usable;
        let success = self.statistics[first].success().unwrap_or(1.0);
        self.aggregate = self.set.entries()[first].expected_frames(success);
    }
}

impl RateAlgorithm for Minstrel {
    fn choose(&mut self, now: Instant, failures: u32) -> Choice {
        self.update_when_due(now);
        if failures == 0 {
            let probe = self.probes.next(
                now,
                self.parameters.probe,
                self.picked.first,
                &self.set,
                &self.statistics,
            );
            if let Some(at) = probe {
                return Choice {
                    vector: self.set.entries()[at].vector,
                    frames: Some(self.parameters.probe_frames),
                };
            }
        }
        // The last try uses the slowest rate: otherwise a link that works only at that rate is
        // never found.
        let most = (self.set.tries().saturating_sub(1) / 3).max(1);
        let each = if self.set.aggregates() {
            self.common.losses_for_fallback().min(most)
        } else {
            most
        };
        let fallbacks = failures / each;
        let at = match fallbacks {
            0 => self.picked.first,
            1 => self.picked.second,
            2 => self.picked.robust,
            _ => 0,
        };
        Choice {
            vector: self.set.entries()[at].vector,
            frames: None,
        }
    }

    fn report(&mut self, now: Instant, report: &Report) {
        let first = self.picked.first;
        let at = if self.set.entries()[first].vector == report.vector {
            first
        } else {
            match self.place.get(&report.vector) {
                Some(at) => *at,
                None => return,
            }
        };
        if self.statistics[at].success().is_some_and(|success| success > 0.5) {
            self.common.count(report);
        }
        if !self.set.aggregates() {
            self.statistics[at].count_lone(report);
        } else if self.statistics[at].count(report, &self.common) {
            // Rates of the same width and number of streams that need more signal are unusable as
            // well.
            for faster in self.probes.faster_in_group(at) {
                self.statistics[*faster].mark_unusable();
            }
            self.probes.restart();
            self.pick();
        }
        if at == self.picked.first && report.arrived > 0 {
            let full = f64::from(report.attempted) / self.aggregate;
            self.fullness += (full.min(1.0) - self.fullness) / 16.0;
        }
        if report.attempted <= self.parameters.probe_frames && at != self.picked.first {
            let lone = report.attempted == 1;
            if at > self.picked.first && 4 * report.arrived >= 3 * report.attempted {
                // It need not wait for the end of the interval.
                self.statistics[at].average(&self.common, self.parameters.weight);
                self.pick();
                // A single MPDU that arrives by chance is no reason for more probes.
                if !lone || self.goodput(at) > 0.9 * self.goodput(self.picked.first) {
                    self.probes.probe_succeeded(at, self.picked.first != at);
                } else {
                    self.probes.probe_failed(true);
                }
            } else {
                self.probes.probe_failed(lone || report.arrived > 0);
            }
        }
        self.update_when_due(now);
    }
}
