//! The file people write: parsed, checked, resolved into a plan; its JSON Schema.

pub mod plan;

pub use plan::{Plan, Station, StationWorkload};
