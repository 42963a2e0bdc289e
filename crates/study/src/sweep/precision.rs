//! Adaptive repeats: further runs of a cell until the confidence interval of a metric's median is narrow enough.
//!
//! The earlier runs of a cell, in the order of their seeds, decide alone if it needs another run. So the runs of a sweep are the
//! same on any number of threads and machines, and after any interruption.

use super::columns::Column;
use netburn_stats::bootstrap::median;
use netburn_stats::median_interval::{MIN_VALUES, median_interval};
use std::str::FromStr;

/// Maximum distance of the ends of the confidence interval: half of its width.
#[derive(Debug, Clone, PartialEq)]
pub enum Precision {
    /// Share of the median, greater than 0.
    Share(f64),
    /// Number greater than 0 in the unit of the metric, and this unit if it was given.
    Number(f64, Option<String>),
}

/// Invalid text of a precision.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected a share of the median, such as 5%, or a number in the unit of the metric, such as \"2 ms\"")]
pub struct ParsePrecisionError;

/// A precision and the metric that must reach it.
#[derive(Debug, Clone, PartialEq)]
pub struct Target {
    /// Index of the metric's column.
    pub(super) column: usize,
    precision: Precision,
}

impl Target {
    /// Creates a target for one of `columns`.
    ///
    /// # Errors
    /// The precision has another unit than the metric.
    ///
    /// # Panics
    /// `column` is not one of `columns`.
    pub fn new(columns: &[Column], column: &Column, precision: Precision) -> Result<Self, String> {
        let place = columns.iter().position(|known| known == column);
        let (name, symbol) = (&column.name, column.unit.symbol());
        match &precision {
            Precision::Number(_, Some(unit)) if unit != symbol => Err(format!(
                "found a precision in `{unit}`, expected the unit of {name}{}",
                match symbol {
                    "" => ": none".to_owned(),
                    unit => format!(": {unit}"),
                }
            )),
            _ => Ok(Target {
                column: place.expect("the column is one of these"),
                precision,
            }),
        }
    }

    /// Number of runs that a cell needs as far as its runs are known. `value` returns `None` for an unfinished run, and the
    /// value of the metric for a finished one. `max` is the maximum number of runs.
    pub(super) fn needed(&self, max: u32, value: impl Fn(u32) -> Option<Option<f64>>) -> Need {
        let mut values = Vec::new();
        let mut count = max.min(MIN_VALUES as u32);
        loop {
            while (values.len() as u32) < count {
                match value(values.len() as u32) {
                    Some(known) => values.push(known),
                    None => {
                        return Need {
                            runs: count,
                            last: count == max,
                        };
                    }
                }
            }
            if count == max || self.is_reached(&values) {
                return Need {
                    runs: count,
                    last: true,
                };
            }
            count = next(count).min(max);
        }
    }

    /// Returns `true` if the interval is narrow enough. Runs without a value are left out.
    fn is_reached(&self, values: &[Option<f64>]) -> bool {
        let mut known: Vec<f64> = values.iter().copied().flatten().collect();
        let Some(interval) = median_interval(&known) else {
            return false;
        };
        let half = (interval.high - interval.low) / 2.0;
        match self.precision {
            Precision::Share(share) => half <= share * median(&mut known).abs(),
            Precision::Number(number, _) => half <= number,
        }
    }
}

/// Runs that a cell needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Need {
    /// Number of runs, counted from the cell's first.
    pub(super) runs: u32,
    /// `true` if the cell needs no run after these. Otherwise they decide it.
    pub(super) last: bool,
}

/// Number of runs after which the interval is computed again: a quarter more, at least two more.
const fn next(count: u32) -> u32 {
    count + if count < 8 { 2 } else { count / 4 }
}

impl FromStr for Precision {
    type Err = ParsePrecisionError;

    fn from_str(text: &str) -> Result<Self, ParsePrecisionError> {
        let text = text.trim();
        let end = text
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(text.len());
        let number: f64 = text[..end].parse().map_err(|_| ParsePrecisionError)?;
        if !(number.is_finite() && number > 0.0) {
            return Err(ParsePrecisionError);
        }
        Ok(match text[end..].trim() {
            "%" => Precision::Share(number / 100.0),
            "" => Precision::Number(number, None),
            unit => Precision::Number(number, Some(unit.to_owned())),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netburn_record::metrics::Unit;
    use proptest::prelude::*;

    fn target(precision: &str) -> Target {
        let column = Column {
            name: "worst_p95_ms".to_owned(),
            unit: Unit::Ms,
            heading: None,
        };
        Target::new(std::slice::from_ref(&column), &column, precision.parse().unwrap()).unwrap()
    }

    #[test]
    fn a_precision_has_a_unit_of_its_metric() {
        assert_eq!("5%".parse(), Ok(Precision::Share(0.05)));
        assert_eq!(" 2.5 % ".parse(), Ok(Precision::Share(0.025)));
        assert_eq!("2".parse(), Ok(Precision::Number(2.0, None)));
        assert_eq!("2 ms".parse(), Ok(Precision::Number(2.0, Some("ms".to_owned()))));
        for wrong in ["", "%", "0", "0 %", "-5%", "1.2.3", "inf", "NaN", "five"] {
            assert_eq!(wrong.parse::<Precision>(), Err(ParsePrecisionError), "{wrong}");
        }
        let of = |unit, precision: &str| {
            let name = "rate".to_owned();
            let heading = None;
            let column = Column { name, unit, heading };
            Target::new(std::slice::from_ref(&column), &column, precision.parse().unwrap())
        };
        assert_eq!(
            of(Unit::Mbps, "2 ms").unwrap_err(),
            "found a precision in `ms`, expected the unit of rate: Mbit/s"
        );
        assert!(of(Unit::Mbps, "2 Mbit/s").is_ok());
        assert!(of(Unit::Count, "2 ms").is_err());
    }

    /// Six values are enclosed by the least and the greatest.
    #[test]
    fn a_cell_ends_when_its_interval_is_narrow() {
        let values = [96.0, 100.0, 104.0, 98.0, 102.0, 100.0, 110.0, 90.0];
        let needed = |precision: &str, finished: usize| {
            let value = |run: u32| values[..finished].get(run as usize).map(|value| Some(*value));
            let need = target(precision).needed(100, value);
            (need.runs, need.last)
        };
        // Before six runs nothing is known.
        assert_eq!(needed("4%", 0), (6, false));
        assert_eq!(needed("4%", 5), (6, false));
        // 96 to 104: half of the width is 4, and the median is 100.
        assert_eq!(needed("4%", 6), (6, true));
        assert_eq!(needed("4 ms", 6), (6, true));
        assert_eq!(needed("3.9%", 6), (8, false));
        assert_eq!(needed("3.9 ms", 6), (8, false));
        // 90 to 110.
        assert_eq!(needed("9.9%", 6), (6, true));
        assert_eq!(needed("3.9%", 8), (10, false));
        // Runs without a value cannot make the interval narrow; the maximum ends the cell.
        assert_eq!(target("4%").needed(4, |_| Some(None)), Need { runs: 4, last: true });
        assert_eq!(target("4%").needed(50, |_| Some(None)), Need { runs: 50, last: true });
    }

    proptest! {
        /// The number of runs of a cell does not depend on the order in which they finish, nor on runs beyond the end.
        #[test]
        fn further_runs_change_nothing(values in prop::collection::vec(1.0..100.0_f64, 60), max in 1_u32..60) {
            let target = target("20%");
            let mut finished = 0;
            // As a sweep does it: only the runs that are needed.
            let last = loop {
                let need = target.needed(max, |run| (run < finished).then(|| Some(values[run as usize])));
                if need.runs == finished {
                    prop_assert!(need.last);
                    break need;
                }
                prop_assert!(need.runs > finished && need.runs <= max);
                finished = need.runs;
            };
            let all = target.needed(max, |run| values.get(run as usize).map(|value| Some(*value)));
            prop_assert_eq!(all, last);
        }
    }
}
