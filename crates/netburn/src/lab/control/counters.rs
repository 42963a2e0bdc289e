//! Counters of the stations of a lab since it was opened. Pure.

use netburn_lab::StationSnapshot;
use netburn_record::{AirRow, Row};
use netburn_units::{Duration, Instant};
use serde_json::{Map, Value, json};

/// Sums of the rows of one station.
#[derive(Debug, Clone, Default)]
struct Sums {
    airtime_down: Duration,
    airtime_up: Duration,
    transmissions: u64,
    mpdus: u64,
    retries: u64,
    drops: u64,
    marks: u64,
    backlog: u64,
}

/// Counters of all stations.
#[derive(Debug, Clone)]
pub(super) struct Counters {
    stations: Vec<(String, Sums)>,
}

impl Counters {
    /// Counters of the stations with these names, in the order of the plan.
    pub(super) fn new(names: &[&str]) -> Self {
        Counters {
            stations: names.iter().map(|name| ((*name).to_owned(), Sums::default())).collect(),
        }
    }

    /// Adds the rows about the air.
    pub(super) fn add(&mut self, rows: &[Row]) {
        for row in rows {
            if let Row::Air(row) = row
                && let Some((_, sums)) = self.stations.get_mut(usize::from(row.station))
            {
                sums.add(row);
            }
        }
    }

    /// The counters of the stations with these names, or of all, and their state at `now`: times in s, rates in Mbit/s,
    /// signals in dBm, positions in m.
    pub(super) fn json(&self, names: &[String], now: Option<Instant>, snapshots: &[StationSnapshot]) -> Value {
        let mut stations = Map::new();
        for (place, (name, sums)) in self.stations.iter().enumerate() {
            if !names.is_empty() && !names.contains(name) {
                continue;
            }
            let mut station = sums.json();
            station["state"] = snapshots.get(place).map(state).unwrap_or_default();
            stations.insert(name.clone(), station);
        }
        json!({ "at_s": now.map_or(0.0, Instant::as_secs_f64), "stations": stations })
    }
}

impl Sums {
    fn add(&mut self, row: &AirRow) {
        self.airtime_down += row.airtime_down;
        self.airtime_up += row.airtime_up;
        self.transmissions += row.transmissions;
        self.mpdus += row.mpdus;
        self.retries += row.retries;
        self.drops += row.drops;
        self.marks += row.marks;
        self.backlog = row.backlog;
    }

    fn json(&self) -> Value {
        json!({
            "airtime_down_s": self.airtime_down.as_secs_f64(),
            "airtime_up_s": self.airtime_up.as_secs_f64(),
            "transmissions": self.transmissions,
            "mpdus": self.mpdus,
            "retries": self.retries,
            "drops": self.drops,
            "marks": self.marks,
            "backlog": self.backlog,
        })
    }
}

fn state(snapshot: &StationSnapshot) -> Value {
    let mbps = |rate: netburn_units::BitRate| rate.as_bps() as f64 / 1e6;
    json!({
        "airtime_share": snapshot.airtime,
        "mean_aggregate": snapshot.aggregate,
        "down_mbps": mbps(snapshot.down),
        "up_mbps": mbps(snapshot.up),
        "phy_rate_mbps": snapshot.rate.map(mbps),
        "signal_dbm": snapshot.signal.map(|signal| f64::from(signal.as_hundredths()) / 100.0),
        "position_m": snapshot.position.map(|at| [at.x as f64 / 1e3, at.y as f64 / 1e3]),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_sums_of_rows() {
        let row = |station, airtime_ms, mpdus, backlog| {
            Row::Air(AirRow {
                station,
                at: Instant::ZERO,
                airtime_down: Duration::from_millis(airtime_ms),
                airtime_up: Duration::ZERO,
                transmissions: 1,
                mpdus,
                retries: 0,
                backlog,
                drops: 2,
                marks: 0,
                others: None,
            })
        };
        let mut counters = Counters::new(&["tv", "phone"]);
        counters.add(&[row(0, 30, 8, 5), row(1, 1, 1, 0), row(0, 20, 4, 3), row(9, 1, 1, 1)]);
        let found = counters.json(&[], None, &[]);
        let tv = &found["stations"]["tv"];
        assert_eq!(tv["airtime_down_s"], 0.05);
        assert_eq!(
            [&tv["mpdus"], &tv["transmissions"], &tv["drops"], &tv["backlog"]],
            [12, 2, 4, 3]
        );
        assert_eq!(found["stations"]["phone"]["mpdus"], 1);
        assert!(tv["state"].is_null());
        let one = counters.json(&["phone".to_owned()], None, &[]);
        assert_eq!(one["stations"].as_object().unwrap().len(), 1);
        assert_eq!(one["stations"]["phone"], found["stations"]["phone"]);
    }
}
