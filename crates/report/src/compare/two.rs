//! Two sides, figure by figure.

use super::differs::{Differing, differing};
use super::figure::{Key, figures};
use super::pairing::Pairing;
use super::side::Side;
use netburn_record::Environment;
use netburn_record::summary::{StationSummary, verdict_name};
use netburn_stats::contrast::{
    Answer, Contrast, Question, SIGNIFICANCE, Test, contrast, judge_all, min_p, paired, runs_needed, varying,
};
use netburn_stats::judge::{Judgement, MIN_RUNS};
use netburn_units::Seed;
use netburn_workload::{Verdict, worst};
use std::collections::HashMap;

/// How a comparison is made.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Options {
    /// Bootstrap resamples for the intervals of a ranking.
    pub draws: u32,
    /// What the resampling draws from.
    pub seed: Seed,
    /// The share of a figure that is too little to matter, instead of the usual one.
    pub tolerance: Option<f64>,
}

impl Default for Options {
    /// 2,000 draws from seed 1, with the usual tolerances.
    fn default() -> Self {
        Options {
            draws: 2_000,
            seed: Seed(1),
            tolerance: None,
        }
    }
}

/// Two sides held against each other.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// What is looked at.
    pub these: Side,
    /// What it is held against.
    pub against: Side,
    /// Every figure that both have.
    pub figures: Vec<Held>,
    /// In what the scenarios differ; `None` where one isn't known.
    pub differing: Option<Vec<Differing>>,
    /// Stations and workloads (`laptop`, `laptop.voip`) that only `these` has, and those that only `against` has.
    pub only: [Vec<String>; 2],
    /// Which runs belong together.
    pub pairing: Pairing,
    /// How many figures that vary were judged together.
    pub judged_with: usize,
    /// How it was made.
    pub options: Options,
}

/// A figure of both sides.
#[derive(Debug, Clone, PartialEq)]
pub struct Held {
    /// Which.
    pub key: Key,
    /// Its value in each run of the baseline that knows it, and in each of the others.
    pub values: [Vec<f64>; 2],
    /// What the runs say.
    pub question: Question,
    /// What it comes to.
    pub answer: Answer,
}

/// Why a figure that isn't told could not be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Doubt {
    /// There are too few runs for so many figures, whatever they say: so many of each would do.
    TooFew(usize),
    /// What they say lies between the same and another.
    Between,
}

impl Comparison {
    /// Holds `these` against `against`.
    #[must_use]
    pub fn new(these: Side, against: Side, options: Options) -> Self {
        let mut one = Self::unjudged(these, against, options);
        judge_together(&mut [&mut one]);
        one
    }

    /// The same without judgements yet: for [`judge_together`].
    #[must_use]
    pub fn unjudged(these: Side, against: Side, options: Options) -> Self {
        let (baseline, mine) = (Table::of(&against), Table::of(&these));
        let pairing = Pairing::of(&against, &these);
        let shared = mine.order.iter().filter_map(|key| {
            let runs = [baseline.runs(key)?, mine.runs(key)?];
            let question = question(key, runs, &pairing, options)?;
            Some(Held {
                key: key.clone(),
                values: runs.map(known),
                question,
                answer: Answer {
                    test: Test::RankSum,
                    p: 1.0,
                    corrected: 1.0,
                    judgement: Judgement::CantTell,
                },
            })
        });
        let figures: Vec<Held> = shared.collect();
        let differing = match (&against.plan, &these.plan) {
            (Some(baseline), Some(mine)) => {
                let modelled = |side: &Side| side.environment().is_none_or(Environment::models_air);
                Some(differing(baseline, mine, modelled(&these) || modelled(&against)))
            }
            _ => None,
        };
        let (in_these, in_against) = (names(&these), names(&against));
        let without = |all: &[String], others: &[String]| {
            let mut only: Vec<String> = all.iter().filter(|name| !others.contains(name)).cloned().collect();
            // Of a station that isn't there its uses aren't, either.
            let stations = only.clone();
            only.retain(|name| {
                !stations
                    .iter()
                    .any(|s| name.strip_prefix(s.as_str()).is_some_and(|rest| rest.starts_with('.')))
            });
            only
        };
        Comparison {
            only: [without(&in_these, &in_against), without(&in_against, &in_these)],
            judged_with: figures.len(),
            figures,
            pairing,
            differing,
            these,
            against,
            options,
        }
    }

    /// How many figures came to a judgement.
    #[must_use]
    pub fn count(&self, wanted: Judgement) -> usize {
        let those = self.figures.iter().filter(|held| held.answer.judgement == wanted);
        those.count()
    }

    /// What it comes to: worse where anything is, else better where anything is; the same where all is.
    #[must_use]
    pub fn judgement(&self) -> Judgement {
        let any = |wanted| self.count(wanted) > 0;
        match () {
            () if any(Judgement::Worse) => Judgement::Worse,
            () if any(Judgement::Better) => Judgement::Better,
            () if any(Judgement::CantTell) || self.figures.is_empty() => Judgement::CantTell,
            () => Judgement::Same,
        }
    }

    /// The same in words, for people: something can be worse and something else better.
    #[must_use]
    pub fn headline(&self) -> &'static str {
        match (self.judgement(), self.count(Judgement::Better)) {
            (Judgement::Worse, 1..) => "worse and better",
            (judgement, _) => judgement.name(),
        }
    }

    /// Whether both have at least one station of one name.
    #[must_use]
    pub fn shares_a_station(&self) -> bool {
        self.figures.iter().any(|held| held.key.station.is_some())
    }

    /// The environments of both, baseline last, where they differ.
    #[must_use]
    pub fn environments(&self) -> Option<[Environment; 2]> {
        let (these, against) = (self.these.environment()?, self.against.environment()?);
        (these != against).then_some([these, against])
    }

    /// How many runs of `these`, and of the baseline, could not be measured.
    #[must_use]
    pub fn inconclusive(&self) -> [usize; 2] {
        [&self.these, &self.against].map(|side| {
            let doubtful = side.runs.iter().filter(|run| {
                let station = |station: &StationSummary| station.verdict == Verdict::Inconclusive;
                run.verdict == Verdict::Inconclusive || run.stations.iter().any(station)
            });
            doubtful.count()
        })
    }

    /// Why a figure can't be told.
    #[must_use]
    pub fn doubt(&self, held: &Held) -> Option<Doubt> {
        let [without, with] = held.question.contrast.runs;
        // The signed-rank test is taken only where there are pairs enough for it.
        let least = match held.answer.test {
            Test::RankSum => min_p(without, with) * self.judged_with as f64,
            Test::SignedRank => 0.0,
        };
        match held.answer.judgement {
            Judgement::CantTell if without.min(with) < MIN_RUNS || least >= SIGNIFICANCE => {
                Some(Doubt::TooFew(runs_needed(self.judged_with)))
            }
            Judgement::CantTell => Some(Doubt::Between),
            _ => None,
        }
    }

    /// How many runs of each it would take to tell anything, where there are too few for a figure.
    #[must_use]
    pub fn too_few(&self) -> Option<usize> {
        self.figures.iter().find_map(|held| match self.doubt(held) {
            Some(Doubt::TooFew(needed)) => Some(needed),
            _ => None,
        })
    }

    /// The worst verdict among the runs of each side, `these` first.
    #[must_use]
    pub fn verdicts(&self) -> [&'static str; 2] {
        [&self.these, &self.against].map(|side| verdict_name(worst(side.runs.iter().map(|run| run.verdict))))
    }
}

impl Held {
    /// What the runs say.
    #[must_use]
    pub fn contrast(&self) -> &Contrast {
        &self.question.contrast
    }

    /// Whether it came out better or worse.
    #[must_use]
    pub fn is_told(&self) -> bool {
        matches!(self.answer.judgement, Judgement::Better | Judgement::Worse)
    }

    /// The difference as a share of the baseline's median; `None` where that is nought or never came.
    #[must_use]
    pub fn share(&self) -> Option<f64> {
        let base = self.contrast().medians[0].abs();
        let share = self.contrast().difference / base;
        (base > 0.0 && share.is_finite()).then_some(share)
    }
}

/// Judges the figures of several comparisons as one set, so that showing more of them raises no more false alarms.
pub fn judge_together(comparisons: &mut [&mut Comparison]) {
    let questions: Vec<Question> = comparisons
        .iter()
        .flat_map(|comparison| comparison.figures.iter().map(|held| held.question))
        .collect();
    let family = varying(&questions);
    let mut answers = judge_all(&questions).into_iter();
    for comparison in comparisons {
        comparison.judged_with = family;
        for (held, answer) in comparison.figures.iter_mut().zip(&mut answers) {
            held.answer = answer;
        }
    }
}

/// A figure of two sides, run by run, for judging. Pairs count where both runs of enough of them know it.
pub(super) fn question(key: &Key, runs: [&[Option<f64>]; 2], pairing: &Pairing, options: Options) -> Option<Question> {
    let whole = |[one, other]: &[usize; 2]| Some([runs[0][*one]?, runs[1][*other]?]);
    let pairs: Vec<[f64; 2]> = pairing.pairs.iter().filter_map(whole).collect();
    let contrast = match pairs.len() >= MIN_RUNS {
        true => paired(&pairs)?,
        false => contrast(&known(runs[0]), &known(runs[1]))?,
    };
    Some(Question {
        contrast,
        better: key.what.better(),
        tolerance: key.what.tolerance(options.tolerance),
    })
}

/// The values of the runs that know a figure.
pub(super) fn known(runs: &[Option<f64>]) -> Vec<f64> {
    runs.iter().copied().flatten().collect()
}

/// The figures of a side's runs.
pub(super) struct Table {
    /// In the order in which they are shown.
    pub(super) order: Vec<Key>,
    /// A value for each run, where it knows the figure.
    values: HashMap<Key, Vec<Option<f64>>>,
}

impl Table {
    pub(super) fn of(side: &Side) -> Self {
        let mut table = Table {
            order: Vec::new(),
            values: HashMap::new(),
        };
        for (place, run) in side.runs.iter().enumerate() {
            for (key, value) in figures(run) {
                let values = table.values.entry(identity(&key)).or_insert_with(|| {
                    table.order.push(key);
                    vec![None; side.runs.len()]
                });
                values[place] = Some(value);
            }
        }
        table
    }

    /// A figure's value in each run that knows it; `None` where none does.
    pub(super) fn runs(&self, key: &Key) -> Option<&[Option<f64>]> {
        self.values.get(&identity(key)).map(Vec::as_slice)
    }
}

/// What a figure is looked up by: a goal by what it asks, not by its place.
fn identity(key: &Key) -> Key {
    let mut key = key.clone();
    if let super::What::Met(number, _) = &mut key.what {
        *number = 0;
    }
    key
}

/// The stations and workloads of a side.
fn names(side: &Side) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for station in side.runs.iter().flat_map(|run| &run.stations) {
        let uses = station
            .workloads
            .iter()
            .map(|workload| format!("{}.{}", station.name, workload.name));
        for name in std::iter::once(station.name.clone()).chain(uses) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    names
}
