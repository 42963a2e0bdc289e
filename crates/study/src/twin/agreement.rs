//! Measured values beside those of simulations of the same workloads.

use netburn_analysis::compare::{Key, metrics};
use netburn_parallel::Cancel;
use netburn_parallel::pool::map;
use netburn_record::Summary;
use netburn_scenario::Plan;
use netburn_simulate::SimulateError;
use netburn_stats::metric_change::Better;
use std::collections::HashMap;
use std::ops::ControlFlow;

/// All values of a run that the model has as well.
#[derive(Debug, Clone, PartialEq)]
pub struct Agreement {
    /// Number of simulations.
    pub runs: usize,
    /// The values, in the order of the summary.
    pub values: Vec<Compared>,
    /// Measured values that a simulation lacks, such as the latency of a workload of which nothing arrived.
    pub unmatched: Vec<Key>,
}

/// One measured value and those of the simulations.
#[derive(Debug, Clone, PartialEq)]
pub struct Compared {
    /// The metric.
    pub key: Key,
    /// Measured value.
    pub measured: f64,
    /// Smallest, median and largest simulated value.
    pub simulated: [f64; 3],
}

impl Compared {
    /// True if the measured value is between the smallest and the largest simulated value, or differs from them by no more
    /// than the tolerance of the metric.
    #[must_use]
    pub fn agrees(&self) -> bool {
        let [lowest, _, highest] = self.simulated;
        let tolerance = self.key.tolerance(None);
        self.measured >= lowest - tolerance.at(lowest) && self.measured <= highest + tolerance.at(highest)
    }

    /// True if it differs, and is worse than the simulated values.
    #[must_use]
    pub fn is_worse(&self) -> bool {
        let [_, median, _] = self.simulated;
        !self.agrees()
            && match self.key.better() {
                Better::Lower => self.measured > median,
                Better::Higher => self.measured < median,
            }
    }

    /// Distance of the measured value from the simulated median, as the logarithm of their ratio. Infinite if one of them
    /// is 0.
    fn distance(&self) -> f64 {
        let [_, median, _] = self.simulated;
        if self.measured == median {
            0.0
        } else {
            libm::fabs(libm::log(self.measured / median))
        }
    }
}

impl Agreement {
    /// Values that differ, the largest ratio first.
    #[must_use]
    pub fn differing(&self) -> Vec<&Compared> {
        let mut differing: Vec<&Compared> = self.values.iter().filter(|value| !value.agrees()).collect();
        differing.sort_by(|one, other| other.distance().total_cmp(&one.distance()));
        differing
    }

    /// True if most values differ, so that the model is that of another network.
    #[must_use]
    pub fn is_poor(&self) -> bool {
        2 * self.differing().len() > self.values.len()
    }
}

/// Simulates each of `plans` on `threads` threads, and compares the measured values with the simulated ones. The plans are
/// [one model with several seeds](crate::whatif::repeated), or several [models](super::models). The result does not depend
/// on the number of threads. `None` if `cancel` was stopped.
///
/// # Errors
/// A plan cannot be simulated.
pub fn agreement(
    measured: &Summary,
    plans: &[Plan],
    threads: usize,
    cancel: &Cancel,
) -> Result<Option<Agreement>, SimulateError> {
    let summaries = map(plans.len(), threads, &|run| {
        netburn_simulate::summary(&plans[run], &plans[run].name, &mut |_| {
            if cancel.is_stopped() {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        })
    });
    let summaries: Option<Vec<Summary>> = summaries.into_iter().collect::<Result<_, _>>()?;
    Ok(summaries.map(|summaries| compared(measured, &summaries)))
}

fn compared(measured: &Summary, simulated: &[Summary]) -> Agreement {
    let mut of_key: HashMap<Key, Vec<f64>> = HashMap::new();
    for (key, value) in simulated.iter().flat_map(metrics) {
        of_key.entry(key).or_default().push(value);
    }
    let (mut values, mut unmatched) = (Vec::new(), Vec::new());
    for (key, measured) in metrics(measured) {
        let Some(mut own) = of_key.remove(&key).filter(|own| own.len() == simulated.len()) else {
            unmatched.push(key);
            continue;
        };
        own.sort_by(f64::total_cmp);
        values.push(Compared {
            key,
            measured,
            simulated: [own[0], own[(own.len() - 1) / 2], own[own.len() - 1]],
        });
    }
    Agreement {
        runs: simulated.len(),
        values,
        unmatched,
    }
}
