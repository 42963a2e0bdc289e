//! Many simulated runs with a question.
//!
//! - [`sweep`]: a scenario run for every combination of the values that some keys take.
//! - [`validate`]: published cases, run over the models and held against their tolerances.

#[doc(hidden)]
pub mod fuzz;
pub mod sweep;
pub mod validate;
