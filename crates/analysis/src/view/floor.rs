//! Places at which operations missed their latency goal.

use crate::floor_plan::FloorPlan;
use netburn_medium::geometry::Position;
use netburn_scenario::{Environment, Plan};
use netburn_units::{Duration, Instant};
use std::collections::BTreeMap;

/// The building of a run, and where operations missed their latency goal.
#[derive(Debug, Clone, PartialEq)]
pub struct FloorView {
    /// The building with its access points and stations.
    pub plan: FloorPlan,
    /// Places with misses, by station, then by position.
    pub misses: Vec<Misses>,
}

/// Operations of a station that were due at about the same place, at least one of which missed its latency goal.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Misses {
    /// Index of the station.
    pub station: usize,
    /// Position when the slowest of them was due.
    pub position: Position,
    /// Number of evaluated operations with a latency goal.
    pub operations: u64,
    /// Number of those that missed it.
    pub missed: u64,
    /// Longest latency over the goal, above 1; `None` if an operation never finished.
    pub excess: Option<f64>,
}

/// Collects the misses of all runs.
pub(super) struct FloorBuilder {
    plan: FloorPlan,
    /// Side of a place in mm.
    place: i64,
    places: BTreeMap<(usize, i16, i64, i64), Misses>,
}

impl FloorBuilder {
    /// `None` if the scenario has no positions, or if its stations do not move by the plan.
    pub(super) fn new(plan: &Plan, environment: Environment) -> Option<Self> {
        let modelled = matches!(environment, Environment::Simulate | Environment::Lab);
        let plan = modelled.then(|| FloorPlan::new(plan, None).ok()).flatten()?;
        Some(FloorBuilder {
            place: plan.cell,
            plan,
            places: BTreeMap::new(),
        })
    }

    /// Counts an evaluated operation with a latency goal. `latency`: `None` if it never finished.
    pub(super) fn operation(&mut self, station: usize, due: Instant, latency: Option<Duration>, limit: Duration) {
        let Some(position) = self.plan.position(station, due) else {
            return;
        };
        let place = |mm: i64| mm.div_euclid(self.place);
        let key = (station, position.floor, place(position.x), place(position.y));
        let seen = self.places.entry(key).or_insert(Misses {
            station,
            position,
            operations: 0,
            missed: 0,
            excess: Some(0.0),
        });
        seen.operations += 1;
        let ratio = latency.map(|latency| latency.as_nanos() as f64 / limit.as_nanos().max(1) as f64);
        if ratio.is_none_or(|ratio| ratio > 1.0) {
            seen.missed += 1;
        }
        let slower = match (ratio, seen.excess) {
            (None, Some(_)) => true,
            (Some(ratio), Some(before)) => ratio > before,
            (_, None) => false,
        };
        if slower {
            seen.excess = ratio;
            seen.position = position;
        }
    }

    pub(super) fn finish(self) -> FloorView {
        let misses = self.places.into_values().filter(|seen| seen.missed > 0);
        FloorView {
            plan: self.plan,
            misses: misses.collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netburn_scenario::Document;

    const HALL: &str = r#"
[ap.hall]
position = "0 m, 0 m"
[ap.hall.radio.5g]
channel = 36
[station.phone]
joins = "hall.5g"
path = ["0 m, 0 m", "10 m, 0 m"]
workload = "voip"
"#;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    /// At 1 m/s the station is at 2.0 m after 2 s and at 2.2 m after 2.2 s: one place of 250 mm. It is at 5 m after 5 s,
    /// where it meets its goal, and at 7 m after 7 s, where an operation never finishes.
    #[test]
    fn misses_have_the_place_of_their_due_time() {
        let plan = Document::from_toml("hall.toml", HALL).unwrap().resolve().unwrap();
        let mut builder = FloorBuilder::new(&plan, Environment::Simulate).unwrap();
        for (due, latency) in [
            (2_000, Some(300)),
            (2_200, Some(600)),
            (2_210, Some(20)),
            (5_000, Some(150)),
            (7_000, None),
        ] {
            builder.operation(0, Instant::from_millis(due), latency.map(ms), ms(150));
        }
        let view = builder.finish();
        let got: Vec<_> = view
            .misses
            .iter()
            .map(|seen| (seen.position.x, seen.operations, seen.missed, seen.excess))
            .collect();
        assert_eq!(got, [(2_200, 3, 2, Some(4.0)), (7_000, 1, 1, None)]);
    }

    /// On loopback and on real devices the stations do not follow the scenario's paths.
    #[test]
    fn only_in_modelled_environments() {
        let plan = Document::from_toml("hall.toml", HALL).unwrap().resolve().unwrap();
        assert!(FloorBuilder::new(&plan, Environment::Lab).is_some());
        assert!(FloorBuilder::new(&plan, Environment::Local).is_none());
        assert!(FloorBuilder::new(&Plan::new("none"), Environment::Simulate).is_none());
    }
}
