//! Stations and an access point on the simulated air, with datagram traffic.
//!
//! [`fields`] are the keys of a case, [`layout`] builds the air, [`measure`] runs it and computes metrics, and [`watch`] observes
//! airtime queue limits.

mod fields;
mod layout;
mod measure;
mod watch;

use super::Metrics;
use crate::validate::quantity::Dimension;
use crate::validate::toml_value::{deserialize, merge};
use fields::Fields;
use std::ops::Range;
use toml::de::DeTable;

/// Stations on the air, and optionally a changed copy (`against`) to compare with.
#[derive(Debug, Clone)]
pub struct AirInput {
    fields: Fields,
    against: Option<Fields>,
}

/// Suffix of metrics that are divided by the same metric of the `against` run.
const RATIO: &str = " ratio";

impl AirInput {
    pub(super) fn read(mut table: DeTable<'_>, span: Range<usize>) -> Result<Self, (String, Range<usize>)> {
        let against = table.remove("against");
        let other = match &against {
            None => None,
            Some(changes) => {
                let Some(changes) = changes.get_ref().as_table() else {
                    let right = "invalid `against`; expected a table of changed keys";
                    return Err((right.to_owned(), changes.span()));
                };
                let mut other = table.clone();
                merge(&mut other, changes);
                Some(deserialize::<Fields>(other, span.clone())?)
            }
        };
        let fields = deserialize::<Fields>(table, span.clone())?;
        for fields in other.iter().chain([&fields]) {
            fields.check().map_err(|why| (why, span.clone()))?;
        }
        Ok(AirInput { fields, against: other })
    }

    pub(super) fn metrics(&self) -> Metrics {
        let mut metrics = measure::metrics(&self.fields);
        if self.against.is_some() {
            let ratio = |(name, _): &(String, Dimension)| (format!("{name}{RATIO}"), Dimension::Share);
            let ratios: Metrics = metrics.iter().map(ratio).collect();
            metrics.extend(ratios);
        }
        metrics
    }

    pub(super) fn run(&self, wanted: &[&str]) -> Vec<f64> {
        let plain: Vec<&str> = wanted
            .iter()
            .map(|name| name.strip_suffix(RATIO).unwrap_or(name))
            .collect();
        let mut values = measure::run(&self.fields, &plain);
        if let Some(other) = &self.against {
            let others = measure::run(other, &plain);
            for ((value, other), name) in values.iter_mut().zip(others).zip(wanted) {
                if name.ends_with(RATIO) {
                    *value /= other;
                }
            }
        }
        values
    }

    /// Simulated time of all stations, as approximate cost.
    pub(super) fn effort(&self) -> u64 {
        let runs = [Some(&self.fields), self.against.as_ref()];
        runs.into_iter().flatten().map(Fields::effort).sum()
    }
}
