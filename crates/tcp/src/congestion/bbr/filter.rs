//! A windowed maximum in constant space (Kathleen Nichols' filter, `lib/win_minmax.c`).

/// A value and its round.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Sample {
    round: u64,
    value: u64,
}

/// Maximum within a window of rounds. It keeps the best value, the best after it, and the best
/// after that. So there is a successor from the window's later part when the best expires.
#[derive(Debug, Clone, Default)]
pub(super) struct WindowedMax {
    best: [Sample; 3],
}

impl WindowedMax {
    pub(super) fn get(&self) -> u64 {
        self.best[0].value
    }

    /// Adds `value` of `round`; values more than `window` rounds old expire.
    pub(super) fn update(&mut self, window: u64, round: u64, value: u64) {
        let seen = Sample { round, value };
        let [first, second, third] = &mut self.best;
        if value >= first.value || round - third.round > window {
            self.best = [seen; 3];
            return;
        }
        if value >= second.value {
            (*second, *third) = (seen, seen);
        } else if value >= third.value {
            *third = seen;
        }
        let age = round - first.round;
        if age > window {
            (*first, *second, *third) = (*second, *third, seen);
            if round - first.round > window {
                (*first, *second, *third) = (*second, *third, seen);
            }
        } else if second.round == first.round && age > window / 4 {
            // A quarter of the window without a second best: this value becomes the second best.
            (*second, *third) = (seen, seen);
        } else if third.round == second.round && age > window / 2 {
            *third = seen;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_best_is_kept_for_the_window_and_no_longer() {
        let mut filter = WindowedMax::default();
        filter.update(10, 0, 100);
        for round in 1..=10 {
            filter.update(10, round, 50);
            assert_eq!(filter.get(), 100, "{round}");
        }
        filter.update(10, 11, 50);
        assert_eq!(filter.get(), 50);
    }

    proptest! {
        #[test]
        fn it_is_a_value_of_the_window_and_at_least_the_newest(values in prop::collection::vec(0u64..1_000, 1..200)) {
            let mut filter = WindowedMax::default();
            for (round, value) in values.iter().enumerate() {
                filter.update(10, round as u64, *value);
                let within = &values[round.saturating_sub(10)..=round];
                prop_assert!(within.contains(&filter.get()));
                prop_assert!(filter.get() >= *value);
            }
        }
    }
}
