//! The search: simulations without sets of factors, and what they show for each missed workload.

use super::*;
use netburn_analysis::explain::causes::Class;

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
    pub(super) fn new(plan: Plan, factors: &'a [Factor], victims: &[Victim], model: &'a dyn Model) -> Self {
        Search {
            plan,
            factors,
            victims: Vec::new(),
            missing: victims.to_vec(),
            model,
            outcomes: BTreeMap::new(),
            seeds: 1,
            runs: 0,
        }
    }

    pub(super) const fn runs(&self) -> usize {
        self.runs
    }

    /// Workloads that meet their goals in the unchanged plan, or that were not simulated.
    pub(super) fn not_reproduced(&self) -> &[Victim] {
        &self.missing
    }

    /// Simulates the unchanged plan.
    pub(super) fn begin(&mut self) -> Result<(), ModelStopped> {
        self.simulate(&[Vec::new()], 0..1)?;
        let victims = std::mem::take(&mut self.missing).into_iter();
        (self.victims, self.missing) = victims.partition(|victim| self.is_missed(victim, 0));
        Ok(())
    }

    /// Factors that help a workload alone.
    pub(super) fn helpful(&self) -> Vec<usize> {
        let helps = |factor: &usize| self.helps(&vec![*factor]);
        (0..self.factors.len()).filter(helps).collect()
    }

    fn helps(&self, set: &Set) -> bool {
        let mut victims = self.victims.iter();
        victims.any(|victim| self.effect(set, 1, victim).is_some_and(|effect| effect.mean >= HELPS))
    }

    fn is_missed(&self, victim: &Victim, seed: usize) -> bool {
        self.state(&[], seed, victim).is_some_and(|state| !state.is_met())
    }

    /// The factors that are known to help other workloads, if one of them is enough for each workload. Otherwise parts together,
    /// then the members of those that help.
    pub(super) fn screen(&mut self, known: &BTreeSet<usize>) -> Result<(), ModelStopped> {
        if self.victims.is_empty() {
            return Ok(());
        }
        let known: Vec<Set> = known.iter().map(|factor| vec![*factor]).collect();
        self.simulate(&known, 0..1)?;
        if self.unresolved().is_empty() {
            return Ok(());
        }
        let parts: Vec<(Part, Set)> = Part::ALL.iter().map(|part| (*part, self.members(*part))).collect();
        let together = parts
            .iter()
            .filter(|(part, members)| *part != Part::Load && members.len() > 2);
        let together: Vec<Set> = together.map(|(_, members)| members.clone()).collect();
        let mut first = together.clone();
        let alone = parts
            .iter()
            .filter(|(part, members)| *part != Part::Load && !together.contains(members));
        first.extend(alone.flat_map(|(_, members)| members.iter().map(|factor| vec![*factor])));
        self.simulate(&first, 0..1)?;
        let helpful = together.iter().filter(|set| self.helps(set));
        let members: Vec<Set> = helpful.flatten().map(|factor| vec![*factor]).collect();
        self.simulate(&members, 0..1)?;
        self.combine_queues()?;
        self.screen_load()
    }

    /// Each traffic of others, unless a factor that explains more specifically is enough for each workload.
    pub(super) fn screen_load(&mut self) -> Result<(), ModelStopped> {
        let is_explained = |victim: &Victim| {
            let chosen = self.chosen(victim).filter(|(_, effect)| effect.is_enough());
            chosen.is_some_and(|(set, _)| self.rank(&set, victim) < Some(Rank::Share))
        };
        if self.victims.iter().all(is_explained) {
            return Ok(());
        }
        let load = self.members(Part::Load).into_iter().map(|factor| vec![factor]);
        self.simulate(&load.collect::<Vec<Set>>(), 0..1)
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
        for victim in self.unresolved() {
            let all = (0..self.factors.len()).filter(|factor| self.factors[*factor].part != Part::Load);
            self.reduce(all.collect(), &victim)?;
        }
        Ok(())
    }

    /// A workload can wait in the queues of both directions. Together they explain it better than the traffic that fills them.
    fn combine_queues(&mut self) -> Result<(), ModelStopped> {
        for victim in self.victims.clone() {
            let chosen = self.chosen(&victim);
            let rank = chosen.filter(|(_, effect)| effect.is_enough());
            if rank.is_some_and(|(set, _)| self.rank(&set, &victim) <= Some(Rank::Bursts)) {
                continue;
            }
            let is_queue = |factor: &usize| {
                let class = self.class(*factor, &victim);
                class.is_some_and(|class| matches!(class.rank, Rank::Queue | Rank::Bursts))
                    && self
                        .effect(&vec![*factor], 1, &victim)
                        .is_some_and(|effect| effect.mean > -HELPS)
            };
            let queues: Set = (0..self.factors.len()).filter(is_queue).collect();
            if queues.len() > 1 {
                self.reduce(queues, &victim)?;
            }
        }
        Ok(())
    }

    /// If a set is enough for a workload: leaves out one factor after the other.
    fn reduce(&mut self, mut set: Set, victim: &Victim) -> Result<(), ModelStopped> {
        set.retain(|factor| self.class(*factor, victim).is_some());
        if set.is_empty() {
            return Ok(());
        }
        self.simulate(std::slice::from_ref(&set), 0..1)?;
        if !self.is_enough(&set, victim) {
            return Ok(());
        }
        let mut place = 0;
        while place < set.len() && set.len() > 1 {
            let mut fewer = set.clone();
            fewer.remove(place);
            self.simulate(std::slice::from_ref(&fewer), 0..1)?;
            if self.is_enough(&fewer, victim) {
                set = fewer;
            } else {
                place += 1;
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

    fn class(&self, factor: usize, victim: &Victim) -> Option<Class> {
        self.factors[factor].class(victim.station)
    }

    /// Rank of the least specific factor of a set.
    fn rank(&self, set: &Set, victim: &Victim) -> Option<Rank> {
        let ranks = set.iter().filter_map(|factor| Some(self.class(*factor, victim)?.rank));
        ranks.max()
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
        let score = |set: &Set, effect: &Effect| effect.mean - MORE * (set.len() as f64 - 1.0);
        helpful.sort_by(|(a, one), (b, other)| {
            let enough = other.is_enough().cmp(&one.is_enough());
            let order = if one.is_enough() && other.is_enough() {
                let order = |set: &Set| (self.rank(set, victim), set.len());
                order(a).cmp(&order(b))
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

    /// Adds the causes of its workloads.
    pub(super) fn add_to(&self, causes: &mut Causes) {
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
                let share = if set.len() == 1 { effect.mean } else { own };
                let others = set.iter().filter(|other| *other != factor).copied();
                let each = self.factors[*factor].each.then_some(victim.station);
                causes.add((*factor, class.kind, each), finding.clone(), share, others);
            }
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
            duration: self.plan.duration,
        })
    }
}
