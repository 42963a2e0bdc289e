//! Analysis of variance against published data and against an independent program.

use netburn_stats::factorial::{Source, f_tail, marginal, variation};
use netburn_stats::median_interval;
use proptest::prelude::*;

fn close(found: f64, expected: f64, relative: f64) -> bool {
    (found - expected).abs() <= relative * expected.abs()
}

/// Tooth growth of guinea pigs (Crampton, *The Journal of Nutrition* 33, 1947; `ToothGrowth` in R): two supplements, three
/// doses, ten animals each. The expected values are those of R and of statsmodels 0.14.
#[test]
fn the_guinea_pigs_have_their_published_table() {
    let cells = [
        [4.2, 11.5, 7.3, 5.8, 6.4, 10.0, 11.2, 11.2, 5.2, 7.0],
        [16.5, 16.5, 15.2, 17.3, 22.5, 17.3, 13.6, 14.5, 18.8, 15.5],
        [23.6, 18.5, 33.9, 25.5, 26.4, 32.5, 26.7, 21.5, 23.3, 29.5],
        [15.2, 21.5, 17.6, 9.7, 14.5, 10.0, 8.2, 9.4, 16.5, 9.7],
        [19.7, 23.3, 23.6, 26.4, 20.0, 25.2, 25.8, 21.2, 14.5, 27.3],
        [25.5, 26.4, 22.4, 24.5, 24.8, 30.9, 26.4, 27.3, 29.4, 23.0],
    ];
    let found = variation(&[2, 3], &cells.map(|cell| cell.to_vec())).unwrap();
    let expected = [
        (0, None, 205.35, 1, 2.311_828e-4),
        (1, None, 2_426.434_333, 2, 4.046_291e-18),
        (0, Some(1), 108.319, 2, 2.186_027e-2),
    ];
    assert_eq!(found.sources.len(), 3);
    for (source, (factor, with, squares, freedom, p)) in found.sources.iter().zip(expected) {
        assert_eq!((source.factor, source.with, source.freedom), (factor, with, freedom));
        assert!(close(source.squares, squares, 1e-6), "{source:?}");
        assert!(close(source.p.unwrap(), p, 1e-5), "{source:?}");
    }
    assert!(close(found.within, 712.106, 1e-6));
    assert_eq!(found.higher, 0.0);
}

/// `scipy.stats.f.sf`, version 1.17. The first value is the 95 % point of published tables.
#[test]
fn the_tail_of_the_f_distribution() {
    for (f, above, below, expected) in [
        (4.964_602_743_730_711, 1.0, 10.0, 0.05),
        (3.0, 2.0, 30.0, 0.064_905_471_518_874_46),
        (1.5, 5.0, 2000.0, 0.186_571_146_614_449_93),
        (0.2, 3.0, 7.0, 0.893_167_955_662_489_9),
        (250.0, 1.0, 4.0, 9.349_274_639_994_454e-5),
    ] {
        assert!(close(f_tail(f, above, below), expected, 1e-10), "{f} {above} {below}");
    }
    assert_eq!(f_tail(0.0, 2.0, 5.0), 1.0);
    assert_eq!(f_tail(f64::INFINITY, 2.0, 5.0), 0.0);
}

#[test]
fn experiments_that_cannot_be_split_are_rejected() {
    let one = || vec![1.0];
    assert_eq!(variation(&[], &[]), None);
    assert_eq!(variation(&[1, 2], &[one(), one()]), None);
    assert_eq!(variation(&[2], &[one()]), None);
    assert_eq!(variation(&[2], &[one(), vec![]]), None);
    assert_eq!(variation(&[2], &[one(), vec![f64::NAN]]), None);
    assert_eq!(variation(&[usize::MAX, 3], &[one()]), None);
    // One value per cell: chance is unknown.
    let single = variation(&[2], &[one(), vec![3.0]]).unwrap();
    assert_eq!(
        (single.sources[0].squares, single.sources[0].p, single.within),
        (2.0, None, 0.0)
    );
    // Two equal values per cell: no chance.
    let certain = variation(&[2], &[vec![1.0, 1.0], vec![3.0, 3.0]]).unwrap();
    assert_eq!((certain.sources[0].squares, certain.sources[0].p), (4.0, Some(0.0)));
}

/// 2 × 3 × 2 cells of one value: 10 a + 100 c + 1000 a c for the levels a of the first and c of the third factor.
#[test]
fn an_interaction_is_attributed_to_its_pair() {
    let cell = |place: usize| {
        let (a, c) = ((place / 6) as f64, (place % 2) as f64);
        vec![10.0 * a + 100.0 * c + 1000.0 * a * c]
    };
    let cells: Vec<Vec<f64>> = (0..12).map(cell).collect();
    let found = variation(&[2, 3, 2], &cells).unwrap();
    let of = |factor, with| {
        let is = |source: &&Source| (source.factor, source.with) == (factor, with);
        found.sources.iter().find(is).unwrap().squares
    };
    // Marginal means of a: 50 and 560; of c: 5 and 605; the interaction is ±250 in all 12 cells.
    assert!(close(of(0, None), 12.0 * 255.0 * 255.0, 1e-12));
    assert!(close(of(2, None), 12.0 * 300.0 * 300.0, 1e-12));
    assert!(close(of(0, Some(2)), 12.0 * 250.0 * 250.0, 1e-12));
    for (factor, with) in [(1, None), (0, Some(1)), (1, Some(2))] {
        assert!(of(factor, with) < 1e-6);
    }
    assert!(found.higher < 1e-6);
    let means: Vec<f64> = cells.iter().map(|cell| cell[0]).collect();
    assert_eq!(marginal(&[2, 3, 2], &means, &[0]), [50.0, 560.0]);
    assert_eq!(marginal(&[2, 3, 2], &means, &[2, 0]), [0.0, 10.0, 100.0, 1110.0]);
}

proptest! {
    /// With equal numbers of values per cell, the parts add up to the sum of squares around the grand mean.
    #[test]
    fn the_parts_are_the_whole(values in prop::collection::vec(-100.0..100.0_f64, 24)) {
        let cells: Vec<Vec<f64>> = values.chunks(2).map(<[f64]>::to_vec).collect();
        let found = variation(&[2, 3, 2], &cells).unwrap();
        let mean = values.iter().sum::<f64>() / 24.0;
        let total: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
        prop_assert!((found.total() - total).abs() < 1e-9 * total.max(1.0));
        for source in &found.sources {
            prop_assert!(source.squares >= 0.0 && (0.0..=1.0).contains(&source.p.unwrap()), "{source:?}");
        }
    }

    /// The interval consists of values, contains the median, and does not depend on the order.
    #[test]
    fn the_interval_encloses_the_median(mut values in prop::collection::vec(-1e9..1e9_f64, 0..60)) {
        let found = median_interval(&values);
        prop_assert_eq!(found.is_some(), values.len() >= 6);
        if let Some(found) = found {
            values.reverse();
            prop_assert_eq!(median_interval(&values), Some(found));
            let median = netburn_stats::bootstrap::median(&mut values);
            prop_assert!(found.low <= median && median <= found.high && found.level >= 0.95);
        }
    }
}

#[test]
fn an_interval_may_be_unbounded() {
    let mut values = vec![1.0, 2.0, 3.0, 4.0, 5.0, f64::INFINITY];
    let found = median_interval(&values).unwrap();
    assert_eq!((found.low, found.high), (1.0, f64::INFINITY));
    values.push(f64::NAN);
    assert_eq!(median_interval(&values), None);
}
