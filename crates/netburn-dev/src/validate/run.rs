//! Execution of cases on all processors, with results in the order of the cases.

use super::case::{Case, CaseResult, Deviation, Goal, SourceQuality, Tolerance};
use super::file::CaseFile;
use super::quantity::Dimension;
use netburn_runner::pool::map;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Result of one metric of a case.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// Index of the file in the list.
    pub file: usize,
    /// Name of the case.
    pub case: String,
    /// Source of the expected value.
    pub source: String,
    /// Quality of the source.
    pub trust: SourceQuality,
    /// Metric.
    pub metric: String,
    /// Dimension of the metric.
    pub dimension: Dimension,
    /// Expected value or bound.
    pub goal: Goal,
    /// Computed value.
    pub value: f64,
    /// Known difference between source and model, or between source and comparison.
    pub deviation: Option<Deviation>,
}

impl Outcome {
    /// Returns `true` if the value is within its tolerance.
    #[must_use]
    pub fn ok(&self) -> bool {
        self.result() == CaseResult::Within
    }

    /// Result of the comparison with the expected value.
    #[must_use]
    pub fn result(&self) -> CaseResult {
        if self.goal.tolerance_used(self.value) <= 1.0 {
            return CaseResult::Within;
        }
        let explains = self
            .deviation
            .as_ref()
            .and_then(|deviation| deviation.explains.as_deref());
        let tolerance = explains.and_then(|text| Tolerance::read(text, self.dimension).ok());
        if tolerance.is_some_and(|tolerance| Goal::Near(self.goal.value(), tolerance).tolerance_used(self.value) <= 1.0)
        {
            CaseResult::Explained
        } else {
            CaseResult::Beyond
        }
    }
}

/// Runs all cases on `threads` threads. Calls `done` after each case with the number of finished and of all cases. The results do
/// not depend on the number of threads.
#[must_use]
pub fn run(files: &[CaseFile], threads: usize, done: &(dyn Fn(usize, usize) + Sync)) -> Vec<Outcome> {
    let cases: Vec<(usize, &Case)> = files
        .iter()
        .enumerate()
        .flat_map(|(file, cases)| cases.cases.iter().map(move |case| (file, case)))
        .collect();
    // The longest cases run first, so that all processors finish at about the same time.
    let mut order: Vec<usize> = (0..cases.len()).collect();
    order.sort_by_key(|place| std::cmp::Reverse(cases[*place].1.input.effort()));
    let ended = AtomicUsize::new(0);
    let mut found = map(order.len(), threads, &|number| {
        let place = order[number];
        let values = measure(cases[place].1);
        done(1 + ended.fetch_add(1, Ordering::Relaxed), cases.len());
        (place, values)
    });
    found.sort_unstable_by_key(|(place, _)| *place);
    let outcomes = found.into_iter().flat_map(|(place, values)| {
        let (file, case) = cases[place];
        outcomes(file, case, values)
    });
    outcomes.collect()
}

fn measure(case: &Case) -> Vec<f64> {
    let wanted: Vec<&str> = case
        .expectations
        .iter()
        .map(|expected| expected.metric.as_str())
        .collect();
    case.input.run(&wanted)
}

fn outcomes(file: usize, case: &Case, values: Vec<f64>) -> Vec<Outcome> {
    let one = |(expected, value): (&super::case::Expectation, f64)| Outcome {
        file,
        case: case.name.clone(),
        source: case.source.clone(),
        trust: case.trust,
        metric: expected.metric.clone(),
        dimension: expected.dimension,
        goal: expected.goal,
        value,
        deviation: expected.deviation.clone(),
    };
    case.expectations.iter().zip(values).map(one).collect()
}
