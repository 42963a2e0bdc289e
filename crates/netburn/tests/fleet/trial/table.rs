//! The table at the end of a trial.

use std::collections::BTreeMap;

/// Counts of each outcome for each row's label.
#[derive(Default)]
pub(super) struct Table(BTreeMap<String, BTreeMap<String, usize>>);

impl Table {
    pub(super) fn count(&mut self, label: impl Into<String>, outcome: impl Into<String>) {
        *self
            .0
            .entry(label.into())
            .or_default()
            .entry(outcome.into())
            .or_default() += 1;
    }

    /// The count of an outcome over all labels.
    pub(super) fn total(&self, outcome: &str) -> usize {
        self.0.values().filter_map(|row| row.get(outcome)).sum()
    }

    pub(super) fn print(&self, title: &str, outcomes: &[&str]) {
        let cells = |cells: &[String]| println!("| {} |", cells.join(" | "));
        let names = [&[title, "rounds"], outcomes].concat();
        println!();
        cells(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
        cells(&names.iter().map(|_| "---".to_owned()).collect::<Vec<_>>());
        let mut all = vec![0; outcomes.len() + 1];
        for (label, row) in &self.0 {
            let counts: Vec<usize> = std::iter::once(row.values().sum())
                .chain(outcomes.iter().map(|outcome| row.get(*outcome).copied().unwrap_or(0)))
                .collect();
            for (sum, count) in all.iter_mut().zip(&counts) {
                *sum += count;
            }
            let counts = counts.iter().map(usize::to_string);
            cells(&std::iter::once(label.clone()).chain(counts).collect::<Vec<_>>());
        }
        let sums = all.iter().map(usize::to_string);
        cells(&std::iter::once("all".to_owned()).chain(sums).collect::<Vec<_>>());
    }
}
