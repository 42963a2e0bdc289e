//! Many simulated runs with a question.
//!
//! - [`sweep`]: a scenario run for every combination of the values that some keys take.
//! - [`crosscheck`]: random plans, compared with an independent simulator.
//! - [`experiment`]: one scenario under several seeds and signals, and what comes of it.
//! - [`validate`]: published cases, run over the models and held against their tolerances.
//! - [`whatif`]: for the causes that a run's figures suggest, what changes against them would bring.

pub mod crosscheck;
pub mod experiment;
#[doc(hidden)]
pub mod fuzz;
mod pool;
pub mod sweep;
pub mod validate;
pub mod whatif;
