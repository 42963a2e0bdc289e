//! Metrics of a summary by path.

use netburn_record::metrics::{
    Measured, Quantity, Unit, of_run, of_station, of_workload, run_quantities, station_quantities, workload_quantities,
};
use netburn_record::summary::Summary;

/// Path of a metric in a summary: `METRIC` of the run, `station.NAME.METRIC`, or `station.NAME.WORKLOAD.METRIC`. The
/// metrics are those of [`netburn_record::metrics`]. `met` and `excess` are those of a workload's first goal.
///
/// A verdict is a number: fail 0, inconclusive 1, marginal 2, pass 3; without goals there is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MetricPath {
    /// The station; `None` for the run.
    station: Option<String>,
    /// The workload; `None` for the station or the run.
    workload: Option<String>,
    quantity: &'static Quantity,
}

impl MetricPath {
    /// Parses a path.
    ///
    /// # Errors
    /// The path is unknown.
    pub fn parse(path: &str) -> Result<Self, String> {
        let runs = run_quantities().find(|known| known.is_named(path));
        let parts: Vec<&str> = path.split('.').collect();
        let (station, workload, name) = match (runs, parts.as_slice()) {
            (Some(quantity), _) => {
                return Ok(MetricPath {
                    station: None,
                    workload: None,
                    quantity,
                });
            }
            (None, ["station", station, name]) => (*station, None, *name),
            (None, ["station", station, workload, name]) => (*station, Some(*workload), *name),
            (None, _) => {
                return Err(format!(
                    "unknown metric `{path}`; expected {}, `station.NAME.METRIC` or `station.NAME.WORKLOAD.METRIC`",
                    names(run_quantities())
                ));
            }
        };
        let (found, known) = if workload.is_some() {
            let found = workload_quantities().find(|known| known.is_named(name));
            (found, names(workload_quantities()))
        } else {
            let found = station_quantities().find(|known| known.is_named(name));
            (found, names(station_quantities()))
        };
        Ok(MetricPath {
            station: Some(station.to_owned()),
            workload: workload.map(str::to_owned),
            quantity: found.ok_or_else(|| format!("unknown metric `{path}`; expected one of {known}"))?,
        })
    }

    /// Returns the unit of the metric.
    #[must_use]
    pub const fn unit(&self) -> Unit {
        self.quantity.unit
    }

    /// Returns the station and the workload of the metric.
    #[must_use]
    pub fn about(&self) -> (Option<&str>, Option<&str>) {
        (self.station.as_deref(), self.workload.as_deref())
    }

    /// Returns the value in a summary, if it has one.
    #[must_use]
    pub fn value(&self, summary: &Summary) -> Option<f64> {
        let all = match &self.station {
            None => of_run(summary),
            Some(name) => {
                let station = summary.stations.iter().find(|station| station.name == *name)?;
                match &self.workload {
                    None => of_station(station),
                    Some(name) => of_workload(station.workloads.iter().find(|known| known.name == *name)?),
                }
            }
        };
        let is_it = |measured: &Measured| {
            measured.quantity.name == self.quantity.name && measured.goal.is_none_or(|number| number == 0)
        };
        let value = all.into_iter().find(is_it)?.value;
        value.filter(|value| value.is_finite())
    }
}

/// Names of metrics, without repeats.
fn names(known: impl Iterator<Item = &'static Quantity>) -> String {
    let mut names: Vec<&str> = Vec::new();
    for quantity in known {
        if !names.contains(&quantity.name) {
            names.push(quantity.name);
        }
    }
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_checked() {
        assert_eq!(MetricPath::parse("verdict").unwrap().about(), (None, None));
        let path = |path| MetricPath::parse(path).unwrap();
        assert_eq!(path("station.tv.idle_ms"), path("station.tv.idle_latency_ms"));
        assert_eq!(path("totals.airtime_jain"), path("airtime_jain"));
        let p95 = MetricPath::parse("station.fast-1.voip.p95_ms").unwrap();
        assert_eq!(p95.unit(), Unit::Ms);
        assert_eq!(p95.about(), (Some("fast-1"), Some("voip")));
        assert!(
            MetricPath::parse("station.tv.p95_ms")
                .unwrap_err()
                .contains("airtime_share")
        );
        assert!(
            MetricPath::parse("station.tv.film.p96_ms")
                .unwrap_err()
                .contains("p95_ms")
        );
        assert!(MetricPath::parse("throughput").unwrap_err().contains("throughput_mbps"));
    }
}
