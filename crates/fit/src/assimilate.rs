//! Ensemble smoother with multiple data assimilation (ES-MDA).
//!
//! Source: Emerick and Reynolds, "Ensemble smoother with multiple data assimilation", Computers & Geosciences 55 (2013). An
//! ensemble of parameters is updated several times with the same observations. The error variance of the observations is
//! multiplied by an inflation factor each time. If the inverses of the factors sum to 1, the result on a linear problem with
//! Gaussian errors is the posterior, up to the sampling error of the ensemble.

use netburn_units::RandomStream;

/// The 95th percentile of the standard normal distribution. The 5th one is its negative.
pub(crate) const NORMAL_95: f64 = 1.645;

/// Observations of an assimilation.
pub struct Observations<'a> {
    /// Observed values.
    pub values: &'a [f64],
    /// Variance of the error of each value, greater than 0: of the model, and by chance.
    pub variances: &'a [f64],
    /// The part of it by chance. Predictions have it too, so that their covariance already contains it once.
    pub chance: &'a [f64],
    /// Factor of each variance, at least 1.
    pub inflations: &'a [f64],
    /// Squared correlations up to this multiple of their mean by chance are left out. A small one lets the ensemble follow weak
    /// correlations, and a large one keeps its width: 5 % of the correlations by chance are above 4, and 1.4 % above 6.
    pub significance: f64,
    /// True if the parameter (first number) can act on the observation (second number). Other correlations of the ensemble
    /// are by chance, and are left out.
    pub acts: &'a dyn Fn(usize, usize) -> bool,
}

impl Observations<'_> {
    /// Variance that an update adds to that of the predictions.
    fn added(&self, observation: usize) -> f64 {
        self.variances[observation] * self.inflations[observation] - self.chance[observation]
    }
}

/// Updates an ensemble once. `members` are the parameters of each member, and `predicted` the observations that each of
/// them predicts.
///
/// This is a local analysis: each parameter is updated with the observations on which it acts, if their correlation in the
/// ensemble is stronger than by chance. With all observations, of which there are more than members, the correlations by
/// chance would make the ensemble far too narrow.
///
/// # Panics
/// The lengths differ, or there are fewer than two members.
pub fn assimilate(
    members: &mut [Vec<f64>],
    predicted: &[Vec<f64>],
    observations: &Observations<'_>,
    random: &mut RandomStream,
) {
    assert!(
        members.len() == predicted.len() && members.len() > 1,
        "each member has a prediction"
    );
    let count = observations.values.len();
    let from_mean = anomalies(predicted);
    let own = anomalies(members);
    let errors = centred_errors(members.len(), count, random);
    for parameter in 0..members[0].len() {
        let covariances: Vec<(usize, f64)> = (0..count)
            .filter(|observation| (observations.acts)(parameter, *observation))
            .filter_map(|observation| {
                Some((
                    observation,
                    covariance([&own, &from_mean], [parameter, observation], observations.significance)?,
                ))
            })
            .collect();
        let used: Vec<usize> = covariances.iter().map(|(observation, _)| *observation).collect();
        let mut matrix = Matrix::covariance(&from_mean, &used);
        for (row, observation) in used.iter().enumerate() {
            *matrix.at(row, row) += observations.added(*observation);
        }
        // The gain is the same for all members.
        let mut gain: Vec<f64> = covariances.iter().map(|(_, covariance)| *covariance).collect();
        matrix.cholesky().solve(&mut gain);
        for ((member, predicted), errors) in members.iter_mut().zip(predicted).zip(&errors) {
            let change = used.iter().zip(&gain).map(|(observation, gain)| {
                let o = *observation;
                let deviation = libm::sqrt(observations.added(o));
                gain * (observations.values[o] + deviation * errors[o] - predicted[o])
            });
            member[parameter] += change.sum::<f64>();
        }
    }
}

/// Covariance of a parameter and an observation, of which the anomalies and the numbers are given; `None` if it may be by
/// chance. The squared correlation of N independent pairs has the mean 1 / (N − 1).
fn covariance(anomalies: [&[Vec<f64>]; 2], numbers: [usize; 2], significance: f64) -> Option<f64> {
    let [own, other] = anomalies;
    let (mut product, mut square, mut other_square) = (0.0, 0.0, 0.0);
    for (p, d) in own.iter().zip(other) {
        let (p, d) = (p[numbers[0]], d[numbers[1]]);
        product += p * d;
        square += p * p;
        other_square += d * d;
    }
    let degrees = (own.len() - 1) as f64;
    (product * product * degrees > significance * square * other_square).then_some(product / degrees)
}

/// Logarithm of the Gaussian likelihood of `values`, for predictions with the mean and the covariance of an ensemble, and
/// independent errors with these variances. The constant that depends on the number of values only is left out.
#[must_use]
pub fn log_likelihood(predicted: &[Vec<f64>], values: &[f64], variances: &[f64]) -> f64 {
    let all: Vec<usize> = (0..values.len()).collect();
    let mut covariance = Matrix::covariance(&anomalies(predicted), &all);
    for (row, variance) in variances.iter().enumerate() {
        *covariance.at(row, row) += variance;
    }
    let factor = covariance.cholesky();
    let means = means(predicted);
    let difference: Vec<f64> = values.iter().zip(&means).map(|(value, mean)| value - mean).collect();
    let mut solved = difference.clone();
    factor.solve(&mut solved);
    let distance: f64 = difference.iter().zip(&solved).map(|(one, other)| one * other).sum();
    -0.5 * (distance + factor.log_determinant())
}

/// A standard normal random number, by the method of Box and Muller (1958).
pub fn normal(random: &mut RandomStream) -> f64 {
    // Both are in (0, 1]: the logarithm is finite.
    let mut uniform = || ((random.next_u64() >> 11) as f64 + 1.0) / (1_u64 << 53) as f64;
    let (one, other) = (uniform(), uniform());
    libm::sqrt(-2.0 * libm::log(one)) * libm::cos(std::f64::consts::TAU * other)
}

/// Errors of all members. Their mean is 0 for each observation, which removes a part of the sampling error.
fn centred_errors(members: usize, count: usize, random: &mut RandomStream) -> Vec<Vec<f64>> {
    let mut errors: Vec<Vec<f64>> = (0..members)
        .map(|_| (0..count).map(|_| normal(random)).collect())
        .collect();
    let means = means(&errors);
    for member in &mut errors {
        member.iter_mut().zip(&means).for_each(|(value, mean)| *value -= mean);
    }
    errors
}

/// Mean of each column.
pub(crate) fn means(rows: &[Vec<f64>]) -> Vec<f64> {
    let mut sums = vec![0.0; rows[0].len()];
    for row in rows {
        sums.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
    }
    sums.iter_mut().for_each(|sum| *sum /= rows.len() as f64);
    sums
}

fn anomalies(rows: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let means = means(rows);
    let from_mean = |row: &Vec<f64>| row.iter().zip(&means).map(|(value, mean)| value - mean).collect();
    rows.iter().map(from_mean).collect()
}

/// A symmetric matrix, of which the lower triangle is stored.
struct Matrix {
    size: usize,
    values: Vec<f64>,
}

impl Matrix {
    fn at(&mut self, row: usize, column: usize) -> &mut f64 {
        &mut self.values[row * self.size + column]
    }

    /// Covariance of these columns.
    fn covariance(anomalies: &[Vec<f64>], columns: &[usize]) -> Self {
        let size = columns.len();
        let mut matrix = Matrix {
            size,
            values: vec![0.0; size * size],
        };
        let degrees = (anomalies.len() - 1) as f64;
        for member in anomalies {
            let member: Vec<f64> = columns.iter().map(|column| member[*column]).collect();
            for (row, one) in member.iter().enumerate() {
                let values = &mut matrix.values[row * size..=row * size + row];
                values
                    .iter_mut()
                    .zip(&member)
                    .for_each(|(value, other)| *value += one * other / degrees);
            }
        }
        matrix
    }

    /// Lower triangle L of the decomposition L·Lᵀ. The matrix is positive definite because its diagonal contains the
    /// variances of errors.
    fn cholesky(mut self) -> Factor {
        let size = self.size;
        for row in 0..size {
            for column in 0..=row {
                let (own, other) = (row * size, column * size);
                let dot: f64 = (0..column).map(|k| self.values[own + k] * self.values[other + k]).sum();
                let rest = self.values[own + column] - dot;
                self.values[own + column] = if row == column {
                    libm::sqrt(rest.max(f64::MIN_POSITIVE))
                } else {
                    rest / self.values[other + column]
                };
            }
        }
        Factor(self)
    }
}

/// Lower triangle of a Cholesky decomposition.
struct Factor(Matrix);

impl Factor {
    /// Solves L·Lᵀ·x = b in place.
    fn solve(&self, b: &mut [f64]) {
        let Matrix { size, values } = &self.0;
        for row in 0..*size {
            let dot: f64 = (0..row).map(|k| values[row * size + k] * b[k]).sum();
            b[row] = (b[row] - dot) / values[row * size + row];
        }
        for row in (0..*size).rev() {
            let dot: f64 = (row + 1..*size).map(|k| values[k * size + row] * b[k]).sum();
            b[row] = (b[row] - dot) / values[row * size + row];
        }
    }

    fn log_determinant(&self) -> f64 {
        let Matrix { size, values } = &self.0;
        2.0 * (0..*size).map(|row| libm::log(values[row * size + row])).sum::<f64>()
    }
}
