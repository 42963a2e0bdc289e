//! Effect size of two sets of runs, independent of the unit, with a verbal scale.

/// Effect size: Cliff's delta (1993).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Effect {
    /// Share of pairs in which the second set's value is larger, minus the share in which it is
    /// smaller. −1 to 1; 0 if the sets overlap evenly.
    pub delta: f64,
}

/// Verbal scale of an effect size, with the limits of Romano, Kromrey, Coraggio and Skowronek
/// (2006): 0.147, 0.33 and 0.474.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Size {
    /// Below 0.147.
    Negligible,
    /// From 0.147.
    Small,
    /// From 0.33.
    Medium,
    /// From 0.474.
    Large,
}

impl Effect {
    /// Computes the effect from Mann and Whitney's U of the first of two sets with these sizes;
    /// [`RankTest::u`](crate::RankTest::u) is one.
    #[must_use]
    pub fn from_u(u: f64, first: usize, second: usize) -> Self {
        let pairs = (first as f64 * second as f64).max(1.0);
        Effect {
            delta: 1.0 - 2.0 * u / pairs,
        }
    }

    /// Share of pairs in which the second set's value is larger, with ties as one half, 0 to 1.
    /// This is the common-language effect size (McGraw and Wong 1992).
    #[must_use]
    pub fn larger(self) -> f64 {
        f64::midpoint(1.0, self.delta)
    }

    /// Verbal scale of this effect.
    #[must_use]
    pub fn size(self) -> Size {
        match self.delta.abs() {
            ..0.147 => Size::Negligible,
            ..0.33 => Size::Small,
            ..0.474 => Size::Medium,
            _ => Size::Large,
        }
    }
}

impl Size {
    /// Name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Size::Negligible => "negligible",
            Size::Small => "small",
            Size::Medium => "medium",
            Size::Large => "large",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mann_whitney;

    #[test]
    fn by_hand() {
        let effect = |first: &[f64], second: &[f64]| {
            let test = mann_whitney(first, second).unwrap();
            Effect::from_u(test.u, first.len(), second.len())
        };
        // 6 of 6 pairs are larger.
        assert_eq!(effect(&[1.0, 2.0], &[3.0, 4.0, 5.0]).delta, 1.0);
        assert_eq!(effect(&[3.0, 4.0, 5.0], &[1.0, 2.0]).delta, -1.0);
        // Of 9 pairs 6 are larger, 1 is equal, 2 are smaller: 4/9.
        let some = effect(&[1.0, 3.0, 5.0], &[2.0, 5.0, 6.0]);
        assert!((some.delta - 4.0 / 9.0).abs() < 1e-12, "{some:?}");
        assert!((some.larger() - 6.5 / 9.0).abs() < 1e-12);
        assert_eq!(some.size(), Size::Medium);
        assert_eq!(effect(&[1.0; 4], &[1.0; 3]).size(), Size::Negligible);
    }
}
