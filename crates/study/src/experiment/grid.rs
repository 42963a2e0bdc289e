//! A scenario under several seeds and signals.

use crate::pool::map;
use netburn_medium::config::LinkQuality;
use netburn_record::summary::{Summariser, Summary};
use netburn_record::{Ending, Header, Sink as _};
use netburn_scenario::plan::{RadioSetting, Setting, StationSetting};
use netburn_scenario::{Document, Environment, Plan, ScenarioError, load};
use netburn_simulate::SimulateError;
use netburn_units::{Dbm, Seed};
use std::ops::ControlFlow;

/// A scenario, what is changed in it, how often it runs and under which signals.
///
/// Its runs are the product of shifts and seeds, shift by shift, in the same order always: the first of one grid and the first of another with as many
/// belong together.
#[derive(Debug, Clone)]
pub struct Grid {
    /// A built-in scenario by name, a file, or, where it has several lines, its text.
    pub scenario: String,
    /// Keys and values, as `--set` has them.
    pub set: Vec<(String, String)>,
    /// The first seed, and how many there are from there on. 0 counts as 1.
    pub seeds: (u64, u64),
    /// By how many hundredths of a decibel all signals are moved; none: as they are.
    pub shifts: Vec<i32>,
}

/// One run of a grid.
#[derive(Debug, Clone)]
pub struct Run {
    /// What is run.
    pub plan: Plan,
    /// By how many hundredths of a decibel all signals were moved.
    pub shift: i32,
}

/// Why a grid can't be run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GridError {
    /// Its scenario is wrong.
    #[error("{}", .0.render(false))]
    Scenario(#[from] ScenarioError),
    /// It can't be simulated.
    #[error("{scenario}: {why}")]
    Simulate {
        /// Which scenario.
        scenario: String,
        /// Why.
        why: SimulateError,
    },
}

impl Grid {
    /// A scenario as it is, with its own seed.
    #[must_use]
    pub fn of(scenario: &str) -> Self {
        Grid {
            scenario: scenario.to_owned(),
            set: Vec::new(),
            seeds: (1, 1),
            shifts: Vec::new(),
        }
    }

    /// What is run, in order.
    ///
    /// # Errors
    /// The scenario is wrong, or a key or value is.
    pub fn runs(&self) -> Result<Vec<Run>, GridError> {
        let mut document = match self.scenario.contains('\n') {
            true => Document::from_toml("scenario", &self.scenario)?,
            false => load(&self.scenario)?,
        };
        for (key, value) in &self.set {
            document.set(key, value)?;
        }
        let (plan, _) = document.resolve_for(Environment::Simulate)?;
        let own = [0];
        let shifts = if self.shifts.is_empty() { &own[..] } else { &self.shifts };
        let seeds = self.seeds.0..self.seeds.0 + self.seeds.1.max(1);
        let run = |shift: i32, seed: u64| {
            let mut plan = moved(&plan, shift);
            plan.seed = Seed(seed);
            Run { plan, shift }
        };
        Ok(shifts
            .iter()
            .flat_map(|shift| seeds.clone().map(move |seed| (*shift, seed)))
            .map(|(shift, seed)| run(shift, seed))
            .collect())
    }

    /// Runs all of it on up to `threads` processors. The summaries are in the order of the runs, whatever that number is.
    ///
    /// # Errors
    /// The scenario is wrong or can't be simulated.
    pub fn run(&self, threads: usize) -> Result<Vec<Summary>, GridError> {
        let runs = self.runs()?;
        map(runs.len(), threads, &|place| runs[place].summary())
            .into_iter()
            .collect()
    }
}

impl Run {
    /// Runs it.
    ///
    /// # Errors
    /// It can't be simulated.
    pub fn summary(&self) -> Result<Summary, GridError> {
        let mut summariser = Summariser::new(Header::simulated(self.plan.clone()));
        let ran = netburn_simulate::run(&self.plan, |_, rows| {
            for row in &rows {
                summariser.put(row).expect("memory takes every row");
            }
            ControlFlow::Continue(())
        });
        match ran {
            Ok(_) => Ok(summariser.finish(&self.plan.name, &Ending::Complete)),
            Err(why) => Err(GridError::Simulate {
                scenario: self.plan.name.clone(),
                why,
            }),
        }
    }
}

/// The plan with every signal moved, those of stations whose distance is known by way of the access points' power. Where the MCS is given there is none.
fn moved(plan: &Plan, shift: i32) -> Plan {
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
            ..Grid::of("four-uses")
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
            ..Grid::of("anomaly")
        };
        assert_eq!(grid.run(1).unwrap(), grid.run(3).unwrap());
    }

    #[test]
    fn bad_input() {
        assert!(
            Grid::of("anomalous")
                .runs()
                .unwrap_err()
                .to_string()
                .contains("anomaly")
        );
        let grid = Grid {
            set: vec![("ap.home.queu".to_owned(), "fifo".to_owned())],
            ..Grid::of("anomaly")
        };
        assert!(grid.runs().unwrap_err().to_string().contains("ap.home.queue"));
    }
}
