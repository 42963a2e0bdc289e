//! Analysis of variance of a factorial experiment: how much of the variation of a value is due to each
//! factor, to each pair of factors, and to chance (Fisher 1925; Montgomery, *Design and Analysis of
//! Experiments*, chapter 5).
//!
//! Cells may have different numbers of values. The sums of squares are then those of the unweighted
//! means of the cells, with the harmonic mean of the numbers (Yates 1934).

use crate::bootstrap::mean;

/// Part of the variation that is due to one factor or to a pair of factors.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Source {
    /// Index of the factor.
    pub factor: usize,
    /// Second factor of a pair.
    pub with: Option<usize>,
    /// Sum of squares.
    pub squares: f64,
    /// Degrees of freedom.
    pub freedom: usize,
    /// Probability of such a sum of squares or a larger one if only chance acts (F test). `None` if all
    /// cells have one value, so that chance is unknown.
    pub p: Option<f64>,
}

/// Parts of the variation of a value.
#[derive(Debug, Clone, PartialEq)]
pub struct Variation {
    /// Each factor, then each pair of factors.
    pub sources: Vec<Source>,
    /// Sum of squares of three or more factors together.
    pub higher: f64,
    /// Sum of squares within cells: chance.
    pub within: f64,
}

impl Variation {
    /// Sum of all sums of squares.
    #[must_use]
    pub fn total(&self) -> f64 {
        self.sources.iter().map(|source| source.squares).sum::<f64>() + self.higher + self.within
    }
}

/// Splits the variation of the values of all cells. `levels` has the number of values of each factor.
/// `cells` has the values of each combination; the last factor varies fastest.
///
/// Returns `None` without factors, if a factor has fewer than two levels, if the number of cells is not
/// the product of `levels`, if a cell is empty, or if a value is not finite.
#[must_use]
pub fn variation(levels: &[usize], cells: &[Vec<f64>]) -> Option<Variation> {
    let expected = levels.iter().try_fold(1_usize, |all, count| all.checked_mul(*count))?;
    let valid = |cell: &Vec<f64>| !cell.is_empty() && cell.iter().all(|value| value.is_finite());
    if levels.is_empty() || levels.iter().any(|count| *count < 2) || cells.len() != expected || !cells.iter().all(valid)
    {
        return None;
    }
    let means: Vec<f64> = cells.iter().map(|cell| mean(cell)).collect();
    let harmonic = cells.len() as f64 / cells.iter().map(|cell| 1.0 / cell.len() as f64).sum::<f64>();
    let within: f64 = cells.iter().zip(&means).map(|(cell, mean)| squares(cell, *mean)).sum();
    let chance = cells.iter().map(Vec::len).sum::<usize>() - cells.len();
    let grand = mean(&means);
    let mains: Vec<Vec<f64>> = (0..levels.len())
        .map(|factor| marginal(levels, &means, &[factor]))
        .collect();
    // Every marginal mean stands for as many cells.
    let scale = |marginals: usize| harmonic * cells.len() as f64 / marginals as f64;
    let tested = |factor: usize, with: Option<usize>, squares: f64, freedom: usize| Source {
        factor,
        with,
        squares,
        freedom,
        p: (chance > 0).then(|| p_value(squares / freedom as f64, within / chance as f64, freedom, chance)),
    };
    let mut sources = Vec::new();
    for (factor, means) in mains.iter().enumerate() {
        let squares = squares(means, grand) * scale(means.len());
        sources.push(tested(factor, None, squares, levels[factor] - 1));
    }
    for first in 0..levels.len() {
        for second in first + 1..levels.len() {
            let both = marginal(levels, &means, &[first, second]);
            let count = levels[second];
            let rest = both.iter().enumerate().map(|(place, mean)| {
                let additive = mains[first][place / count] + mains[second][place % count] - grand;
                (mean - additive) * (mean - additive)
            });
            let squares = rest.sum::<f64>() * scale(both.len());
            let freedom = (levels[first] - 1) * (count - 1);
            sources.push(tested(first, Some(second), squares, freedom));
        }
    }
    let explained: f64 = sources.iter().map(|source| source.squares).sum();
    let between = squares(&means, grand) * harmonic;
    Some(Variation {
        sources,
        higher: if levels.len() > 2 {
            (between - explained).max(0.0)
        } else {
            0.0
        },
        within,
    })
}

/// Means over all factors except those in `kept`, whose last one varies fastest.
#[must_use]
pub fn marginal(levels: &[usize], means: &[f64], kept: &[usize]) -> Vec<f64> {
    let mut sets: Vec<Vec<f64>> = vec![Vec::new(); kept.iter().map(|factor| levels[*factor]).product()];
    for (cell, mean) in means.iter().enumerate() {
        let place = kept.iter().fold(0, |place, factor| {
            place * levels[*factor] + level_of(levels, cell, *factor)
        });
        sets[place].push(*mean);
    }
    sets.iter().map(|set| mean(set)).collect()
}

/// The level of a factor in a cell.
fn level_of(levels: &[usize], cell: usize, factor: usize) -> usize {
    let after: usize = levels[factor + 1..].iter().product();
    cell / after % levels[factor]
}

fn squares(values: &[f64], from: f64) -> f64 {
    values.iter().map(|value| (value - from) * (value - from)).sum()
}

fn p_value(mean: f64, chance: f64, freedom: usize, chance_freedom: usize) -> f64 {
    match (mean > 0.0, chance > 0.0) {
        (false, _) => 1.0,
        (true, false) => 0.0,
        (true, true) => f_tail(mean / chance, freedom as f64, chance_freedom as f64),
    }
}

/// Probability that a value of the F distribution with these degrees of freedom exceeds `f`.
#[must_use]
pub fn f_tail(f: f64, above: f64, below: f64) -> f64 {
    regularised_beta(below / (below + above * f), below / 2.0, above / 2.0)
}

/// Regularised incomplete beta function (NIST Digital Library of Mathematical Functions 8.17), from its
/// continued fraction 8.17.22.
fn regularised_beta(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return if x <= 0.0 { 0.0 } else { 1.0 };
    }
    // The fraction converges rapidly up to the mean of the distribution.
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - regularised_beta(1.0 - x, b, a);
    }
    let ln_beta = libm::lgamma(a) + libm::lgamma(b) - libm::lgamma(a + b);
    let front = libm::exp(a * libm::log(x) + b * libm::log(1.0 - x) - ln_beta) / a;
    front / fraction(x, a, b)
}

/// 1 + d₁/(1 + d₂/(1 + …)), evaluated from its end. The number of terms grows with the square root of
/// the parameters.
fn fraction(x: f64, a: f64, b: f64) -> f64 {
    let terms = 60 + 4 * libm::sqrt(a.max(b)) as u32;
    let coefficient = |index: u32| {
        let m = f64::from(index / 2);
        if index.is_multiple_of(2) {
            m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m))
        } else {
            -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0))
        }
    };
    (1..=terms)
        .rev()
        .fold(1.0, |rest, index| 1.0 + coefficient(index) / rest)
}
