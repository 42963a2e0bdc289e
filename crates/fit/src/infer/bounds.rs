//! Parameters of which a run shows only a lower bound.
//!
//! A queue that the load did not fill, and a line that it did not use, act no more when they are larger. An assimilation
//! knows linear correlations only, so it makes the ensemble narrow around the values that already fit. Here the mean of an
//! ensemble is simulated again with a much larger value of one such parameter. If it is as likely, the run says nothing about
//! larger values, and the members get values of the prior above the lower bound.

use super::{Group, Map, Posterior, Problem, Settings, SimulationError, loss};
use crate::assimilate::{NORMAL_95, means, normal};
use crate::home::Parameter;
use netburn_medium::queue::QueueKind;
use netburn_units::{RandomStream, Seed};

/// Difference of the logarithmic likelihood up to which a value is as likely as another one: half of 3.84, the 95th percentile
/// of the chi-squared distribution with one degree of freedom (Wilks 1938).
const AS_LIKELY: f64 = 1.92;
/// Simulations of each value.
const RUNS: usize = 4;
/// Most models: the means of two ensembles, and larger rates and queues of the line, and a larger queue limit.
const MAX_MODELS: usize = 7;
/// Draws until one is above the lower bound.
const ATTEMPTS: usize = 1_000;

/// Most simulations of [`open`].
pub(super) const SIMULATIONS: usize = RUNS * MAX_MODELS;

/// A model that is simulated.
struct Tested {
    discipline: QueueKind,
    places: Vec<f64>,
    /// Parameter that is larger than the mean of its ensemble; `None` for the mean itself.
    larger: Option<usize>,
}

/// True for each parameter of which the run shows only a lower bound.
pub(super) fn open(
    problem: &Problem<'_>,
    posterior: &Posterior,
    settings: &Settings,
    map: &Map<'_>,
) -> Result<Vec<bool>, SimulationError> {
    let tested = tested(problem, posterior);
    let mut seeds = settings.seed.stream("bounds", 0);
    let seeds: Vec<Seed> = (0..RUNS).map(|_| Seed(seeds.next_u64() >> 11)).collect();
    let results = map(tested.len() * RUNS, &|number| {
        let model = &tested[number / RUNS];
        problem.predict(model.discipline, &model.places, seeds[number % RUNS], settings.length)
    });
    let results: Vec<Vec<f64>> = results.into_iter().collect::<Result<_, _>>()?;
    let loss = |runs: &[Vec<f64>]| loss(problem, runs, &posterior.errors.total);
    let mut open = vec![false; problem.parameters.len()];
    let mut of_mean = f64::INFINITY;
    for (model, runs) in tested.iter().zip(results.chunks(RUNS)) {
        match model.larger {
            None => of_mean = loss(runs),
            Some(number) => open[number] = loss(runs) - of_mean <= AS_LIKELY,
        }
    }
    Ok(open)
}

/// The mean of the likeliest ensemble with each parameter that can be open, and that ensemble itself before its changes.
fn tested(problem: &Problem<'_>, posterior: &Posterior) -> Vec<Tested> {
    let mut groups: Vec<&Group> = posterior.groups.iter().collect();
    groups.sort_by(|one, other| other.weight.total_cmp(&one.weight));
    let mut left: Vec<usize> = (0..problem.parameters.len())
        .filter(|number| can_be_open(problem.parameters[*number], problem))
        .collect();
    let mut tested = Vec::new();
    for group in groups {
        let (own, other): (Vec<usize>, Vec<usize>) = left
            .into_iter()
            .partition(|number| problem.parameters[*number].exists_with(group.discipline));
        left = other;
        if own.is_empty() {
            continue;
        }
        let mean = means(&group.members);
        let larger = own.into_iter().map(|number| {
            let prior = problem.parameters[number].prior(problem.home);
            let mut places = mean.clone();
            places[number] = places[number].max(prior.mean) + NORMAL_95 * prior.deviation;
            (places, Some(number))
        });
        let models = std::iter::once((mean.clone(), None)).chain(larger);
        tested.extend(models.map(|(places, larger)| Tested {
            discipline: group.discipline,
            places,
            larger,
        }));
    }
    tested
}

/// True for a parameter that can be too large to act.
fn can_be_open(parameter: Parameter, problem: &Problem<'_>) -> bool {
    match parameter {
        Parameter::Line(direction) => !problem.home.line[direction as usize].is_full(),
        Parameter::LineQueue(_) | Parameter::QueueLimit => true,
        Parameter::ServerDelay
        | Parameter::LineDelay
        | Parameter::Busy(_)
        | Parameter::Signal(_)
        | Parameter::Backhaul(_)
        | Parameter::AdapterRate(..)
        | Parameter::AdapterDelay(_)
        | Parameter::DozeTimeout(_) => false,
    }
}

/// Gives the members of all groups values of the prior above the lower bound, for each open parameter. The bound is the
/// smallest value of any member, because the ensemble may be narrow for no reason.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::houses::House;
    use crate::measurement::Measurement;
    use netburn_workload::Direction;

    fn group(discipline: QueueKind, members: Vec<Vec<f64>>) -> Group {
        Group {
            discipline,
            weight: 1.0,
            members,
            predicted: Vec::new(),
        }
    }

    /// Members of an open parameter are above the smallest one, with the distribution of the prior. All others stay.
    #[test]
    fn open_parameters_get_the_prior_above_the_lower_bound() {
        let run = House::random(Seed(5), 2).measure(Seed(1)).expect("the house is valid");
        let measurement = Measurement::of_run(&run, Settings::default().length).expect("it is a measurement");
        let parameters = measurement.home.parameters();
        let problem = Problem::new(&measurement, &parameters);
        let number = |parameter| measurement.home.number_of(parameter).expect("the model has it");
        let queue = number(Parameter::LineQueue(Direction::Up));
        let limit = number(Parameter::QueueLimit);
        let prior = parameters[queue].prior(&measurement.home);
        // Narrow around a value above the median of the prior: the smallest member is the median.
        let member = |step: u32| {
            let mut places = vec![0.0; parameters.len()];
            places[queue] = prior.mean + f64::from(step) * 1e-4;
            places
        };
        let members: Vec<Vec<f64>> = (0..400).map(member).collect();
        let mut groups = [
            group(QueueKind::Fifo, members.clone()),
            group(QueueKind::FqCodel, members),
        ];
        let mut open = vec![false; parameters.len()];
        (open[queue], open[limit]) = (true, true);
        let mut random = Seed(1).stream("test", 0);
        widen(&problem, &mut groups, &open, &mut random);
        for group in &groups {
            for member in &group.members {
                assert!(member[queue] >= prior.mean);
                let others = member
                    .iter()
                    .enumerate()
                    .filter(|(own, _)| ![queue, limit].contains(own));
                assert!(others.map(|(_, place)| *place).all(|place| place == 0.0));
                // FQ-CoDel has no limit that acts.
                assert!(member[limit] == 0.0 || group.discipline == QueueKind::Fifo);
            }
            // Half of the positive half of a normal distribution is within 0.674 deviations: 200 of 400, plus or minus 40.
            let near = group
                .members
                .iter()
                .filter(|member| member[queue] < prior.mean + 0.674 * prior.deviation);
            let near = near.count();
            assert!((160..=240).contains(&near), "{near}");
        }
    }
}
