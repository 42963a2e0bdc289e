//! Parts of a `responsiveness` workload.

/// Part of a `responsiveness` workload to which an operation belongs. The number of the operation determines it: operation
/// `n` of each part has the number 3 · n plus 0, 1 or 2.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part {
    /// A foreign probe: an object of one byte on a new connection.
    Foreign,
    /// A self probe: an object of one byte on a connection with load.
    Own,
    /// An object of the load. It ends when it fails, when it is complete, or when the load ends.
    Load,
}

impl Part {
    /// Part of the operation with this number.
    #[must_use]
    pub const fn from_sequence(sequence: u64) -> Self {
        match sequence % 3 {
            0 => Part::Foreign,
            1 => Part::Own,
            _ => Part::Load,
        }
    }

    /// Number of the operation that is number `number` of this part, from 0.
    #[must_use]
    pub const fn operation(self, number: u64) -> u64 {
        number.saturating_mul(3).saturating_add(self as u64)
    }
}
