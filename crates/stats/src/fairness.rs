//! Fairness of shares.

/// Jain's fairness index: (Σx)² / (n · Σx²) (Jain, Chiu, Hawe, DEC-TR-301, 1984). 1 if all shares
/// are equal, k/n if k of n shares are equal and the others are zero.
///
/// Returns `None` if there are no shares, all are zero, or one is negative or not finite.
#[must_use]
pub fn jain(shares: &[f64]) -> Option<f64> {
    if shares.iter().any(|share| !share.is_finite() || *share < 0.0) {
        return None;
    }
    let largest = shares.iter().copied().fold(0.0, f64::max);
    if largest == 0.0 {
        return None;
    }
    // Shares relative to the largest one: no square overflows, and the index is the same.
    let (mut sum, mut squares) = (0.0, 0.0);
    for share in shares {
        let part = share / largest;
        sum += part;
        squares += part * part;
    }
    Some(sum * sum / (shares.len() as f64 * squares))
}
