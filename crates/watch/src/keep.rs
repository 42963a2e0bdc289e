//! Bounded disk use: the oldest hours are deleted first.

use netburn_units::ByteSize;

/// A recorded hour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Recorded {
    /// Size of its files.
    pub size: ByteSize,
    /// True while it is recorded, or completed.
    pub is_open: bool,
}

/// Returns the places of the `hours`, sorted from the oldest, that are deleted so that the rest is at most `keep`. Open hours are never deleted.
#[must_use]
pub fn to_delete(hours: &[Recorded], keep: ByteSize) -> Vec<usize> {
    let mut total: u128 = hours.iter().map(|hour| u128::from(hour.size.as_bytes())).sum();
    let mut deleted = Vec::new();
    for (index, hour) in hours.iter().enumerate().filter(|(_, hour)| !hour.is_open) {
        if total <= u128::from(keep.as_bytes()) {
            break;
        }
        total -= u128::from(hour.size.as_bytes());
        deleted.push(index);
    }
    deleted
}
