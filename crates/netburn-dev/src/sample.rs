//! Values of a metric in the runs of two programs, and whether they agree.

/// Values of a metric in the runs of one program.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    /// Smallest value.
    pub min: f64,
    /// Median; the lower of the two middle values if their number is even, so that it is a measured value.
    pub median: f64,
    /// Largest value.
    pub max: f64,
    /// Number of runs.
    pub runs: usize,
}

/// Result of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The medians are within the tolerance.
    Agrees,
    /// The medians are not within the tolerance, but the runs of the programs are too scattered to tell them apart.
    WithinSpread,
    /// The medians are not within the tolerance, and the runs are not scattered.
    Differs,
    /// A self-check failed, so a value is unreliable.
    Unreliable,
}

impl Sample {
    /// The values of all runs; `None` without a run.
    #[must_use]
    pub fn new(values: impl IntoIterator<Item = f64>) -> Option<Sample> {
        let mut sorted: Vec<f64> = values.into_iter().collect();
        sorted.sort_by(f64::total_cmp);
        Some(Sample {
            min: *sorted.first()?,
            median: sorted[(sorted.len() - 1) / 2],
            max: *sorted.last()?,
            runs: sorted.len(),
        })
    }

    /// Returns `true` if both samples have at least `min_runs` runs and their ranges overlap.
    #[must_use]
    pub fn overlaps(&self, other: &Sample, min_runs: usize) -> bool {
        self.runs.min(other.runs) >= min_runs && self.min <= other.max && other.min <= self.max
    }

    /// Compares the medians. `is_scattered`: the runs cannot tell the programs apart.
    #[must_use]
    pub fn compare(&self, other: &Sample, tolerance: f64, is_scattered: bool) -> Outcome {
        if (self.median - other.median).abs() <= tolerance {
            Outcome::Agrees
        } else if is_scattered {
            Outcome::WithinSpread
        } else {
            Outcome::Differs
        }
    }

    /// Formats the median and the range.
    #[must_use]
    pub fn show(&self, number: impl Fn(f64) -> String) -> String {
        format!("{} ({} to {})", number(self.median), number(self.min), number(self.max))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_median_is_a_measured_value() {
        let sample = Sample::new([3.0, 1.0, 2.0, 9.0]).unwrap();
        assert_eq!((sample.min, sample.median, sample.max, sample.runs), (1.0, 2.0, 9.0, 4));
        assert_eq!(Sample::new([]), None);
    }

    #[test]
    fn ranges_need_runs() {
        let (low, high) = (
            Sample::new([1.0, 2.0, 4.0]).unwrap(),
            Sample::new([4.0, 5.0, 6.0]).unwrap(),
        );
        assert!(low.overlaps(&high, 3) && !low.overlaps(&high, 4));
        assert!(!low.overlaps(&Sample::new([4.1, 5.0, 6.0]).unwrap(), 3));
    }
}
