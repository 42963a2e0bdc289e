//! False-alarm rate and detection rate of comparisons of many metrics.

use netburn_stats::contrast::{Contrast, Question, Test, contrast, judge_all, paired};
use netburn_stats::metric_change::{Better, Judgement, Tolerance};
use netburn_units::{RandomStream, Seed};

const COMPARISONS: u64 = 400;
const METRICS: usize = 10;

/// Any difference other than zero matters.
const NOTHING: Tolerance = Tolerance { share: 0.0, least: 0.0 };

/// Approximately normal with a standard deviation of 1: the sum of twelve uniform numbers (Irwin
/// and Hall).
fn normal(stream: &mut RandomStream) -> f64 {
    let sum: u64 = (0..12).map(|_| stream.below(1_000_000)).sum();
    sum as f64 / 1e6 - 6.0
}

/// Model of a run's value: from the part shared by the two runs of a seed, and from a part of its
/// own.
type Law = fn(common: f64, own: f64) -> f64;

/// Correlation one half.
fn even(common: f64, own: f64) -> f64 {
    100.0 + (common + own) * std::f64::consts::FRAC_1_SQRT_2
}

/// The same, rounded to integers: many are equal, within pairs and between them, and some metrics
/// have one value in all runs.
fn coarse(common: f64, own: f64) -> f64 {
    (even(common, own) / 2.0).round()
}

/// Skewed: many values are near, some are far.
fn skewed(common: f64, own: f64) -> f64 {
    (even(common, own) - 100.0).exp()
}

/// Runs of one seed have one value, except one in four.
fn mostly_equal(common: f64, own: f64) -> f64 {
    if own > 0.674 { even(common, own) } else { common }
}

/// A metric of runs of two sides, the second shifted by `shift`.
fn metric(stream: &mut RandomStream, runs: usize, law: Law, shift: f64) -> Vec<[f64; 2]> {
    let pair = |_| {
        let common = normal(stream);
        [law(common, normal(stream)), law(common, normal(stream)) + shift]
    };
    (0..runs).map(pair).collect()
}

fn unpaired(pairs: &[[f64; 2]]) -> Option<Contrast> {
    let [first, second] = [0, 1].map(|side| pairs.iter().map(|pair| pair[side]).collect::<Vec<f64>>());
    contrast(&first, &second)
}

/// Ten metrics, the first of which is shifted.
fn judged(
    seed: u64,
    runs: usize,
    law: Law,
    of: fn(&[[f64; 2]]) -> Option<Contrast>,
    shift: f64,
) -> Vec<(Test, Judgement)> {
    let mut stream = Seed(seed).stream("metrics", 0);
    let questions: Vec<Question> = (0..METRICS)
        .map(|place| Question {
            contrast: of(&metric(&mut stream, runs, law, if place == 0 { shift } else { 0.0 })).unwrap(),
            better: Better::Lower,
            tolerance: NOTHING,
        })
        .collect();
    let answers = judge_all(&questions).into_iter();
    answers.map(|answer| (answer.test, answer.judgement)).collect()
}

/// Upper limit of a plausible number of successes: more in `trials` with probability `p` have a
/// probability below one in a hundred thousand.
fn most_of(trials: u64, p: f64) -> u64 {
    // Summed from zero successes, by the ratio of neighbours.
    let mut term = (1.0 - p).powi(trials as i32);
    let mut below = term;
    (0..trials)
        .find(|count| {
            let enough = below > 1.0 - 1e-5;
            term *= (trials - count) as f64 / (count + 1) as f64 * p / (1.0 - p);
            below += term;
            enough
        })
        .unwrap_or(trials)
}

#[test]
fn the_bound_is_the_binomials() {
    // 50 ± 6.9: four and a quarter deviations up, a little more because of the skew.
    assert!((79..=83).contains(&most_of(1_000, 0.05)), "{}", most_of(1_000, 0.05));
    assert!((38..=42).contains(&most_of(400, 0.05)), "{}", most_of(400, 0.05));
    assert_eq!(most_of(3, 0.5), 3);
}

/// At most one comparison in twenty, for pairs and independent runs, and for all distributions.
#[test]
fn the_false_alarm_rate_is_bounded() {
    let laws: [(&str, Law); 4] = [
        ("even", even),
        ("coarse", coarse),
        ("skewed", skewed),
        ("mostly equal", mostly_equal),
    ];
    let most = most_of(COMPARISONS, 0.05);
    for (name, law) in laws {
        // Six pairs are ranked as sets, twelve are not.
        for runs in [6, 12] {
            for (kind, of) in [
                ("pairs", paired as fn(&[[f64; 2]]) -> Option<Contrast>),
                ("sets", unpaired),
            ] {
                let decided =
                    |(_, judgement): &(Test, Judgement)| matches!(judgement, Judgement::Better | Judgement::Worse);
                let alarmed = |seed: &u64| judged(*seed, runs, law, of, 0.0).iter().any(decided);
                let alarms = (0..COMPARISONS).filter(alarmed).count() as u64;
                assert!(
                    alarms <= most,
                    "{name}, {runs} {kind}: {alarms} of {COMPARISONS}, at most {most}"
                );
            }
        }
    }
}

/// Independent runs, shifted by three and a third deviations: detected at least nine times out of
/// ten.
#[test]
fn a_large_shift_of_eight_runs_is_found() {
    let independent: Law = |_, own| 100.0 + own;
    let found = |seed: &u64| judged(1_000 + seed, 8, independent, unpaired, 10.0 / 3.0)[0].1 == Judgement::Worse;
    assert!((0..COMPARISONS).filter(found).count() as u64 >= COMPARISONS * 9 / 10);
}

/// Of twelve pairs with nine tenths of their variance in common, a shift of one deviation is 1 /
/// √(2 × 0.1) = 2.24 deviations of a difference. Each difference has its sign with probability
/// Φ(2.24) = 0.9873, and all twelve with 0.858, which the test always detects. As sets, the shift
/// is one deviation: the sum of ranks then lies √(12 / 2) × 0.977 = 2.39 deviations from its mean,
/// and 0.005 requires 2.81.
#[test]
fn pairs_detect_differences_that_unpaired_tests_miss() {
    let alike: Law = |common, own| 100.0 + common * 0.9_f64.sqrt() + own * 0.1_f64.sqrt();
    let found = |of: fn(&[[f64; 2]]) -> Option<Contrast>, test: Test| {
        let decided = |seed: &u64| {
            let (by, judgement) = judged(5_000 + seed, 12, alike, of, 1.0)[0];
            assert_eq!(by, test);
            judgement == Judgement::Worse
        };
        (0..COMPARISONS).filter(decided).count() as u64
    };
    let (pairs, sets) = (found(paired, Test::SignedRank), found(unpaired, Test::RankSum));
    let fewest = COMPARISONS - most_of(COMPARISONS, 1.0 - 0.858);
    assert!(pairs >= fewest, "{pairs}, at least {fewest}");
    assert!(sets <= COMPARISONS / 2, "{sets}");
}
