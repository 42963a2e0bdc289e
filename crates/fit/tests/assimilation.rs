//! ES-MDA against the closed form of a linear problem with normal errors.

use netburn_fit::assimilate::{Observations, assimilate, log_likelihood, normal};
use netburn_units::Seed;

/// Mean and variance of one parameter of an ensemble.
fn moments(members: &[Vec<f64>], parameter: usize) -> (f64, f64) {
    let count = members.len() as f64;
    let mean = members.iter().map(|member| member[parameter]).sum::<f64>() / count;
    let squares = members
        .iter()
        .map(|member| (member[parameter] - mean) * (member[parameter] - mean));
    (mean, squares.sum::<f64>() / (count - 1.0))
}

/// Updates an ensemble of `count` members with these inflation factors. The variance of each observation's error is 0.5, of
/// which predictions have `chance`.
fn updated(
    count: usize,
    inflations: &[f64],
    predict: &dyn Fn(&[f64]) -> Vec<f64>,
    values: &[f64],
    chance: f64,
) -> Vec<Vec<f64>> {
    let mut random = Seed(7).stream("test", 0);
    let mut members: Vec<Vec<f64>> = (0..count)
        .map(|_| vec![normal(&mut random), 2.0 + 3.0 * normal(&mut random)])
        .collect();
    for inflation in inflations {
        let predicted: Vec<Vec<f64>> = members.iter().map(|member| predict(member)).collect();
        let observations = Observations {
            values,
            variances: &vec![0.5; values.len()],
            chance: &vec![chance; values.len()],
            inflations: &vec![*inflation; values.len()],
            significance: 4.0,
            acts: &|_, _| true,
        };
        assimilate(&mut members, &predicted, &observations, &mut random);
    }
    members
}

#[test]
fn a_linear_problem_has_the_closed_form() {
    // Two independent parameters with the priors N(0, 1) and N(2, 9). The first one is observed twice, as 1.5 and 0.5, with
    // the variance 0.5. Precision 1/1 + 2/0.5 = 5, so the variance is 0.2, and the mean is 0.2 · (1.5 + 0.5)/0.5 = 0.8.
    // The second one is observed once with the factor 2, as 10: precision 1/9 + 4/0.5 = 73/9, so the variance is 9/73, and the
    // mean is 9/73 · (2/9 + 2 · 10/0.5) = 9/73 · 362/9 = 362/73.
    let predict = |member: &[f64]| vec![member[0], member[0], 2.0 * member[1]];
    for inflations in [&[1.0][..], &[4.0; 4], &[28.0 / 3.0, 7.0, 4.0, 2.0]] {
        let members = updated(4_000, inflations, &predict, &[1.5, 0.5, 10.0], 0.0);
        let (mean, variance) = moments(&members, 0);
        assert!(
            (mean - 0.8).abs() < 0.03 && (variance - 0.2).abs() < 0.02,
            "{mean} {variance}"
        );
        let (mean, variance) = moments(&members, 1);
        assert!((mean - 362.0 / 73.0).abs() < 0.03, "{mean}");
        assert!((variance - 9.0 / 73.0).abs() < 0.02, "{variance}");
    }
}

/// The same problem, but a prediction has a part of the error: a simulation with a seed. The posterior must be the same,
/// because this part counts once.
#[test]
fn chance_in_the_predictions_counts_once() {
    let mut random = Seed(4).stream("noise", 0);
    let noise = std::cell::RefCell::new(&mut random);
    let mut with_noise = |value: f64| value + libm::sqrt(0.4) * normal(&mut noise.borrow_mut());
    let with_noise = std::cell::RefCell::new(&mut with_noise);
    let predict = |member: &[f64]| {
        [member[0], member[0], 2.0 * member[1]]
            .map(|value| (with_noise.borrow_mut())(value))
            .to_vec()
    };
    let members = updated(4_000, &[28.0 / 3.0, 7.0, 4.0, 2.0], &predict, &[1.5, 0.5, 10.0], 0.4);
    let (mean, variance) = moments(&members, 0);
    assert!((mean - 0.8).abs() < 0.03, "{mean}");
    assert!((variance - 0.2).abs() < 0.02, "{variance}");
    let (_, variance) = moments(&members, 1);
    assert!((variance - 9.0 / 73.0).abs() < 0.02, "{variance}");
}

#[test]
fn an_observation_without_effect_changes_nothing_beyond_chance() {
    // 40 observations that do not depend on the parameters, as many as act on one parameter. With all their correlations by
    // chance an ensemble of 30 would collapse. The variance of the prior must remain within a factor of about two.
    let mut random = Seed(3).stream("noise", 0);
    let noise = std::cell::RefCell::new(&mut random);
    let predict = |_: &[f64]| (0..40).map(|_| normal(&mut noise.borrow_mut())).collect();
    let members = updated(30, &[4.0; 4], &predict, &[0.0; 40], 0.5);
    let (_, variance) = moments(&members, 1);
    assert!((4.0..18.0).contains(&variance), "the prior has 9: {variance}");
}

#[test]
fn a_parameter_that_does_not_act_is_unchanged() {
    let mut members = vec![vec![1.0], vec![2.0], vec![4.0], vec![8.0]];
    let predicted = members.clone();
    let before = members.clone();
    let observations = Observations {
        values: &[3.0],
        variances: &[0.1],
        chance: &[0.0],
        inflations: &[1.0],
        significance: 4.0,
        acts: &|_, _| false,
    };
    assimilate(&mut members, &predicted, &observations, &mut Seed(1).stream("test", 0));
    assert_eq!(members, before);
}

#[test]
fn the_likelihood_is_that_of_a_normal_distribution() {
    // Two members predict 1 and 3: the mean is 2 and the variance 2. With the error variance 2 the sum is 4. An observation of
    // 4 has the squared distance (4 − 2)² / 4 = 1, and the logarithm of the determinant is ln 4.
    let found = log_likelihood(&[vec![1.0], vec![3.0]], &[4.0], &[2.0]);
    assert!((found + 0.5 * (1.0 + 4.0_f64.ln())).abs() < 1e-12, "{found}");
}
