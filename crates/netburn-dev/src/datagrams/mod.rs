//! Flows of datagrams over any network: constant rate, saturating, or echoed probes.
//!
//! [`Driver`] runs the flows in simulated time. [`Carrier`] is its interface to the network.
//! [`Report`] is the result of a flow, and [`usage`] its cost in airtime.

mod carrier;
mod driver;
mod flow;
mod report;
pub mod usage;

pub use carrier::{Carrier, Fate};
pub use driver::Driver;
pub use flow::{Datagram, Flow, Load};
pub use report::Report;
