//! A device of a fleet: it stays registered with the fleet's controller between runs, and takes part in runs.
//!
//! Modules, from the top:
//!
//! - [`member`] – the agent that stays registered.
//! - [`endpoint`] – connections to the controller. [`discovery`]: services on the local network.
//!   [`reachability`]: probe of a server before a run.
//! - [`addresses`] – addresses at which other devices can reach this machine.

pub mod addresses;
pub mod discovery;
pub mod endpoint;
pub mod member;
pub mod reachability;
