//! Studies of many simulated runs.
//!
//! - [`sweep`] – runs a scenario for every combination of values of some keys.
//! - [`causes`] – what makes the difference for a missed goal when it is taken away.
//! - [`demo`] – one access point before and after the change that helps most, as text and as a page.
//! - [`twin`] – a measured run beside simulations of a model of its network.
//! - [`whatif`] – simulates changes that may remove the causes of a run's missed goals.

pub mod causes;
pub mod demo;
pub mod sweep;
pub mod twin;
pub mod whatif;
