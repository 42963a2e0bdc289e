//! How evenly something is shared.

/// Jain's fairness index of what each got: (Σx)² / (n · Σx²) (Jain, Chiu, Hawe, DEC-TR-301, 1984). 1 when all got the
/// same, k/n when k of n got the same and the others nothing.
///
/// `None` when there is nothing to share out: no shares, all of them zero, or one that is negative or not finite.
#[must_use]
pub fn jain(shares: &[f64]) -> Option<f64> {
    if shares.iter().any(|share| !share.is_finite() || *share < 0.0) {
        return None;
    }
    let largest = shares.iter().copied().fold(0.0, f64::max);
    if largest == 0.0 {
        return None;
    }
    // Of shares in the largest no square overflows; the index is the same.
    let (mut sum, mut squares) = (0.0, 0.0);
    for share in shares {
        let part = share / largest;
        sum += part;
        squares += part * part;
    }
    Some(sum * sum / (shares.len() as f64 * squares))
}
