//! Cells of a sweep: the product of all values, of which the first key varies slowest, and the plan of each cell.

use super::vary::Vary;
use netburn_scenario::{Document, Environment, Plan, ScenarioError};

/// Maximum number of runs of a sweep.
pub const MAX_RUNS: u64 = 10_000_000;

/// A scenario, the varied keys, and the number of runs of each cell.
///
/// Runs are numbered from 0. The runs of one cell are consecutive and have different seeds.
#[derive(Debug, Clone)]
pub struct Grid {
    document: Document,
    keys: Vec<String>,
    values: Vec<Vec<String>>,
    repeat: u32,
}

/// Invalid keys or values of a sweep.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GridError {
    /// No key is varied.
    #[error("no varied key: add at least one --vary KEY=A,B,C")]
    NoKeys,
    /// A key occurs twice.
    #[error("duplicate --vary {0}: list all values in one, as {0}=A,B,C")]
    DuplicateKey(String),
    /// One key contains the other, so that the later one would overwrite it.
    #[error("--vary {outer} contains --vary {inner}: vary one of them")]
    Nested {
        /// The contained key.
        inner: String,
        /// The containing key.
        outer: String,
    },
    /// `repeat` is not a property of a run.
    #[error("cannot vary `repeat`: every row is one run; use --repeat N for N runs of each cell")]
    Repeat,
    /// Unknown keys.
    #[error("{}", .0.join("\n"))]
    Keys(Vec<String>),
    /// More than [`MAX_RUNS`].
    #[error("too many runs: found {}, expected up to {MAX_RUNS}", .0)]
    TooMany(u128),
}

impl Grid {
    /// Creates the product of `varies` over a scenario. The scenario's `repeat` is the number of runs of each cell.
    ///
    /// # Errors
    /// A key is unknown, occurs twice or contains another, or there are too many runs. [`check`](super::check()) checks the
    /// values.
    pub fn new(document: Document, varies: &[Vary]) -> Result<Self, GridError> {
        if varies.is_empty() {
            return Err(GridError::NoKeys);
        }
        for (index, vary) in varies.iter().enumerate() {
            if vary.key() == "repeat" {
                return Err(GridError::Repeat);
            }
            for other in &varies[..index] {
                if vary.key() == other.key() {
                    return Err(GridError::DuplicateKey(vary.key().to_owned()));
                }
                if let Some((inner, outer)) = nested(&document, vary.key(), other.key()) {
                    return Err(GridError::Nested { inner, outer });
                }
            }
        }
        let keys: Vec<String> = varies.iter().map(|vary| vary.key().to_owned()).collect();
        let unknown: Vec<String> = varies
            .iter()
            .filter_map(|vary| document.clone().set(vary.key(), &vary.values().next()?).err())
            .flat_map(|error| with_vary_option(&keys, &error))
            .collect();
        if !unknown.is_empty() {
            return Err(GridError::Keys(unknown));
        }
        let cells = varies
            .iter()
            .fold(1_u128, |cells, vary| cells.saturating_mul(u128::from(vary.count())));
        if cells > u128::from(MAX_RUNS) {
            return Err(GridError::TooMany(cells));
        }
        let mut grid = Grid {
            document,
            keys,
            values: varies.iter().map(|vary| vary.values().collect()).collect(),
            repeat: 1,
        };
        // Invalid cells are reported together by `check`.
        grid.repeat = grid.first_plan().map_or(1, |plan| plan.repeat);
        match u128::from(grid.cells()) * u128::from(grid.repeat) {
            runs if runs > u128::from(MAX_RUNS) => Err(GridError::TooMany(runs)),
            _ => Ok(grid),
        }
    }

    /// Varied keys, in order.
    #[must_use]
    pub fn keys(&self) -> &[String] {
        &self.keys
    }

    /// Values of each key, in order.
    #[must_use]
    pub fn values(&self) -> &[Vec<String>] {
        &self.values
    }

    /// Number of runs of each cell.
    #[must_use]
    pub fn repeat(&self) -> u32 {
        self.repeat
    }

    /// Number of cells.
    #[must_use]
    pub fn cells(&self) -> u64 {
        self.values.iter().map(|values| values.len() as u64).product()
    }

    /// Number of runs: cells × repeat.
    #[must_use]
    pub fn runs(&self) -> u64 {
        self.cells() * u64::from(self.repeat)
    }

    /// Returns the values of a run, in the order of the keys. The last key varies fastest.
    ///
    /// # Panics
    /// The run does not exist.
    #[must_use]
    pub fn choices(&self, run: u64) -> Vec<&str> {
        assert!(run < self.runs(), "there are {} runs", self.runs());
        let mut rest = run / u64::from(self.repeat);
        let mut choices: Vec<&str> = Vec::with_capacity(self.values.len());
        for values in self.values.iter().rev() {
            let count = values.len() as u64;
            choices.push(&values[(rest % count) as usize]);
            rest /= count;
        }
        choices.reverse();
        choices
    }

    /// Describes the values of a run: `ap.home.queue=fifo, station.a.signal=-80 dBm`.
    #[must_use]
    pub fn describe(&self, run: u64) -> String {
        let choices = self.choices(run);
        let each = self
            .keys
            .iter()
            .zip(choices)
            .map(|(key, value)| format!("{key}={value}"));
        each.collect::<Vec<_>>().join(", ")
    }

    /// Returns the plan of a run: the scenario with its values and seed.
    ///
    /// # Errors
    /// The scenario with these values is invalid or cannot be simulated.
    pub fn plan(&self, run: u64) -> Result<Plan, ScenarioError> {
        let mut document = self.document.clone();
        for (key, value) in self.keys.iter().zip(self.choices(run)) {
            document.set(key, value)?;
        }
        let (mut plan, _) = document.resolve_for(Environment::Simulate)?;
        plan.seed = plan.seed.repeat(run % u64::from(self.repeat));
        Ok(plan)
    }

    /// Returns the plan of the first valid cell among the first thousand.
    #[must_use]
    pub fn first_plan(&self) -> Option<Plan> {
        let cells = 0..self.cells().min(1_000);
        cells
            .into_iter()
            .find_map(|cell| self.plan(cell * u64::from(self.repeat)).ok())
    }

    /// Problems of a cell, one per line.
    pub(super) fn faults(&self, error: &ScenarioError) -> Vec<String> {
        with_vary_option(&self.keys, error)
    }
}

/// Returns the inner and the outer key if one of two keys contains the other. `*` stands for all matching names.
fn nested(document: &Document, one: &str, other: &str) -> Option<(String, String)> {
    // Invalid keys are reported elsewhere.
    let keys = |key: &str| document.keys(key).unwrap_or_default();
    let below = |inner: &str, outer: &str| {
        inner
            .strip_prefix(outer)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    let (of_one, of_other) = (keys(one), keys(other));
    let pairs = || {
        of_one
            .iter()
            .flat_map(|one| of_other.iter().map(move |other| (one, other)))
    };
    if pairs().any(|(one, other)| below(one, other)) {
        return Some((one.to_owned(), other.to_owned()));
    }
    pairs()
        .any(|(one, other)| below(other, one))
        .then(|| (other.to_owned(), one.to_owned()))
}

/// Problems, one per line, with `--vary` instead of `--set` for the varied keys.
fn with_vary_option(keys: &[String], error: &ScenarioError) -> Vec<String> {
    let varied = |argument: &str| {
        argument
            .split_once('=')
            .is_some_and(|(key, _)| keys.iter().any(|k| k == key))
    };
    error.lines(|argument| {
        let option = if varied(argument) { "--vary" } else { "--set" };
        format!("{option} {argument}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn document() -> Document {
        netburn_scenario::load("anomaly").unwrap()
    }

    fn grid(varies: &[&str]) -> Result<Grid, GridError> {
        let varies: Vec<Vary> = varies.iter().map(|text| Vary::parse(text).unwrap()).collect();
        Grid::new(document(), &varies)
    }

    fn why(varies: &[&str]) -> String {
        grid(varies).unwrap_err().to_string()
    }

    #[test]
    fn the_first_key_is_slowest() {
        let grid = grid(&["ap.home.queue=fifo,airtime", "station.slow.mcs=0..2"]).unwrap();
        let all: Vec<Vec<&str>> = (0..grid.runs()).map(|run| grid.choices(run)).collect();
        let expected = [
            ["fifo", "0"],
            ["fifo", "1"],
            ["fifo", "2"],
            ["airtime", "0"],
            ["airtime", "1"],
            ["airtime", "2"],
        ];
        assert_eq!(all, expected);
        assert_eq!(grid.describe(4), "ap.home.queue=airtime, station.slow.mcs=1");
    }

    #[test]
    fn every_repeat_has_its_own_seed() {
        let mut document = document();
        document.set("repeat", "3").unwrap();
        let grid = Grid::new(document, &[Vary::parse("ap.home.queue=fifo,airtime").unwrap()]).unwrap();
        assert_eq!((grid.cells(), grid.runs()), (2, 6));
        let seeds: Vec<u64> = (0..6).map(|run| grid.plan(run).unwrap().seed.0).collect();
        assert_eq!(seeds[..3], seeds[3..]);
        assert_eq!(seeds[0], 1);
        assert!(seeds[0] != seeds[1] && seeds[1] != seeds[2] && seeds[0] != seeds[2]);
        assert_eq!(grid.choices(2), ["fifo"]);
        assert_eq!(grid.choices(3), ["airtime"]);
    }

    #[test]
    fn invalid_sweeps_are_rejected() {
        assert!(why(&[]).contains("no varied key"));
        assert!(why(&["seed=1", "seed=2"]).contains("duplicate --vary seed"));
        assert!(why(&["repeat=1..3"]).contains("--repeat N"));
        assert!(
            why(&["station.slow.mcs=0,1", "station.slow={}"])
                .contains("--vary station.slow contains --vary station.slow.mcs")
        );
        assert!(
            why(&["station.*.mcs=0,1", "station.slow.mcs=1,2"])
                .contains("--vary station.*.mcs contains --vary station.slow.mcs")
        );
        let unknown = why(&["station.x*.mcs=1"]);
        assert!(
            unknown.starts_with("--vary station.x*.mcs=1: no station matches `x*`"),
            "{unknown}"
        );
        let unknown = why(&["ap.home.queu=fifo", "seed=1", "station.slwo.mcs=1"]);
        assert!(unknown.contains("did you mean `ap.home.queue`?"), "{unknown}");
        assert!(unknown.contains("did you mean `slow`?"), "{unknown}");
        assert!(why(&["seed=1..10000", "baseline=1s..10000s"]).contains("found 100000000, expected"));
        // Too many for any counter.
        let many: Vec<String> = [
            "seed",
            "station.slow.mcs",
            "station.slow.weight",
            "station.fast-1.mcs",
            "station.fast-1.weight",
            "warmup",
        ]
        .iter()
        .map(|key| format!("{key}=1..9999999"))
        .collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert!(why(&many).contains("expected up to 10000000"));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Every combination occurs exactly once.
        #[test]
        fn the_product_is_complete(counts in prop::collection::vec(1_u64..6, 1..4)) {
            let keys = ["seed", "station.slow.mcs", "station.fast-1.mcs"];
            let varies: Vec<String> = counts.iter().zip(keys).map(|(count, key)| format!("{key}=1..{count}")).collect();
            let varies: Vec<&str> = varies.iter().map(String::as_str).collect();
            let grid = grid(&varies).unwrap();
            prop_assert_eq!(grid.runs(), counts.iter().product::<u64>());
            let all: std::collections::BTreeSet<Vec<&str>> = (0..grid.runs()).map(|run| grid.choices(run)).collect();
            prop_assert_eq!(all.len() as u64, grid.runs());
        }
    }
}
