//! Stored results of the grid of TCP over a wire.

use super::cases::Case;
use super::metric::{Kind, Metric};
use crate::store::Entry;
use serde::{Deserialize, Serialize};

/// Result of one point of the grid.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Point {
    case: String,
    /// The value's name.
    value: String,
    netburn: Vec<f64>,
    kernel: Vec<f64>,
}

impl Entry for Point {
    /// Name of the case.
    type Key = String;

    fn key(&self) -> String {
        self.case.clone()
    }
}

impl Point {
    /// The result of a case with this metric.
    #[must_use]
    pub fn new(case: &Case, metric: &Metric) -> Point {
        Point {
            case: case.name.clone(),
            value: metric.name.clone(),
            netburn: metric.simulator.clone(),
            kernel: metric.lab.clone(),
        }
    }

    /// The metric of a case; `None` if fewer runs are stored than the case has.
    #[must_use]
    pub fn metric(&self, case: &Case) -> Option<Metric> {
        let runs = self.netburn.len().min(self.kernel.len());
        (runs >= case.runs as usize).then(|| Metric {
            name: self.value.clone(),
            kind: Kind::Wire,
            simulator: self.netburn.clone(),
            lab: self.kernel.clone(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stored_metric_needs_all_runs() {
        let metric = Metric {
            name: "a download, Mbit/s".to_owned(),
            kind: Kind::Wire,
            simulator: vec![1.0, 2.0],
            lab: vec![1.5, 2.5],
        };
        let case = |runs| Case::from_text("one".to_owned(), "", String::new()).runs(runs);
        let point = Point::new(&case(2), &metric);
        assert_eq!(point.metric(&case(2)), Some(metric));
        assert_eq!(point.metric(&case(5)), None);
    }
}
