//! The inference: an ensemble of models for each queue discipline, updated by ES-MDA.
//!
//! 1. A first assimilation for all disciplines together. It uses what does not depend on the discipline: delays of the idle
//!    network, and goodputs and rates of single stations.
//! 2. Each discipline gets an ensemble with the same members. Two assimilations of all observations follow.
//! 3. Before the second one, simulations with several seeds give the variance of each observation by chance, and the
//!    disciplines that are far less likely than the best one are dropped. The others get their members.
//! 4. A last assimilation, and a last simulation, which gives the weights by a synthetic likelihood.
//! 5. All disciplines are simulated with the mean of the likeliest ensemble.
//! 6. Parameters that could be much larger, such as a queue that was never full, get a part of their prior again.

mod bounds;
mod challenge;

use crate::assimilate::{Observations, assimilate, log_likelihood, means, normal};
use crate::evidence::{Key, Observer, Quantity, goodput, worst};
use crate::home::{DISCIPLINES, Home, LINE_BYTES, NoComments, Parameter, Prior};
use crate::measurement::{Measurement, Part};
use crate::schedule::{MIN_PHASE, Phase, Schedule};
use netburn_medium::queue::QueueKind;
use netburn_scenario::{Document, Environment, Plan, ScenarioError};
use netburn_simulate::SimulateError;
use netburn_units::{Duration, RandomStream, Seed};
use netburn_workload::Direction;
use std::collections::BTreeSet;
use std::ops::ControlFlow;

/// Inflation of each assimilation: the inverses sum to 1. The first ones are small steps, because the model is far from
/// linear over the width of the priors (Emerick and Reynolds 2013, section 4).
const INFLATIONS: [f64; 4] = [28.0 / 3.0, 7.0, 4.0, 2.0];
/// Significance of correlations in each assimilation. First the ensemble must find the observations; at last it must not become
/// narrower than they justify.
const SIGNIFICANCES: [f64; 4] = [3.0, 3.0, 4.0, 6.0];
/// Assimilation before which the disciplines are compared.
const COMPARISON: usize = 2;
/// Discipline of the first assimilation.
const COMMON: QueueKind = QueueKind::FqCodel;
/// Members of the first ensemble, of which each discipline gets the first ones, as a multiple of theirs.
const COMMON_FACTOR: usize = 2;
/// Simulations with the same parameters, for the variance by chance.
const REPEATS: usize = 8;
/// A discipline is dropped if its logarithmic likelihood is this much below that of the best one.
const DROPPED: f64 = 50.0;
/// Disciplines that are kept at most.
const KEPT: usize = 3;
/// Relative error of the model: TCP and radios of real systems differ from the simulated ones by about this.
const GOODPUT_ERROR: f64 = 0.04;
const LATENCY_ERROR: f64 = 0.10;
/// The same without load.
const IDLE_LATENCY_ERROR: f64 = 0.04;
/// The same of the rates that rate control chooses.
const RATE_ERROR: f64 = 0.10;
/// Degrees of freedom of Student's t distribution.
const FREEDOM: f64 = 4.0;
/// Largest square of a difference that counts in a misfit: 5 standard deviations.
const FAREST: f64 = 25.0;
/// Divisor of all differences between disciplines: the covariance of some 20 models is itself uncertain.
const SAMPLED: f64 = 2.0;
/// Further divisor of differences between disciplines that hardly act.
const HIDDEN: f64 = 5.0;
/// Sum of downloads, as a share of the highest, below which the Wi-Fi and not the line is the bottleneck.
const BELOW_LINE: f64 = 0.85;
/// Standard deviations by chance before they are known.
const GOODPUT_CHANCE: f64 = 0.08;
const LATENCY_CHANCE: f64 = 0.20;
const RATE_CHANCE: f64 = 0.08;

/// Settings of a fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// Seed of all random numbers.
    pub seed: Seed,
    /// Members of each discipline's ensemble before the disciplines are compared; at least 4.
    pub pilot: usize,
    /// Members of all ensembles together after that; at least 4.
    pub members: usize,
    /// Length of the simulated part of each phase. Below [`MIN_PHASE`](crate::schedule::MIN_PHASE) it counts as that.
    pub length: Duration,
}

impl Settings {
    /// Most simulations of a fit. A fit that drops disciplines needs fewer in its last part.
    #[must_use]
    pub fn simulations(&self) -> usize {
        let (pilot, disciplines) = (self.pilot.max(4), DISCIPLINES.len());
        let last = self.members.max(KEPT * pilot);
        // The misfit of the printed model has repeats of its own.
        COMMON_FACTOR * pilot
            + COMPARISON * disciplines * pilot
            + 2 * last
            + 2 * REPEATS
            + challenge::SIMULATIONS
            + bounds::SIMULATIONS
    }
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            seed: Seed(1),
            pilot: 20,
            members: 60,
            length: Duration::from_millis(1_500),
        }
    }
}

/// Calls a function for each number below a count, and returns the results in this order. The calls are independent, so that
/// threads can share them.
pub type Map<'a> = dyn Fn(usize, &(dyn Fn(usize) -> Predicted + Sync)) -> Vec<Predicted> + 'a;

/// Predicted observations of one member.
pub type Predicted = Result<Vec<f64>, SimulationError>;

/// A model has no result. Unless the caller stopped the fit, this is a fault of this crate, because the parameters are inside
/// their ranges.
#[derive(Debug, thiserror::Error)]
pub enum SimulationError {
    /// The scenario of the model is invalid.
    #[error("the scenario of a model is invalid: {0}")]
    Scenario(#[from] ScenarioError),
    /// The simulator rejects the plan.
    #[error("cannot simulate a model: {0}")]
    Simulate(#[from] SimulateError),
    /// The caller stopped the fit: an answer of its [`Map`].
    #[error("the fit was stopped")]
    Stopped,
}

/// Input of the inference: the observations of the run, and how they are simulated.
pub(crate) struct Problem<'a> {
    pub(crate) home: &'a Home,
    pub(crate) schedule: &'a Schedule,
    pub(crate) keys: &'a [Key],
    pub(crate) observed: &'a [f64],
    pub(crate) parameters: &'a [Parameter],
    parts: Vec<SimulatedPart<'a>>,
    runs: &'a [Part],
}

/// A run of the measurement, as it is simulated.
struct SimulatedPart<'a> {
    schedule: Schedule,
    /// Its observations, with the numbers of its own phases.
    keys: Vec<Key>,
    change: &'a [(String, String)],
}

impl<'a> SimulatedPart<'a> {
    /// The phases of a run for which `is_used` is true, with those of `keys` that belong to them.
    fn new(part: &'a Part, keys: &[Key], is_used: &dyn Fn(&Phase) -> bool) -> Self {
        let phases = part.schedule.phases.iter().enumerate();
        let used: Vec<usize> = phases
            .filter(|(_, phase)| is_used(phase))
            .map(|(number, _)| number)
            .collect();
        let place = |phase: usize| {
            let own = phase.checked_sub(part.first_phase)?;
            used.iter().position(|number| *number == own)
        };
        let own = keys.iter().filter_map(|key| {
            Some(Key {
                phase: place(key.phase)?,
                ..*key
            })
        });
        SimulatedPart {
            keys: own.collect(),
            schedule: part.schedule.only(&used),
            change: &part.change,
        }
    }
}

/// An ensemble of models with one discipline.
#[derive(Debug, Clone)]
pub(crate) struct Group {
    pub(crate) discipline: QueueKind,
    /// Probability of the discipline, after all assimilations.
    pub(crate) weight: f64,
    /// Places of the parameters on the axes of their priors.
    pub(crate) members: Vec<Vec<f64>>,
    /// Predicted observations of each member.
    pub(crate) predicted: Vec<Vec<f64>>,
}

/// Result of the inference.
pub(crate) struct Posterior {
    pub(crate) groups: Vec<Group>,
    /// Error of each observation.
    pub(crate) errors: Errors,
    /// True for each parameter of which the run shows only a lower bound.
    pub(crate) open: Vec<bool>,
}

/// Variances of the observations.
#[derive(Debug, Clone)]
pub(crate) struct Errors {
    /// Error of the model and chance together.
    pub(crate) total: Vec<f64>,
    /// Chance, which differs from simulation to simulation.
    pub(crate) chance: Vec<f64>,
}

impl Errors {
    /// The errors of the model with this variance by chance, or a usual one.
    fn new(problem: &Problem<'_>, chance: Option<Vec<f64>>) -> Self {
        let chance = chance.unwrap_or_else(|| {
            let usual = problem.keys.iter().map(|key| match key.quantity {
                Quantity::Goodput(_) => GOODPUT_CHANCE * GOODPUT_CHANCE,
                Quantity::Latency(..) => LATENCY_CHANCE * LATENCY_CHANCE,
                Quantity::Rate(_) => RATE_CHANCE * RATE_CHANCE,
            });
            usual.collect()
        });
        let keys = problem.keys.iter().zip(&chance);
        let total = keys.map(|(key, chance)| model_variance(key, problem.schedule) + chance);
        Errors {
            total: total.collect(),
            chance,
        }
    }

    /// The same errors, larger where all groups are far from an observation. TCP sometimes takes seconds to recover from one loss,
    /// so that a few observations are far from all models, although these are right. This is the likelihood of Student's t
    /// distribution, as the normal one with the variance that the distance suggests (Lange, Little and Taylor 1989).
    fn robust(&self, problem: &Problem<'_>, groups: &[Group]) -> Self {
        let moments: Vec<Vec<(f64, f64)>> = groups.iter().map(|group| moments(&group.predicted)).collect();
        let factor = |number: usize| {
            let of_group = |moments: &Vec<(f64, f64)>| {
                let (mean, variance) = moments[number];
                let difference = problem.observed[number] - mean;
                difference * difference / (variance + self.total[number])
            };
            let nearest = moments.iter().map(of_group).fold(f64::INFINITY, f64::min);
            ((FREEDOM + nearest) / (FREEDOM + 1.0)).max(1.0)
        };
        let both = self.total.iter().zip(&self.chance).enumerate();
        let (total, chance) = both
            .map(|(number, (total, chance))| (total * factor(number), *chance))
            .unzip();
        Errors { total, chance }
    }

    /// Error of the model only.
    fn of_model(&self) -> Vec<f64> {
        let both = self.total.iter().zip(&self.chance);
        both.map(|(total, chance)| total - chance).collect()
    }
}

impl Posterior {
    /// The ensemble of the likeliest discipline.
    pub(crate) fn best(&self) -> &Group {
        let best = self
            .groups
            .iter()
            .max_by(|one, other| one.weight.total_cmp(&other.weight));
        best.expect("there is a discipline")
    }
}

/// Infers the parameters.
pub(crate) fn infer(problem: &Problem<'_>, settings: &Settings, map: &Map<'_>) -> Result<Posterior, SimulationError> {
    let mut random = settings.seed.stream("fit", 0);
    let common = common_members(problem, settings, &mut random, map)?;
    let group = |discipline| Group {
        discipline,
        weight: 1.0 / DISCIPLINES.len() as f64,
        members: common.clone(),
        predicted: Vec::new(),
    };
    let mut groups: Vec<Group> = DISCIPLINES.into_iter().map(group).collect();
    let mut errors = Errors::new(problem, None);
    for stage in 1..INFLATIONS.len() {
        problem.simulate(&mut groups, settings, stage, map)?;
        if stage == COMPARISON {
            errors = Errors::new(problem, Some(problem.chance(&groups, settings, map)?));
            keep_likely(problem, &mut groups, &errors);
        }
        for group in &mut groups {
            let robust = errors.robust(problem, std::slice::from_ref(group));
            problem.assimilate(group, &robust, stage, &mut random);
        }
        if stage == COMPARISON {
            let count = (settings.members / groups.len()).max(settings.pilot);
            groups
                .iter_mut()
                .for_each(|group| enlarge(&mut group.members, count, &mut random));
        }
    }
    problem.simulate(&mut groups, settings, INFLATIONS.len(), map)?;
    let robust = errors.robust(problem, &groups);
    weigh(problem, &mut groups, &robust);
    challenge::challenge(problem, &mut groups, &errors.total, settings, map)?;
    let mut posterior = Posterior {
        groups,
        errors,
        open: Vec::new(),
    };
    posterior.open = bounds::open(problem, &posterior, settings, map)?;
    bounds::widen(problem, &mut posterior.groups, &posterior.open, &mut random);
    Ok(posterior)
}

/// True for observations of the first assimilation: the discipline hardly acts on them.
fn is_common(key: &Key, schedule: &Schedule) -> bool {
    let phase = &schedule.phases[key.phase];
    match key.quantity {
        Quantity::Goodput(_) => phase.flows.len() == 1,
        Quantity::Latency(..) => phase.flows.is_empty(),
        Quantity::Rate(_) => true,
    }
}

/// Members of the first ensembles: samples of the priors after the first assimilation.
fn common_members(
    problem: &Problem<'_>,
    settings: &Settings,
    random: &mut RandomStream,
    map: &Map<'_>,
) -> Result<Vec<Vec<f64>>, SimulationError> {
    let is_alone = |phase: &Phase| phase.flows.len() < 2;
    // Without load of a single station, there is nothing to simulate.
    let usable: Vec<&Part> = problem
        .runs
        .iter()
        .filter(|part| {
            part.schedule
                .phases
                .iter()
                .any(|phase| phase.flows.len() == 1 && phase.length >= MIN_PHASE)
        })
        .collect();
    let is_usable = |phase: usize| {
        let mut usable = usable.iter();
        usable.any(|part| (part.first_phase..part.first_phase + part.schedule.phases.len()).contains(&phase))
    };
    let observations = problem.keys.iter().zip(problem.observed);
    let used = |key: &Key| {
        is_common(key, problem.schedule) && is_alone(&problem.schedule.phases[key.phase]) && is_usable(key.phase)
    };
    let (keys, observed): (Vec<Key>, Vec<f64>) = observations.filter(|(key, _)| used(key)).unzip();
    let mut group = Group {
        discipline: COMMON,
        weight: 1.0,
        members: prior_members(problem, settings),
        predicted: Vec::new(),
    };
    if !keys.is_empty() {
        let simulated = usable.iter().map(|part| SimulatedPart::new(part, &keys, &is_alone));
        let common = Problem {
            keys: &keys,
            observed: &observed,
            parts: simulated.collect(),
            ..*problem
        };
        common.simulate(std::slice::from_mut(&mut group), settings, 0, map)?;
        common.assimilate(&mut group, &Errors::new(&common, None), 0, random);
    }
    group.members.truncate(settings.pilot.max(4));
    Ok(group.members)
}

/// Members of the first ensemble, from the priors.
fn prior_members(problem: &Problem<'_>, settings: &Settings) -> Vec<Vec<f64>> {
    let priors: Vec<Prior> = problem.parameters.iter().map(|one| one.prior(problem.home)).collect();
    let mut random = settings.seed.stream("prior", 0);
    let mut member = || {
        let place = |prior: &Prior| prior.mean + prior.deviation * normal(&mut random);
        priors.iter().map(place).collect()
    };
    (0..settings.pilot.max(4) * COMMON_FACTOR).map(|_| member()).collect()
}

/// Variance of an observation by the error of the model, on the axis of the fit.
#[must_use]
pub fn model_variance(key: &Key, schedule: &Schedule) -> f64 {
    let error = match key.quantity {
        Quantity::Goodput(_) => GOODPUT_ERROR,
        Quantity::Rate(_) => RATE_ERROR,
        Quantity::Latency(..) if schedule.phases[key.phase].flows.is_empty() => IDLE_LATENCY_ERROR,
        Quantity::Latency(..) => LATENCY_ERROR,
    };
    error * error
}

impl<'a> Problem<'a> {
    /// The problem of a measurement, whose home has these parameters.
    pub(crate) fn new(measurement: &'a Measurement, parameters: &'a [Parameter]) -> Self {
        Problem {
            home: &measurement.home,
            schedule: &measurement.schedule,
            keys: &measurement.keys,
            observed: &measurement.values,
            parameters,
            runs: &measurement.parts,
            parts: measurement
                .parts
                .iter()
                .map(|part| SimulatedPart::new(part, &measurement.keys, &|_| true))
                .collect(),
        }
    }
}

impl Problem<'_> {
    /// Simulates all members of all groups.
    fn simulate(
        &self,
        groups: &mut [Group],
        settings: &Settings,
        stage: usize,
        map: &Map<'_>,
    ) -> Result<(), SimulationError> {
        let members: Vec<(QueueKind, &[f64])> = groups
            .iter()
            .flat_map(|group| group.members.iter().map(|member| (group.discipline, member.as_slice())))
            .collect();
        // Members with the same number have the same seed in all groups: chance differs less between disciplines.
        let numbers = groups.iter().flat_map(|group| 0..group.members.len() as u64);
        let seed = |number: u64| {
            settings
                .seed
                .stream("simulation", (stage as u64) << 32 | number)
                .next_u64()
                >> 11
        };
        let seeds: Vec<Seed> = numbers.map(|number| Seed(seed(number))).collect();
        let results = map(members.len(), &|number| {
            let (discipline, places) = members[number];
            self.predict(discipline, places, seeds[number], settings.length)
        });
        let mut results = results.into_iter();
        for group in groups {
            group.predicted = results.by_ref().take(group.members.len()).collect::<Result<_, _>>()?;
        }
        Ok(())
    }

    /// Variances by chance at the mean of the ensemble that fits best.
    fn chance(&self, groups: &[Group], settings: &Settings, map: &Map<'_>) -> Result<Vec<f64>, SimulationError> {
        let misfit = |group: &Group| {
            let mean = means(&group.predicted);
            let squares = mean
                .iter()
                .zip(self.observed)
                .map(|(one, other)| (one - other) * (one - other));
            squares.sum::<f64>()
        };
        let best = groups.iter().min_by(|one, other| misfit(one).total_cmp(&misfit(other)));
        let best = best.expect("there is a discipline");
        let results = self.repeats(best.discipline, &means(&best.members), settings, map)?;
        let own: Vec<f64> = moments(&results).into_iter().map(|(_, variance)| variance).collect();
        // Few repeats give a variance that is often much too small. So each counts with the mean of its kind, as if this were
        // known from half as many repeats.
        let kind = |key: &Key| (key.quantity, self.schedule.phases[key.phase].flows.is_empty());
        let pooled = |observation: usize| {
            let same = self.keys.iter().zip(&own);
            let same = same.filter(|(key, _)| kind(key) == kind(&self.keys[observation]));
            let (count, sum) = same.fold((0.0, 0.0), |(count, sum), (_, own)| (count + 1.0, sum + own));
            (2.0 * own[observation] + sum / count) / 3.0
        };
        Ok((0..own.len()).map(pooled).collect())
    }

    /// Observations of several simulations of one model, with different seeds.
    pub(crate) fn repeats(
        &self,
        discipline: QueueKind,
        places: &[f64],
        settings: &Settings,
        map: &Map<'_>,
    ) -> Result<Vec<Vec<f64>>, SimulationError> {
        let mut seeds = settings.seed.stream("repeats", 0);
        let seeds: Vec<Seed> = (0..REPEATS).map(|_| Seed(seeds.next_u64() >> 11)).collect();
        let results = map(REPEATS, &|number| {
            self.predict(discipline, places, seeds[number], settings.length)
        });
        results.into_iter().collect()
    }

    fn assimilate(&self, group: &mut Group, errors: &Errors, stage: usize, random: &mut RandomStream) {
        let acts = |parameter: usize, observation: usize| {
            let parameter = self.parameters[parameter];
            let key = parameter.key(self.home);
            let run = self.run_of(self.keys[observation].phase);
            // A change replaces the parameter in its run.
            let is_replaced = run.change.iter().any(|(changed, _)| *changed == key);
            !is_replaced
                && parameter.exists_with(group.discipline)
                && parameter.acts_on(&self.keys[observation], self.home, self.schedule)
        };
        // The inverses of the factors of an observation sum to 1 over the assimilations that use it.
        let later = 1.0 - 1.0 / INFLATIONS[0];
        let factor = |key: &Key| if is_common(key, self.schedule) { 1.0 } else { later };
        let inflations: Vec<f64> = self.keys.iter().map(|key| INFLATIONS[stage] * factor(key)).collect();
        let observations = Observations {
            values: self.observed,
            variances: &errors.total,
            chance: &errors.chance,
            inflations: &inflations,
            significance: SIGNIFICANCES[stage],
            acts: &acts,
        };
        assimilate(&mut group.members, &group.predicted, &observations, random);
    }

    /// True if several stations together filled the queue of the access point, as far as the run shows.
    fn shows_discipline(&self) -> bool {
        let home = self.home;
        let down = Direction::Down as usize;
        let Some(highest) = home.highest[down].filter(|_| home.line[down].is_full()) else {
            return true;
        };
        let phases = self.schedule.phases.iter().enumerate();
        let unchanged = phases.filter(|(number, _)| self.run_of(*number).change.is_empty());
        let mut shared = unchanged.filter(|(_, phase)| phase.loaders(Direction::Down) > 1);
        shared.any(|(number, _)| {
            let values = self.keys.iter().zip(self.observed.iter().copied());
            goodput(values, number, Direction::Down) * LINE_BYTES < BELOW_LINE * highest
        })
    }

    /// The run with this phase.
    fn run_of(&self, phase: usize) -> &Part {
        let run = self.runs.iter().rfind(|run| run.first_phase <= phase);
        run.expect("the first run begins with the first phase")
    }

    /// Observations that a simulation of the model gives.
    fn predict(&self, discipline: QueueKind, places: &[f64], seed: Seed, length: Duration) -> Predicted {
        let value = |parameter: Parameter| self.value(parameter, places);
        let mut all = Vec::with_capacity(self.keys.len());
        for (number, part) in (0..).zip(&self.parts) {
            let length = part.schedule.used_length(length);
            let schedule = part.schedule.shortened(length);
            let text = self.home.scenario(&value, discipline, &schedule, &NoComments);
            let mut plan = plan(&text, part.change)?;
            plan.seed = seed.repeat(number);
            all.extend(simulated(&plan, &part.keys, length)?);
        }
        Ok(all)
    }

    /// Value of a parameter in its unit.
    pub(crate) fn value(&self, parameter: Parameter, places: &[f64]) -> f64 {
        let number = self.parameters.iter().position(|one| *one == parameter);
        let number = number.expect("the table has all parameters");
        parameter.prior(self.home).value(places[number])
    }
}

fn plan(text: &str, change: &[(String, String)]) -> Result<Plan, SimulationError> {
    let mut document = Document::from_toml("model.toml", text)?;
    for (key, value) in change {
        document.set(key, value)?;
    }
    Ok(document.resolve_for(Environment::Simulate)?.0)
}

/// Simulates a plan with the workloads of a schedule, and returns these observations on the axes of the fit.
///
/// # Errors
/// The simulator rejects the plan.
///
/// # Panics
/// The plan has other workloads.
pub fn simulated(plan: &Plan, keys: &[Key], length: Duration) -> Predicted {
    let schedule = Schedule::of_plan(plan).expect("the model has the workloads of a schedule");
    let mut observer = Observer::new(&schedule, length);
    netburn_simulate::run(plan, |_, rows| {
        rows.iter().for_each(|row| observer.put(row, |_, at| at));
        ControlFlow::Continue(())
    })?;
    let values = keys.iter().zip(observer.finish(keys));
    Ok(values.map(|(key, value)| value.unwrap_or_else(|| worst(key))).collect())
}

/// Sets the weights of the groups by their synthetic likelihood.
///
/// Up to four divisors make the differences smaller. The first one is that of small ensembles. The observations of one station in
/// one phase count as one, because the queue that they measure is the same. If even the best group fits worse than the variances
/// allow, its mean square is the third divisor. The last one applies if the line was the bottleneck whenever several stations downloaded: then the differences are
/// mostly by chance.
fn weigh(problem: &Problem<'_>, groups: &mut [Group], errors: &Errors) {
    // The covariance of the predictions contains chance already.
    let of_model = errors.of_model();
    let likelihoods: Vec<f64> = groups
        .iter()
        .map(|group| log_likelihood(&group.predicted, problem.observed, &of_model))
        .collect();
    let spread = groups
        .iter()
        .map(|group| misfit(problem, &group.predicted, &errors.total))
        .fold(f64::INFINITY, f64::min);
    let units: BTreeSet<(usize, usize)> = problem.keys.iter().map(|key| (key.phase, key.station)).collect();
    let repeated = problem.keys.len() as f64 / units.len() as f64;
    let hidden = if problem.shows_discipline() { 1.0 } else { HIDDEN };
    let best = likelihoods.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = likelihoods
        .iter()
        .map(|one| libm::exp((one - best) / (SAMPLED * spread.max(1.0) * repeated * hidden)))
        .collect();
    let sum: f64 = weights.iter().sum();
    groups
        .iter_mut()
        .zip(&weights)
        .for_each(|(group, weight)| group.weight = weight / sum);
}

/// Mean and variance of each column.
fn moments(rows: &[Vec<f64>]) -> Vec<(f64, f64)> {
    let mean = means(rows);
    let variance = |column: usize| {
        let squares = rows.iter().map(|row| row[column] - mean[column]).map(|d| d * d);
        squares.sum::<f64>() / (rows.len() - 1) as f64
    };
    (0..mean.len()).map(|column| (mean[column], variance(column))).collect()
}

/// Mean square of the differences between the observations and the means of predictions, in standard deviations. One
/// observation counts with at most the square [`FAREST`].
pub(crate) fn misfit(problem: &Problem<'_>, predicted: &[Vec<f64>], variances: &[f64]) -> f64 {
    let mean = means(predicted);
    let values = mean.iter().zip(problem.observed).zip(variances);
    let squares = values.map(|((one, other), variance)| ((one - other) * (one - other) / variance).min(FAREST));
    squares.sum::<f64>() / mean.len() as f64
}

/// Negative logarithmic likelihood of predictions, up to a constant. The observations of one station in one phase count as one, because
/// they depend on the same queue.
fn loss(problem: &Problem<'_>, predicted: &[Vec<f64>], variances: &[f64]) -> f64 {
    let units: BTreeSet<(usize, usize)> = problem.keys.iter().map(|key| (key.phase, key.station)).collect();
    misfit(problem, predicted, variances) * units.len() as f64 / 2.0
}

/// Keeps the disciplines that can be as likely as the best one. The likelihood has the covariance of the ensemble, so a wide one
/// that is still on its way to the observations is kept.
fn keep_likely(problem: &Problem<'_>, groups: &mut Vec<Group>, errors: &Errors) {
    let of_model = errors.of_model();
    let likelihood = |group: &Group| log_likelihood(&group.predicted, problem.observed, &of_model);
    let mut scored: Vec<(f64, Group)> = groups.drain(..).map(|group| (likelihood(&group), group)).collect();
    scored.sort_by(|one, other| other.0.total_cmp(&one.0));
    let best = scored[0].0;
    scored.retain(|(likelihood, _)| best - likelihood <= DROPPED);
    scored.truncate(KEPT);
    groups.extend(scored.into_iter().map(|(_, group)| group));
}

/// Adds members until there are `count`. They have the mean and the covariance of the present ones.
fn enlarge(members: &mut Vec<Vec<f64>>, count: usize, random: &mut RandomStream) {
    let present = members.len();
    let mean = means(members);
    let scale = libm::sqrt((present - 1) as f64);
    while members.len() < count {
        let mut new = mean.clone();
        for member in &members[..present] {
            let factor = normal(random) / scale;
            new.iter_mut()
                .zip(member)
                .zip(&mean)
                .for_each(|((value, own), mean)| *value += factor * (own - mean));
        }
        members.push(new);
    }
}
