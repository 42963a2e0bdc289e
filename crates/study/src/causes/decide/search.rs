//! The search: simulations without sets of factors, and what they show for each missed workload.

use super::shorten::shorter;
use super::*;

/// Factors that are taken away together, by number, in order.
type Set = Vec<usize>;

/// Maximum number of partners that are tried with the best factor.
const PARTNERS: usize = 8;
/// Number of candidates of a workload that are confirmed.
const CANDIDATES: usize = 3;
/// Part of the loss that another factor of a set must take away, if the set is not enough.
const MORE: f64 = 0.2;
/// Minimum number of seeds in which the goal must be missed for a comparison, if more seeds can show it.
const MISSES: usize = 3;

pub(super) struct Search<'a> {
    plan: Plan,
    original: &'a Plan,
    factors: &'a [Factor],
    victims: Vec<Victim>,
    missing: Vec<Victim>,
    model: &'a dyn Model,
    outcomes: BTreeMap<(Set, usize), Option<Outcome>>,
    seeds: usize,
    runs: usize,
}

/// Effect of a set on a workload over the seeds.
#[derive(Debug, Clone, Copy)]
struct Effect {
    /// Mean relative decrease of the loss.
    mean: f64,
    /// Share of the seeds in which the goal is met.
    met: f64,
    /// Better in each seed.
    always: bool,
}

impl Effect {
    /// True if little is left to explain.
    fn is_enough(self) -> bool {
        self.always && (self.mean >= MIN_ENOUGH || self.met > 0.5 && self.mean >= CLEARLY)
    }

    fn is_clear(self) -> bool {
        self.always && self.mean >= CLEARLY
    }
}

impl<'a> Search<'a> {
    pub(super) fn new(plan: &'a Plan, factors: &'a [Factor], victims: &[Victim], model: &'a dyn Model) -> Self {
        Search {
            plan: plan.clone(),
            original: plan,
            factors,
            victims: victims.to_vec(),
            missing: Vec::new(),
            model,
            outcomes: BTreeMap::new(),
            seeds: 1,
            runs: 0,
        }
    }

    pub(super) const fn runs(&self) -> usize {
        self.runs
    }

    pub(super) fn not_reproduced(&self) -> &[Victim] {
        &self.missing
    }

    /// Simulates the unchanged plan, shortened if it still misses the same goals.
    pub(super) fn begin(&mut self, may_shorten: bool) -> Result<(), ModelStopped> {
        let shorter = if may_shorten {
            shorter(self.original)
        } else {
            Vec::new()
        };
        for short in shorter {
            self.plan = short;
            self.simulate(&[Vec::new()], 0..1)?;
            if self.victims.iter().all(|victim| self.is_missed(victim, 0)) {
                return Ok(());
            }
            self.outcomes.clear();
        }
        self.plan = self.original.clone();
        self.simulate(&[Vec::new()], 0..1)?;
        let (reproduced, missing) = self
            .victims
            .iter()
            .cloned()
            .partition(|victim| self.is_missed(victim, 0));
        (self.victims, self.missing) = (reproduced, missing);
        Ok(())
    }

    fn is_missed(&self, victim: &Victim, seed: usize) -> bool {
        self.state(&[], seed, victim).is_some_and(|state| !state.is_met())
    }

    /// Parts together, then the members of those that help.
    pub(super) fn screen(&mut self) -> Result<(), ModelStopped> {
        if self.victims.is_empty() {
            return Ok(());
        }
        let parts: Vec<(Part, Set)> = Part::ALL.iter().map(|part| (*part, self.members(*part))).collect();
        let together = parts
            .iter()
            .filter(|(part, members)| *part != Part::Load && members.len() > 2);
        let together: Vec<Set> = together.map(|(_, members)| members.clone()).collect();
        let mut first = together.clone();
        let alone = parts.iter().filter(|(_, members)| !together.contains(members));
        first.extend(alone.flat_map(|(_, members)| members.iter().map(|factor| vec![*factor])));
        self.simulate(&first, 0..1)?;
        let helps = |set: &&Set| {
            let mut victims = self.victims.iter();
            victims.any(|victim| self.effect(set, 1, victim).is_some_and(|effect| effect.mean >= HELPS))
        };
        let helpful = together.iter().filter(helps);
        let members: Vec<Set> = helpful.flatten().map(|factor| vec![*factor]).collect();
        self.simulate(&members, 0..1)
    }

    /// Confirms the candidates of each workload with more seeds.
    pub(super) fn confirm(&mut self, seeds: usize) -> Result<(), ModelStopped> {
        if self.victims.is_empty() {
            return Ok(());
        }
        let mut sets: Vec<Set> = vec![Vec::new()];
        for victim in &self.victims {
            sets.extend(
                self.candidates(victim, 1)
                    .into_iter()
                    .take(CANDIDATES)
                    .map(|(set, _)| set),
            );
        }
        sets.sort();
        sets.dedup();
        if sets.len() == 1 {
            return Ok(());
        }
        let seeds = seeds.max(self.seeds);
        self.simulate(&sets, 0..seeds)?;
        self.seeds = seeds;
        // A goal that is missed now and then needs more seeds for the same number of comparisons.
        let rare = self
            .victims
            .iter()
            .any(|victim| (0..self.seeds).filter(|seed| self.is_missed(victim, *seed)).count() < MISSES.min(seeds));
        if rare && seeds > 1 && seeds <= Options::SEEDS {
            self.simulate(&sets, 0..2 * seeds)?;
            self.seeds = 2 * seeds;
        }
        Ok(())
    }

    /// For workloads that no factor restores alone: the best factor with each other one that helps, up to three.
    pub(super) fn combine(&mut self) -> Result<(), ModelStopped> {
        for size in 2..=3 {
            let mut sets: Vec<Set> = Vec::new();
            for victim in self.unresolved() {
                let candidates = self.candidates(&victim, 1);
                let Some((best, _)) = candidates.first().filter(|(set, _)| set.len() + 1 == size).cloned() else {
                    continue;
                };
                sets.extend(self.partners(&victim, &best).into_iter().map(|partner| {
                    let mut set = best.clone();
                    set.push(partner);
                    set.sort_unstable();
                    set
                }));
            }
            sets.sort();
            sets.dedup();
            self.simulate(&sets, 0..1)?;
        }
        self.reduce()
    }

    /// For workloads that only all factors together restore: leaves out one factor after the other.
    fn reduce(&mut self) -> Result<(), ModelStopped> {
        for victim in self.unresolved() {
            let all: Set = (0..self.factors.len())
                .filter(|factor| self.factors[*factor].part != Part::Load && self.class(*factor, &victim).is_some())
                .collect();
            if all.is_empty() {
                continue;
            }
            self.simulate(std::slice::from_ref(&all), 0..1)?;
            if !self.is_enough(&all, &victim) {
                continue;
            }
            let mut needed = all;
            let mut place = 0;
            while place < needed.len() && needed.len() > 1 {
                let mut fewer = needed.clone();
                fewer.remove(place);
                self.simulate(&[fewer.clone()], 0..1)?;
                if self.is_enough(&fewer, &victim) {
                    needed = fewer;
                } else {
                    place += 1;
                }
            }
        }
        Ok(())
    }

    fn is_enough(&self, set: &Set, victim: &Victim) -> bool {
        self.effect(set, 1, victim).is_some_and(Effect::is_enough)
    }

    fn unresolved(&self) -> Vec<Victim> {
        let enough = |victim: &&Victim| self.chosen(victim).is_some_and(|(_, effect)| effect.is_enough());
        self.victims.iter().filter(|victim| !enough(victim)).cloned().collect()
    }

    /// Factors that may help together with a set: those that help alone, the best first, then those of the same parts.
    fn partners(&self, victim: &Victim, best: &Set) -> Vec<usize> {
        let others =
            (0..self.factors.len()).filter(|factor| !best.contains(factor) && self.class(*factor, victim).is_some());
        let mut others: Vec<(f64, usize)> = others
            .filter_map(|factor| Some((self.effect(&vec![factor], 1, victim)?.mean, factor)))
            .filter(|(mean, _)| *mean > -HELPS)
            .collect();
        others.sort_by(|a, b| b.0.total_cmp(&a.0));
        others.into_iter().take(PARTNERS).map(|(_, factor)| factor).collect()
    }

    fn members(&self, part: Part) -> Set {
        (0..self.factors.len())
            .filter(|factor| self.factors[*factor].part == part)
            .collect()
    }

    fn class(&self, factor: usize, victim: &Victim) -> Option<super::super::factor::Class> {
        (self.factors[factor].class)(victim.station)
    }

    /// Sets that help a workload over the first seeds: those that are enough first, by how specifically they explain, then the
    /// others by their effect.
    fn candidates(&self, victim: &Victim, seeds: usize) -> Vec<(Set, Effect)> {
        let mut known: Vec<&Set> = self.outcomes.keys().map(|(set, _)| set).collect();
        known.dedup();
        let classed = |set: &&&Set| !set.is_empty() && set.iter().all(|factor| self.class(*factor, victim).is_some());
        // A part that was simulated as a whole explains nothing.
        let parts: Vec<Set> = Part::ALL
            .iter()
            .map(|part| self.members(*part))
            .filter(|set| set.len() > 2)
            .collect();
        let sets = known.iter().filter(classed).filter(|set| !parts.contains(**set));
        let helpful = sets.filter_map(|set| Some(((**set).clone(), self.effect(set, seeds, victim)?)));
        let mut helpful: Vec<(Set, Effect)> = helpful.filter(|(_, effect)| effect.mean >= HELPS).collect();
        let rank = |set: &Set| {
            set.iter()
                .filter_map(|factor| Some(self.class(*factor, victim)?.rank))
                .max()
        };
        let score = |set: &Set, effect: &Effect| effect.mean - MORE * (set.len() as f64 - 1.0);
        helpful.sort_by(|(a, one), (b, other)| {
            let enough = other.is_enough().cmp(&one.is_enough());
            let order = if one.is_enough() && other.is_enough() {
                (a.len(), rank(a)).cmp(&(b.len(), rank(b)))
            } else {
                std::cmp::Ordering::Equal
            };
            enough
                .then(order)
                .then(score(b, other).total_cmp(&score(a, one)))
                .then(a.cmp(b))
        });
        helpful
    }

    /// The set that explains a workload, over all seeds.
    fn chosen(&self, victim: &Victim) -> Option<(Set, Effect)> {
        let candidates = self.candidates(victim, self.seeds);
        candidates
            .into_iter()
            .find(|(_, effect)| effect.is_enough() || effect.is_clear())
    }

    fn effect(&self, set: &Set, seeds: usize, victim: &Victim) -> Option<Effect> {
        let mut decreases = Vec::new();
        let mut met = 0;
        for seed in 0..seeds {
            let Some(before) = self.state(&[], seed, victim).filter(|state| !state.is_met()) else {
                continue;
            };
            let after = self.state(set, seed, victim)?;
            decreases.push(1.0 - after.loss / before.loss.max(1e-9));
            met += usize::from(after.is_met());
        }
        let count = decreases.len();
        (count > 0).then(|| Effect {
            mean: decreases.iter().sum::<f64>() / count as f64,
            met: met as f64 / count as f64,
            always: decreases.iter().all(|decrease| *decrease > 0.0),
        })
    }

    fn state(&self, set: &[usize], seed: usize, victim: &Victim) -> Option<&GoalState> {
        self.outcomes.get(&(set.to_vec(), seed))?.as_ref()?.state(victim)
    }

    /// Simulates the plan without each set, with these seeds. Results that are known already are kept.
    fn simulate(&mut self, sets: &[Set], seeds: std::ops::Range<usize>) -> Result<(), ModelStopped> {
        let mut wanted: Vec<(Set, usize)> = Vec::new();
        for set in sets {
            let new = seeds.clone().map(|seed| (set.clone(), seed));
            wanted.extend(new.filter(|key| !self.outcomes.contains_key(key)));
        }
        wanted.sort();
        wanted.dedup();
        let plans: Vec<Plan> = wanted.iter().map(|(set, seed)| self.without(set, *seed)).collect();
        let outcomes = self.model.outcomes(&plans)?;
        self.runs += plans.len();
        self.outcomes.extend(wanted.into_iter().zip(outcomes));
        Ok(())
    }

    fn without(&self, set: &Set, seed: usize) -> Plan {
        let mut plan = self.plan.clone();
        plan.seed = plan.seed.repeat(seed as u64);
        for factor in set {
            self.factors[*factor].remove_from(&mut plan);
        }
        plan
    }

    /// Workloads that nothing explains.
    pub(super) fn open(&self) -> Vec<Victim> {
        self.victims
            .iter()
            .filter(|victim| self.chosen(victim).is_none())
            .cloned()
            .collect()
    }

    /// The causes, the one that explains most first.
    pub(super) fn found(&self, scene: &Scene<'_>) -> Vec<Found> {
        /// Factor, kind and, for factors of a single station, the station.
        type Key = (usize, Kind, Option<usize>);
        let mut causes: BTreeMap<Key, (f64, Vec<Finding>, Set)> = BTreeMap::new();
        for victim in &self.victims {
            let Some((set, effect)) = self.chosen(victim) else {
                continue;
            };
            let Some(finding) = self.finding(&set, victim) else {
                continue;
            };
            for factor in &set {
                let Some(class) = self.class(*factor, victim) else {
                    continue;
                };
                let own = self
                    .effect(&vec![*factor], 1, victim)
                    .map_or(0.0, |alone| alone.mean.clamp(0.0, 1.0));
                let weight = finding.before.loss * if set.len() == 1 { effect.mean } else { own };
                let each = self.factors[*factor].each.then_some(victim.station);
                let entry = causes.entry((*factor, class.kind, each)).or_default();
                entry.0 += weight * if finding.before.has_goal { 1.0 } else { 0.1 };
                entry.1.push(finding.clone());
                entry.2.extend(set.iter().filter(|other| *other != factor));
            }
        }
        let mut causes: Vec<_> = causes.into_iter().collect();
        causes.sort_by(|(a, (one, ..)), (b, (other, ..))| other.total_cmp(one).then(a.cmp(b)));
        causes
            .into_iter()
            .map(|((factor, kind, _), (_, findings, others))| self.cause(scene, factor, kind, findings, others))
            .collect()
    }

    fn cause(&self, scene: &Scene<'_>, factor: usize, kind: Kind, findings: Vec<Finding>, mut others: Set) -> Found {
        let factor = &self.factors[factor];
        let mut stations: Vec<usize> = findings.iter().map(|finding| finding.victim.station).collect();
        stations.dedup();
        others.sort_unstable();
        others.dedup();
        Found {
            kind,
            title: (factor.title)(kind, &scene.names(&stations)),
            without: factor.without.clone(),
            advice: factor.advice.clone(),
            by: factor.by.clone(),
            findings,
            together: others
                .iter()
                .map(|other| self.factors[*other].without.clone())
                .collect(),
        }
    }

    /// The worst seed of a workload, without and with the set.
    fn finding(&self, set: &Set, victim: &Victim) -> Option<Finding> {
        let missed: Vec<usize> = (0..self.seeds).filter(|seed| self.is_missed(victim, *seed)).collect();
        let worst = *missed.first()?;
        Some(Finding {
            victim: victim.clone(),
            before: self.state(&[], worst, victim)?.clone(),
            after: self.state(set, worst, victim)?.clone(),
            seeds: missed.len(),
        })
    }
}
