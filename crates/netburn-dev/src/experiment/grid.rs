//! Runs of a scenario with several seeds and signals.

use netburn_medium::config::LinkQuality;
use netburn_record::Summary;
use netburn_runner::pool::map;
use netburn_scenario::plan::{RadioSetting, Setting, StationSetting};
use netburn_scenario::{Document, Environment, Plan, ScenarioError, load};
use netburn_simulate::SimulateError;
use netburn_units::{Dbm, Seed};
use std::ops::ControlFlow;

/// A scenario with changed keys, seeds and shifts of all signals.
///
/// The runs are the product of shifts and seeds, ordered by shift. The order is stable, so that runs of two grids with the same
/// shifts and seeds correspond.
#[derive(Debug, Clone)]
pub struct Grid {
    /// Name of a built-in scenario, path of a file, or the text of a scenario if it has several lines.
    pub scenario: String,
    /// Changed keys and values, as for `--set`.
    pub set: Vec<(String, String)>,
    /// First seed and number of seeds. A number of 0 counts as 1.
    pub seeds: (u64, u64),
    /// Shifts of all signals in hundredths of a decibel; empty: no shift.
    pub shifts: Vec<i32>,
}

/// One run of a grid.
#[derive(Debug, Clone)]
pub struct Run {
    /// Plan of the run.
    pub plan: Plan,
    /// Shift of all signals in hundredths of a decibel.
    pub shift: i32,
}

/// Error in the runs of a grid.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GridError {
    /// The scenario is invalid.
    #[error("{}", .0.render(false))]
    Scenario(#[from] ScenarioError),
    /// The simulator rejects the plan.
    #[error("{scenario}: {why}")]
    Simulate {
        /// Name of the scenario.
        scenario: String,
        /// Error of the simulator.
        why: SimulateError,
    },
}

impl Grid {
    /// Creates a grid with one run of the unchanged scenario.
    #[must_use]
    pub fn new(scenario: &str) -> Self {
        Grid {
            scenario: scenario.to_owned(),
            set: Vec::new(),
            seeds: (1, 1),
            shifts: Vec::new(),
        }
    }

    /// Returns the runs in order.
    ///
    /// # Errors
    /// The scenario, a key or a value is invalid.
    pub fn runs(&self) -> Result<Vec<Run>, GridError> {
        let (plan, _) = changed_scenario(&self.scenario, &self.set)?.resolve_for(Environment::Simulate)?;
        let own = [0];
        let shifts = if self.shifts.is_empty() { &own[..] } else { &self.shifts };
        let seeds = self.seeds.0..self.seeds.0 + self.seeds.1.max(1);
        let run = |shift: i32, seed: u64| {
            let mut plan = shift_signals(&plan, shift);
            plan.seed = Seed(seed);
            Run { plan, shift }
        };
        Ok(shifts
            .iter()
            .flat_map(|shift| seeds.clone().map(move |seed| (*shift, seed)))
            .map(|(shift, seed)| run(shift, seed))
            .collect())
    }

    /// Simulates all runs on up to `threads` threads. The summaries are in the order of the runs.
    ///
    /// # Errors
    /// The scenario is invalid or cannot be simulated.
    pub fn run(&self, threads: usize) -> Result<Vec<Summary>, GridError> {
        let runs = self.runs()?;
        map(runs.len(), threads, &|place| runs[place].summary())
            .into_iter()
            .collect()
    }
}

impl Run {
    /// Simulates the run and returns its summary.
    ///
    /// # Errors
    /// The simulator rejects the plan.
    pub fn summary(&self) -> Result<Summary, GridError> {
        let summary = netburn_simulate::summary(&self.plan, &self.plan.name, &mut |_| ControlFlow::Continue(()));
        match summary {
            Ok(summary) => Ok(summary.expect("the simulation was not stopped")),
            Err(why) => Err(GridError::Simulate {
                scenario: self.plan.name.clone(),
                why,
            }),
        }
    }
}

/// Returns a scenario with changed keys. `scenario` and `set` are those of a [`Grid`].
///
/// # Errors
/// The scenario, a key or a value is invalid.
pub fn changed_scenario(scenario: &str, set: &[(String, String)]) -> Result<Document, ScenarioError> {
    let mut document = if scenario.contains('\n') {
        Document::from_toml("scenario", scenario)?
    } else {
        load(scenario)?
    };
    for (key, value) in set {
        document.set(key, value)?;
    }
    Ok(document)
}

/// Shifts the signal of every station. For stations with a distance, it shifts the power of the access points. Stations with a
/// fixed MCS have no signal.
fn shift_signals(plan: &Plan, shift: i32) -> Plan {
    let by = |signal: Dbm| Dbm::from_hundredths(signal.as_hundredths() + shift);
    let mut plan = plan.clone();
    if shift == 0 {
        return plan;
    }
    for station in &mut plan.stations {
        if let Some(LinkQuality::Signal(signal)) = &mut station.air.quality {
            *signal = by(*signal);
        }
        station.air.signal_up = station.air.signal_up.map(by);
        for point in station.air.signals.iter_mut().flat_map(|of| &mut of.points) {
            point.signal = by(point.signal);
        }
    }
    for radio in plan.aps.iter_mut().flat_map(|ap| &mut ap.radios) {
        radio.power = by(radio.power);
    }
    for setting in plan.changes.iter_mut().flat_map(|change| &mut change.settings) {
        match setting {
            Setting::Station(
                _,
                StationSetting::Quality(LinkQuality::Signal(signal)) | StationSetting::SignalUp(signal),
            )
            | Setting::Radio(_, RadioSetting::Power(signal)) => *signal = by(*signal),
            _ => {}
        }
    }
    plan
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_product_in_order() {
        let grid = Grid {
            set: vec![("duration".to_owned(), "2 s".to_owned())],
            seeds: (5, 2),
            shifts: vec![-300, 0],
            ..Grid::new("four-uses")
        };
        let runs = grid.runs().unwrap();
        let seen: Vec<(i32, u64)> = runs.iter().map(|run| (run.shift, run.plan.seed.0)).collect();
        assert_eq!(seen, [(-300, 5), (-300, 6), (0, 5), (0, 6)]);
        let signal = |run: &Run| run.plan.stations[0].air.quality;
        assert_eq!(
            signal(&runs[0]),
            Some(LinkQuality::Signal(Dbm::from_hundredths(-6_100)))
        );
        assert_eq!(
            signal(&runs[2]),
            Some(LinkQuality::Signal(Dbm::from_hundredths(-5_800)))
        );
    }

    #[test]
    fn the_same_on_one_processor_and_on_three() {
        let grid = Grid {
            set: vec![
                ("duration".to_owned(), "1 s".to_owned()),
                ("baseline".to_owned(), "0 s".to_owned()),
            ],
            seeds: (1, 3),
            ..Grid::new("anomaly")
        };
        assert_eq!(grid.run(1).unwrap(), grid.run(3).unwrap());
    }

    #[test]
    fn bad_input() {
        assert!(
            Grid::new("anomalous")
                .runs()
                .unwrap_err()
                .to_string()
                .contains("anomaly")
        );
        let grid = Grid {
            set: vec![("ap.home.queu".to_owned(), "fifo".to_owned())],
            ..Grid::new("anomaly")
        };
        assert!(grid.runs().unwrap_err().to_string().contains("ap.home.queue"));
    }
}
