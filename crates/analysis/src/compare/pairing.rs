//! Pairs of runs of two sides.

use super::side::Side;
use netburn_record::{Environment, Summary};

/// Runs that the two sides of a comparison have in common.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pairing {
    /// Indices of the two runs of each pair, in the first and the second side; empty if runs are
    /// not paired.
    pub pairs: Vec<[usize; 2]>,
    /// Number of runs of the second side that the first side contains as well, with all values
    /// equal to the last digit.
    pub identical: usize,
}

impl Pairing {
    /// Runs of the simulator from the same seeds on both sides are pairs. So are runs that are the same, wherever they were made.
    pub(super) fn new(first: &Side, second: &Side) -> Self {
        let same = matched(first, second, |one, other| one == other);
        let identical = same.len();
        let whole = |pairs: &[[usize; 2]]| pairs.len() == first.runs.len() && pairs.len() == second.runs.len();
        let pairs = if whole(&same) {
            same
        } else {
            seeded(first, second).filter(|pairs| whole(pairs)).unwrap_or_default()
        };
        Pairing { pairs, identical }
    }

    /// Returns true if the other side contains every run of either side as well.
    #[must_use]
    pub fn is_identical(&self) -> bool {
        !self.pairs.is_empty() && self.identical == self.pairs.len()
    }
}

/// Pairs of simulated runs with equal seeds; `None` if a run was not simulated or a seed occurs
/// twice.
fn seeded(first: &Side, second: &Side) -> Option<Vec<[usize; 2]>> {
    for side in [first, second] {
        let mut seeds: Vec<u64> = side.runs.iter().map(|run| run.seed).collect();
        seeds.sort_unstable();
        seeds.dedup();
        if seeds.len() < side.runs.len() || side.runs.iter().any(|run| run.environment != Environment::Simulate) {
            return None;
        }
    }
    Some(matched(first, second, |one, other| one.seed == other.seed))
}

/// For each run of the second side, the first similar run of the first side that is not paired yet.
fn matched(first: &Side, second: &Side, alike: impl Fn(&Summary, &Summary) -> bool) -> Vec<[usize; 2]> {
    // The folder of a run is irrelevant.
    let nameless = |side: &Side| -> Vec<Summary> {
        let runs = side.runs.iter().cloned();
        runs.map(|run| Summary {
            run: String::new(),
            ..run
        })
        .collect()
    };
    let (first, second) = (nameless(first), nameless(second));
    let mut free: Vec<usize> = (0..first.len()).collect();
    let pair = |(place, run): (usize, &Summary)| {
        let found = free.iter().position(|other| alike(&first[*other], run))?;
        Some([free.remove(found), place])
    };
    second.iter().enumerate().filter_map(pair).collect()
}
