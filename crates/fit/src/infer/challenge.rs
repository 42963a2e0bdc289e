//! All disciplines with the parameters of the likeliest ensemble.
//!
//! A discipline is dropped, or gets a small weight, if its ensemble fits worse than the best one. That can be because the ensemble
//! did not find the right parameters, and not because of the discipline. So each discipline is simulated with the mean of the likeliest ensemble.
//! If it explains the run as well, then it gets a weight for that, and the run does not identify the discipline.

use super::{Group, Map, Problem, SAMPLED, Settings, SimulationError, loss};
use crate::assimilate::means;
use crate::home::DISCIPLINES;
use netburn_units::Seed;

/// Simulations of each discipline.
const RUNS: usize = 4;
/// Simulations of [`challenge`].
pub(super) const SIMULATIONS: usize = RUNS * DISCIPLINES.len();
/// Weight, as a share of that of the likeliest discipline, below which a discipline gets none.
const NEGLIGIBLE: f64 = 0.02;
/// Bound of the exponent, so that weights are finite.
const MAX_EXPONENT: f64 = 50.0;

/// Gives each discipline at least the weight that it has with the parameters of the likeliest one.
pub(super) fn challenge(
    problem: &Problem<'_>,
    groups: &mut Vec<Group>,
    variances: &[f64],
    settings: &Settings,
    map: &Map<'_>,
) -> Result<(), SimulationError> {
    let likeliest = groups.iter().max_by(|one, other| one.weight.total_cmp(&other.weight));
    let best = likeliest.expect("there is a discipline").clone();
    let mean = means(&best.members);
    let mut seeds = settings.seed.stream("challenge", 0);
    let seeds: Vec<Seed> = (0..RUNS).map(|_| Seed(seeds.next_u64() >> 11)).collect();
    let results = map(SIMULATIONS, &|number| {
        // The disciplines have the same seeds, so that chance differs less between them.
        problem.predict(DISCIPLINES[number / RUNS], &mean, seeds[number % RUNS], settings.length)
    });
    let results: Vec<Vec<f64>> = results.into_iter().collect::<Result<_, _>>()?;
    let losses: Vec<f64> = results
        .chunks(RUNS)
        .map(|runs| loss(problem, runs, variances))
        .collect();
    let own = DISCIPLINES
        .iter()
        .zip(&losses)
        .find(|(kind, _)| **kind == best.discipline);
    let (_, own) = own.expect("the table has all disciplines");
    for (discipline, lost) in DISCIPLINES.into_iter().zip(&losses) {
        let share = libm::exp(((own - lost) / SAMPLED).min(MAX_EXPONENT));
        let weight = best.weight * share;
        let known = groups.iter().position(|group| group.discipline == discipline);
        if discipline == best.discipline || share < NEGLIGIBLE || known.is_some_and(|at| groups[at].weight >= weight) {
            continue;
        }
        let challenger = Group {
            discipline,
            weight,
            ..best.clone()
        };
        match known {
            Some(at) => groups[at] = challenger,
            None => groups.push(challenger),
        }
    }
    let sum: f64 = groups.iter().map(|group| group.weight).sum();
    groups.iter_mut().for_each(|group| group.weight /= sum);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::home::Parameter;
    use crate::houses::House;
    use crate::infer::{Errors, Predicted};
    use crate::measurement::Measurement;
    use netburn_medium::queue::QueueKind;
    use netburn_workload::Direction;

    fn in_order(count: usize, work: &(dyn Fn(usize) -> Predicted + Sync)) -> Vec<Predicted> {
        (0..count).map(work).collect()
    }

    /// The measured values are those of a model with one FIFO. Only a group with another discipline is left, with the same parameters.
    #[test]
    fn a_discipline_that_was_dropped_comes_back_if_it_explains_the_run() {
        let mut house = House::random(Seed(5), 2);
        // The Wi-Fi is the bottleneck, so that the discipline acts.
        house.set(Parameter::Line(Direction::Down), 900.0);
        house.set(Parameter::Line(Direction::Up), 900.0);
        for direction in [Direction::Down, Direction::Up] {
            house.set(Parameter::LineQueue(direction), 8_192.0);
        }
        let run = house.measure(Seed(1)).expect("the house is valid");
        let settings = Settings::default();
        let mut measurement = Measurement::of_run(&run, settings.length).expect("it is a measurement");
        let parameters = measurement.home.parameters();
        let priors = parameters.iter().map(|one| one.prior(&measurement.home).mean);
        let mean: Vec<f64> = priors.collect();
        let problem = Problem::new(&measurement, &parameters);
        let of_fifo = problem.predict(QueueKind::Fifo, &mean, Seed(77), settings.length);
        measurement.values = of_fifo.expect("the model can be simulated");
        let problem = Problem::new(&measurement, &parameters);
        let errors = Errors::new(&problem, None);
        let likeliest = |discipline: QueueKind| {
            let alone = Group {
                discipline,
                weight: 1.0,
                members: vec![mean.clone(); 4],
                predicted: Vec::new(),
            };
            let mut groups = vec![alone];
            challenge(&problem, &mut groups, &errors.total, &settings, &in_order).expect("the models can be simulated");
            let sum: f64 = groups.iter().map(|group| group.weight).sum();
            assert!((sum - 1.0).abs() < 1e-9, "{sum}");
            let likeliest = groups.iter().max_by(|one, other| one.weight.total_cmp(&other.weight));
            likeliest.map(|group| group.discipline)
        };
        for only in DISCIPLINES {
            assert_eq!(likeliest(only), Some(QueueKind::Fifo), "only {only:?} was left");
        }
    }
}
