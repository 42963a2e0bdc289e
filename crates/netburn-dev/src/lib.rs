//! Comparisons of the models with publications, with ns-3 and with Linux. Only developers of netburn need them.
//!
//! - [`twin`] – fits of random networks whose truth is known, and their predictions.
//! - [`validate`] – published values, with the tolerance of each.
//! - [`crosscheck`] – random plans, compared with ns-3.
//! - [`conformance`] – the same scenarios in the simulator and in the lab, compared.
//! - [`experiment`] – one scenario with several seeds and signals, and metrics over the runs.
//! - [`datagrams`] – flows of datagrams over any network in simulated time. [`flows`]: the same between sockets in a lab.
//! - [`sample`] – values in the runs of two programs, and whether they agree. [`store`]: results in files.
//!
//! The command `netburn-dev` runs them.

pub mod conformance;
pub mod crosscheck;
pub mod datagrams;
pub mod experiment;
pub mod flows;
#[cfg(feature = "fuzz")]
pub mod fuzz;
pub mod sample;
pub mod store;
pub mod twin;
pub mod validate;
