//! Identity of a contender.

/// Identifies a contender: a station's access category.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Contender(pub u32);
