//! Parameters of which a run shows only a lower bound.
//!
//! A queue that the load did not fill, and a line that it did not use, act no more when they are larger. An assimilation
//! knows linear correlations only, so it makes the ensemble narrow around the values that already fit. Here the likeliest model
//! is simulated again with a much larger value of each such parameter. If it is as likely, the run says nothing about larger
//! values, and the members get values of the prior above the lower bound.

use super::{Group, Map, Posterior, Problem, Settings, SimulationError, misfit};
use crate::assimilate::{NORMAL_95, means, normal};
use crate::home::Parameter;
use netburn_units::{RandomStream, Seed};
use std::collections::BTreeSet;

/// Difference of the logarithmic likelihood up to which a value is as likely as another one: half of the 95th percentile of
/// the chi-squared distribution with one degree of freedom (Wilks 1938).
const AS_LIKELY: f64 = 1.92;
/// Simulations of each value.
const RUNS: usize = 4;
/// Most parameters of a model that can have a lower bound only: both rates and queues of the line, and the queue limit.
const MAX_OPEN: usize = 5;
/// Draws until one is above the lower bound.
const ATTEMPTS: usize = 1_000;

/// Most simulations of [`open`].
pub(super) const SIMULATIONS: usize = RUNS * (1 + MAX_OPEN);

/// True for each parameter of which the run shows only a lower bound.
pub(super) fn open(
    problem: &Problem<'_>,
    posterior: &Posterior,
    settings: &Settings,
    map: &Map<'_>,
) -> Result<Vec<bool>, SimulationError> {
    let best = posterior.best();
    let places = means(&best.members);
    let parameters = problem.parameters.iter().enumerate();
    let tested: Vec<usize> = parameters
        .filter(|(_, parameter)| can_be_open(**parameter, problem) && parameter.exists_with(best.discipline))
        .map(|(number, _)| number)
        .collect();
    let larger = |number: usize| {
        let prior = problem.parameters[number].prior(problem.home);
        let mut places = places.clone();
        places[number] = places[number].max(prior.mean + NORMAL_95 * prior.deviation);
        places
    };
    let models: Vec<Vec<f64>> = std::iter::once(places.clone())
        .chain(tested.iter().map(|number| larger(*number)))
        .collect();
    let mut seeds = settings.seed.stream("bounds", 0);
    let seeds: Vec<Seed> = (0..RUNS).map(|_| Seed(seeds.next_u64() >> 11)).collect();
    let results = map(models.len() * RUNS, &|number| {
        let (model, run) = (&models[number / RUNS], number % RUNS);
        problem.predict(best.discipline, model, seeds[run], settings.length)
    });
    let results: Vec<Vec<f64>> = results.into_iter().collect::<Result<_, _>>()?;
    // The observations of one station in one phase count as one, as for the weights of the disciplines.
    let units: BTreeSet<(usize, usize)> = problem.keys.iter().map(|key| (key.phase, key.station)).collect();
    let loss = |runs: &[Vec<f64>]| misfit(problem, runs, &posterior.errors.total) * units.len() as f64 / 2.0;
    let losses: Vec<f64> = results.chunks(RUNS).map(loss).collect();
    let mut open = vec![false; problem.parameters.len()];
    for (number, own) in tested.iter().zip(&losses[1..]) {
        open[*number] = own - losses[0] <= AS_LIKELY;
    }
    Ok(open)
}

/// True for a parameter that can be too large to act.
fn can_be_open(parameter: Parameter, problem: &Problem<'_>) -> bool {
    match parameter {
        Parameter::Line(direction) => problem.home.line_full[direction as usize] != Some(true),
        Parameter::LineQueue(_) | Parameter::QueueLimit => true,
        Parameter::ServerDelay | Parameter::LineDelay | Parameter::Busy | Parameter::Signal(_) => false,
    }
}

/// Gives the members of all groups values of the prior above the lower bound, for each open parameter. The bound is the
/// smallest value of any member, because the ensemble may have been made narrow in vain.
pub(super) fn widen(problem: &Problem<'_>, groups: &mut [Group], open: &[bool], random: &mut RandomStream) {
    for (number, parameter) in problem
        .parameters
        .iter()
        .enumerate()
        .filter(|(number, _)| open[*number])
    {
        let prior = parameter.prior(problem.home);
        let with = groups
            .iter_mut()
            .filter(|group| parameter.exists_with(group.discipline));
        let mut members: Vec<&mut Vec<f64>> = with.flat_map(|group| &mut group.members).collect();
        let bound = members
            .iter()
            .map(|member| member[number])
            .fold(f64::INFINITY, f64::min);
        for member in &mut members {
            let mut draws = (0..ATTEMPTS).map(|_| prior.mean + prior.deviation * normal(random));
            // A bound far above the prior is hardly ever exceeded: then the member keeps its value.
            if let Some(place) = draws.find(|place| *place >= bound) {
                member[number] = place;
            }
        }
    }
}
