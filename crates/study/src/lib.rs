//! Studies of many simulated runs.
//!
//! - [`sweep`] – runs a scenario for every combination of values of some keys.
//! - [`crosscheck`] – random plans, compared with an independent simulator.
//! - [`causes`] – what makes the difference for a missed goal when it is taken away.
//! - [`conformance`] – the same scenarios in the simulator and in the lab, compared.
//! - [`experiment`] – runs one scenario with several seeds and signals, and evaluates metrics over the runs.
//! - [`validate`] – checks the models against published values, within stated tolerances.
//! - [`demo`] – one access point before and after the change that helps most, as text and as a page.
//! - [`whatif`] – simulates changes that may remove the causes of a run's missed goals.

pub mod causes;
pub mod conformance;
pub mod crosscheck;
pub mod demo;
pub mod experiment;
#[cfg(feature = "fuzz")]
pub mod fuzz;
pub mod sweep;
pub mod validate;
pub mod whatif;
