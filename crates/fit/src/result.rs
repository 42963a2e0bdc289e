//! The result of a fit: estimates with their intervals, and the scenario.

use crate::assimilate::NORMAL_95;
use crate::evidence::Key;
use crate::home::{Comments, Home, Parameter};
use crate::infer::{Group, Map, Posterior, Problem, Settings, SimulationError, infer, misfit, model_variance};
use crate::measurement::{Measurement, Part};
use crate::models::{BETTER_MODEL, Draw, Models};
use crate::schedule::Schedule;
use netburn_units::Seed;
use netburn_workload::Direction;

/// An interval is identified if it is narrower than this share of the prior's.
const NARROW: f64 = 1.0 / 3.0;
/// A line is identified if its rate is at most this multiple of the highest measured rate: then it was full.
const LINE_FULL: f64 = 1.2;
/// A line that was full is identified if the logarithm of the ratio of its interval's bounds is below this.
const LINE_NARROW: f64 = 0.25;
/// Probability of the disciplines that have a parameter, below which the run says nothing about it.
const POSSIBLE: f64 = 0.05;
/// Difference of an observation, in standard deviations, from which it is listed.
const FAR: f64 = 4.0;
/// Characters of a sentence in the header of a scenario.
const MAX_LINE: usize = 400;
/// Sentences of one kind in the header of a scenario.
const LISTED: usize = 12;

/// Number of the method: of priors, observations and inference. A change of one of them raises it, so that older fits are not
/// used as if they were new.
pub const METHOD: u32 = 2;

/// Result of a fit.
#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    /// Models with their probabilities.
    pub models: Models,
    /// All parameters.
    pub estimates: Vec<Estimate>,
    /// Observations that the model does not explain, one sentence each.
    pub unexplained: Vec<String>,
    /// Gaps: properties that the run can't show, one sentence each.
    pub gaps: Vec<String>,
    /// Assumptions about all networks, one sentence each.
    pub assumptions: Vec<String>,
    /// Measured values beside the predictions of the models.
    pub observations: Vec<Observation>,
    /// The scenario, with a comment for each key.
    pub scenario: String,
}

/// One observation of the run.
#[derive(Debug, Clone, PartialEq)]
pub struct Observation {
    /// Phase, station and quantity.
    pub key: Key,
    /// Measured value in the unit of the quantity.
    pub measured: f64,
    /// The 5th percentile, the median and the 95th percentile of the fitted models, in the same unit. They are those before
    /// parameters with only a lower bound got larger values, which hardly act.
    pub modelled: [f64; 3],
    /// Bounds between which a measured value is with 90 %: those of the models, and the error of a model. Neither is negative.
    pub interval: (f64, f64),
}

impl Observation {
    /// True if the measured value is inside the interval.
    #[must_use]
    pub fn agrees(&self) -> bool {
        (self.interval.0..=self.interval.1).contains(&self.measured)
    }
}

/// Estimate of a parameter.
#[derive(Debug, Clone, PartialEq)]
pub struct Estimate {
    /// Parameter.
    pub parameter: Parameter,
    /// Key of the scenario.
    pub key: String,
    /// Median of the posterior, in the unit of the parameter.
    pub median: f64,
    /// The median on the axis of the prior.
    place: f64,
    /// 90 % interval of the posterior.
    pub interval: (f64, f64),
    /// 90 % interval of the prior.
    pub prior: (f64, f64),
    /// Condition under which a run would identify the parameter. `None` if this run does: then the posterior is much narrower
    /// than the prior.
    pub needs: Option<&'static str>,
    /// True if the prior came from a value that the station recorded.
    pub is_measured: bool,
}

impl Estimate {
    /// Comment of the key in a scenario.
    #[must_use]
    pub fn comment(&self) -> String {
        let (low, high) = (
            self.parameter.text(self.interval.0),
            self.parameter.text(self.interval.1),
        );
        let range = format!("90 % interval {low} to {high}");
        match self.needs {
            None => format!("fitted: {range}"),
            Some(_) if self.is_measured => format!("measured, and fitted: {range}"),
            Some(needs) => format!("not identified by this run: {range}; would need {needs}"),
        }
    }

    /// True if the run identifies the parameter.
    #[must_use]
    pub const fn is_identified(&self) -> bool {
        self.needs.is_none()
    }
}

/// Fits the model to a measurement. `map` can use threads; the result is the same without.
///
/// # Errors
/// `map` stopped the fit, or a model cannot be simulated, which is a fault of this crate.
pub fn fit(measurement: &Measurement, settings: &Settings, map: &Map<'_>) -> Result<Fit, SimulationError> {
    let parameters = measurement.home.parameters();
    let problem = Problem::new(measurement, &parameters);
    let posterior = infer(&problem, settings, map)?;
    let estimates: Vec<Estimate> = (0..parameters.len())
        .map(|number| estimate(&problem, &posterior, number))
        .collect();
    // What is printed is one model, which differs from the mean of its ensemble.
    let best = posterior.best();
    let places: Vec<f64> = estimates.iter().map(|estimate| estimate.place).collect();
    let predicted = problem.repeats(best.discipline, &places, settings, map)?;
    Ok(Fit::new(
        &problem,
        &posterior,
        estimates,
        &predicted,
        measurement,
        settings.seed,
    ))
}

impl Fit {
    fn new(
        problem: &Problem<'_>,
        posterior: &Posterior,
        mut estimates: Vec<Estimate>,
        predicted: &[Vec<f64>],
        measurement: &Measurement,
        seed: Seed,
    ) -> Self {
        let models = Models::fitted(
            (problem.home, problem.schedule, measurement.load()),
            (seed, misfit(problem, predicted, &posterior.errors.total)),
            estimates.iter().map(|estimate| estimate.median).collect(),
            draws(problem, posterior),
        );
        for estimate in &mut estimates {
            if !models.is_precise() {
                estimate.needs = Some(BETTER_MODEL);
            }
        }
        let comments = EstimateComments {
            estimates: &estimates,
            models: &models,
        };
        let value = |parameter: Parameter| comments.estimate(parameter).median;
        let scenario = problem
            .home
            .scenario(&value, models.disciplines[0].0, measurement.load(), &comments);
        Fit {
            unexplained: unexplained(problem, posterior, predicted),
            gaps: measurement.gaps.clone(),
            observations: observations(problem, posterior),
            assumptions: assumptions(problem.home),
            scenario,
            estimates,
            models,
        }
        .with_header(&measurement.parts)
    }

    /// Writes the assumptions and gaps before the keys.
    fn with_header(mut self, runs: &[Part]) -> Self {
        let extent = match runs.len() {
            1 => "one run".to_owned(),
            count => format!("{count} runs"),
        };
        let mut header = vec![format!("A model of a measured network, fitted to {extent}.")];
        if let Some(changed) = runs.iter().find(|run| !run.change.is_empty()) {
            let keys: Vec<String> = changed
                .change
                .iter()
                .map(|(key, value)| format!("{key}={value}"))
                .collect();
            header.push(format!("It is the network without this change: {}", keys.join(", ")));
        }
        let extent = match (self.models.explains(), self.models.is_precise()) {
            (true, true) => "The model explains the run",
            (true, false) => "The model explains the run only in part, so no value is identified",
            (false, _) => "The model does not explain the run, so do not rely on it",
        };
        header.push(format!(
            "{extent}: misfit {:.1}, where 1 is expected.",
            self.models.misfit
        ));
        let lists = [
            ("Assumed:", &self.assumptions),
            ("This run does not show:", &self.gaps),
            ("The model differs from the run:", &self.unexplained),
        ];
        for (title, list) in lists {
            if !list.is_empty() {
                header.push(title.to_owned());
                header.extend(list.iter().take(LISTED).map(|line| format!("- {line:.MAX_LINE$}")));
            }
        }
        let header: String = header.iter().map(|line| comment(line)).collect();
        self.scenario = format!("{header}\n{}", self.scenario);
        self
    }

    /// Highest sum of the goodput of all stations in a phase, in Mbit/s on the line. `None` without load in this direction.
    #[must_use]
    pub fn highest(&self, direction: Direction) -> Option<f64> {
        self.models.home().highest[direction as usize]
    }

    /// The estimate of a parameter.
    #[must_use]
    pub fn estimate(&self, parameter: Parameter) -> Option<&Estimate> {
        self.estimates.iter().find(|estimate| estimate.parameter == parameter)
    }
}

/// A line of comment. A record of another person has its own words, which must not become keys.
fn comment(line: &str) -> String {
    format!("# {}\n", line.replace(char::is_control, " "))
}

/// Comments of a fitted scenario.
struct EstimateComments<'a> {
    estimates: &'a [Estimate],
    models: &'a Models,
}

impl EstimateComments<'_> {
    fn estimate(&self, parameter: Parameter) -> &Estimate {
        let own = self.estimates.iter().find(|estimate| estimate.parameter == parameter);
        own.expect("each parameter has an estimate")
    }
}

impl Comments for EstimateComments<'_> {
    fn comment_of(&self, parameter: Parameter) -> Option<String> {
        Some(self.estimate(parameter).comment())
    }

    fn of_discipline(&self) -> Option<String> {
        Some(self.models.discipline_comment())
    }
}

/// Estimate of the parameter with this number.
fn estimate(problem: &Problem<'_>, posterior: &Posterior, number: usize) -> Estimate {
    let parameter = problem.parameters[number];
    let prior = parameter.prior(problem.home);
    let places = posterior
        .groups
        .iter()
        .filter(|group| parameter.exists_with(group.discipline));
    let weighted = places.flat_map(|group| {
        let weight = group.weight / group.members.len() as f64;
        group.members.iter().map(move |member| (member[number], weight))
    });
    let mut values: Vec<(f64, f64)> = weighted.collect();
    if values.iter().map(|(_, weight)| weight).sum::<f64>() < POSSIBLE {
        values.clear();
    }
    let at = |place: f64| prior.value(place);
    let of_prior = (
        at(prior.mean - NORMAL_95 * prior.deviation),
        at(prior.mean + NORMAL_95 * prior.deviation),
    );
    let (place, mut interval) = match quantiles(&mut values) {
        Some([low, median, high]) => (median, (at(low), at(high))),
        None => (prior.mean, of_prior),
    };
    let mut is_identified = prior.width(interval.0, interval.1) < NARROW * prior.width(of_prior.0, of_prior.1);
    // These intervals have been checked with too few known networks.
    is_identified &= !matches!(parameter, Parameter::Busy(_));
    is_identified &= !posterior.open[number];
    if let Parameter::Line(direction) = parameter {
        // Above the highest measured rate, an observation says nothing about the rate of the line: the run has only a lower
        // bound, and the ensemble is narrower than that by chance.
        if problem.home.line[direction as usize].is_full() {
            // This prior comes from the run, so it is narrow itself.
            is_identified = prior.width(interval.0, interval.1) < LINE_NARROW;
        }
        is_identified &= problem.home.highest[direction as usize].is_some_and(|rate| interval.1 <= rate * LINE_FULL);
        if !is_identified {
            interval.1 = interval.1.max(of_prior.1);
        }
    }
    let is_measured =
        matches!(parameter, Parameter::Signal(station) if problem.home.stations[station].signal.is_some());
    Estimate {
        parameter,
        key: parameter.key(problem.home),
        median: at(place),
        place,
        interval,
        prior: of_prior,
        needs: (!is_identified).then(|| parameter.needs()),
        is_measured,
    }
}

/// All members of all groups.
fn draws(problem: &Problem<'_>, posterior: &Posterior) -> Vec<Draw> {
    let of_group = |group: &Group| {
        let probability = group.weight / group.members.len() as f64;
        let draw = |member: &Vec<f64>| Draw {
            discipline: group.discipline,
            probability,
            values: problem
                .parameters
                .iter()
                .map(|one| problem.value(*one, member))
                .collect(),
        };
        group.members.iter().map(draw).collect::<Vec<_>>()
    };
    posterior.groups.iter().flat_map(of_group).collect()
}

/// The observations beside the predictions of all members.
fn observations(problem: &Problem<'_>, posterior: &Posterior) -> Vec<Observation> {
    let one = |number: usize, key: &Key| {
        let weighted = posterior.groups.iter().flat_map(|group| {
            let weight = group.weight / group.predicted.len() as f64;
            group.predicted.iter().map(move |member| (member[number], weight))
        });
        let modelled = quantiles(&mut weighted.collect::<Vec<_>>()).expect("there is a discipline");
        let [low, high] = with_model_error(modelled, model_variance(key, problem.schedule));
        Observation {
            key: *key,
            measured: key.in_unit(problem.observed[number]),
            modelled: modelled.map(|value| key.in_unit(value)),
            interval: (key.in_unit(low).max(0.0), key.in_unit(high)),
        }
    };
    let keys = problem.keys.iter().enumerate();
    keys.map(|(number, key)| one(number, key)).collect()
}

/// The 90 % interval of a measured value, on the axis of the fit: that of the models around their median, and the error of a
/// model with this variance. Independent deviations add in quadrature.
#[must_use]
pub fn with_model_error([low, median, high]: [f64; 3], variance: f64) -> [f64; 2] {
    let wider = |bound: f64| libm::sqrt((bound - median) * (bound - median) + NORMAL_95 * NORMAL_95 * variance);
    [median - wider(low), median + wider(high)]
}

/// Bounds of the 90 % interval of weighted values, and between them their median; `None` without values.
///
/// Between the members with the ranks r and s of N is a further draw with the probability (s − r) / (N + 1), so that the
/// quantiles of the members themselves would be too narrow.
fn quantiles(values: &mut [(f64, f64)]) -> Option<[f64; 3]> {
    values.sort_by(|one, other| one.0.total_cmp(&other.0));
    let last = values.last()?.0;
    let total: f64 = values.iter().map(|(_, weight)| weight).sum();
    let squares: f64 = values.iter().map(|(_, weight)| weight * weight).sum();
    // Number of members of equal weight that would be as certain (Kish 1965).
    let count = total * total / squares;
    let low = (0.05 * (count + 1.0) - 1.0) / count;
    let high = 0.95 * (count + 1.0) / count;
    Some([low, 0.5, high].map(|level| {
        let level = level.clamp(1e-9, 1.0 - 1e-9);
        let mut below = 0.0;
        let found = values.iter().find(|(_, weight)| {
            below += weight;
            below >= level * total
        });
        found.map_or(last, |(value, _)| *value)
    }))
}

/// Observations that are far from what the best models predict.
fn unexplained(problem: &Problem<'_>, posterior: &Posterior, predicted: &[Vec<f64>]) -> Vec<String> {
    let means = crate::assimilate::means(predicted);
    let mut far: Vec<(f64, String)> = Vec::new();
    for (number, key) in problem.keys.iter().enumerate() {
        let deviations = (problem.observed[number] - means[number]) / libm::sqrt(posterior.errors.total[number]);
        if deviations.abs() >= FAR {
            let text = sentence(problem.schedule, key, problem.observed[number], means[number]);
            far.push((deviations.abs(), text));
        }
    }
    far.sort_by(|one, other| other.0.total_cmp(&one.0));
    far.into_iter().map(|(_, text)| text).collect()
}

fn sentence(schedule: &Schedule, key: &Key, observed: f64, predicted: f64) -> String {
    let unit = key.unit();
    format!(
        "{} in the phase \"{}\": measured {:.1} {unit}, modelled {:.1} {unit}",
        key.describe(schedule),
        schedule.phases[key.phase].describe(&schedule.stations),
        key.in_unit(observed),
        key.in_unit(predicted)
    )
}

/// The parts of the model that are not estimated.
fn assumptions(home: &Home) -> Vec<String> {
    let mut assumptions = vec![
        "Each access point has one radio in each band, and one of them is the router of the line.".to_owned(),
        "The line has the same delay in both directions, no policer and no loss. Its framing is Ethernet's.".to_owned(),
        "Hosts use CUBIC and the usual queues of Linux.".to_owned(),
        "The access point receives each station with the signal that the station receives.".to_owned(),
        "Scans, roaming and the router's forwarding rate have no effect.".to_owned(),
    ];
    let unknown: Vec<&str> = home
        .stations
        .iter()
        .filter(|station| !station.band.1)
        .map(|station| station.name.as_str())
        .collect();
    if !unknown.is_empty() {
        let used: Vec<&str> = home.bands().iter().map(|band| band.name()).collect();
        let (names, bands) = (unknown.join(", "), used.join(", "));
        assumptions.push(format!("{names} recorded no band, and count as stations of {bands}."));
    }
    assumptions
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_words_stay_in_their_comment() {
        let text = comment("a reason\nduration = \"1 h\"\r\u{85}\u{2028}x");
        assert_eq!(text.lines().count(), 1, "{text}");
        let file: toml::Table = text.parse().expect("a comment is valid TOML");
        assert!(file.is_empty(), "{file}");
    }

    #[test]
    fn the_error_of_a_model_widens_an_interval_in_quadrature() {
        // 1.645 deviations of 4 / 1.645 are 4. With 3 they are 5, and alone 4.
        let deviation = 4.0 / NORMAL_95;
        let [low, high] = with_model_error([7.0, 10.0, 10.0], deviation * deviation);
        assert!((low - 5.0).abs() < 1e-9 && (high - 14.0).abs() < 1e-9, "{low} {high}");
    }
}
