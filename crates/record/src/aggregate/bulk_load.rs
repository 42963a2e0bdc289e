//! Times in which stations download or upload in bulk.

use super::counting::Counting;
use super::evaluated::EvaluatedTime;
use netburn_scenario::Plan;
use netburn_units::Instant;
use netburn_workload::Direction;
use netburn_workload::config::Window;

/// Directions of the bulk load at an instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoadDirection {
    /// Downloads only.
    Download,
    /// Uploads only.
    Upload,
    /// Downloads and uploads at the same time.
    Both,
}

/// Evaluated times of a plan in which workloads of kind `download` and `upload`, and those of kind `responsiveness` with
/// load, run on any station. Other kinds have pauses, and do not count as bulk load.
#[derive(Debug, Clone)]
pub struct BulkLoads {
    download: Vec<EvaluatedTime>,
    upload: Vec<EvaluatedTime>,
}

impl BulkLoads {
    /// Bulk loads of `plan`, whose evaluated times are those of `counting`.
    #[must_use]
    pub fn new(plan: &Plan, counting: &Counting) -> Self {
        let times = |direction: Direction| {
            let stations = plan.stations.iter().zip(counting.evaluated_by_station());
            let loading = stations.flat_map(|(station, evaluated)| {
                let workloads = station.workloads.iter().map(|workload| &workload.config);
                let loads = workloads.filter(|config| config.loads(direction));
                loads.flat_map(move |config| config.windows(evaluated.from, evaluated.to))
            });
            let part = |window: Window| EvaluatedTime {
                from: window.from,
                to: window.to,
            };
            merged(loading.map(part).collect())
        };
        BulkLoads {
            download: times(Direction::Down),
            upload: times(Direction::Up),
        }
    }

    /// Directions of the load at an instant; `None` without bulk load.
    #[must_use]
    pub fn at(&self, at: Instant) -> Option<LoadDirection> {
        let within = |times: &[EvaluatedTime]| {
            let next = times.partition_point(|time| time.to <= at);
            times.get(next).is_some_and(|time| time.contains(at))
        };
        match (within(&self.download), within(&self.upload)) {
            (true, true) => Some(LoadDirection::Both),
            (true, false) => Some(LoadDirection::Download),
            (false, true) => Some(LoadDirection::Upload),
            (false, false) => None,
        }
    }
}

/// The same times, in their order, without overlaps and empty times.
fn merged(mut times: Vec<EvaluatedTime>) -> Vec<EvaluatedTime> {
    times.retain(|time| time.from < time.to);
    times.sort_by_key(|time| time.from);
    let mut merged: Vec<EvaluatedTime> = Vec::new();
    for time in times {
        match merged.last_mut() {
            Some(last) if time.from <= last.to => last.to = last.to.max(time.to),
            _ => merged.push(time),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;
    use netburn_scenario::{Station, StationWorkload};
    use netburn_units::Duration;
    use netburn_workload::Config;
    use netburn_workload::config::Activity;

    /// Downloads run from 5 s (the end of the warm-up) to 20 s and from 15 s to 30 s, so from 5 s to 30 s. The upload
    /// runs from 25 s to the end at 40 s. Browsing and the time before the warm-up have no bulk load.
    #[test]
    fn directions_follow_from_the_times_of_all_stations() {
        let secs = Duration::from_secs;
        let station = |name: &str, config: Config, start: u64, stop: Option<u64>| Station {
            workloads: vec![StationWorkload::new("load", config)],
            start: secs(start),
            stop: stop.map(secs),
            ..Station::new(name)
        };
        let plan = Plan {
            duration: secs(40),
            warmup: secs(5),
            stations: vec![
                station("second", Config::download(), 15, Some(30)),
                station("first", Config::download(), 0, Some(20)),
                station("backup", Config::upload(), 25, None),
                station("laptop", Config::browsing(), 0, None),
            ],
            ..Plan::new("loads")
        };
        let loads = BulkLoads::new(&plan, &Counting::new(&plan));
        assert_eq!((loads.download.len(), loads.upload.len()), (1, 1));
        let (download, upload, both) = (LoadDirection::Download, LoadDirection::Upload, LoadDirection::Both);
        for (ms, expected) in [
            (-1_000, None),
            (4_999, None),
            (5_000, Some(download)),
            (24_999, Some(download)),
            (25_000, Some(both)),
            (29_999, Some(both)),
            (30_000, Some(upload)),
            (39_999, Some(upload)),
            (40_000, None),
        ] {
            assert_eq!(loads.at(Instant::from_millis(ms)), expected, "{ms} ms");
        }
    }

    /// The download runs from 5 to 8 s, from 15 to 18 s and so on, and the first second is part of the warm-up.
    #[test]
    fn a_repeated_workload_loads_in_its_windows() {
        let secs = Duration::from_secs;
        let mut config = Config::download();
        config.activity = Activity {
            start: secs(5),
            stop: Some(secs(8)),
            repeat: Some(secs(10)),
        };
        let plan = Plan {
            duration: secs(30),
            warmup: secs(6),
            stations: vec![Station {
                workloads: vec![StationWorkload::new("load", config)],
                ..Station::new("laptop")
            }],
            ..Plan::new("loads")
        };
        let loads = BulkLoads::new(&plan, &Counting::new(&plan));
        for (ms, expected) in [
            (5_500, None),
            (6_000, Some(LoadDirection::Download)),
            (8_000, None),
            (14_999, None),
            (17_999, Some(LoadDirection::Download)),
            (18_000, None),
            (25_000, Some(LoadDirection::Download)),
        ] {
            assert_eq!(loads.at(Instant::from_millis(ms)), expected, "{ms} ms");
        }
    }
}
