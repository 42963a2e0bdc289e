//! Models of a network with their probabilities: the part of a fit with which networks are simulated.

use crate::home::{DISCIPLINES, Home, NoComments, Parameter};
use crate::measurement::Measurement;
use crate::schedule::Schedule;
use netburn_medium::queue::QueueKind;
use netburn_units::Seed;

/// Mean square of the differences from which the models do not explain the run.
const POOR: f64 = 4.0;
/// The same, from which the run identifies nothing. Of 24 known networks, 4 had a higher misfit. Their 90 % intervals
/// missed the true value three times as often as the others.
const IMPRECISE: f64 = 2.0;
/// Condition under which a run would identify more, if its models explain it only in part.
pub(crate) const BETTER_MODEL: &str = "a model that explains the run better";
/// Probability from which a discipline is identified. Disciplines with queues of each station and flow differ little, so that at 90 %
/// a wrong one was named.
const LIKELY: f64 = 0.95;
/// Maximum number of models. A fit has about 60.
const MAX_DRAWS: usize = 4_096;
/// Error of a sum of probabilities.
const ROUNDING: f64 = 1e-6;

/// Models of the posterior.
#[derive(Debug, Clone, PartialEq)]
pub struct Models {
    /// Seed of the random numbers of the fit.
    pub seed: Seed,
    /// Mean square of the differences between the run and the likeliest model, in standard deviations. About 1 if it explains
    /// the run.
    pub misfit: f64,
    /// Queue disciplines of the access point with their probabilities, the likeliest first.
    pub disciplines: Vec<(QueueKind, f64)>,
    /// Medians of the parameters in their units, in the order of [`Home::parameters`].
    pub medians: Vec<f64>,
    /// Models with their probabilities, which sum to 1.
    pub draws: Vec<Draw>,
    home: Home,
    schedule: Schedule,
    /// Measurement in the scenarios: that of the first run.
    load: Schedule,
}

/// One model of the posterior.
#[derive(Debug, Clone, PartialEq)]
pub struct Draw {
    /// Queue discipline of the access point.
    pub discipline: QueueKind,
    /// Probability.
    pub probability: f64,
    /// Values of the parameters in their units, in the order of [`Home::parameters`].
    pub values: Vec<f64>,
}

/// Reason for which values are no models of a measurement.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidModels {
    /// There is no model, or there are too many.
    #[error("found {0} models, expected 1 to {MAX_DRAWS}")]
    Count(usize),
    /// The probabilities are not those of all possibilities.
    #[error("the probabilities are negative, or do not sum to 1")]
    Probabilities,
    /// A model has too few or too many values.
    #[error("found {0} values in a model, expected {1}")]
    Values(usize, usize),
    /// No network has this value.
    #[error("found the value {0} of {1}, which no network has")]
    Value(String, String),
    /// The misfit is no mean square.
    #[error("the misfit is negative or no number")]
    Misfit,
}

impl Models {
    /// Models of a network for which `home` and `schedule` are known, as a fit finds them. There is at least one draw.
    pub(crate) fn fitted(
        (home, schedule, load): (&Home, &Schedule, &Schedule),
        (seed, misfit): (Seed, f64),
        medians: Vec<f64>,
        draws: Vec<Draw>,
    ) -> Self {
        let probability = |kind: QueueKind| {
            let such = draws.iter().filter(|draw| draw.discipline == kind);
            (kind, such.map(|draw| draw.probability).sum())
        };
        let present = DISCIPLINES
            .into_iter()
            .filter(|kind| draws.iter().any(|draw| draw.discipline == *kind));
        let mut disciplines: Vec<(QueueKind, f64)> = present.map(probability).collect();
        disciplines.sort_by(|one, other| other.1.total_cmp(&one.1));
        Models {
            seed,
            misfit,
            disciplines,
            medians,
            draws,
            home: home.clone(),
            schedule: schedule.clone(),
            load: load.clone(),
        }
    }

    /// Models of a measurement that were stored. They can be those of a foreign record, so all values are checked.
    ///
    /// # Errors
    /// No network has these values, or the probabilities are wrong.
    pub fn stored(
        measurement: &Measurement,
        (seed, misfit): (Seed, f64),
        medians: Vec<f64>,
        draws: Vec<Draw>,
    ) -> Result<Self, InvalidModels> {
        if !(1..=MAX_DRAWS).contains(&draws.len()) {
            return Err(InvalidModels::Count(draws.len()));
        }
        if misfit.is_nan() || misfit < 0.0 {
            return Err(InvalidModels::Misfit);
        }
        check_probabilities(&draws)?;
        let home = &measurement.home;
        let parameters = home.parameters();
        for values in draws.iter().map(|draw| &draw.values).chain([&medians]) {
            check_values(home, &parameters, values)?;
        }
        Ok(Models::fitted(
            (home, &measurement.schedule, measurement.load()),
            (seed, misfit),
            medians,
            draws,
        ))
    }

    /// True if the models explain the run.
    #[must_use]
    pub fn explains(&self) -> bool {
        self.misfit < POOR
    }

    /// True if the models explain the run so well that it identifies what they agree on.
    #[must_use]
    pub fn is_precise(&self) -> bool {
        self.misfit < IMPRECISE
    }

    /// The discipline that the run identifies; `None` if several are possible.
    #[must_use]
    pub fn discipline(&self) -> Option<QueueKind> {
        let (discipline, weight) = self.disciplines[0];
        (weight >= LIKELY && self.is_precise()).then_some(discipline)
    }

    /// The disciplines with their probabilities.
    #[must_use]
    pub fn discipline_comment(&self) -> String {
        let listed = self.listed_disciplines(0.005);
        if self.discipline().is_some() {
            return format!("fitted: {listed}");
        }
        let needs = if self.is_precise() {
            "downloads of several stations over a line faster than the Wi-Fi"
        } else {
            BETTER_MODEL
        };
        format!("not identified by this run: {listed}; would need {needs}")
    }

    /// The disciplines with at least this probability: `fifo 61 %, fq-mac 38 %`.
    #[must_use]
    pub fn listed_disciplines(&self, least: f64) -> String {
        let likely = self.disciplines.iter().filter(|(_, weight)| *weight >= least);
        let each = likely.map(|(kind, weight)| format!("{} {:.0} %", kind.name(), weight * 100.0));
        each.collect::<Vec<_>>().join(", ")
    }

    /// The parts of the network that are known without a fit.
    #[must_use]
    pub fn home(&self) -> &Home {
        &self.home
    }

    /// Measurement to which the models were fitted.
    #[must_use]
    pub fn schedule(&self) -> &Schedule {
        &self.schedule
    }

    /// Median of a parameter in its unit; `None` if the models have no such parameter.
    #[must_use]
    pub fn median(&self, parameter: Parameter) -> Option<f64> {
        Some(self.medians[self.home.number_of(parameter)?])
    }

    /// Probability that a parameter has a value for which `is` is true; `None` if the models have no such parameter.
    #[must_use]
    pub fn probability(&self, parameter: Parameter, is: impl Fn(f64) -> bool) -> Option<f64> {
        let number = self.home.number_of(parameter)?;
        let such = self.draws.iter().filter(|draw| is(draw.values[number]));
        Some(such.map(|draw| draw.probability).sum())
    }

    /// The model with the likeliest discipline and the medians, as a scenario file without comments.
    #[must_use]
    pub fn likeliest(&self) -> String {
        self.scenario(self.disciplines[0].0, &self.medians)
    }

    /// `count` models as scenario files, without comments. All are equally likely, so that a share of them is a probability. A
    /// probable draw can be among them several times.
    #[must_use]
    pub fn scenarios(&self, count: usize) -> Vec<String> {
        let mut draws = self.draws.iter();
        let (mut draw, mut below) = (draws.next(), 0.0);
        let at = |level: f64| {
            while let Some(own) = draw
                && below + own.probability < level
            {
                let Some(next) = draws.next() else { break };
                below += own.probability;
                draw = Some(next);
            }
            draw
        };
        // Systematic resampling: the levels have the same distance.
        let levels = (0..count).map(|number| (number as f64 + 0.5) / count as f64);
        let chosen = levels.filter_map(at);
        chosen
            .map(|draw| self.scenario(draw.discipline, &draw.values))
            .collect()
    }

    fn scenario(&self, discipline: QueueKind, values: &[f64]) -> String {
        let value = |parameter: Parameter| {
            let number = self.home.number_of(parameter);
            values[number.expect("the scenario has the parameters of the home")]
        };
        self.home.scenario(&value, discipline, &self.load, &NoComments)
    }
}

fn check_probabilities(draws: &[Draw]) -> Result<(), InvalidModels> {
    let is_positive = draws.iter().all(|draw| draw.probability >= 0.0);
    let is_whole = (draws.iter().map(|draw| draw.probability).sum::<f64>() - 1.0).abs() < ROUNDING;
    (is_positive && is_whole)
        .then_some(())
        .ok_or(InvalidModels::Probabilities)
}

fn check_values(home: &Home, parameters: &[Parameter], values: &[f64]) -> Result<(), InvalidModels> {
    if values.len() != parameters.len() {
        return Err(InvalidModels::Values(values.len(), parameters.len()));
    }
    let mut pairs = parameters.iter().zip(values);
    let wrong = pairs.find(|(parameter, value)| !parameter.prior(home).contains(**value));
    wrong.map_or(Ok(()), |(parameter, value)| {
        Err(InvalidModels::Value(format!("{value}"), parameter.key(home)))
    })
}
