//! Stations and an access point on the simulated air, with datagram traffic.
//!
//! [`fields`] are the keys of a case, [`layout`] builds the air, [`measure`] runs it and computes metrics, and [`watch`] observes
//! airtime queue limits.

mod fields;
mod layout;
mod measure;
mod watch;

use super::{Kind, Metrics};
use crate::validate::quantity::Dimension;
use crate::validate::toml_value::{Fault, Table, deserialize_with_against};
use fields::Fields;
use std::ops::Range;

/// Stations on the air, and optionally a changed copy (`against`) to compare with.
#[derive(Debug)]
struct Air {
    fields: Fields,
    against: Option<Fields>,
}

/// Suffix of metrics that are divided by the same metric of the `against` run.
const RATIO: &str = " ratio";

pub(super) fn read(table: Table<'_>, span: Range<usize>) -> Result<Box<dyn Kind>, Fault> {
    let (fields, against) = deserialize_with_against::<Fields>(table, span.clone())?;
    for fields in against.iter().chain([&fields]) {
        fields.check().map_err(|why| (why, span.clone()))?;
    }
    Ok(Box::new(Air { fields, against }))
}

impl Kind for Air {
    fn metrics(&self) -> Metrics {
        let mut metrics = measure::metrics(&self.fields);
        if self.against.is_some() {
            let ratio = |(name, _): &(String, Dimension)| (format!("{name}{RATIO}"), Dimension::Share);
            let ratios: Metrics = metrics.iter().map(ratio).collect();
            metrics.extend(ratios);
        }
        metrics
    }

    fn run(&self, wanted: &[&str]) -> Vec<f64> {
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

    /// Simulated time of all stations.
    fn effort(&self) -> u64 {
        let runs = [Some(&self.fields), self.against.as_ref()];
        runs.into_iter().flatten().map(Fields::effort).sum()
    }
}
