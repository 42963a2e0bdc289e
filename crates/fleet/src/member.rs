//! A member of a fleet: stays joined, and takes part in runs when it is summoned.

mod limits;

pub use limits::{Hours, Limits};
