//! Effects of the varied keys and of their pairs on a metric, in words.
//!
//! [`netburn_stats::factorial`] splits the variation of the metric. Times and rates are compared by their ratios: the variation is
//! that of their logarithms if all values are greater than 0.

use super::columns::Column;
use super::grid::Grid;
use super::rows::Rows;
use super::table::format_value;
use netburn_record::metrics::Unit;
use netburn_stats::bootstrap::mean;
use netburn_stats::contrast::SIGNIFICANCE;
use netburn_stats::factorial::{Source, Variation, marginal, variation};
use netburn_stats::holm;
use std::collections::BTreeMap;

/// Effects on one metric.
#[derive(Debug, Clone, PartialEq)]
pub struct Effects {
    /// Sentences: the keys, then their pairs, each with the most important one first.
    pub sentences: Vec<String>,
}

/// Share of the variation below which an effect is not described.
const MIN_SHARE: f64 = 0.01;

impl Effects {
    /// Effects on the metric in a column.
    ///
    /// # Panics
    /// The column does not exist.
    #[must_use]
    pub fn new(grid: &Grid, rows: &Rows, column: usize) -> Self {
        let sentences = match Experiment::new(grid, rows, column) {
            Ok(experiment) => experiment.sentences(),
            Err(why) => vec![format!("Effects on {}: {why}.", rows.columns[column].name)],
        };
        Effects { sentences }
    }

    /// One sentence per line.
    #[must_use]
    pub fn text(&self) -> String {
        self.sentences.iter().map(|sentence| format!("{sentence}\n")).collect()
    }
}

/// Values of a metric for all combinations of the keys that have several values.
struct Experiment<'a> {
    column: &'a Column,
    keys: Vec<&'a str>,
    values: Vec<&'a [String]>,
    levels: Vec<usize>,
    /// `true` if the numbers are logarithms.
    logarithmic: bool,
    /// Means of the cells.
    means: Vec<f64>,
    variation: Variation,
}

impl<'a> Experiment<'a> {
    fn new(grid: &'a Grid, rows: &'a Rows, column: usize) -> Result<Self, String> {
        let factors = grid.keys().iter().zip(grid.values());
        let (keys, values): (Vec<&str>, Vec<&[String]>) = factors
            .filter(|(_, values)| values.len() > 1)
            .map(|(key, values)| (key.as_str(), values.as_slice()))
            .unzip();
        if keys.is_empty() {
            return Err("no key has two values".to_owned());
        }
        // The order of the cells is that of the keys with several values, because a key with one value changes nothing.
        let mut known: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
        for row in &rows.rows {
            let cell = (row.run - 1) / u64::from(rows.repeat);
            known.entry(cell).or_default().extend(row.metrics[column].number());
        }
        let cells = (0..grid.cells()).map(|cell| known.remove(&cell).unwrap_or_default());
        let mut cells: Vec<Vec<f64>> = cells.collect();
        let missing = cells.iter().filter(|cell| cell.is_empty()).count();
        if missing > 0 {
            return Err(format!(
                "unknown, because {missing} of {} combinations have no value",
                cells.len()
            ));
        }
        let column = &rows.columns[column];
        let ratios = matches!(column.unit, Unit::Ms | Unit::Mbps | Unit::Rpm);
        let logarithmic = ratios && cells.iter().flatten().all(|value| *value > 0.0);
        if logarithmic {
            cells.iter_mut().flatten().for_each(|value| *value = value.ln());
        }
        let levels: Vec<usize> = values.iter().map(|values| values.len()).collect();
        let variation = variation(&levels, &cells).ok_or("unknown, because a value is not finite")?;
        if variation.total() <= 0.0 {
            return Err("none, because all runs have the same value".to_owned());
        }
        Ok(Experiment {
            column,
            keys,
            values,
            levels,
            logarithmic,
            means: cells.iter().map(|cell| mean(cell)).collect(),
            variation,
        })
    }

    fn sentences(&self) -> Vec<String> {
        let known: Option<Vec<f64>> = self.variation.sources.iter().map(|source| source.p).collect();
        let corrected = known.map(|p| holm(&p));
        let is_significant = |place: usize| corrected.as_ref().is_none_or(|p| p[place] < SIGNIFICANCE);
        let mut found: Vec<(usize, &Source)> = self.variation.sources.iter().enumerate().collect();
        // The keys first, then their pairs.
        found.sort_by(|(_, one), (_, other)| {
            let pairs = one.with.is_some().cmp(&other.with.is_some());
            pairs.then(other.squares.total_cmp(&one.squares))
        });
        let mut sentences = Vec::new();
        for (place, source) in &found {
            if is_significant(*place) && self.share(source.squares) >= MIN_SHARE {
                match source.with {
                    None => sentences.push(self.main(source)),
                    Some(with) => sentences.push(self.interaction(source, with)),
                }
            }
        }
        let without: Vec<&str> = found
            .iter()
            .filter(|(place, source)| {
                source.with.is_none() && !(is_significant(*place) && self.share(source.squares) >= MIN_SHARE)
            })
            .map(|(_, source)| self.keys[source.factor])
            .collect();
        if !without.is_empty() {
            sentences.push(format!(
                "No significant effect of {} explains 1 % or more of the variation of {}.",
                without.join(", "),
                self.column.name
            ));
        }
        if self.share(self.variation.higher) >= MIN_SHARE {
            sentences.push(format!(
                "Combinations of three or more keys explain {}.",
                percent(self.share(self.variation.higher))
            ));
        }
        sentences.push(match corrected {
            Some(_) => format!(
                "Chance explains {}: the runs of a cell differ in their seeds only.",
                percent(self.share(self.variation.within))
            ),
            None => {
                "Each cell has one run, so chance can explain these effects. Several runs (repeat 8) show its part."
                    .to_owned()
            }
        });
        sentences
    }

    fn share(&self, squares: f64) -> f64 {
        squares / self.variation.total()
    }

    /// Effect of one key: the values with the lowest and the highest mean.
    fn main(&self, source: &Source) -> String {
        let means = marginal(&self.levels, &self.means, &[source.factor]);
        let (low, high) = extremes(&means);
        let values = self.values[source.factor];
        let over = if self.keys.len() > 1 {
            ", averaged over the other keys"
        } else {
            ""
        };
        format!(
            "{} explains {} of the variation of {}: from {} with {} to {} with {}{over}.",
            self.keys[source.factor],
            percent(self.share(source.squares)),
            self.column.name,
            self.value(means[low]),
            values[low],
            self.value(means[high]),
            values[high],
        )
    }

    /// Effect of a pair: how far the effect of the key with the larger effect depends on the other key.
    fn interaction(&self, source: &Source, with: usize) -> String {
        let squares = |factor: usize| {
            let is = |other: &&Source| other.factor == factor && other.with.is_none();
            self.variation.sources.iter().find(is).map_or(0.0, |main| main.squares)
        };
        let (key, other) = if squares(source.factor) >= squares(with) {
            (source.factor, with)
        } else {
            (with, source.factor)
        };
        let (low, high) = extremes(&marginal(&self.levels, &self.means, &[key]));
        let both = marginal(&self.levels, &self.means, &[other, key]);
        let count = self.levels[key];
        let changes: Vec<f64> = both.chunks(count).map(|means| means[high] - means[low]).collect();
        let (least, most) = extremes(&changes);
        format!(
            "The effect of {} depends on {}, which explains {}: from {} to {}, {} changes by {} with {}, and by {} with {}.",
            self.keys[key],
            self.keys[other],
            percent(self.share(source.squares)),
            self.values[key][low],
            self.values[key][high],
            self.column.name,
            self.change(changes[most]),
            self.values[other][most],
            self.change(changes[least]),
            self.values[other][least],
        )
    }

    /// A mean with its unit.
    fn value(&self, mean: f64) -> String {
        let value = if self.logarithmic { mean.exp() } else { mean };
        self.with_unit(format_value(value, self.column.unit))
    }

    /// A difference of means: a factor or a percentage for ratios.
    fn change(&self, difference: f64) -> String {
        if !self.logarithmic {
            let sign = if difference < 0.0 { "−" } else { "+" };
            return self.with_unit(format!("{sign}{}", format_value(difference.abs(), self.column.unit)));
        }
        let ratio = difference.exp();
        // From what is printed as 2.0.
        if ratio >= 1.95 {
            format!("a factor of {ratio:.1}")
        } else {
            let sign = if ratio < 1.0 { "−" } else { "+" };
            format!("{sign}{}", percent((ratio - 1.0).abs()))
        }
    }

    fn with_unit(&self, number: String) -> String {
        match self.column.unit.symbol() {
            "" => number,
            unit => format!("{number} {unit}"),
        }
    }
}

/// Indices of the least and the greatest value; the first of equal ones.
fn extremes(values: &[f64]) -> (usize, usize) {
    let (mut low, mut high) = (0, 0);
    for (place, value) in values.iter().enumerate() {
        if *value < values[low] {
            low = place;
        }
        if *value > values[high] {
            high = place;
        }
    }
    (low, high)
}

fn percent(share: f64) -> String {
    match share * 100.0 {
        ..0.95 => format!("{:.1} %", share * 100.0),
        percent => format!("{percent:.0} %"),
    }
}
