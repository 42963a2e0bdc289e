//! Many simulated runs with a question.
//!
//! - [`validate`]: published cases, run over the models and held against their tolerances.

#[doc(hidden)]
pub mod fuzz;
pub mod validate;
