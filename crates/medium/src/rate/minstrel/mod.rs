//! By trying, in the manner of Linux's `minstrel_ht`.
//!
//! Every [`update`](MinstrelParameters::update) the share of MPDUs that arrived is averaged per rate ([`statistics`]), and three rates are
//! picked: the one with the most goodput, the second, and a robust one. A PPDU is tried with the first, then the second,
//! then the robust one, at last with the slowest of all. Now and then a short aggregate goes out at a rate that nothing recent is known
//! of ([`probe`]).
//!
//! What goes beyond Linux: a PPDU that was lost whole, without any answer, may have met another one. A collision does not
//! ask how fast a frame was sent, so it takes the same share of every rate's PPDUs; a bad link takes more from the fast ones. Hence the
//! share that is lost even at the rate that loses least is the air's, and only what a rate loses beyond it counts against that
//! rate. Partial loss always counts: some of the aggregate was understood, so nothing else was on the air. And a rate that worked and loses
//! one aggregate after the other is given up as soon as collisions at the usual share don't explain it any more, without waiting for averages.
//! Without aggregation every loss is a whole one and nothing tells them apart, so each counts, as in Linux: collisions then lower
//! every rate's share alike and leave their order.

mod probe;
mod statistics;

use super::{Choice, RateAlgorithm, RateSet, Report};
use crate::phy::TxVector;
use netburn_units::{Duration, Instant, Stream};
use probe::Probes;
use statistics::{CommonLoss, Statistics};
use std::collections::BTreeMap;

/// Minstrel's numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MinstrelParameters {
    /// How often averages are made and rates picked. Default 50 ms, as in Linux since 5.13; 100 ms before.
    pub update: Duration,
    /// How much an interval's share counts in the average. Default 0.25 (`EWMA_LEVEL` 96 of 128 is what stays).
    pub weight: f64,
    /// The least time between probes. Default 20 ms (`MINSTREL_SAMPLE_INTERVAL`).
    pub probe: Duration,
    /// MPDUs in a probe. Default 8: enough to tell a good rate from a bad one, a fraction of a full aggregate.
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

/// The state machine.
#[derive(Debug)]
pub struct Minstrel {
    set: RateSet,
    place: BTreeMap<TxVector, usize>,
    parameters: MinstrelParameters,
    statistics: Vec<Statistics>,
    common: CommonLoss,
    picked: Picked,
    probes: Probes,
    /// How full aggregates are, as a share of what a saturated sender's are, 0 to 1.
    fullness: f64,
    /// MPDUs that a saturated sender's aggregates hold on average at the first rate in use, at its share of success.
    aggregate: f64,
    next_update: Option<Instant>,
}

/// The rates in use, by place in the set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Picked {
    first: usize,
    second: usize,
    robust: usize,
}

/// Below this share of success a rate is of no use (`minstrel_ht_get_tp_avg`).
const USELESS: f64 = 0.1;
/// From this share of success on a rate is robust.
const ROBUST: f64 = 0.95;

impl Minstrel {
    /// Knows nothing of any rate of `set` yet, and begins with the slowest. `chance`: what it draws probes from.
    #[must_use]
    pub fn new(set: RateSet, parameters: MinstrelParameters, chance: Stream) -> Self {
        let place = set.entries().iter().enumerate().map(|(at, e)| (e.vector, at)).collect();
        Minstrel {
            statistics: vec![Statistics::default(); set.entries().len()],
            place,
            common: CommonLoss::default(),
            parameters,
            picked: Picked {
                first: 0,
                second: 0,
                robust: 0,
            },
            probes: Probes::new(&set, chance),
            fullness: 1.0,
            aggregate: set.entries()[0].expected_frames(1.0),
            next_update: None,
            set,
        }
    }

    /// What is known of the rates: vector, average share of success (`None`: never heard of), expected goodput in bit/s.
    pub fn rates(&self) -> impl Iterator<Item = (TxVector, Option<f64>, f64)> + '_ {
        let entries = self.set.entries().iter().enumerate();
        entries.map(|(at, entry)| (entry.vector, self.statistics[at].success(), self.goodput(at)))
    }

    fn goodput(&self, at: usize) -> f64 {
        match self.statistics[at].success() {
            Some(success) if success >= USELESS => self.set.entries()[at].goodput(self.fullness, success),
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
        let goodput: Vec<f64> = (0..self.statistics.len()).map(|at| self.goodput(at)).collect();
        // Of equals the slowest: it needs less signal.
        let best = |except: &[usize], least: f64| {
            let mut best: Option<usize> = None;
            for at in 0..goodput.len() {
                let success = self.statistics[at].success().unwrap_or(0.0);
                if !except.contains(&at) && goodput[at] > best.map_or(0.0, |best| goodput[best]) && success >= least {
                    best = Some(at);
                }
            }
            best
        };
        let first = best(&[], 0.0).unwrap_or(0);
        let second = best(&[first], 0.0).unwrap_or(first);
        let robust = best(&[first, second], ROBUST).unwrap_or(0);
        self.picked = Picked { first, second, robust };
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
        // The last try is left to the slowest rate: else a link that only that rate reaches is never found.
        let most = (self.set.tries().saturating_sub(1) / 3).max(1);
        let each = match self.set.aggregates() {
            true => self.common.doubtful().min(most),
            false => most,
        };
        let doubts = failures / each;
        let at = match doubts {
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
        let at = match self.set.entries()[first].vector == report.vector {
            true => first,
            false => match self.place.get(&report.vector) {
                Some(at) => *at,
                None => return,
            },
        };
        if self.statistics[at].success().is_some_and(|success| success > 0.5) {
            self.common.count(report);
        }
        if !self.set.aggregates() {
            self.statistics[at].count_lone(report);
        } else if self.statistics[at].count(report, &self.common) {
            // What needs more signal of the same width and number of streams is dead as well.
            for faster in self.probes.faster_of_its_kind(at) {
                self.statistics[*faster].bury();
            }
            self.probes.again();
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
                // A lone MPDU that arrives by luck is no reason to probe more often.
                if !lone || self.goodput(at) > 0.9 * self.goodput(self.picked.first) {
                    self.probes.went_well(at, self.picked.first != at);
                } else {
                    self.probes.went_badly(true);
                }
            } else {
                self.probes.went_badly(lone || report.arrived > 0);
            }
        }
        self.update_when_due(now);
    }
}
