//! Cases run on all processors, what came of them in their own order.

use super::case::{Case, Deviation, Goal, CaseResult, Tolerance, SourceQuality};
use super::file::CaseFile;
use super::quantity::Dimension;
use crate::pool::map;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What came of one metric of a case.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// The file's place in the list that was run.
    pub file: usize,
    /// The case's name.
    pub case: String,
    /// Where the expected value is from.
    pub source: String,
    /// How far it can be trusted.
    pub trust: SourceQuality,
    /// What was measured.
    pub metric: String,
    /// What it is measured in.
    pub dimension: Dimension,
    /// What it must come to.
    pub goal: Goal,
    /// What it came to.
    pub got: f64,
    /// A known difference between source and model or comparison.
    pub deviation: Option<Deviation>,
}

impl Outcome {
    /// Whether it is within what is allowed.
    #[must_use]
    pub fn ok(&self) -> bool {
        self.result() == CaseResult::Within
    }

    /// How it stands to what is expected.
    #[must_use]
    pub fn result(&self) -> CaseResult {
        if self.goal.tolerance_used(self.got) <= 1.0 {
            return CaseResult::Within;
        }
        let explains = self
            .deviation
            .as_ref()
            .and_then(|deviation| deviation.explains.as_deref());
        let tolerance = explains.and_then(|text| Tolerance::read(text, self.dimension).ok());
        match tolerance.is_some_and(|tolerance| Goal::Near(self.goal.value(), tolerance).tolerance_used(self.got) <= 1.0) {
            true => CaseResult::Explained,
            false => CaseResult::Beyond,
        }
    }
}

/// Runs all cases on `threads` processors; `done` is called after each with how many are, and of how many. What comes out doesn't depend on
/// the number of threads.
#[must_use]
pub fn run(files: &[CaseFile], threads: usize, done: &(dyn Fn(usize, usize) + Sync)) -> Vec<Outcome> {
    let cases: Vec<(usize, &Case)> = files
        .iter()
        .enumerate()
        .flat_map(|(file, cases)| cases.cases.iter().map(move |case| (file, case)))
        .collect();
    // The longest first, so that no processor is left alone with one at the end.
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
    let one = |(expected, got): (&super::case::Expectation, f64)| Outcome {
        file,
        case: case.name.clone(),
        source: case.source.clone(),
        trust: case.trust,
        metric: expected.metric.clone(),
        dimension: expected.dimension,
        goal: expected.goal,
        got,
        deviation: expected.deviation.clone(),
    };
    case.expectations.iter().zip(values).map(one).collect()
}
