//! How often comparisons of many figures raise a false alarm, and how often they find a change.

use netburn_stats::contrast::{Question, contrast, judge_all};
use netburn_stats::judge::{Better, Judgement, Tolerance};
use netburn_units::{Seed, Stream};

const COMPARISONS: u64 = 200;
const FIGURES: usize = 10;
const RUNS: usize = 8;

/// Anything beyond nought matters.
const NOTHING: Tolerance = Tolerance { share: 0.0, least: 0.0 };

/// Around 100, and 3 to either side as often as not: the sum of twelve dice is nearly normal (Irwin and Hall).
fn value(stream: &mut Stream) -> f64 {
    let sum: u64 = (0..12).map(|_| stream.below(1_000)).sum();
    100.0 + 3.0 * (sum as f64 / 1_000.0 - 6.0)
}

/// Ten figures of eight runs against eight, the first of them shifted by so much.
fn judged(seed: u64, shift: f64) -> Vec<Judgement> {
    let mut stream = Seed(seed).stream("figures", 0);
    let mut runs = || -> Vec<f64> { (0..RUNS).map(|_| value(&mut stream)).collect() };
    let questions: Vec<Question> = (0..FIGURES)
        .map(|figure| {
            let (first, mut second) = (runs(), runs());
            if figure == 0 {
                second.iter_mut().for_each(|value| *value += shift);
            }
            Question {
                contrast: contrast(&first, &second, 100, Seed(seed)).unwrap(),
                better: Better::Lower,
                tolerance: NOTHING,
            }
        })
        .collect();
    judge_all(&questions)
        .into_iter()
        .map(|answer| answer.judgement)
        .collect()
}

#[test]
fn one_comparison_in_twenty_raises_a_false_alarm_at_most() {
    let told = |judgement: &Judgement| matches!(judgement, Judgement::Better | Judgement::Worse);
    let alarmed = (0..COMPARISONS)
        .filter(|seed| judged(*seed, 0.0).iter().any(told))
        .count();
    // 5 % of 200 are 10, with a deviation of √(200 × 0.05 × 0.95) = 3.1; Holm's correction and the steps of the exact test make it less.
    assert!(alarmed <= 19, "{alarmed}");
}

#[test]
fn a_tenth_is_found_nine_times_of_ten() {
    // Three and a third deviations of one run.
    let found = (0..COMPARISONS)
        .filter(|seed| judged(1_000 + seed, 10.0)[0] == Judgement::Worse)
        .count();
    assert!(found >= 180, "{found}");
}
