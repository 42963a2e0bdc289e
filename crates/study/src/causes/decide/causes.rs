//! The causes that searches found.

use super::*;

/// Factor, kind and, for factors of a single station, the station.
type Key = (usize, Kind, Option<usize>);

/// Weight of a workload without a goal, relative to one with a goal.
const WITHOUT_GOAL: f64 = 0.1;

#[derive(Debug, Default)]
pub(super) struct Causes(BTreeMap<Key, Entry>);

#[derive(Debug, Default)]
struct Entry {
    weight: f64,
    findings: Vec<Finding>,
    /// Factors that were taken away together with it.
    others: BTreeSet<usize>,
}

impl Causes {
    /// Adds the effect of a factor on a workload, of whose loss it explains this share.
    pub(super) fn add(&mut self, key: Key, finding: Finding, share: f64, others: impl Iterator<Item = usize>) {
        let entry = self.0.entry(key).or_default();
        let importance = if finding.before.has_goal { 1.0 } else { WITHOUT_GOAL };
        entry.weight += finding.before.loss * share * importance;
        entry.findings.push(finding);
        entry.others.extend(others);
    }

    /// The causes, the one that explains most first.
    pub(super) fn sorted(self, factors: &[Factor], scene: &Scene<'_>) -> Vec<Found> {
        let mut causes: Vec<(Key, Entry)> = self.0.into_iter().collect();
        causes.sort_by(|(a, one), (b, other)| other.weight.total_cmp(&one.weight).then(a.cmp(b)));
        let found = causes
            .into_iter()
            .map(|((factor, kind, _), entry)| entry.found(&factors[factor], kind, factors, scene));
        found.collect()
    }
}

impl Entry {
    fn found(mut self, factor: &Factor, kind: Kind, factors: &[Factor], scene: &Scene<'_>) -> Found {
        self.findings.sort_by(|one, other| one.victim.cmp(&other.victim));
        let mut stations: Vec<usize> = self.findings.iter().map(|finding| finding.victim.station).collect();
        stations.dedup();
        let together = self.others.iter().map(|other| factors[*other].without.clone());
        Found {
            kind,
            title: factor.title(kind, &scene.names(&stations)),
            without: factor.without.clone(),
            advice: factor.advice.clone(),
            own_advice: factor.own_advice,
            by: factor.by.clone(),
            together: together.collect(),
            findings: self.findings,
        }
    }
}
