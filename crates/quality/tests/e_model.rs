//! The E-model against published and derived values, and its laws.

use netburn_quality::{Codec, Impairment, LossRuns, mos, rating};
use netburn_units::Duration;
use proptest::prelude::*;

fn r(delay_ms: u64, loss_percent: f64, burst_ratio: f64, codec: &Codec) -> f64 {
    let of = Impairment {
        delay: Duration::from_millis(delay_ms),
        loss: loss_percent / 100.0,
        burst_ratio,
    };
    rating(&of, codec)
}

fn close(found: f64, expected: f64, within: f64) {
    assert!(
        (found - expected).abs() <= within,
        "{found} is not {expected} ± {within}"
    );
}

/// G.107 (06/2015) with its default parameters. The values were computed from the equations by a
/// second implementation, which agrees with the calculator of the ITU.
#[test]
fn ratings_by_delay_are_those_of_g_107() {
    for (delay, expected, expected_mos) in [
        (0, 93.21, 4.409),
        (20, 92.53, 4.396),
        (50, 91.76, 4.380),
        (100, 90.66, 4.355),
        (150, 89.54, 4.328),
        (177, 88.08, 4.289),
        (200, 85.80, 4.223),
        (300, 72.67, 3.719),
        (400, 62.25, 3.216),
    ] {
        let found = r(delay, 0.0, 1.0, &Codec::G711);
        close(found, expected, 0.05);
        close(mos(found), expected_mos, 0.001);
    }
}

/// Equation 7-30 at 50 ms: 91.76 − Ie − (95 − Ie) · Ppl / (Ppl + Bpl). By hand for 2 % without
/// concealment: 91.76 − 95 · 2 / 6.3 = 91.76 − 30.16 = 61.60.
#[test]
fn ratings_by_loss_are_those_of_g_107() {
    let codecs = [Codec::G711, Codec::G711_CONCEALED, Codec::G729A];
    for (loss, expected) in [
        (0.5, [(81.9, 4.09), (89.9, 4.34), (78.6, 3.97)]),
        (1.0, [(73.8, 3.77), (88.1, 4.29), (76.6, 3.89)]),
        (2.0, [(61.6, 3.18), (84.7, 4.19), (72.8, 3.72)]),
        (5.0, [(40.7, 2.10), (76.0, 3.86), (63.3, 3.27)]),
    ] {
        for (codec, (expected, expected_mos)) in codecs.iter().zip(expected) {
            let found = r(50, loss, 1.0, codec);
            close(found, expected, 0.05);
            close(mos(found), expected_mos, 0.005);
        }
    }
}

/// As above with Ppl / BurstR in the denominator: 91.76 − 95 · 2 / (1 + 4.3) = 55.91, and 91.76 −
/// 95 · 2 / (1 + 25.1) = 84.48.
#[test]
fn bursts_of_loss_lower_the_rating() {
    let (plain, concealed) = (r(50, 2.0, 2.0, &Codec::G711), r(50, 2.0, 2.0, &Codec::G711_CONCEALED));
    close(plain, 55.9, 0.05);
    close(mos(plain), 2.89, 0.005);
    close(concealed, 84.5, 0.05);
    close(mos(concealed), 4.18, 0.005);
}

/// Equation 7-30 in the domain of G.107: burst ratios to 8 with 2 % of loss or less, to 2 with 20 % or less.
#[test]
fn the_domain_of_g_107_has_its_formula() {
    let codec = Codec::G711_CONCEALED;
    for (losses, largest) in [(1..=20, 8.0), (21..=200, 2.0)] {
        for permille in losses {
            for step in 0..=8 {
                let burst_ratio = 1.0 + (largest - 1.0) * f64::from(step) / 8.0;
                let percent = f64::from(permille) / 10.0;
                let expected = r(50, 0.0, 1.0, &codec) - 95.0 * percent / (percent / burst_ratio + 25.1);
                close(r(50, percent, burst_ratio, &codec), expected, 1e-9);
            }
        }
    }
}

/// Annex B of G.107.
#[test]
fn scores_of_ratings_are_those_of_annex_b() {
    for (rating, expected) in [
        (90.0, 4.339),
        (80.0, 4.024),
        (70.0, 3.597),
        (60.0, 3.100),
        (50.0, 2.575),
    ] {
        close(mos(rating), expected, 0.001);
    }
    for (rating, expected) in [(-5.0, 1.0), (0.0, 1.0), (3.0, 1.0), (100.0, 4.5), (101.0, 4.5)] {
        close(mos(rating), expected, 1e-12);
    }
}

#[test]
fn codecs_have_names_and_delays() {
    assert_eq!(Codec::by_name("G.711 with concealment"), Some(Codec::G711_CONCEALED));
    assert_eq!(Codec::by_name("g.711"), None);
    for codec in Codec::ALL {
        assert_eq!(Codec::by_name(codec.name), Some(codec));
    }
    // A packet of 20 ms and a look-ahead of 5 ms.
    let added = Codec::G729A.added_delay(Duration::from_millis(20));
    assert_eq!(added, Duration::from_millis(25));
}

fn codec() -> impl Strategy<Value = Codec> {
    prop::sample::select(Codec::ALL.to_vec())
}

proptest! {
    #[test]
    fn the_rating_does_not_increase_with_delay(codec in codec(), from in 1_000_u64..3_000_000, more in 0_u64..1_000_000, loss in 0.0..1.0) {
        let at = |micros| rating(&Impairment { delay: Duration::from_micros(micros), loss, burst_ratio: 1.0 }, &codec);
        prop_assert!(at(from + more) <= at(from) + 1e-9);
        // Idte begins at 1 ms.
        prop_assert!(at(from + more) <= at(0) + 0.11);
    }

    #[test]
    fn the_rating_does_not_increase_with_loss_or_bursts(codec in codec(), delay in 0_u64..1000, loss in 0.0..1.0, more in 0.0..1.0, burst in 1.0..20.0, longer in 0.0..20.0) {
        let at = |loss, burst_ratio| rating(&Impairment { delay: Duration::from_millis(delay), loss, burst_ratio }, &codec);
        prop_assert!(at(loss + more, burst) <= at(loss, burst) + 1e-9);
        prop_assert!(at(loss, burst + longer) <= at(loss, burst) + 1e-9);
    }

    /// Losing one more packet never raises R, whichever packets were lost before.
    #[test]
    fn the_rating_does_not_rise_when_packets_are_removed(
        codec in codec(),
        gaps in prop::collection::vec((0_usize..60, 0_usize..60), 1..8),
        order in prop::collection::vec(any::<prop::sample::Index>(), 1..200),
    ) {
        let mut lost: Vec<bool> = gaps.iter().flat_map(|(received, lost)| {
            std::iter::repeat_n(false, *received).chain(std::iter::repeat_n(true, *lost))
        }).chain([false; 20]).collect();
        let at = |lost: &[bool]| {
            let runs = LossRuns::from_sequence(lost.iter().copied());
            rating(&Impairment { delay: Duration::from_millis(50), loss: runs.share(), burst_ratio: runs.burst_ratio() }, &codec)
        };
        let mut before = at(&lost);
        for next in order {
            let index = next.index(lost.len());
            lost[index] = true;
            let after = at(&lost);
            prop_assert!(after <= before + 1e-9, "{before} becomes {after}");
            before = after;
        }
    }

    #[test]
    fn the_score_is_in_range_and_does_not_decrease(rating in -100.0..140.0, more in 0.0..50.0) {
        prop_assert!((1.0..=4.5).contains(&mos(rating)));
        prop_assert!(mos(rating + more) >= mos(rating) - 1e-9);
    }
}
